"""A new session from a path, or from the whole tree, of another one."""

from __future__ import annotations

from pi_daemon.engine.hub import Hub
from pi_daemon.engine.live import LiveSession
from pi_daemon.engine.offload import offload
from pi_daemon.engine.operations import MoveLeaf
from pi_daemon.session.errors import EntryNotFound
from pi_daemon.session.fork import fork_lines
from pi_daemon.session.head import Header


async def fork(
    hub: Hub,
    source: LiveSession,
    entry_id: str | None,
    *,
    before: bool = False,
    tree: bool = False,
    cwd: str | None = None,
    session_id: str | None = None,
) -> LiveSession:
    """`before`: the path ends at the entry's parent. With `tree` every line is copied and the new leaf put at the
    entry. A fork is written at once, unless its source never is. A source that isn't written yet is written first where
    it may be, so that the new header can name it.

    Raises EntryNotFound, SessionExists, StorageFailed."""
    if entry_id is not None and source.tree.get(entry_id) is None:
        raise EntryNotFound("The session has no such entry; read session/tree.", entryId=entry_id)
    if before and entry_id is not None:
        head = source.tree.get(entry_id)
        parent = source.tree.parent(head) if head is not None else None
        entry_id = parent.id if parent is not None else None
    await source.flush()
    environment = hub.environment
    header = Header(
        id=environment.session_id() if session_id is None else session_id,
        timestamp=environment.timestamp(),
        cwd=cwd or source.header.cwd,
        parent_session=source.path,
    )
    if tree and source.log.persisted:
        made = await hub.copy(source, header)
        await made.perform(MoveLeaf(None, entry_id))
        return made
    heads = source.tree.entries if tree else source.tree.path(entry_id)
    instance_id = source.instance_id
    stored = await source.lines(heads, of=instance_id)
    if not tree:
        still, size = source.tree.frozen(), sum(map(len, stored))
        stored = await offload(size, lambda: fork_lines(still, heads, stored, lambda taken: _fresh(taken, hub)))
    persist = "never" if source.persistence.mode == "never" else "immediate"
    made = await hub.create(header, stored, heads, persist=persist, options=source.options)
    if tree:
        await made.perform(MoveLeaf(None, entry_id))
    return made


def _fresh(taken: set[str], hub: Hub) -> str:
    while (entry_id := hub.environment.entry_id()) in taken:
        pass
    return entry_id
