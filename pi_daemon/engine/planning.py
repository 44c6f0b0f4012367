"""Plans of compactions and briefs for their summaries, with the bodies read from the session as they are wanted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from pi_daemon.compaction.brief import Brief
from pi_daemon.compaction.files import Files
from pi_daemon.compaction.listing import Listing
from pi_daemon.compaction.material import Portion
from pi_daemon.compaction.plan import Plan, Planner
from pi_daemon.compaction.settings import CompactionSettings
from pi_daemon.compaction.tokens import estimate
from pi_daemon.engine.desks import Desk
from pi_daemon.engine.live import LiveSession
from pi_daemon.engine.offload import offload
from pi_daemon.session.errors import Superseded
from pi_daemon.session.head import Head
from pi_daemon.session.projection import project
from pi_daemon.session.selection import Selection


class Wanting(Protocol):
    """Something that is put together from lines it names as it goes."""

    def wanted(self) -> list[Head]: ...

    def give(self, lines: Sequence[bytes]) -> None: ...


Made = TypeVar("Made", bound=Wanting)


async def fed(made: Made, session: LiveSession, instance_id: str) -> Made:
    """`made`, of the session as it was loaded as `instance_id`, given all that it wants. Raises Superseded,
    StorageFailed, and what `give` raises."""
    while heads := made.wanted():
        lines = await _lines(session, heads, instance_id)
        await offload(sum(map(len, lines)), lambda lines=lines: made.give(lines))  # type: ignore[misc]
    return made


async def _lines(session: LiveSession, heads: Sequence[Head], instance_id: str) -> list[bytes]:
    lines = await session.lines(heads)
    if session.instance_id != instance_id:  # these heads tell where lines lay in the file as it was
        raise Superseded("The file was rewritten or replaced meanwhile; try again.")
    return lines


async def plan(session: LiveSession, settings: CompactionSettings) -> Plan:
    """What a compaction at the leaf would do. Raises NothingToCompact, Superseded, StorageFailed."""
    trail = session.trail
    known = session.meter.at(session.leaf_id)
    planner = Planner(trail.path, trail.selection(), settings, known)
    return (await fed(planner, session, session.instance_id)).plan


async def files(session: LiveSession, plan: Plan, instance_id: str) -> Files:
    """The files that the summary would name. Raises Superseded, StorageFailed."""
    return (await fed(Listing(plan), session, instance_id)).files


async def brief(session: LiveSession, instance_id: str, portions: Iterable[Portion], desk: Desk) -> Brief:
    """What `desk` makes of the material. Raises Superseded, StorageFailed, SummarizerFailed."""
    for portion in portions:
        if not await desk.give(portion.use, await _lines(session, portion.heads(), instance_id)):
            break
    return await desk.brief()


async def kept_tokens(session: LiveSession, plan: Plan, instance_id: str) -> int:
    """An estimate of what stays of the context, without the summary. Raises Superseded, StorageFailed."""
    sources = session.trail.selection().sources
    covered = {*plan.covered, *([plan.compaction.id] if plan.compaction is not None else ())}
    kept = Selection([source for source in sources if source.head.id not in covered], edited=True)
    lines = await _lines(session, kept.heads(), instance_id)
    projection = project(kept, lines)
    return await offload(sum(map(len, lines)), lambda: sum(map(estimate, projection.messages)))
