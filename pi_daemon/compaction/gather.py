"""A plan → what its summary has to stand for, read in portions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pi_daemon.compaction.files import Files
from pi_daemon.compaction.material import Material, Said
from pi_daemon.compaction.plan import Plan
from pi_daemon.compaction.portions import Portions
from pi_daemon.session.head import Head
from pi_daemon.session.projection import Projection, project
from pi_daemon.session.rawjson import loads
from pi_daemon.session.selection import Selection, Source


class Gathering:
    """The material of a plan in the making: given the lines that it wants until it wants none, like a Planner.

    Holds the decoded messages of the whole summary; the bytes that it was given are not kept.
    """

    def __init__(self, plan: Plan) -> None:
        self._history = len(plan.history)
        self._compaction = plan.compaction
        self._previous: str | None = None
        self._portions = Portions([*plan.history, *plan.prefix])
        self._asked = self._portions.next()
        self._said: list[Said] = []
        self._files = Files()

    def wanted(self) -> list[Head]:
        """The entries whose lines are needed next; empty when the material is complete."""
        compaction = [] if self._compaction is None else [self._compaction]
        return [*compaction, *asking(self._asked).heads()]

    def give(self, lines: Sequence[bytes]) -> None:
        """`lines` are those of `wanted()`."""
        if self._compaction is not None:
            entry = loads(lines[0])
            self._previous = summary_of(entry)
            self._files.see_summary(entry)
            self._compaction = None
            lines = lines[1:]
        for said in all_said(project(asking(self._asked), lines)):
            self._said.append(said)
            self._files.see(said.message)
        self._asked = self._portions.next()

    @property
    def material(self) -> Material:
        """To be asked for when nothing more is wanted."""
        history = self._history
        said = self._said
        return Material(said[:history], said[history:], self._previous, self._files.read, self._files.modified)


def asking(sources: list[Source]) -> Selection:
    return Selection(sources, edited=True)


def all_said(projection: Projection) -> Iterable[Said]:
    """The messages, decoded: one for each source."""
    for message, role, head in zip(projection.messages, projection.roles, projection.source_heads, strict=True):
        yield Said(head.id, role, loads(message))


def summary_of(entry: dict[str, Any]) -> str | None:
    summary = entry.get("summary")
    return summary if isinstance(summary, str) else None
