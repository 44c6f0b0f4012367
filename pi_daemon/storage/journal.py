"""The log of one session file: what is appended to it, by us and by others.

A batch is one O_APPEND write with a stat before and after. Before ours, whatever others have written is read, so
what we append comes after what we know. A stranger's bytes are never cut; our own are, after a short write, and only
while the file ends exactly where that write left it. A line that lacks its newline gets it in front of our next
batch. The file is never made again once it is gone.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from pi_daemon.session.errors import ReadOnly, SessionFailed, StorageFailed, WriterBusy
from pi_daemon.session.head import IN_MEMORY
from pi_daemon.storage.bodies import FileBodies
from pi_daemon.storage.follow import Follower, Replaced
from pi_daemon.storage.lease import Lease
from pi_daemon.storage.own import OwnLines
from pi_daemon.storage.protocols import Foreign, Owner, SessionRef, Written
from pi_daemon.storage.rewrite import Migration, migrate
from pi_daemon.storage.scan import Found
from pi_daemon.storage.system import Files, refusal, sync_folder, telling
from pi_daemon.storage.threads import in_thread
from pi_daemon.storage.unwritten import Unwritten, write_first

AT_ONCE_BYTES = 64 * 1024
"""Up to here a batch that needs no fdatasync is written by the caller's own thread. Into the page cache that takes
7 µs; to hand it to another thread and back takes 140 µs (Linux 6.18, 2 cores)."""

AT_ONCE_SECONDS = 0.02
"""A write at once that took longer has met a slow disk or a full write-back queue (or lost the processor for more
than a usual time slice, which is 4 ms), and the ones of the next `SLOW_SECONDS` go to a thread."""

JUST_SEEN_SECONDS = 0.0005
"""An append that comes so soon after a look needs none of its own: whatever happens between the stat and the write, be
the time long or short, the stat after the write shows (a file that is gone has no name left)."""

SLOW_SECONDS = 5.0
"""Long enough that a slow disk holds up the caller's thread for a small part of the time."""

GIVEN_SECONDS = 1.0
"""How long who has let go of the lease leaves it to others: whoever asked for it needs some ms to come for it, and a
client that appends all the time would be faster."""

COMING_SECONDS = 0.01
"""Between two looks whether somebody has come."""

TRIES = 3
"""Writes of one batch, where another process leaves a line without an end in front of it each time."""


