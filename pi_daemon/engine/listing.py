"""The list of sessions: those in files, and those that are not written yet."""

from __future__ import annotations

from msgspec import Struct

from pi_daemon.engine.hub import Hub
from pi_daemon.engine.live import LiveSession
from pi_daemon.engine.offload import offload
from pi_daemon.session.errors import InvalidParams
from pi_daemon.storage.protocols import Progress, SessionSummary
from pi_daemon.storage.summary import Summary

_SEPARATOR = "|"


class Row(Struct):
    summary: SessionSummary
    open: bool
    persisted: bool

    @property
    def place(self) -> tuple[str, str]:
        """Newest first; the location tells apart what happened in the same millisecond."""
        return self.summary.modified, self.summary.ref.location


class ListPage(Struct):
    rows: list[Row]
    next_cursor: str | None


async def list_page(hub: Hub, cwd: str | None, cursor: str | None, limit: int, progress: Progress) -> ListPage:
    """Raises InvalidParams for a cursor that no list gave."""
    after: tuple[str, str] | None = None
    if cursor is not None:
        modified, separator, location = cursor.partition(_SEPARATOR)
        if not separator:
            raise InvalidParams("Give the nextCursor of an earlier reply, or none.", path="cursor")
        after = modified, location
    open_at = {session.log.ref.location for session in hub.sessions if session.log.persisted}
    summaries = await hub.files.page(cwd, after, limit + 1, progress, open_at)
    rows = [Row(summary, summary.ref.location in open_at, True) for summary in summaries]
    for session in hub.sessions:
        if not session.log.persisted and cwd in (None, session.header.cwd):
            row = Row(await _unwritten(session), True, False)
            if after is None or row.place < after:
                rows.append(row)
    rows.sort(key=lambda row: row.place, reverse=True)
    page = rows[:limit]
    return ListPage(page, _SEPARATOR.join(page[-1].place) if len(rows) > limit else None)


async def _unwritten(session: LiveSession) -> SessionSummary:
    lines = await session.lines(session.tree.entries)
    summary = Summary(session.header)
    if lines:
        await offload(sum(map(len, lines)), lambda: summary.read(b"\n".join([*lines, b""])))
    return summary.made(session.log.ref, 0, session.environment.now_ms())
