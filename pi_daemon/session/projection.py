"""What a model would see: a path of entries → messages, each with the entry it comes from.

Two steps, because the bodies are in the file: `select` needs heads alone and says which lines are wanted,
`project` makes the messages of those lines. A message that the projection neither makes nor changes is the raw
JSON of its line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from pi_daemon.session.dates import to_ms
from pi_daemon.session.head import (
    AssistantFacts,
    BranchSummaryFacts,
    CompactionFacts,
    EditFacts,
    Head,
    MessageFacts,
    ModelFacts,
    ShellFacts,
    ThinkingFacts,
    ToolResultFacts,
)
from pi_daemon.session.rawjson import dumps, join, members

_PLAIN = (ToolResultFacts, MessageFacts, ShellFacts)
_MESSAGES = (AssistantFacts, *_PLAIN)


class Source(Struct, frozen=True, gc=False):
    """An entry that contributes. `edit` is the context_edit that replaces its content, if one does."""

    head: Head
    edit: Head | None = None


class Selection(Struct):
    """What of a path counts. `compaction` is the last one on the path, `model` is (provider, id)."""

    sources: list[Source]
    compaction: Head | None = None
    model: tuple[str, str] | None = None
    thinking_level: str = "off"

    def heads(self) -> list[Head]:
        """The entries whose lines `project` needs, edits included, each once."""
        return [head for source in self.sources for head in (source.head, source.edit) if head is not None]


class Projection(Struct):
    """`messages[i]` is raw JSON with the role `roles[i]`, and comes from the entry `source_heads[i]`."""

    messages: list[bytes]
    roles: list[str]
    source_heads: list[Head]

    @property
    def sources(self) -> list[str]:
        """The ids of the entries that the messages come from."""
        return [head.id for head in self.source_heads]


def select(path: Sequence[Head]) -> Selection:
    """What of `path` (root first) counts at its end.

    pi 1.6.0: the last compaction on the path stands for what is before its first kept entry; system messages of
    the kept range are left out, its own stands for them. The latest edit of a target in that range wins. Model and
    level are the last on the whole path.
    """
    model: tuple[str, str] | None = None
    level = "off"
    compaction: Head | None = None
    at = -1
    edits: dict[str, Head] = {}
    for place, head in enumerate(path):
        facts = head.facts
        if facts is None:
            continue
        kind = facts.__class__
        if kind is AssistantFacts:
            answered: Any = facts
            model = (answered.provider or "", answered.model or "")
        elif kind in _PLAIN:
            continue
        elif isinstance(facts, ModelFacts):
            model = (facts.provider, facts.model)
        elif isinstance(facts, ThinkingFacts):
            level = facts.level
        elif isinstance(facts, CompactionFacts):
            compaction, at = head, place
        elif isinstance(facts, EditFacts):
            edits[facts.target] = head
    return Selection(_sources(path, compaction, at, edits), compaction, model, level)


def _sources(path: Sequence[Head], compaction: Head | None, at: int, edits: dict[str, Head]) -> list[Source]:
    if compaction is None:
        chosen: Sequence[Head] = path
    else:
        first = compaction.facts.first_kept if isinstance(compaction.facts, CompactionFacts) else None
        start = next((place for place in range(at) if path[place].id == first), at)
        kept = [head for head in path[start:at] if head.role != "system"]
        chosen = [compaction, *kept, *path[at + 1 :]]
        if edits:
            edits = {head.facts.target: head for head in chosen if isinstance(head.facts, EditFacts)}
    found: list[Source] = []
    add = found.append
    for head in chosen:
        facts = head.facts
        kind = facts.__class__
        if kind in _MESSAGES or head.type == "custom_message" or head is compaction:
            pass
        elif not isinstance(facts, BranchSummaryFacts) or facts.empty:
            continue
        edit = edits.get(head.id) if edits else None
        if edit is None:
            add(Source(head))
        elif isinstance(edit.facts, EditFacts) and not edit.facts.omit:
            add(Source(head, edit))
    return found


class _Line(Struct, gc=False):
    message: Raw


_decode = msgspec.json.Decoder(_Line).decode
_NULL_READS_AS = {"system": b'""', "user": b"[]", "assistant": b"[]", "toolResult": b"[]"}
_EDITABLE = frozenset({"user", "assistant", "toolResult", "custom"})


def project(selection: Selection, lines: Mapping[str, bytes] | Sequence[bytes]) -> Projection:
    """The messages of `selection`. `lines` are those of `selection.heads()`, in that order or by entry id."""
    if isinstance(lines, Mapping):
        lines = [lines[head.id] for head in selection.heads()]
    made = Projection([], [], [])
    add_message, add_role, add_head = made.messages.append, made.roles.append, made.source_heads.append
    decode = _decode
    following = iter(lines)
    for source, line in zip(selection.sources, following, strict=False):
        head = source.head
        facts: Any = head.facts
        if source.edit is None and facts.__class__ in _MESSAGES and not facts.empty:
            try:
                add_message(bytes(decode(line).message))
            except (msgspec.DecodeError, RecursionError):
                add_message(members(line)["message"])
            add_role(facts.role)
            add_head(head)
            continue
        edit = next(following) if source.edit is not None else None
        for role, message in _made(head, line, edit):
            add_message(message)
            add_role(role)
            add_head(head)
    return made


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
        changes = edit is not None and role in _EDITABLE
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
