"""Sessions in files, where pi keeps them: the Repository behind a real daemon."""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from weakref import WeakValueDictionary

import platformdirs

from pi_daemon.session.errors import AmbiguousSession, SessionExists, SessionNotFound, WriterBusy
from pi_daemon.session.fork import header_line
from pi_daemon.session.head import Header
from pi_daemon.session.tree import SessionTree
from pi_daemon.storage.catalogue import Catalogue
from pi_daemon.storage.examine import Examination, put_away
from pi_daemon.storage.follow import Follower
from pi_daemon.storage.heads import Heads
from pi_daemon.storage.index.keeper import Index
from pi_daemon.storage.indexed import Indexed, reporting
from pi_daemon.storage.journal import FileLog
from pi_daemon.storage.keep import keep_copy
from pi_daemon.storage.kept import KeptLines
from pi_daemon.storage.layout import SUFFIX, Layout, check_id, file_name, folder_files
from pi_daemon.storage.lease import Lease, Notes, held_elsewhere
from pi_daemon.storage.mend import check, repair
from pi_daemon.storage.outside import NewFile, new_file
from pi_daemon.storage.own import OwnLines
from pi_daemon.storage.protocols import (
    CheckReport,
    Examined,
    Foreign,
    Loaded,
    Progress,
    RepairReport,
    SessionRef,
    SessionSummary,
    losses,
)
from pi_daemon.storage.publish import Chunks, drop, publish
from pi_daemon.storage.reading import corrupted, finding, header_of, open_file, scanned
from pi_daemon.storage.reserve import Reservation, reserve
from pi_daemon.storage.rewrite import Migration, gathered, line_at, migration_pieces, rewritten, without
from pi_daemon.storage.scan import BYTE_ORDER_MARK, Scan, only_grew, scan
from pi_daemon.storage.system import APPEND, Files, sync_folder, telling
from pi_daemon.storage.threads import in_thread
from pi_daemon.storage.trash import move_to_trash
from pi_daemon.storage.unwritten import Unwritten

_CANT_WRITE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ETXTBSY}


