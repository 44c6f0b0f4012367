"""Where a compaction cuts: from the heads alone, once it is known how far back the budget reaches.

All rules are pi 1.6.0's. A cut is made before a message that a person, a command, an extension or the model wrote,
never before a tool result. Entries without a message right before the cut stay with what is kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from pi_daemon.session.head import EditFacts, Head
from pi_daemon.session.selection import Source, contributes

_STARTS_TURN = frozenset({"user", "bashExecution", "custom", "branchSummary", "compactionSummary"})
_CAN_BE_FIRST = _STARTS_TURN | {"assistant"}


class Cut(Struct, frozen=True):
    """`first_kept_id` is the first entry that stays. The sources before `turn` are whole turns, those from there up
    to `kept` the beginning of the turn that is split; where none is, the two are the same."""

    first_kept_id: str
    turn: int
    kept: int
    is_split_turn: bool


def cut_at(entries: Sequence[Head], sources: Sequence[Source], met: int | None) -> Cut | None:
    """Where to cut. None where nothing can be cut off.

    `entries` are those that can count and `sources` those that have a message, both oldest first and without the
    compaction that begins the context. `met` is the source at which, from the newest backwards, the tokens to be kept
    have been gathered; None where all are fewer.
    """
    place = _candidate(sources, met)
    if place is None:
        return None
    at = _index(entries, sources[place].head)
    kept = place
    if met is not None and place == len(sources) - 1 and _attempts_given_up(entries[at + 1 :]):
        at += 1
        kept += 1
    while at > 0 and entries[at - 1].type != "compaction" and not _is(sources, kept - 1, entries[at - 1]):
        at -= 1
    here = _is(sources, kept, entries[at])
    turn = kept
    if not (here and role_of(sources[kept].head) in _STARTS_TURN):
        turn = next((i for i in range(kept - 1, -1, -1) if role_of(sources[i].head) in _STARTS_TURN), -1)
    split = 0 <= turn < kept
    return Cut(entries[at].id, turn if split else kept, kept, split)


def role_of(head: Head) -> str:
    """The role of the message that an entry contributes."""
    if head.type == "custom_message":
        return "custom"
    if head.type == "branch_summary":
        return "branchSummary"
    return head.role or ""


def _candidate(sources: Sequence[Source], met: int | None) -> int | None:
    """The first source at or after `met` that a cut can come before, else the last one before it."""
    start = met or 0
    after = (place for place in range(start, len(sources)) if role_of(sources[place].head) in _CAN_BE_FIRST)
    before = (place for place in range(start - 1, -1, -1) if role_of(sources[place].head) in _CAN_BE_FIRST)
    return next(after, next(before, None))


def _attempts_given_up(entries: Sequence[Head]) -> bool:
    """Whether these, none of which shows, hold an answer that was tried and edited away.

    Then the cut moves past the last visible input, which has been answered to no avail. An older compaction among
    them, or an edit that puts something in the place of what lies before, forbids it.
    """
    gone = {head.id for head in entries if contributes(head)}
    tried = False
    for head in entries:
        if head.type == "compaction":
            return False
        if head.type == "context_edit":
            facts = head.facts
            if not isinstance(facts, EditFacts) or not (facts.omit or facts.target in gone):
                return False
        tried = tried or head.role == "assistant"
    return tried


def _index(entries: Sequence[Head], head: Head) -> int:
    return next(at for at in range(len(entries) - 1, -1, -1) if entries[at] is head)


def _is(sources: Sequence[Source], place: int, head: Head) -> bool:
    return 0 <= place < len(sources) and sources[place].head is head
