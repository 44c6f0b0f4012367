"""What a model would see: a selection of entries → messages, each with the entry it comes from.

Two steps, because the bodies are in the file: a selection says which lines are wanted, `project` makes the messages of
those lines. A message that the projection neither makes nor changes is the raw JSON of its line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Raw, Struct, field

from pi_daemon.session.dates import to_ms
from pi_daemon.session.head import CompactionFacts, Head
from pi_daemon.session.rawjson import dumps, join, members
from pi_daemon.session.selection import Selection


class Projection(Struct):
    """`messages[i]` is raw JSON with the role `roles[i]`, and comes from the entry `source_heads[i]`. `changed` holds
    the places of those that are not that entry's message as it is stored."""

    messages: list[bytes]
    roles: list[str]
    source_heads: list[Head]
    changed: set[int] = field(default_factory=set)

    @property
    def sources(self) -> list[str]:
        """The ids of the entries that the messages come from."""
        return [head.id for head in self.source_heads]


class _Line(Struct, gc=False):
    message: Raw


_decode = msgspec.json.Decoder(_Line).decode
_NULL_READS_AS = {"system": b'""', "user": b"[]", "assistant": b"[]", "toolResult": b"[]"}
EDITABLE = frozenset({"user", "assistant", "toolResult", "custom"})
"""Roles whose content a context_edit can replace; it can omit any."""


def project(
    selection: Selection, lines: Mapping[str, bytes] | Sequence[bytes], starts: Sequence[int] | None = None
) -> Projection:
    """The messages of `selection`. `lines` are those of `selection.heads()`, in that order or by entry id; where
    `starts` has a number, of the message alone (see `message_starts`)."""
    if isinstance(lines, Mapping):
        lines = [lines[head.id] for head in selection.heads()]
    if starts is None:
        starts = [0] * len(lines)
    elif all(starts):
        heads = [source.head for source in selection.sources]
        return Projection(list(lines), [head.facts.role for head in heads], heads)  # type: ignore[union-attr]
    made = Projection([], [], [])
    add_message, add_role, add_head = made.messages.append, made.roles.append, made.source_heads.append
    following = zip(lines, starts, strict=True)
    for source in selection.sources:
        line, start = next(following)
        head = source.head
        if start or source.plain:
            add_message(line if start else _message(head, line))
            add_role(head.facts.role)  # type: ignore[union-attr]
            add_head(head)
            continue
        edit = next(following)[0] if source.edit is not None else None
        for role, message in _made(head, line, edit):
            made.changed.add(len(made.messages))
            add_message(message)
            add_role(role)
            add_head(head)
    return made


def message_starts(selection: Selection) -> list[int]:
    """For each of `selection.heads()`: where its message begins in its line, if that is known and the message alone
    is needed, else 0."""
    heads = selection.heads()
    if not selection.edited:
        return [head.message_at for head in heads]  # noted of plain ones alone
    plain = {id(source.head) for source in selection.sources if source.plain}
    return [head.message_at if id(head) in plain else 0 for head in heads]


def _message(head: Head, line: bytes) -> bytes:
    """The message of a line as it is stored; where it begins is noted in the head."""
    try:
        message = bytes(_decode(line).message)
    except (msgspec.DecodeError, RecursionError):
        message = members(line)["message"]
    start = len(line) - 1 - len(message)
    if line[start:-1] == message:
        head.message_at = start
    return message


def _made(head: Head, line: bytes, edit: bytes | None) -> list[tuple[str, bytes]]:
    """The messages of an entry that aren't just its own."""
    entry = members(line)
    timestamp = dumps(to_ms(head.timestamp))
    if head.type == "compaction":
        made = {"role": b'"compactionSummary"', **_those(entry, "summary", "tokensBefore"), "timestamp": timestamp}
        found = [("compactionSummary", join(made))]
        if isinstance(head.facts, CompactionFacts) and head.facts.has_system:
            found.insert(0, ("system", entry["systemMessage"]))
        return found
    if head.type == "branch_summary":
        made = {"role": b'"branchSummary"', **_those(entry, "summary", "fromId"), "timestamp": timestamp}
        return [("branchSummary", join(made))]
    if head.type == "custom_message":
        role = "custom"
        content = entry.get("content", b"null")
        made = {
            "role": b'"custom"',
            **_those(entry, "customType"),
            "content": b"[]" if content == b"null" else content,
            **_those(entry, "display", "details"),
            "timestamp": timestamp,
        }
    else:
        role = head.role or ""
        reads_as = _NULL_READS_AS.get(role)
        changes = edit is not None and role in EDITABLE
        made = members(entry["message"])
        if not changes and (reads_as is None or made.get("content", b"null") != b"null"):
            return [(role, entry["message"])]
        if reads_as is not None and made.get("content", b"null") == b"null":
            made["content"] = reads_as
    if edit is not None:
        _edit(made, role, edit)
    return [(role, join(made))]


def _those(entry: Mapping[str, bytes], *names: str) -> dict[str, bytes]:
    return {name: entry[name] for name in names if name in entry}


def _edit(message: dict[str, bytes], role: str, edit: bytes) -> None:
    """Put the content of a context_edit's line into `message`; a replacement without content takes it away."""
    replacement = members(edit)["replacement"]
    content = members(replacement).get("content") if replacement.startswith(b"{") else None
    if content is None:
        message.pop("content", None)
    elif content.startswith(b'"') and role in ("assistant", "toolResult"):
        message["content"] = b'[{"type":"text","text":' + content + b"}]"
    else:
        message["content"] = content
