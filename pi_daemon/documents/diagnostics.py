"""What is wrong with a session, each with its line."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from pi_daemon.documents.asked import Asked
from pi_daemon.documents.names import Item, kind_of
from pi_daemon.documents.view import View
from pi_daemon.rpc import codec
from pi_daemon.rpc.types.lsp import Diagnostic, Position, Range
from pi_daemon.session.errors import PiDaemonError
from pi_daemon.session.head import (
    BROKEN_OFF,
    AssistantFacts,
    CompactionFacts,
    Damage,
    EditFacts,
    Head,
    LabelFacts,
    ToolResultFacts,
)

ERROR, WARNING, INFORMATION, HINT = 1, 2, 3, 4

MOST = 1_000
"""Diagnostics of one document: a list that nobody reads to its end."""

CALLERS = 2_000
"""Answers whose tool calls are read to see whether each has its result, the newest of the context."""

SLICE = 1_000
"""Entries that are gone over before others have their turn."""

_SEVERITIES = {
    **dict.fromkeys(("tornTail", "extraHeader"), INFORMATION),
    **dict.fromkeys(
        ("notJson", "glued", "notObject", "noId", "tooDeep", "notUtf8", "noHeader", "empty", "lost"), ERROR
    ),
}
_REPAIR = "`pi-daemon repair FILE` mends it, and keeps the original"
"""What somebody can do about lines that can't be read who sits before an editor."""

_OF_THE_TREE = frozenset({"orphan", "duplicateId", "loop"})


def made(line: int, length: int, severity: int, code: str, message: str) -> Diagnostic:
    """`length` reaches to the line's end or beyond, which a client takes for the end."""
    where = Range(Position(line, 0), Position(line, length))
    return Diagnostic(range=where, severity=severity, code=code, source="pi-daemon", message=message)


def of_damage(one: Damage, line: int) -> Diagnostic:
    return made(line, one.length or 1, _SEVERITIES.get(one.kind, WARNING), one.kind, one.message)


def of_refusal(error: PiDaemonError) -> Diagnostic:
    """The one diagnostic of a document that is no session here."""
    message = error.message.replace('open it with recover: "skip", or repair it', _REPAIR)
    return made(0, 1, ERROR, error.reason, message)


def result_id(items: Sequence[Diagnostic]) -> str:
    """The same for the same diagnostics."""
    return hashlib.sha256(codec.encode(items)).hexdigest()[:16]


async def items(asked: Asked) -> list[Diagnostic]:
    """Raises StorageFailed."""
    session, view = asked.session, asked.view
    found = [made(0, 1, ERROR, session.failed.reason, session.failed.message)] if session.failed is not None else []
    found += [of_damage(one, await _line(view, one)) for one in _damage(asked)[:MOST]]
    if session.read_only is not None and not found:
        found.append(
            made(0, 1, INFORMATION, "readOnly", f"The session can be read but not written: {session.read_only}.")
        )
    found += _missing_targets(asked)
    found += await _unpaired(asked)
    return sorted(found[:MOST], key=lambda one: one.range.start.line)


def _damage(asked: Asked) -> list[Damage]:
    """Of the tree as it is by now. A last line without an end is no damage once something follows it."""
    session = asked.session
    last = next((head.offset for head in reversed(session.tree.entries) if head.offset >= 0), -1)
    stored = [
        one
        for one in session.damage
        if one.kind not in _OF_THE_TREE and not (one.kind == "tornTail" and (one.offset or 0) <= last)
    ]
    return [*stored, *session.tree.damage()]


async def _line(view: View, one: Damage) -> int:
    if one.line is not None:
        return one.line - 1
    return await view.line_at(one.offset) if one.offset is not None else 0


