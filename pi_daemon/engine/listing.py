"""The list of sessions: those in files, and those that are not written yet."""

from __future__ import annotations

from bisect import bisect_right

from msgspec import Struct

from pi_daemon.engine.hub import Hub
from pi_daemon.engine.live import LiveSession
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
    summaries = await hub.files.list(cwd, progress)
    open_at = {session.log.ref.location for session in hub.sessions}
    rows = [Row(summary, summary.ref.location in open_at, True) for summary in summaries]
    for session in hub.sessions:
        if not session.log.persisted and cwd in (None, session.header.cwd):
            rows.append(Row(await _unwritten(session), True, False))
    rows.sort(key=lambda row: row.place, reverse=True)
    start = 0
    if cursor is not None:
        modified, separator, location = cursor.partition(_SEPARATOR)
        if not separator:
            raise InvalidParams("Give the nextCursor of an earlier reply, or none.", path="cursor")
        start = bisect_right(rows, _Descending((modified, location)), key=lambda row: _Descending(row.place))
    page = rows[start : start + limit]
    more = start + limit < len(rows)
    return ListPage(page, _SEPARATOR.join(page[-1].place) if more else None)


class _Descending:
    """Turns the order of a key around, for bisect."""

    def __init__(self, key: tuple[str, str]) -> None:
        self.key = key

    def __lt__(self, other: _Descending) -> bool:
        return self.key > other.key


async def _unwritten(session: LiveSession) -> SessionSummary:
    lines = await session.lines(session.tree.entries)
    summary = Summary(session.header)
    if lines:
        summary.read(b"\n".join([*lines, b""]))
    return summary.made(session.log.ref, 0, session.environment.now_ms())
