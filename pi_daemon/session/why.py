"""The reasons for which an entry is in a context or not, and those that hold at every leaf."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from pi_daemon.session.head import (
    AssistantFacts,
    BranchSummaryFacts,
    Damage,
    Head,
    MessageFacts,
    ShellFacts,
)
from pi_daemon.session.llm import SENT

Reason: TypeAlias = Literal[
    "asStored",
    "edited",
    "summary",
    "neverEnters",
    "emptySummary",
    "excluded",
    "unknownRole",
    "sameIdLater",
    "damagedLine",
    "noLeaf",
    "orphaned",
    "loop",
    "pathCut",
    "otherBranch",
    "afterLeaf",
    "compacted",
    "olderCompaction",
    "foldedSystem",
    "droppedSystem",
    "omitted",
    "setting",
    "overridden",
    "edit",
    "editsNothing",
]
"""The first three are those of entries that are in the context."""


class Why(Struct, frozen=True, gc=False):
    """A reason and what it names, shared by all entries that it holds for.

    `by`: the entry that edits, omits or overrides. `compaction` covers, `first_compaction` did so before it. `branch`:
    the first entry of the other branch, `left_at` the last one that it shares with the path (None: it has a root of
    its own). `root`: where a broken chain of parents begins, `missing` the parent that it lacks, `line` (from 1) the
    damaged line that took it. `target`: of an edit.
    """

    reason: Reason
    in_context: bool = False
    by: str | None = None
    compaction: str | None = None
    first_compaction: str | None = None
    branch: str | None = None
    left_at: str | None = None
    root: str | None = None
    missing: str | None = None
    line: int | None = None
    target: str | None = None


class Explained(Struct, frozen=True, gc=False):
    """`head` is None for a line without an entry, which `damage` is about.

    `message` is the place of its (first) message among those that an agent holds, `sent` among those that a provider
    is sent; None where it has none there. `summary` is the branch summary in the context that tells of its branch.
    """

    head: Head | None
    why: Why
    message: int | None = None
    sent: int | None = None
    summary: str | None = None
    damage: Damage | None = None


_NEVER = Why("neverEnters")
_EMPTY = Why("emptySummary")
_EXCLUDED = Why("excluded")
_UNKNOWN_ROLE = Why("unknownRole")


def lasting(head: Head) -> Why | None:
    """Why no provider is ever sent anything of the entry, None where that depends on the leaf."""
    facts = head.facts
    kind = facts.__class__
    if kind is AssistantFacts:
        return None
    if facts is None:
        return None if head.type == "custom_message" else _NEVER
    if isinstance(facts, MessageFacts):
        return None if facts.role in SENT else _UNKNOWN_ROLE
    if isinstance(facts, ShellFacts):
        return _EXCLUDED if facts.excluded else None
    if isinstance(facts, BranchSummaryFacts):
        return _EMPTY if facts.empty else None
    return _NEVER if head.type in ("label", "session_info") else None
