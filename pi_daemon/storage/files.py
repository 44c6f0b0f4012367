"""Sessions in files, where pi keeps them: the Repository behind a real daemon."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import stat
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
import platformdirs

from pi_daemon.session.errors import AmbiguousSession, SessionCorrupted, SessionExists, SessionNotFound
from pi_daemon.session.head import Damage, Header
from pi_daemon.session.tree import SessionTree
from pi_daemon.storage.catalogue import Catalogue
from pi_daemon.storage.follow import Follower
from pi_daemon.storage.journal import FileLog, Migration, Unwritten
from pi_daemon.storage.keep import keep_copy
from pi_daemon.storage.kept import KeptLines
from pi_daemon.storage.layout import SUFFIX, Layout, check_id, file_name, folder_files
from pi_daemon.storage.protocols import CheckReport, Loaded, Progress, RepairReport, SessionRef, SessionSummary
from pi_daemon.storage.publish import Chunks, publish
from pi_daemon.storage.reserve import Reservation, reserve
from pi_daemon.storage.rewrite import Piece, gathered, header_line, migration_pieces, replace, rewritten
from pi_daemon.storage.scan import BROKEN, Scan, scan
from pi_daemon.storage.system import APPEND, READ, Files, sync_folder, telling
from pi_daemon.storage.threads import in_thread
from pi_daemon.storage.trash import move_to_trash

_CANT_WRITE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ETXTBSY}


class FileRepository:
    """A Repository in `layout`. `state_dir` takes the copies of files that are damaged or about to be rewritten.

    `lock_dir` holds the reservations: it must be the same for all daemons of a user, whatever their `state_dir`.
    """

    def __init__(
        self, layout: Layout, state_dir: Path, *, lock_dir: Path | None = None, files: Files | None = None
    ) -> None:
        self.layout = layout
        self._files = files or Files()
        self._lock_dir = lock_dir or platformdirs.user_state_path("pi-daemon") / "reservations"
        self._damaged_dir = state_dir / "damaged"
        self._originals_dir = state_dir / "originals"
        self._catalogue = Catalogue(self._files, layout)

    async def create(self, header: Header, lines: Sequence[bytes] = (), *, persist: bool) -> tuple[Loaded, FileLog]:
        return await in_thread(self._create, header, lines, persist)

    async def find(self, session_id: str) -> SessionRef:
        return await in_thread(self._find, check_id(session_id))

    async def ref(self, path: str) -> SessionRef:
        return await in_thread(self._ref, path)

    async def open(self, ref: SessionRef, *, recover: bool = False) -> tuple[Loaded, FileLog]:
        return await in_thread(self._open, ref, recover)

    async def copy(self, source: SessionRef, header: Header) -> tuple[Loaded, FileLog]:
        return await in_thread(self._copy, source, header)

    async def list(self, cwd: str | None, progress: Progress | None = None) -> list[SessionSummary]:
        loop = asyncio.get_running_loop()
        stop = threading.Event()

        def report(done: int, total: int) -> None:
            if progress is not None and not stop.is_set():
                loop.call_soon_threadsafe(progress, done, total)

        try:
            return await in_thread(self._catalogue.summaries, cwd, report, stop)
        finally:
            stop.set()

    async def delete(self, ref: SessionRef) -> str | None:
        return await in_thread(self._delete, ref)

    async def check(self, path: str) -> CheckReport:
        return await in_thread(self._check, path)

    async def repair(self, path: str) -> RepairReport:
        return await in_thread(self._repair, path)

    # New sessions

    def _create(self, header: Header, lines: Sequence[bytes], persist: bool) -> tuple[Loaded, FileLog]:
        if persist:
            first = [header_line(header), *lines, b""]
            return self._publish(header, lambda: [b"\n".join(first)])
        path, reservation = self._reserve(header)
        kept = KeptLines(lines)
        ref = SessionRef(header.id, str(path))
        log = FileLog(self._files, ref, unwritten=Unwritten(header, kept, reservation))
        return Loaded(ref, header, list(kept.heads), []), log

    def _copy(self, source: SessionRef, header: Header) -> tuple[Loaded, FileLog]:
        path = Path(source.location)
        with self._reading(path) as (fd, found):
            pieces = self._copied_pieces(fd, found)
            first = header_line(header) + b"\n"

            def content() -> Iterator[bytes]:
                yield first
                yield from gathered(rewritten(self._files, fd, pieces, found.tail.end, []))
                if found.tail.open and not found.tail.fragment:
                    yield b"\n"

            return self._publish(header, content)

    def _copied_pieces(self, fd: int, found: Scan) -> Sequence[Piece]:
        """What a copy leaves out (the old header, a byte order mark) or migrates."""
        assert found.header is not None
        pieces = [_without(*_to_line_end(self._files, fd, *found.reader.header_at))]
        if found.reader.marked:
            pieces.append(_without(0, 3))
        if found.migrates:
            pieces += migration_pieces(found.heads, found.header.version)
        return sorted(pieces, key=lambda piece: piece.offset)

    def _publish(self, header: Header, content: Chunks) -> tuple[Loaded, FileLog]:
        path, reservation = self._reserve(header)
        try:
            with telling(f"create {path.name}"):
                fd, _ = publish(self._files, path, content, synced=True)
                return self._loaded(SessionRef(header.id, str(path)), fd)
        finally:
            reservation.release()

    def _reserve(self, header: Header) -> tuple[Path, Reservation]:
        """The place of a new session, and the claim on it. Raises SessionExists, StorageFailed, InvalidParams."""
        folder = Path(os.path.realpath(self.layout.folder(header.cwd)))
        path = folder / file_name(header)
        reservation = reserve(self._files, self._lock_dir, folder, header.id)
        try:
            there = [Path(found) for found in folder_files(self._files, folder, [folder])]
            if any(found.name.endswith(f"_{header.id}{SUFFIX}") for found in there) or any(
                self._catalogue.with_id(header.id, there)
            ):
                raise SessionExists(f"there is a session {header.id}; choose another id")
        except BaseException:
            reservation.release()
            raise
        return path, reservation

    # Sessions that are there

    def _find(self, session_id: str) -> SessionRef:
        paths = list(self._catalogue.with_id(session_id))
        if not paths:
            raise SessionNotFound(f"there is no session {session_id}")
        if len(paths) > 1:
            raise AmbiguousSession(
                f"{len(paths)} files carry the id {session_id}; open one by its path, or delete the other",
                paths=sorted(map(str, paths)),
            )
        return SessionRef(session_id, str(paths[0]))

    def _ref(self, path: str) -> SessionRef:
        real = self.layout.contained(self._files, path)
        _regular(self._files, real)
        header = self._catalogue.header(real)
        if header is None:
            with self._reading(real) as (_, found):
                assert found.header is not None
                header = found.header
        return SessionRef(header.id, str(real))

    def _open(self, ref: SessionRef, recover: bool) -> tuple[Loaded, FileLog]:
        path = Path(ref.location)
        _regular(self._files, path)
        unwritable = None
        with _finding(path):
            try:
                fd = self._files.open(path, APPEND)
            except OSError as error:
                if error.errno not in _CANT_WRITE:
                    raise
                unwritable = f"the file can't be written: {os.strerror(error.errno or 0)}"
                fd = self._files.open(path, READ)
        return self._loaded(ref, fd, recover=recover, unwritable=unwritable)

    def _loaded(
        self, ref: SessionRef, fd: int, *, recover: bool = True, unwritable: str | None = None
    ) -> tuple[Loaded, FileLog]:
        """Read the file behind `fd`, which belongs to the log that comes out; on a refusal it is closed."""
        path = Path(ref.location)
        try:
            with telling(f"read {path.name}"):
                found = scan(self._files, fd)
            header = _header(path, found)
            if header.id != ref.session_id:
                raise SessionNotFound(f"{path.name} is another session by now")
            if found.lost:
                copy = self._put_aside(path)
                if not recover:
                    raise _corrupted(path, found, copy)
            read_only = "; ".join(filter(None, (found.read_only, unwritable))) or None
            migrates = found.migrates and read_only is None
            migration = None
            if migrates:
                migration = Migration(header.version, list(found.heads), found.reader.header_at, self._originals_dir)
            file = Follower(self._files, path, fd, found.state, found.tail, found.reader)
            log = FileLog(self._files, ref, file=file, migration=migration, read_only=read_only)
        except BaseException:
            self._files.close(fd)
            raise
        return Loaded(ref, header, found.heads, found.damage, read_only, migrates), log

    def _put_aside(self, path: Path) -> str | None:
        """A copy of the damaged file, once; None where there is no room for it."""
        try:
            return str(keep_copy(self._files, path, self._damaged_dir))
        except OSError:
            return None

    def _delete(self, ref: SessionRef) -> str | None:
        path = self.layout.contained(self._files, ref.location)
        _regular(self._files, path)
        return move_to_trash(self._files, path)

    def _check(self, path: str) -> CheckReport:
        real = self.layout.contained(self._files, path)
        _regular(self._files, real)
        with _finding(real), self._opened(real) as fd:
            found = scan(self._files, fd)
        session_id = None if found.header is None or found.refused else found.header.id
        opens = found.refused is None and not found.lost
        damage = found.damage + SessionTree(found.heads).damage()
        return CheckReport(str(real), session_id, len(found.heads), opens, damage)

    def _repair(self, path: str) -> RepairReport:
        real = self.layout.contained(self._files, path)
        _regular(self._files, real)
        with self._reading(real) as (fd, found):
            dropped = [damage for damage in found.damage if damage.kind in _dropped_kinds(found)]
            if not dropped:
                return RepairReport(str(real), None, [])
            with telling(f"repair {real.name}"):
                pieces = [_without(*_to_line_end(self._files, fd, d.offset or 0, d.length or 0)) for d in dropped]
                size = found.tail.size
                parts = rewritten(self._files, fd, pieces, size, [])
                new, _, original = replace(self._files, real, fd, parts, size, self._originals_dir)
                self._files.close(new)
                sync_folder(self._files, real.parent)
        return RepairReport(str(real), str(original), dropped)

    @contextlib.contextmanager
    def _opened(self, path: Path) -> Iterator[int]:
        fd = self._files.open(path, READ)
        try:
            yield fd
        finally:
            self._files.close(fd)

    @contextlib.contextmanager
    def _reading(self, path: Path) -> Iterator[tuple[int, Scan]]:
        """The file, read. Raises SessionNotFound, SessionCorrupted where it is no session, StorageFailed."""
        _regular(self._files, path)
        with _finding(path):
            fd = self._files.open(path, READ)
        try:
            with telling(f"read {path.name}"):
                found = scan(self._files, fd)
            _header(path, found)
            yield fd, found
        finally:
            self._files.close(fd)


def _regular(files: Files, path: Path) -> None:
    """Raises SessionNotFound, SessionCorrupted for what is no file (opening a pipe would wait for ever)."""
    with _finding(path):
        state = files.stat(path)
    if not stat.S_ISREG(state.st_mode):
        raise SessionCorrupted(f"{path.name} is no file", damage=[], recoverable=False, copy=None)


@contextlib.contextmanager
def _finding(path: Path) -> Iterator[None]:
    with telling(f"open {path.name}"):
        try:
            yield
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP):
                raise SessionNotFound(f"there is no session file {path.name}") from error
            raise


def _header(path: Path, found: Scan) -> Header:
    """Raises SessionCorrupted for a file that is no session."""
    if found.header is None or found.refused is not None:
        raise _corrupted(path, found, None)
    return found.header


def _corrupted(path: Path, found: Scan, copy: str | None) -> SessionCorrupted:
    damage: list[Damage] = found.damage
    if found.refused is not None:
        message = f"{path.name} is no session: {found.refused}. It was left as it is"
    else:
        message = (
            f"{path.name} has lines that can't be read, and {found.lost} entries lost their ancestors with them; "
            'open it with recover: "skip", or repair it'
        )
    return SessionCorrupted(message, damage=msgspec.to_builtins(damage), recoverable=found.refused is None, copy=copy)


def _dropped_kinds(found: Scan) -> Iterable[str]:
    """A version 1 entry is known by how many lines that parse come before it: only others may go."""
    return {"notJson", "tornTail"} if found.migrates else BROKEN | {"tornTail"}


def _to_line_end(files: Files, fd: int, offset: int, length: int) -> tuple[int, int]:
    end = files.read(fd, 2, offset + length)
    return offset, length + (2 if end == b"\r\n" else 1 if end[:1] == b"\n" else 0)


def _without(offset: int, length: int) -> Piece:
    return Piece(offset, length, lambda _: b"")