class FileRepository:
    """A Repository in `layout`. `state_dir` takes the copies of files that are damaged or about to be rewritten, and
    lines of ours that were lost from a file.

    `lock_dir` holds the reservations, its neighbour `writers` the names of those who hold a file: it must be the same
    for all daemons of a user, whatever their `state_dir`. `contact` is how others reach this daemon.
    """

    def __init__(
        self,
        layout: Layout,
        state_dir: Path,
        *,
        lock_dir: Path | None = None,
        contact: str | None = None,
        files: Files | None = None,
        index: Index | None = None,
    ) -> None:
        self.layout = layout
        self._files = files or Files()
        self._lock_dir = lock_dir or platformdirs.user_state_path("pi-daemon") / "reservations"
        self._notes = Notes(Files(), self._lock_dir.with_name("writers"))
        self._contact = contact
        self._damaged_dir = state_dir / "damaged"
        self._originals_dir = state_dir / "originals"
        self._lost_dir = state_dir / "lost"
        self._leftovers_dir = state_dir / "leftovers"
        self._owns: WeakValueDictionary[Path, OwnLines] = WeakValueDictionary()
        self._parted: set[OwnLines] = set()
        self._own_lock = threading.Lock()
        self._catalogue = Catalogue(self._files, layout, index)
        self.indexed = Indexed(self._catalogue, index, self._files) if index is not None else None
        """What is known of all sessions, where an index is kept."""
        self._index = index
        self._heads = Heads(index.path.with_suffix(".heads"), self._files) if index is not None else None

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
        found = await reporting(progress, self._catalogue.summaries, cwd)
        if not found:
            await in_thread(self.layout.check, self._files)
        return found

    async def examine(self, progress: Progress | None = None) -> Examined:
        return await reporting(progress, Examination(self._files, self.layout).run)

    async def put_away(self, path: str) -> str:
        return await in_thread(put_away, self._files, self.layout, path, self._leftovers_dir)

    async def page(
        self,
        cwd: str | None,
        after: tuple[str, str] | None,
        limit: int,
        progress: Progress | None = None,
        open_at: Collection[str] = (),
    ) -> Sequence[SessionSummary]:
        self._catalogue.note(open_at)
        found = await reporting(progress, self._catalogue.page, cwd, after, limit)
        if not found and after is None:
            await in_thread(self.layout.check, self._files)
        return found

    async def delete(self, ref: SessionRef) -> str | None:
        return await in_thread(self._delete, ref)

    async def check(self, path: str) -> CheckReport:
        return await in_thread(self._check, path)

    async def repair(self, path: str) -> RepairReport:
        return await in_thread(self._repair, path)

    async def new_file(self, path: str) -> NewFile:
        return await in_thread(new_file, self._files, self.layout, path)

    async def look_after_closed(self) -> Sequence[tuple[str, Foreign]]:
        """Look for what was written to sessions that were closed some seconds ago. Gives what was lost, by location; to
        be called every few seconds."""
        return await in_thread(self._look_after_closed)

    # New sessions

    def _create(self, header: Header, lines: Sequence[bytes], persist: bool) -> tuple[Loaded, FileLog]:
        if persist:
            first = [header_line(header), *lines, b""]
            return self._publish(header, lambda: [b"\n".join(first)])
        path, reservation = self._reserve(header)
        kept = KeptLines(lines)
        ref = SessionRef(header.id, str(path))
        own = self._own(path)
        own.taken(None)
        log = FileLog(self._files, ref, self._lease(path), own, unwritten=Unwritten(header, kept, reservation))
        tree = SessionTree(kept.heads)
        return Loaded(ref, header, tree, tree.damage()), log

    def _copy(self, source: SessionRef, header: Header) -> tuple[Loaded, FileLog]:
        path = Path(source.location)
        with scanned(self._files, path) as (fd, found):
            old = header_of(path, found)
            header_at, header_length = line_at(self._files, fd, *found.reader.header_at)
            pieces = [without(header_at, header_length)]
            if found.reader.marked:
                pieces.append(without(0, len(BYTE_ORDER_MARK)))
            if found.migrates:
                pieces += migration_pieces(found.heads, old.version)
            pieces.sort(key=lambda piece: piece.offset)
            first = header_line(header) + b"\n"
            ends = found.tail.mark.endswith(b"\n") or found.tail.end == header_at + header_length

            def content() -> Iterator[bytes]:
                yield first
                yield from gathered(rewritten(self._files, fd, pieces, found.tail.end, []))
                if not ends:
                    yield b"\n"
                if not only_grew(self._files, fd, found.state, found.tail.end, found.tail.mark):
                    raise OSError(errno.ESTALE, "another process rewrote the source meanwhile")

            return self._publish(header, content)

    def _publish(self, header: Header, content: Chunks) -> tuple[Loaded, FileLog]:
        path, reservation = self._reserve(header)
        try:
            with telling(f"create {path.name}"):
                new = publish(self._files, path, content, synced=True)
                try:
                    for folder in new.folders:
                        sync_folder(self._files, folder)
                    lease = self._lease(path)
                    found = self._scan(path, new.fd)
                    made = self._loaded(SessionRef(header.id, str(path)), new.fd, found, None, lease)
                    with contextlib.suppress(OSError, WriterBusy):
                        lease.take(new.fd, new.state)
                    return made
                except BaseException:
                    drop(self._files, path, new.fd, new.state.st_size)
                    self._files.close(new.fd)
                    raise
        finally:
            reservation.release()

    def _reserve(self, header: Header) -> tuple[Path, Reservation]:
        """The place of a new session, and the claim on it. Raises SessionExists, StorageFailed, InvalidParams."""
        folder = Path(os.path.realpath(self.layout.folder(header.cwd)))
        path = folder / file_name(header)
        reservation = reserve(self._files, self._lock_dir, folder, header.id)
        try:
            there = list(folder_files(self._files, folder, [folder]))
            named = any(found.endswith(f"_{header.id}{SUFFIX}") for found in there)
            if named or self._catalogue.with_id(header.id, there):
                raise SessionExists(f"there is a session {header.id}; choose another id")
        except BaseException:
            reservation.release()
            raise
        return path, reservation

    # Sessions that are there

    def _find(self, session_id: str) -> SessionRef:
        paths = self._catalogue.find(session_id)
        if not paths:
            self.layout.check(self._files)
            raise SessionNotFound(f"there is no session {session_id}")
        if len(paths) > 1:
            raise AmbiguousSession(
                f"{len(paths)} files carry the id {session_id}; open one by its path, or delete the other",
                paths=sorted(paths),
            )
        return SessionRef(session_id, paths[0])

    def _ref(self, path: str) -> SessionRef:
        real = self.layout.contained(self._files, path)
        with finding(real):
            self._files.stat(real)
        header = self._catalogue.header(str(real))
        if header is None:  # too far down for a look, or there is none
            with scanned(self._files, real) as (_, found):
                header = header_of(real, found)
        return SessionRef(header.id, str(real))

    def _open(self, ref: SessionRef, recover: bool) -> tuple[Loaded, FileLog]:
        path = Path(ref.location)
        unwritable = None
        with finding(path):
            try:
                fd = open_file(self._files, path, APPEND)
            except OSError as error:
                if error.errno not in _CANT_WRITE:
                    raise
                unwritable = f"the file can't be written: {os.strerror(error.errno or 0)}"
                fd = open_file(self._files, path)
        try:
            found = self._scan_again(path, fd)
            if header_of(path, found).id != ref.session_id:
                raise SessionNotFound(f"{path.name} is another session by now")
            skipped = corrupted(path, found, self._put_aside(path)) if found.lost else None
            if skipped is not None and not recover:
                raise skipped
            loaded, log = self._loaded(ref, fd, found, unwritable, self._lease(path))
            loaded.skipped = skipped
            return loaded, log
        except BaseException:
            self._files.close(fd)
            raise

    def _scan_again(self, path: Path, fd: int) -> Scan:
        """With what is known of it from the last time; what is found is remembered behind whoever waits."""
        if self._heads is None or self._index is None:
            return self._scan(path, fd)
        with telling(f"read {path.name}"):
            found, fresh = self._heads.scan(path, fd)
            snapshot = self._heads.snapshot(path, fd, found) if fresh else None
        if snapshot is not None:
            self._index.later(partial(self._heads.remember, snapshot))
        return found

    def _scan(self, path: Path, fd: int) -> Scan:
        with telling(f"read {path.name}"):
            return scan(self._files, fd)

    def _loaded(
        self, ref: SessionRef, fd: int, found: Scan, unwritable: str | None, lease: Lease
    ) -> tuple[Loaded, FileLog]:
        path = Path(ref.location)
        header = header_of(path, found)
        read_only = "; ".join(filter(None, (found.read_only, unwritable))) or None
        migration = None
        if found.migrates and read_only is None:
            migration = Migration(header.version, list(found.heads), found.reader.header_at, self._originals_dir)
        file = Follower(self._files, path, fd, found.state, found.tail, found.reader)
        own = self._own(path)
        log = FileLog(self._files, ref, lease, own, file=file, migration=migration, read_only=read_only)
        tree = SessionTree(found.heads)
        damage = found.damage + tree.damage() + losses(*own.taken(fd))
        return Loaded(ref, header, tree, damage, read_only, migration is not None), log

    def _lease(self, path: Path) -> Lease:
        return Lease(self._files, self._notes, path, self._contact)

    def _own(self, path: Path) -> OwnLines:
        """The same ones for the next log, if they have something to look for."""
        with self._own_lock:
            own = self._owns.get(path)
            if own is None:
                own = self._owns[path] = OwnLines(self._files, path, self._lost_dir, self._parted)
            return own

    def _look_after_closed(self) -> Sequence[tuple[str, Foreign]]:
        found = []
        for own in list(self._parted):
            lost, kept_at = own.look_after()
            if lost:
                found.append((str(own.path), Foreign(lost=lost, kept_at=kept_at)))
        return found

    def _put_aside(self, path: Path) -> str | None:
        """A copy of the damaged file, once; None where there is no room for it."""
        try:
            return str(keep_copy(self._files, path, self._damaged_dir))
        except OSError:
            return None

    def _delete(self, ref: SessionRef) -> str | None:
        path = self.layout.contained(self._files, ref.location)
        with finding(path):
            fd = open_file(self._files, path)
            try:
                held_elsewhere(self._files, self._notes, path, fd)
            finally:
                self._files.close(fd)
        return move_to_trash(self._files, path)

    def _check(self, path: str) -> CheckReport:
        return check(self._files, self.layout.contained(self._files, path))

    def _repair(self, path: str) -> RepairReport:
        return repair(self._files, self._notes, self.layout.contained(self._files, path), self._originals_dir)
