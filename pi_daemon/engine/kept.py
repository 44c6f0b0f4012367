"""Contexts that were answered, kept as the bytes they are.

An agent asks for its context each turn, and each time it is the one before with a few messages more. What was put
together last time is therefore kept, within a bound over all sessions, and only what is new is read and added.
"""

from __future__ import annotations

from collections import OrderedDict

from msgspec import Struct

from pi_daemon.session.pairing import ProblemKind, Turns
from pi_daemon.session.projection import Projection
from pi_daemon.session.selection import Trail

KEPT_BYTES = 64 * 1024 * 1024
"""Of all contexts that are kept: a dozen of the largest that models take, or some hundred usual ones."""


class KeptContext(Struct):
    """`count` sources of `trail` in its turn `turn`, as messages joined by commas, and the ids they come from."""

    trail: Trail
    turn: int
    count: int = 0
    joined: bytes = b""
    sources: list[str] = []
    turns: Turns | None = None

    def extended(self, count: int, projection: Projection, shown: Projection) -> KeptContext:
        """With the next `count` sources: `projection` is what they project to, `shown` what is answered of that.

        The turns are accounted for in the same object: of two contexts that go on from one, only the first does."""
        turns, self.turns = self.turns or Turns(), None
        turns.extend(projection)
        joined = b",".join([self.joined, *shown.messages] if self.joined else shown.messages)
        return KeptContext(self.trail, self.turn, self.count + count, joined, [*self.sources, *shown.sources], turns)

    @property
    def problems(self) -> list[tuple[ProblemKind, str, str]]:
        return self.turns.problems() if self.turns is not None else []


class KeptContexts:
    """By the session's instance and the form; the one that was not asked for longest goes first."""

    def __init__(self, limit: int = KEPT_BYTES) -> None:
        self._limit = limit
        self._kept: OrderedDict[tuple[str, bool], KeptContext] = OrderedDict()
        self.bytes = 0

    def take(self, instance_id: str, llm: bool, trail: Trail) -> KeptContext:
        """What is kept for this trail, taken out; an empty one if it doesn't go on from there."""
        kept = self._kept.pop((instance_id, llm), None)
        if kept is not None:
            self.bytes -= len(kept.joined)
            if kept.trail is trail and kept.turn == trail.turn and kept.turns is not None:
                return kept
        return KeptContext(trail, trail.turn, turns=Turns())

    def put(self, instance_id: str, llm: bool, kept: KeptContext) -> None:
        self.forget(instance_id, llm)
        self._kept[instance_id, llm] = kept
        self.bytes += len(kept.joined)
        while self.bytes > self._limit:
            self.forget(*next(iter(self._kept)))

    def forget(self, instance_id: str, llm: bool) -> None:
        kept = self._kept.pop((instance_id, llm), None)
        if kept is not None:
            self.bytes -= len(kept.joined)
