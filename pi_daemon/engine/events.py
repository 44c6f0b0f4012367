"""The closed set of things that can happen to a session.

One `Change` is one revision. Its events are told to every subscriber together and in order; where a change
makes several events (an append also moves the leaf), they share the revision.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from pi_daemon.session.head import CompactionFacts, Damage, Head, LabelFacts, NameFacts
from pi_daemon.session.rawjson import loads, members

Cause: TypeAlias = Literal["append", "move", "compact", "external", "reload"]
"""Why the leaf moved or entries came."""


class Origin(Struct, frozen=True):
    """Who asked for a change. `call` is the request that did, opaque here: a subscriber that made it gets its
    answer first."""

    client_id: str
    name: str
    call: object | None = None


class NodeFacts(Struct, frozen=True):
    """An appended entry with what a tree shows of it."""

    head: Head
    parent_id: str | None
    preview: str


class Appended(Struct, frozen=True):
    nodes: list[NodeFacts]
    cause: Cause


class LeafChanged(Struct, frozen=True):
    leaf_id: str | None
    previous_leaf_id: str | None
    cause: Cause


class Compacted(Struct, frozen=True):
    entry_id: str
    first_kept_entry_id: str | None
    tokens_before: float
    tokens_after: int | None
    cause: Cause
    retention: bytes | None = None


class CompactionStatus(Struct, frozen=True):
    """A compaction that the daemon makes: `compaction_id` names it from `started` to its end, it isn't an entry's."""

    compaction_id: str
    status: Literal["started", "completed", "failed", "cancelled"]
    reason: str | None = None
    automatic: bool = False


class LabelChanged(Struct, frozen=True):
    target_id: str
    label: str | None
    entry_id: str


class Renamed(Struct, frozen=True):
    name: str | None
    entry_id: str


class Replaced(Struct, frozen=True):
    reason: str


class Damaged(Struct, frozen=True):
    damage: list[Damage]
    lost: list[str] = []


class Failed(Struct, frozen=True):
    reason: str
    errno: str | None


class Deleted(Struct, frozen=True):
    trashed_to: str | None


Event: TypeAlias = (
    Appended
    | LeafChanged
    | Compacted
    | CompactionStatus
    | LabelChanged
    | Renamed
    | Replaced
    | Damaged
    | Failed
    | Deleted
)


def meanings(entries: Iterable[tuple[Head, bytes]], tokens_after: Mapping[str, int], cause: Cause) -> list[Event]:
    """What appended entries say beyond their place in the tree."""
    events: list[Event] = []
    for head, line in entries:
        facts = head.facts
        if isinstance(facts, LabelFacts):
            events.append(LabelChanged(facts.target, facts.label, head.id))
        elif isinstance(facts, NameFacts):
            events.append(Renamed(facts.name, head.id))
        elif isinstance(facts, CompactionFacts):
            entry = members(line)
            before = loads(entry.get("tokensBefore", b"0"))
            after = tokens_after.get(head.id)
            events.append(Compacted(head.id, facts.first_kept, before, after, cause, _retention(entry)))
    return events


def _retention(entry: Mapping[str, bytes]) -> bytes | None:
    """What the compaction's details say of the facts that its summary kept."""
    details = entry.get("details", b"")
    return members(details).get("retention") if details.startswith(b"{") else None


class Change(Struct):
    """`messages` is a place for whoever encodes changes: encoded once, sent to every subscriber."""

    session_id: str
    instance_id: str
    revision: int
    origin: Origin | None
    events: list[Event]
    messages: list[bytes] | None = None
    size: int = 0

    @property
    def call(self) -> Any:
        """The request that made this change, if one did."""
        return self.origin.call if self.origin is not None else None
