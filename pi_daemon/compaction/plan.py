"""What a compaction will do, found out before anything is written or a model is asked.

The bodies are in the file, so a plan is made in steps: it names the lines that it wants, is given them, and wants
more of them until it is sure. It goes from the newest backwards and reads no further than it has to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from pi_daemon.compaction.cut import Cut, cut_at
from pi_daemon.compaction.portions import Portions
from pi_daemon.compaction.settings import CompactionSettings
from pi_daemon.compaction.tokens import estimate, measure
from pi_daemon.session.errors import NothingToCompact
from pi_daemon.session.head import Head, MessageFacts
from pi_daemon.session.projection import Projection, project
from pi_daemon.session.selection import Selection, Source, counting
from pi_daemon.session.system import fold_system


class Plan(Struct, frozen=True):
    """What a compaction at `leaf_id` would do.

    `history` are the sources whose messages leave the context, `prefix` those of them that begin the turn which the
    cut splits: summarized for themselves. `compaction` is the previous one, whose summary begins the context and
    would be updated. `tokens_before` is the size of the context as it is.
    """

    leaf_id: str
    compaction: Head | None
    first_kept_id: str
    is_split_turn: bool
    history: tuple[Source, ...]
    prefix: tuple[Source, ...]
    tokens_before: int

    @property
    def covered(self) -> list[str]:
        """The ids of the entries that are summarized, oldest first."""
        return [source.head.id for source in (*self.history, *self.prefix)]


class Planner:
    """A plan in the making.

        planner = Planner(path, selection, settings)
        while heads := planner.wanted():
            planner.give(the lines of heads, in their order)
        planner.plan

    `selection` is what `select` made of `path`. Where the size of the context is known already, it is `tokens`, and
    nothing is read for it. Raises NothingToCompact, when made or when given lines.
    """

    def __init__(
        self, path: Sequence[Head], selection: Selection, settings: CompactionSettings, tokens: int | None = None
    ) -> None:
        if not path or path[-1].type == "compaction":
            raise NothingToCompact("The context has just been compacted, or is empty: append to the session first.")
        self._leaf_id = path[-1].id
        compaction = selection.compaction
        # Copied: the path may grow while lines are read.
        self._entries = list(path) if compaction is None else counting(path, compaction)
        self._selection = selection
        self._keep = settings.keep_recent_tokens
        sources = selection.sources
        # Edited away, a compaction neither begins the context nor has a summary to update.
        self._previous = compaction if sources and sources[0].head is compaction else None
        self._first = 0 if self._previous is None else 1
        self._read_from = len(sources)
        self._gathered = 0
        self._cut: Cut | None = None
        self._size_from = len(sources)
        self._folded = False
        self._tokens = tokens or 0
        self._systems: list[bytes] = []
        if tokens is None:
            sized = measure(path, selection)
            self._size_from -= len(sized.selection.sources)
            self._folded = sized.folded
            self._tokens = math.ceil(sized.usage)
        self._portions = Portions(sources, backwards=True)
        self._asked = Selection([])
        self._plan: Plan | None = None
        self._go_on()

    @property
    def plan(self) -> Plan:
        """To be asked for when nothing more is wanted."""
        assert self._plan is not None, "the plan still wants lines"
        return self._plan

    def wanted(self) -> list[Head]:
        """The entries whose lines are needed next; empty when the plan is done."""
        return self._asked.heads()

    def give(self, lines: Sequence[bytes]) -> None:
        """`lines` are those of `wanted()`."""
        self._read_from -= len(self._asked.sources)
        weights = self._weighed(project(self._asked, lines))
        for place in range(len(weights) - 1, -1, -1):
            at = self._read_from + place
            if self._cut is None and at >= self._first and weights[place]:
                self._gathered += weights[place]
                if self._gathered >= self._keep:
                    self._cut = self._cut_at(at)
        self._go_on()

    def _weighed(self, projection: Projection) -> list[int]:
        """The tokens of each source; of those that count for the size of the context, that is told too."""
        weights: list[int] = []
        systems: list[bytes] = []
        last: Head | None = None
        for message, role, head in zip(projection.messages, projection.roles, projection.source_heads, strict=True):
            tokens = estimate(message)
            if head is not last:
                weights.append(0)
                last = head
            weights[-1] += tokens
            if self._read_from + len(weights) > self._size_from:
                if self._folded and role == "system":
                    systems.append(message)
                else:
                    self._tokens += tokens
        self._systems[:0] = systems
        return weights

    def _go_on(self) -> None:
        if self._cut is None and self._read_from <= self._first:
            self._cut = self._cut_at(None)
        if self._cut is None or self._read_from > self._size_from:
            self._asked = Selection(self._portions.next(), edited=self._selection.edited)
        else:
            self._asked = Selection([])
            self._plan = self._finished(self._cut)

    def _cut_at(self, met: int | None) -> Cut:
        """Raises NothingToCompact."""
        first = self._first
        sources = self._selection.sources[first:]
        cut = cut_at(self._entries[first:], sources, None if met is None else met - first)
        if cut is None or all(source.head.role == "system" for source in sources[: cut.kept]):
            raise NothingToCompact(
                f"The whole context is kept: a compaction leaves the newest {self._keep:,} tokens, and nothing before "
                "them can be cut. Ask for fewer (`keepRecentTokens`), or later."
            )
        return cut

    def _finished(self, cut: Cut) -> Plan:
        system = fold_system(self._systems)
        sources = self._selection.sources
        first = self._first
        return Plan(
            self._leaf_id,
            self._previous,
            cut.first_kept_id,
            cut.is_split_turn,
            _conversation(sources[first : first + cut.turn]),
            _conversation(sources[first + cut.turn : first + cut.kept]),
            self._tokens + (estimate(system) if system is not None else 0),
        )


def _conversation(sources: Sequence[Source]) -> tuple[Source, ...]:
    """Without system messages: those are the state of the prompt, and the compaction carries them on."""
    return tuple(
        [
            source
            for source in sources
            if (facts := source.head.facts).__class__ is not MessageFacts or facts.role != "system"
        ]
    )