def _missing_targets(asked: Asked) -> list[Diagnostic]:
    tree, view = asked.session.tree, asked.view
    compaction = asked.session.trail.selection().compaction
    found: list[Diagnostic] = []
    for target, heads in view.naming.items():
        there = tree.get(target) is not None
        for head in heads:
            line = view.index.line_of(head)
            if line is None or (there and head is not compaction):
                continue
            facts = head.facts
            if isinstance(facts, CompactionFacts):
                if there and any(other.id == target for other in asked.session.trail.path):
                    continue
                where = "is not on its path" if there else "is missing"
                words = f"The first kept entry {target} {where}: nothing from before the compaction is kept."
                found.append(made(line, head.length, WARNING, "firstKeptMissing", words))
            elif isinstance(facts, LabelFacts | EditFacts) and not there:
                words = f"The {kind_of(head)} is of the entry {target}, which is missing."
                found.append(made(line, head.length, HINT, "targetMissing", words))
    return found


async def _unpaired(asked: Asked) -> list[Diagnostic]:
    """Tool calls and results of the context that lack each other. In slices: a thread that works on ten thousand heads
    would hold up the loop for longer."""
    heads = [source.head for source in asked.session.trail.selection().sources]
    callers: list[Head] = []
    for part in _slices(heads):
        callers += [head for head, after in pairwise(part) if head is not None and _may_call(head, after)]
        await asyncio.sleep(0)
    known = await asked.view.items(callers[-CALLERS:])
    pairs = Pairs(known)
    for part in _slices(heads):
        pairs.take(part[:-1])
        await asyncio.sleep(0)
    found: list[Diagnostic] = []
    for head, severity, code, words in pairs.end():
        line = asked.view.index.line_of(head)
        if line is not None:
            found.append(made(line, head.length, severity, code, words))
    return found


def _slices(heads: Sequence[Head]) -> Iterator[Sequence[Head | None]]:
    """Each with the one that follows it, None at the end."""
    for start in range(0, len(heads), SLICE):
        part = heads[start : start + SLICE + 1]
        yield part if len(part) > SLICE else [*part, None]


def _may_call(head: Head | None, after: Head | None) -> bool:
    facts = head.facts if head is not None else None
    if not isinstance(facts, AssistantFacts) or facts.stop_reason in BROKEN_OFF:
        return False
    return facts.stop_reason == "toolUse" or (after is not None and isinstance(after.facts, ToolResultFacts))


class Pairs:
    """Calls and results accounted for as pi-ai 1.6.0 does: a result stands between the answer that called and the next
    message of a user or a model. Of answers that aren't `known` nothing is said."""

    def __init__(self, known: Mapping[Head, Item]) -> None:
        self._known = known
        self._found: list[tuple[Head, int, str, str]] = []
        self._caller: Head | None = None
        self._waiting: dict[str, str] = {}
        self._sure = True

    def take(self, heads: Iterable[Head | None]) -> None:
        for head in heads:
            facts = head.facts if head is not None else None
            if head is None or head.role == "system":
                continue
            if isinstance(facts, ToolResultFacts):
                if self._waiting.pop(facts.call_id, None) is None and self._sure:
                    words = "No tool call before it has this result: a provider would refuse it."
                    self._found.append((head, WARNING, "resultWithoutCall", words))
                continue
            if self._waiting:
                self._close(WARNING, "has no result: a provider would refuse the context")
            self._caller, self._sure = None, True
            if isinstance(facts, AssistantFacts):
                item = self._known.get(head)
                self._caller, self._sure = head, item is not None
                if item is not None and facts.stop_reason not in BROKEN_OFF:
                    self._waiting.update(item.calls)

    def end(self) -> list[tuple[Head, int, str, str]]:
        """(entry, severity, code, words) for each."""
        self._close(INFORMATION, "waits for its result")
        return self._found

    def _close(self, severity: int, words: str) -> None:
        if self._caller is not None:
            for call in self._waiting.values():
                self._found.append((self._caller, severity, "callWithoutResult", f"The tool call “{call}” {words}."))
        self._waiting.clear()
