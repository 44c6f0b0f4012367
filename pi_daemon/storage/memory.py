"""Sessions that live in memory alone: the same promises as files, without the disk.

They serve tests, and a daemon that keeps nothing. A session is there until it is deleted; closing its log drops
nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence

from msgspec import Struct

from pi_daemon.session.errors import SessionExists, SessionNotFound, StorageFailed
from pi_daemon.session.fork import header_line
from pi_daemon.session.head import IN_MEMORY, Head, Header
from pi_daemon.session.tree import SessionTree
from pi_daemon.storage.kept import KeptLines
from pi_daemon.storage.layout import check_id
from pi_daemon.storage.lines import from_starts
from pi_daemon.storage.protocols import (
    CheckReport,
    Examined,
    Foreign,
    Loaded,
    NewFile,
    Owner,
    Progress,
    RepairReport,
    SessionRef,
    SessionSummary,
    Written,
)
from pi_daemon.storage.summary import Summary, newest_first

SCHEME = "memory:"


class _Session(Struct):
    header: Header
    kept: KeptLines


class MemoryLog:
    """A SessionLog without a file. Lines of any durability are "memory"."""

    def __init__(self, ref: SessionRef, session: _Session, sessions: dict[str, _Session]) -> None:
        self._ref = ref
        self._session = session
        self._sessions = sessions
        self._closed = False

    @property
    def ref(self) -> SessionRef:
        return self._ref

    @property
    def persisted(self) -> bool:
        return False

    async def append(self, lines: Sequence[bytes], *, synced: bool, persist: bool) -> Written:
        self._check()
        self._session.kept.add(lines)
        return Written([IN_MEMORY] * len(lines), "memory")

    async def sync(self) -> None: ...

    @property
    def size(self) -> int:
        return 0

    @property
    def held(self) -> bool:
        return False

    async def take(self, client: str | None = None, *, asked: bool = False) -> None: ...

    async def release(self) -> None: ...

    async def owner(self) -> Owner | None:
        return None

    @property
    def unseen(self) -> bool:
        return False

    async def look(self) -> Foreign:
        return Foreign(replaced=self._sessions.get(self._ref.session_id) is not self._session)

    async def read(self, heads: Sequence[Head], starts: Sequence[int] | None = None) -> list[bytes]:
        self._check()
        kept = self._session.kept
        lines = [kept.lines[kept.index(head)] for head in heads]
        return lines if starts is None else from_starts(lines, starts)

    async def content(self) -> AsyncIterator[bytes]:
        self._check()
        yield b"\n".join([header_line(self._session.header), *self._session.kept.lines, b""])

    async def raw(self, spans: Sequence[tuple[int, int]]) -> list[bytes]:
        raise StorageFailed("the session has no file", errno="ENOENT")

    async def close(self) -> None:
        self._closed = True

    def _check(self) -> None:
        if self._closed:
            raise StorageFailed("the session is closed", errno="EBADF")
        if self._sessions.get(self._ref.session_id) is not self._session:
            raise StorageFailed("the session was deleted while it was open; close it", errno="ENOENT")


class MemoryRepository:
    """A Repository without files. `location` is `memory:<id>`."""

    def __init__(self) -> None:
        self._sessions: dict[str, _Session] = {}

    async def create(self, header: Header, lines: Sequence[bytes] = (), *, persist: bool) -> tuple[Loaded, MemoryLog]:
        check_id(header.id)
        if header.id in self._sessions:
            raise SessionExists(f"there is a session {header.id}; choose another id")
        session = _Session(header, KeptLines(lines))
        self._sessions[header.id] = session
        return self._opened(session)

    async def find(self, session_id: str) -> SessionRef:
        if check_id(session_id) not in self._sessions:
            raise SessionNotFound(f"there is no session {session_id}")
        return SessionRef(session_id, SCHEME + session_id)

    async def ref(self, path: str) -> SessionRef:
        return await self.find(path.removeprefix(SCHEME))

    async def open(self, ref: SessionRef, *, recover: bool = False) -> tuple[Loaded, MemoryLog]:
        return self._opened(self._session(ref))

    async def copy(self, source: SessionRef, header: Header) -> tuple[Loaded, MemoryLog]:
        return await self.create(header, self._session(source).kept.lines, persist=True)

    async def list(self, cwd: str | None, progress: Progress | None = None) -> list[SessionSummary]:
        found = [self._summary(session) for session in self._sessions.values() if cwd in (None, session.header.cwd)]
        if progress is not None:
            progress(len(found), len(found))
        return newest_first(found)

    async def page(
        self,
        cwd: str | None,
        after: tuple[str, str] | None,
        limit: int,
        progress: Progress | None = None,
        open_at: Collection[str] = (),
    ) -> Sequence[SessionSummary]:
        found = await self.list(cwd, progress)
        found.sort(key=_place, reverse=True)
        return [summary for summary in found if after is None or _place(summary) < after][:limit]

    async def delete(self, ref: SessionRef) -> str | None:
        self._session(ref)
        del self._sessions[ref.session_id]
        return None

    async def look_after_closed(self) -> Sequence[tuple[str, Foreign]]:
        return ()

    async def check(self, path: str) -> CheckReport:
        ref = await self.ref(path)
        heads = self._session(ref).kept.heads
        return CheckReport(ref.location, ref.session_id, len(heads), True, SessionTree(heads).damage())

    async def examine(self, progress: Progress | None = None) -> Examined:
        return Examined(files=len(self._sessions))

    async def put_away(self, path: str) -> str:
        raise StorageFailed("there are no files here", errno="EROFS")

    async def new_file(self, path: str) -> NewFile:
        raise StorageFailed("there are no files here: take the text", errno="EROFS")

    async def repair(self, path: str) -> RepairReport:
        return RepairReport((await self.ref(path)).location, None, [])

    def _session(self, ref: SessionRef) -> _Session:
        try:
            return self._sessions[ref.session_id]
        except KeyError:
            raise SessionNotFound(f"there is no session {ref.session_id}") from None

    def _opened(self, session: _Session) -> tuple[Loaded, MemoryLog]:
        ref = SessionRef(session.header.id, SCHEME + session.header.id)
        tree = SessionTree(session.kept.heads)
        return Loaded(ref, session.header, tree, tree.damage()), MemoryLog(ref, session, self._sessions)

    def _summary(self, session: _Session) -> SessionSummary:
        summary = Summary(session.header)
        lines = session.kept.lines
        if lines:
            summary.read(b"\n".join([*lines, b""]))
        ref = SessionRef(session.header.id, SCHEME + session.header.id)
        return summary.made(ref, sum(map(len, lines)) + len(lines), 0)


def _place(summary: SessionSummary) -> tuple[str, str]:
    return summary.modified, summary.ref.location