class FileLog(FileBodies):
    """A SessionLog in a file, or before its first write on the way to one. Made by FileRepository."""

    def __init__(
        self,
        files: Files,
        ref: SessionRef,
        lease: Lease,
        own: OwnLines,
        *,
        file: Follower | None = None,
        unwritten: Unwritten | None = None,
        migration: Migration | None = None,
        read_only: str | None = None,
    ) -> None:
        super().__init__(files, Path(ref.location), file, unwritten, migration)
        self._ref = ref
        self._lease = lease
        self._own = own
        self._loss: Foreign | None = None
        self._read_only = read_only
        self._persisted = file is not None
        self._closed = False
        # The directories whose names are to be synced with the first batch that is, the last one first. Who made the
        # file hasn't, if that was pi.
        self._unsynced = [self._path.parent.parent, self._path.parent] if file is not None else []
        self._unreported = Found()
        self._failed: SessionFailed | None = None
        self._slow_until = 0.0
        self._given_until = 0.0
        self._seen = -1.0
        # A cancelled waiter doesn't stop the thread that works for it, so calls may overlap after all.
        self._writing = threading.Lock()

    @property
    def ref(self) -> SessionRef:
        return self._ref

    @property
    def persisted(self) -> bool:
        return self._persisted

    @property
    def size(self) -> int:
        file = self._file
        return file.tail.size if file is not None else 0

    @property
    def held(self) -> bool:
        return self._lease.held

    async def take(self, client: str | None = None, *, asked: bool = False) -> None:
        await in_thread(self._take, client, asked)

    async def release(self) -> None:
        await in_thread(self._release)

    async def owner(self) -> Owner | None:
        return await in_thread(self._owner)

    @property
    def unseen(self) -> bool:
        return bool(self._own)

    async def append(self, lines: Sequence[bytes], *, synced: bool, persist: bool) -> Written:
        if self._unwritten is not None and not persist:
            return self._keep(self._unwritten, lines)
        if not synced:
            written = self._append_at_once(lines)
            if written is not None:
                return written
        return await in_thread(self._append, lines, synced)

    async def sync(self) -> None:
        await in_thread(self._sync_all)

    async def look(self) -> Foreign:
        if self._writing.acquire(blocking=False):
            try:
                file, now = self._file, self._files.now()
                if file is None or (file.unchanged(file.stat()) and not file.torn and now < self._own.due_at):
                    self._seen = self._files.now()
                    found = self._report()
                    return Foreign(found.heads, found.damage)
            except Replaced:
                pass
            finally:
                self._writing.release()
        return await in_thread(self._look)

    async def close(self) -> None:
        await in_thread(self._close)

    # In memory, before the first write

    def _keep(self, unwritten: Unwritten, lines: Sequence[bytes]) -> Written:
        with self._writing:
            self._refuse()
            unwritten.kept.add(lines)
        return Written([IN_MEMORY] * len(lines), "memory")

    def _first_write(self, unwritten: Unwritten, lines: Sequence[bytes], synced: bool) -> Written:
        """Header, everything kept and `lines`, into a file of their own."""
        kept = unwritten.kept
        first = write_first(self._files, self._path, unwritten, lines, synced)
        with self._places:
            self._file = file = first.file
            self._unwritten = None
            self._persisted = True
            for head, offset in zip(kept.heads, first.offsets, strict=False):
                head.offset = offset
            kept.lines.clear()
        self._unsynced = first.folders
        self._own.wrote(0, first.data)
        with contextlib.suppress(StorageFailed, WriterBusy):
            self._hold(file)
        unwritten.reservation.release()
        if synced:
            self._sync(file)
        count = len(kept.heads)
        return Written(first.offsets[count:], "synced" if synced else "written", kept=first.offsets[:count])

    # In the file

    def _append_at_once(self, lines: Sequence[bytes]) -> Written | None:
        """Write a small batch on the caller's thread; None where anything but one quick write is to be done."""
        if not self._writing.acquire(blocking=False):
            return None
        try:
            file = self._file
            started = self._files.now()
            if file is None or not self._lease.held or started < self._slow_until or file.tail.open:
                return None
            if self._migration is not None:
                return None
            if sum(map(len, lines)) > AT_ONCE_BYTES or self._own.full:
                return None
            self._refuse()
            if started - self._seen > JUST_SEEN_SECONDS and not file.unchanged(file.stat()):
                return None
            written = self._write(file, lines)
            if self._files.now() - started > AT_ONCE_SECONDS:
                self._slow_until = started + SLOW_SECONDS
            return written
        finally:
            self._writing.release()

    def _append(self, lines: Sequence[bytes], synced: bool) -> Written:
        with self._writing:
            self._refuse()
            if self._unwritten is not None:
                return self._first_write(self._unwritten, lines, synced)
            try:
                if not self._lease.held:
                    self._hold(self._opened())
                for _ in range(TRIES):
                    self._catch_up(self._opened())
                    self._opened().settle(self._note)
                    if self._migration is not None:
                        self._migrate(self._opened(), self._migration)
                    written = self._write(self._opened(), lines, synced)
                    if written is not None:
                        return written
            except Replaced:
                self._let_go()
                raise
        raise StorageFailed(f"other processes keep writing to {self._path.name}; try again", errno="EBUSY")

    def _write(self, file: Follower, lines: Sequence[bytes], synced: bool = False) -> Written | None:
        """One write; None where it was taken back since another process left a line without an end before it."""
        if lines:
            led = file.tail.open
            data = b"\n".join([b"", *lines, b""] if led else [*lines, b""])
            try:
                taken = self._files.write(file.fd, data)
                state = self._files.fstat(file.fd)
                if taken < len(data):
                    raise self._cut_short(file, taken, state)
                found, fits = file.wrote(data, led, len(lines), state)
            except OSError as error:
                raise refusal(error, f"write to {self._path.name}") from error
            self._note(found)
            if not fits:
                return None
            start = file.tail.end - len(data) + led
            self._own.wrote(start, data[led:])
        if synced:
            self._sync(file)
        offsets = list(accumulate((len(line) + 1 for line in lines[:-1]), initial=start)) if lines else []
        found = self._report()
        return Written(offsets, "synced" if synced else "written", found.heads, found.damage)

    def _cut_short(self, file: Follower, taken: int, state: os.stat_result) -> StorageFailed:
        """Take back what a write left that was cut short, while nobody has written after it."""
        if taken and state.st_size == file.tail.size + taken:
            with contextlib.suppress(OSError):
                self._files.ftruncate(file.fd, file.tail.size)
        return refusal(OSError(errno.ENOSPC, ""), f"write all of a batch to {self._path.name}")

    def _sync_all(self) -> None:
        with self._writing:
            self._refuse()
            if self._unwritten is None:
                file = self._opened()
                file.stat()
                self._sync(file)

    def _sync(self, file: Follower) -> None:
        """Raises SessionFailed, and makes every later append do so: the system reports a failed write-back once,
        then forgets the pages, so nothing can be said of what is on the disk."""
        try:
            self._files.fdatasync(file.fd)
            while self._unsynced:
                sync_folder(self._files, self._unsynced[-1])
                self._unsynced.pop()
        except OSError as error:
            told = refusal(error, f"make {self._path.name} durable")
            self._failed = SessionFailed(f"{told.message}. Close the session and check the disk", **told.data)
            raise self._failed from error

    def _migrate(self, file: Follower, migration: Migration) -> None:
        """Readers wait meanwhile: they would take the new file for a stranger's."""
        known = file.tail.size, file.tail.mtime_ns
        with self._places, telling(f"rewrite {self._path.name} as version 3"):
            fd, state, placed = migrate(self._files, self._path, file.fd, known, migration)
            self._file = file.moved(fd, state, state.st_size - file.tail.size)
            self._lease.took(state)
            for head, offset, length in placed:
                head.offset, head.length = offset, length
            self._migration = None
            self._unsynced = [self._path.parent]

    # The lease

    def _take(self, client: str | None, asked: bool) -> None:
        with self._writing:
            self._refuse()
            if asked:
                self._given_until = 0.0
            if self._unwritten is None:
                self._hold(self._opened(), client)

    def _hold(self, file: Follower, client: str | None = None) -> None:
        """Who takes the lease of another file at the path doesn't meet us, so the path must still name this one."""
        with telling(f"hold {self._path.name} for writing"):
            if not self._lease.held:
                self._let_come(file)
            self._lease.take(file.fd, self._files.fstat(file.fd), client)
        try:
            file.stat()
        except Replaced:
            self._let_go()
            raise

    def _let_come(self, file: Follower) -> None:
        """After a release: until another process holds it, or none has come for it. Raises OSError."""
        while (left := self._given_until - self._files.now()) > 0:
            if self._lease.owner(self._files.fstat(file.fd)) is not None:
                break
            self._files.sleep(min(left, COMING_SECONDS))
        self._given_until = 0.0

    def _release(self) -> None:
        with self._writing, telling(f"let others write to {self._path.name}"):
            if self._file is not None and self._lease.held:
                self._lease.release(self._file.fd)
                self._given_until = self._files.now() + GIVEN_SECONDS

    def _let_go(self) -> None:
        """Of a file that we shall not write to any more. The lease ends with the descriptor at the latest."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._lease.release(self._file.fd)

    def _owner(self) -> Owner | None:
        with self._writing, telling(f"look at {self._path.name}"):
            return self._lease.owner(self._files.fstat(self._file.fd)) if self._file is not None else None

    # What others did, and the lines

    def _look(self) -> Foreign:
        with self._writing:
            try:
                self._catch_up(self._opened())
            except Replaced:
                return self._replaced(self._opened())
            found = self._report()
            return Foreign(found.heads, found.damage)

    def _replaced(self, file: Follower) -> Foreign:
        """Who loads the file next shall not meet the half of it. What was lost is told again to who asks again: a
        waiter that was cancelled has not heard it."""
        self._let_go()
        if self._loss is None:
            file.stand_still()
            lost, kept_at = self._own.lost()
            found = Foreign(replaced=True, lost=lost, kept_at=kept_at)
            if not lost:
                return found
            self._loss = found
        return self._loss

    def _catch_up(self, file: Follower) -> None:
        """What others wrote is noted; what we wrote must still be there. Raises Replaced, StorageFailed."""
        self._note(file.catch_up())
        with telling(f"read {self._path.name}"):
            if not self._own.look(file.fd, every=file.edited):
                raise file.replaced()

    def _close(self) -> None:
        with self._writing, self._places:
            if self._unwritten is not None:
                self._unwritten.reservation.release()
                self._unwritten = None
            if not self._closed:
                self._closed = True
                self._own.part(self._file)
            if self._file is not None:
                self._let_go()
                self._files.close(self._file.fd)
                self._file = None

    def _refuse(self) -> None:
        if self._failed is not None:
            raise SessionFailed(self._failed.message, **self._failed.data)
        if self._read_only is not None:
            raise ReadOnly(f"the session can't be written: {self._read_only}")

    def _note(self, found: Found) -> None:
        """What others wrote is held until it can be told: the call that found it may yet fail."""
        if found.heads or found.damage:
            self._unreported = self._unreported.then(found)
            if self._migration is not None:
                self._migration.heads.extend(found.heads)

    def _report(self) -> Found:
        found, self._unreported = self._unreported, Found()
        return found
