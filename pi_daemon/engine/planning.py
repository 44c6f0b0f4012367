"""Plans of compactions and their material, with the bodies read from the session as they are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from pi_daemon.compaction.files import Files
from pi_daemon.compaction.gather import Gathering
from pi_daemon.compaction.listing import Listing
from pi_daemon.compaction.material import Material
from pi_daemon.compaction.plan import Plan, Planner
from pi_daemon.compaction.settings import CompactionSettings
from pi_daemon.compaction.tokens import estimate
from pi_daemon.engine.live import LiveSession
from pi_daemon.engine.offload import offload
from pi_daemon.session.head import Head
from pi_daemon.session.projection import project
from pi_daemon.session.selection import Selection


class Wanting(Protocol):
    """Something that is put together from lines it names as it goes."""

    def wanted(self) -> list[Head]: ...

    def give(self, lines: Sequence[bytes]) -> None: ...


Made = TypeVar("Made", bound=Wanting)


async def fed(made: Made, session: LiveSession) -> Made:
    """`made`, given all that it wants. Raises StorageFailed, and what `give` raises."""
    while heads := made.wanted():
        lines = await session.lines(heads)
        await offload(sum(map(len, lines)), lambda lines=lines: made.give(lines))  # type: ignore[misc]
    return made


async def plan(session: LiveSession, settings: CompactionSettings) -> Plan:
    """What a compaction at the leaf would do. Raises NothingToCompact, StorageFailed."""
    trail = session.trail
    known = session.meter.at(session.leaf_id)
    planner = Planner(trail.path, trail.selection(), settings, known)
    return (await fed(planner, session)).plan


async def files(session: LiveSession, plan: Plan) -> Files:
    """The files that the summary would name. Raises StorageFailed."""
    return (await fed(Listing(plan), session)).files


async def material(session: LiveSession, plan: Plan) -> Material:
    """What the summary has to stand for. Raises StorageFailed."""
    return (await fed(Gathering(plan), session)).material


async def kept_tokens(session: LiveSession, plan: Plan) -> int:
    """An estimate of what stays of the context, without the summary. Raises StorageFailed."""
    sources = session.trail.selection().sources
    covered = {*plan.covered, *([plan.compaction.id] if plan.compaction is not None else ())}
    kept = Selection([source for source in sources if source.head.id not in covered], edited=True)
    lines = await session.lines(kept.heads())
    projection = project(kept, lines)
    return await offload(sum(map(len, lines)), lambda: sum(map(estimate, projection.messages)))
