"""Drafts: entries as a client gives them, before they have an id, a parent and a time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cached_property
from sys import intern
from typing import Any

from msgspec import Struct

from pi_daemon.session.entry import read_line
from pi_daemon.session.errors import InvalidEntry, TooLarge
from pi_daemon.session.facts import facts_of
from pi_daemon.session.glance import Json, glance
from pi_daemon.session.head import IN_MEMORY, Head
from pi_daemon.session.rawjson import MAX_VALUES, BadJson, compact, dumps, join, loads, members, squeeze, too_many

MAX_ID_LENGTH = 128
"""Far beyond pi's 8 digits and UUIDs of 36, short enough for an index of all of them."""

_id = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?").fullmatch

_RESERVED = ("parentId", "timestamp")


class Draft(Struct, frozen=True, dict=True):
    """`members` are the draft's own members as compact raw JSON, without `type` and `id`, in order."""

    type: str
    id: str | None
    members: dict[str, bytes]

    @cached_property
    def look(self) -> Json:
        """What matters of them, decoded."""
        return {"type": self.type, **glance(self.members)}


def parse_draft(raw: bytes, index: int, *, checked: bool = False) -> Draft:
    """The draft that `raw` is, its members checked as far as pi relies on them. Unknown kinds pass. `checked`: it is
    known to be JSON in UTF-8, not too deep, with finite numbers.

    Raises InvalidEntry with `index` and the member's `path`, TooLarge for one of too many values.
    """

    def refuse(path: str, message: str) -> InvalidEntry:
        return InvalidEntry(message, index=index, path=path)

    if too_many(raw):
        raise TooLarge(f"An entry holds at most {MAX_VALUES} JSON values.", limit="entryValues", values=MAX_VALUES)
    try:
        parts = members(squeeze(raw) if checked else compact(raw))
    except BadJson as bad:
        if bad.kind == "notFinite":
            raise refuse("", "an entry can't hold a number beyond the largest double") from None
        raise refuse("", f"an entry must be a JSON object: {bad}") from None
    for name in _RESERVED:
        if name in parts:
            raise refuse(name, f"{name} is given by the daemon: leave it out")
    kind = loads(parts.pop("type", b"null"))
    if not isinstance(kind, str) or not kind:
        raise refuse("type", "an entry needs a type, a string")
    if kind == "session":
        raise refuse("type", "a session header can't be appended")
    entry_id: str | None = None
    if "id" in parts:
        given = loads(parts.pop("id"))
        if not isinstance(given, str) or len(given) > MAX_ID_LENGTH or not _id(given):
            raise refuse("id", f"an id is up to {MAX_ID_LENGTH} letters, digits, '.', '_' and '-', ends alphanumeric")
        entry_id = given
    draft = Draft(kind, entry_id, parts)
    for path, holds, message in _CHECKS.get(kind, ()):
        if not holds(_at(draft.look, path)):
            raise refuse(path, f"{path} of a {kind} must be {message}")
    return draft


def draft_head(draft: Draft, id: str, parent_id: str | None, timestamp: str, line: bytes) -> Head:
    """The head of the entry whose `line` `entry_line` made, not in the file yet."""
    if draft.type not in _BY_LOOK:
        head = read_line(line, IN_MEMORY)
        assert isinstance(head, Head)
        return head
    return Head(intern(draft.type), id, parent_id, timestamp, IN_MEMORY, len(line), facts_of(draft.look))


_BY_LOOK = frozenset({"message", "custom", "custom_message", "usage"})
"""Kinds in whose lines the daemon puts nothing that their facts depend on."""


def entry_line(
    draft: Draft, id: str, parent_id: str | None, timestamp: str, extra: Mapping[str, bytes] | None = None
) -> bytes:
    """The line of the entry that `draft` becomes, without a line end. `extra` are raw members set by the daemon.

    As in pi, a compaction that names no first kept entry keeps nothing before it, which its own id says.
    """
    head = {"type": draft.type, "id": id, "parentId": parent_id, "timestamp": timestamp}
    parts = {**{member: dumps(value) for member, value in head.items()}, **draft.members, **(extra or {})}
    if draft.type == "compaction":
        parts.setdefault("firstKeptEntryId", parts["id"])
    return join(parts)


def same_content(draft: Draft, line: bytes) -> bool:
    """Whether the stored `line` is what `draft` would have become, whatever its place and time.

    A compaction's systemMessage is the daemon's, unless the draft brings one.
    """
    stored = members(line)
    if loads(stored.pop("type", b"null")) != draft.type:
        return False
    own = stored.pop("id", b"null")
    for name in _RESERVED:
        stored.pop(name, None)
    if draft.type == "compaction":
        if "systemMessage" not in draft.members:
            stored.pop("systemMessage", None)
        if "firstKeptEntryId" not in draft.members and stored.get("firstKeptEntryId") == own:
            del stored["firstKeptEntryId"]
    return stored.keys() == draft.members.keys() and all(
        value == draft.members[name] or _sorted(value) == _sorted(draft.members[name]) for name, value in stored.items()
    )


def _sorted(raw: bytes) -> str:
    """Equal for values that differ in the order of members and in how strings are escaped, and no others."""
    return json.dumps(loads(raw), sort_keys=True)


_ABSENT = object()


def _at(value: Any, path: str) -> Any:
    """The value at `a` or `a.b`; `_ABSENT` where there is none."""
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            return _ABSENT
        value = value[name]
    return value


def _string(value: Any) -> bool:
    return isinstance(value, str)


def _maybe_string(value: Any) -> bool:
    return value is _ABSENT or isinstance(value, str)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _object(value: Any) -> bool:
    return isinstance(value, dict)


def _content(value: Any) -> bool:
    return isinstance(value, str | list)


def _replacement(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and _content(value.get("content")))


_STRING = "a string"
_Check = tuple[str, Callable[[Any], bool], str]
_CHECKS: dict[str, tuple[_Check, ...]] = {
    "message": (("message.role", _string, "a string"),),
    "model_change": (("provider", _string, _STRING), ("modelId", _string, _STRING)),
    "thinking_level_change": (("thinkingLevel", _string, _STRING),),
    "compaction": (
        ("summary", _string, _STRING),
        ("firstKeptEntryId", _maybe_string, "a string, or absent"),
        ("tokensBefore", _number, "a number"),
    ),
    "branch_summary": (("fromId", _string, _STRING), ("summary", _string, _STRING)),
    "custom": (("customType", _string, _STRING),),
    "custom_message": (("customType", _string, _STRING), ("content", _content, "a string or an array")),
    "label": (("targetId", _string, _STRING), ("label", _maybe_string, "a string, or absent")),
    "session_info": (("name", _maybe_string, "a string, or absent"),),
    "usage": (("usage", _object, "an object"),),
    "context_edit": (
        ("targetId", _string, _STRING),
        ("replacement", _replacement, "null or an object whose content is a string or an array"),
    ),
}
