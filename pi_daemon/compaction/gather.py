"""A plan → what its summary has to stand for, read in portions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pi_daemon.compaction.files import Files
from pi_daemon.compaction.material import Material, Portion, Said, Use, selected
from pi_daemon.compaction.plan import Plan
from pi_daemon.compaction.portions import Portions
from pi_daemon.session.projection import Projection, project
from pi_daemon.session.rawjson import loads
from pi_daemon.session.selection import Source


def portions(plan: Plan) -> Iterator[Portion]:
    """What a Gathering is to be given, in this order."""
    if plan.compaction is not None:
        yield Portion("previous", [Source(plan.compaction)])
    several = Portions([*plan.history, *plan.prefix])
    while some := several.next():
        yield Portion("said", some)


class Gathering:
    """The material of a plan in the making, of whose messages the first `history` are whole turns.

    Holds the decoded messages of the whole summary; the bytes that it was given are not kept.
    """

    def __init__(self, history: int) -> None:
        self._history = history
        self._previous: str | None = None
        self._said: list[Said] = []
        self._files = Files()

    def give(self, use: Use, lines: Sequence[bytes]) -> bool:
        """`lines` are those of the next of `portions`. Whether more is wanted: always, here."""
        if use == "previous":
            entry = loads(lines[0])
            self._previous = summary_of(entry)
            self._files.see_summary(entry)
            return True
        for said in all_said(project(selected(lines), lines)):
            self._said.append(said)
            self._files.see(said.message)
        return True

    @property
    def material(self) -> Material:
        """To be asked for when all is given."""
        history = self._history
        said = self._said
        return Material(said[:history], said[history:], self._previous, self._files.read, self._files.modified)


def all_said(projection: Projection) -> Iterable[Said]:
    """The messages, decoded: one for each source."""
    for message, role, head in zip(projection.messages, projection.roles, projection.source_heads, strict=True):
        yield Said(head.id, role, loads(message))


def summary_of(entry: dict[str, Any]) -> str | None:
    summary = entry.get("summary")
    return summary if isinstance(summary, str) else None
