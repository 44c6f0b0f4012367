"""What a compaction that is appended gets beside what its draft says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_daemon.compaction.tokens import context_tokens
from pi_daemon.engine.offload import offload
from pi_daemon.engine.staging import Staging
from pi_daemon.session.draft import Draft
from pi_daemon.session.head import Head
from pi_daemon.session.projection import project
from pi_daemon.session.selection import Trail
from pi_daemon.session.system import fold_system

if TYPE_CHECKING:
    from pi_daemon.engine.live import LiveSession


async def compaction_members(
    draft: Draft, parent_id: str | None, staging: Staging, session: LiveSession
) -> dict[str, bytes]:
    """The system messages of the projection, folded, where the draft has no `systemMessage`: without them the
    prompt and the tools would vanish from the context (as pi 1.6.0 does it)."""
    if "systemMessage" in draft.members:
        return {}
    selection = trail_to(parent_id, staging, session).selection()
    selection.sources = [s for s in selection.sources if s.head.role == "system" or s.head is selection.compaction]
    lines = await _lines(selection.heads(), staging, session)
    projection = project(selection, lines)
    pairs = zip(projection.roles, projection.messages, strict=True)
    system = (message for role, message in pairs if role == "system")
    folded = fold_system(system, session.environment.now_ms())
    return {"systemMessage": folded} if folded is not None else {}


async def tokens_after(compaction: Head, staging: Staging, session: LiveSession) -> int:
    """An estimate of the context that a staged compaction leaves."""
    trail = trail_to(compaction.id, staging, session)
    selection = trail.selection()
    lines = await _lines(selection.heads(), staging, session)
    size = sum(map(len, lines.values()))
    return await offload(size, lambda: context_tokens(trail.path, project(selection, lines)))


def trail_to(entry_id: str | None, staging: Staging, session: LiveSession) -> Trail:
    """The path to an entry that may be staged, root first. What goes on from the leaf takes a copy of the path to it;
    finding another path of 100,000 entries and what counts of it takes a tenth of a second."""
    later: list[Head] = []
    for head in staging.ancestors(entry_id):
        if head.id == session.leaf_id:
            trail = session.trail.branch()
            trail.extend(reversed(later))
            return trail
        if staging.staged(head.id) is None:
            break
        later.append(head)
    return Trail(list(staging.ancestors(entry_id))[::-1])


async def _lines(heads: list[Head], staging: Staging, session: LiveSession) -> dict[str, bytes]:
    """The lines of entries that are written, or staged in this batch."""
    staged = {head.id: entry.line for head in heads if (entry := staging.staged(head.id)) is not None}
    written = [head for head in heads if head.id not in staged]
    return staged | dict(zip((head.id for head in written), await session.lines(written), strict=True))
