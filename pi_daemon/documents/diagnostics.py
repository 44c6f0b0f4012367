"""What is wrong with a session, each with its line."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise

import msgspec

from pi_daemon.documents.asked import Asked
from pi_daemon.documents.names import Item, kind_of
from pi_daemon.documents.view import View
from pi_daemon.engine.offload import offload
from pi_daemon.rpc.types.lsp import Diagnostic, Position, Range
from pi_daemon.session.errors import PiDaemonError
from pi_daemon.session.head import (
    AssistantFacts,
    CompactionFacts,
    Damage,
    EditFacts,
    Head,
    LabelFacts,
    ToolResultFacts,
)
from pi_daemon.session.selection import Source

ERROR, WARNING, INFORMATION, HINT = 1, 2, 3, 4

MOST = 1_000
"""Diagnostics of one document: a list that nobody reads to its end."""

CALLERS = 2_000
"""Answers whose tool calls are read to see whether each has its result, the newest of the context."""

_WORK_BYTES = 50
"""What an entry counts for when it is decided whether to go over them in a thread."""

_SEVERITIES = {
    **dict.fromkeys(("tornTail", "extraHeader"), INFORMATION),
    **dict.fromkeys(("notJson", "notObject", "noId", "tooDeep", "notUtf8", "noHeader", "empty", "lost"), ERROR),
}
_OF_THE_TREE = frozenset({"orphan", "duplicateId", "loop"})
_DROPPED = ("error", "aborted")
"""Answers that a provider isn't sent (pi 1.6.0), their tool calls neither."""


def made(line: int, length: int, severity: int, code: str, message: str) -> Diagnostic:
    """`length` reaches to the line's end or beyond, which a client takes for the end."""
    where = Range(Position(line, 0), Position(line, length))
    return Diagnostic(range=where, severity=severity, code=code, source="pi-daemon", message=message)


def of_damage(one: Damage, line: int) -> Diagnostic:
    return made(line, one.length or 1, _SEVERITIES.get(one.kind, WARNING), one.kind, one.message)


def of_refusal(error: PiDaemonError) -> Diagnostic:
    """The one diagnostic of a document that is no session here."""
    return made(0, 1, ERROR, error.reason, error.message)


def result_id(items: Sequence[Diagnostic]) -> str:
    """The same for the same diagnostics."""
    return hashlib.sha256(msgspec.json.encode(items)).hexdigest()[:16]


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
    """Tool calls and results of the context that lack each other."""
    sources = asked.session.trail.selection().sources
    heads, callers = await offload(_WORK_BYTES * len(sources), partial(_callers, sources))
    known = await asked.view.items(callers[-CALLERS:])
    found: list[Diagnostic] = []
    for head, severity, code, words in await offload(_WORK_BYTES * len(heads), partial(unpaired, heads, known)):
        line = asked.view.index.line_of(head)
        if line is not None:
            found.append(made(line, head.length, severity, code, words))
    return found


def _callers(sources: Sequence[Source]) -> tuple[list[Head], list[Head]]:
    """The entries, and those of them that may call tools."""
    heads = [source.head for source in sources]
    callers = [head for head, after in pairwise(heads) if _may_call(head, after)]
    return heads, callers + [head for head in heads[-1:] if _may_call(head, None)]


def _may_call(head: Head, after: Head | None) -> bool:
    facts = head.facts
    if not isinstance(facts, AssistantFacts) or facts.stop_reason in _DROPPED:
        return False
    return facts.stop_reason == "toolUse" or (after is not None and isinstance(after.facts, ToolResultFacts))


def unpaired(heads: Iterable[Head], known: Mapping[Head, Item]) -> list[tuple[Head, int, str, str]]:
    """(entry, severity, code, words) for each, as pi-ai 1.6.0 accounts for them: a result stands between the answer
    that called and the next message of a user or a model. Of answers that aren't `known` nothing is said."""
    found: list[tuple[Head, int, str, str]] = []
    caller: Head | None = None
    waiting: dict[str, str] = {}
    sure = True

    def close(severity: int, words: str) -> None:
        if caller is not None:
            found.extend(
                (caller, severity, "callWithoutResult", f"The tool call “{call}” {words}.") for call in waiting.values()
            )
        waiting.clear()

    for head in heads:
        facts = head.facts
        if isinstance(facts, ToolResultFacts):
            if waiting.pop(facts.call_id, None) is None and sure:
                words = "No tool call before it has this result: a provider would refuse it."
                found.append((head, WARNING, "resultWithoutCall", words))
        elif isinstance(facts, AssistantFacts):
            close(WARNING, "has no result: a provider would refuse the context")
            item = known.get(head)
            caller, sure = head, item is not None
            if item is not None and facts.stop_reason not in _DROPPED:
                waiting.update(item.calls)
        elif head.role != "system":
            close(WARNING, "has no result: a provider would refuse the context")
            caller, sure = None, True
    close(INFORMATION, "waits for its result")
    return found
