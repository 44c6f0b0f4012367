"""A plan → the files that its summary would name, without what it would tell."""

from __future__ import annotations

from collections.abc import Sequence

from pi_daemon.compaction.files import Files
from pi_daemon.compaction.plan import Plan
from pi_daemon.compaction.portions import Portions
from pi_daemon.session.head import AssistantFacts, Head, ToolResultFacts
from pi_daemon.session.projection import project
from pi_daemon.session.rawjson import loads
from pi_daemon.session.selection import Selection, Source

_TELLING = frozenset({AssistantFacts, ToolResultFacts})


class Listing:
    """`files` of a plan in the making: given the lines that it wants until it wants none, like a Planner.

    It wants answers and tool results alone, and keeps nothing of them but paths.
    """

    def __init__(self, plan: Plan) -> None:
        self.files = Files()
        self._compaction = plan.compaction
        sources = [source for source in (*plan.history, *plan.prefix) if source.head.facts.__class__ in _TELLING]
        self._portions = Portions(sources)
        self._asked = self._portions.next()

    def wanted(self) -> list[Head]:
        """The entries whose lines are needed next; empty when the lists are complete."""
        compaction = [] if self._compaction is None else [self._compaction]
        return [*compaction, *_asking(self._asked).heads()]

    def give(self, lines: Sequence[bytes]) -> None:
        """`lines` are those of `wanted()`."""
        if self._compaction is not None:
            self.files.see_summary(loads(lines[0]))
            self._compaction = None
            lines = lines[1:]
        see = self.files.see_line
        if all(source.edit is None for source in self._asked):
            for source, line in zip(self._asked, lines, strict=True):
                see(line, source.head.facts.role)  # type: ignore[union-attr]
        else:
            for message in project(_asking(self._asked), lines).messages:
                self.files.see(loads(message))
        self._asked = self._portions.next()


def _asking(sources: list[Source]) -> Selection:
    return Selection(sources, edited=True)
