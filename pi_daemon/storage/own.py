"""The lines that we wrote, kept until they have been seen in the file some seconds later.

Whoever had read the file before us may write it anew after us: pi does when it migrates, an editor when it saves, a
sync tool when it takes the other side. What we wrote and answered for is then gone from it, and only we still have it.
"""

from __future__ import annotations

import errno
import secrets
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from pi_daemon.session.entry import read_line
from pi_daemon.session.errors import StorageFailed
from pi_daemon.session.head import Head
from pi_daemon.storage.follow import Follower, Replaced
from pi_daemon.storage.lines import read_ranges
from pi_daemon.storage.publish import write_new
from pi_daemon.storage.scan import scan
from pi_daemon.storage.system import READ, Files, make_folder, sync_folder

SEEN_SECONDS = 5.0
"""So long after it was written a batch is looked for in the file, with all that are half as old, so that in a steady
stream not every look has to read. Who rewrites a file has mostly read it just before."""

MOST_BYTES = 16 << 20
"""Kept of one session at most: beyond, batches are looked for at once."""


_RUN_BYTES = 1 << 20
"""Read at once."""


class Batch(Struct, frozen=True):
    """`data` was written at `offset`; `at` is when, on the clock of Files."""

    at: float
    offset: int
    data: bytes


class OwnLines:
    """Of one session file. `lost_dir` takes what was lost. Not for two threads at a time."""

    def __init__(self, files: Files, path: Path, lost_dir: Path) -> None:
        self._files = files
        self._path = path
        self._lost_dir = lost_dir
        self._batches: deque[Batch] = deque()
        self._size = 0
        self._lost: list[str] = []
        self._kept_at: str | None = None

    def __bool__(self) -> bool:
        return bool(self._batches)

    def wrote(self, offset: int, data: bytes) -> None:
        self._batches.append(Batch(self._files.now(), offset, data))
        self._size += len(data)

    @property
    def full(self) -> bool:
        return self._size > MOST_BYTES

    def due(self) -> bool:
        """Whether batches are to be looked for in the file."""
        if not self._batches:
            return False
        return self.full or self._files.now() - self._batches[0].at >= SEEN_SECONDS

    def look(self, fd: int, *, all_of_them: bool = False) -> bool:
        """Let go what is in the file behind `fd`, of the batches that are due; False where one isn't where it was
        written. Raises OSError."""
        if not all_of_them and not self.due():
            return True
        now = self._files.now()
        # Half at a time: not every batch beyond the bound shall have to wait for a look.
        too_many = self._size - MOST_BYTES // 2 if self.full else 0
        while self._batches:
            run: list[Batch] = []
            size = 0
            for batch in self._batches:
                old = all_of_them or size < too_many or now - batch.at >= SEEN_SECONDS / 2
                if not old or size > _RUN_BYTES or (run and batch.offset != run[0].offset + size):
                    break
                run.append(batch)
                size += len(batch.data)
            if not run:
                break
            if not self._is_there(fd, run[0].offset, b"".join([batch.data for batch in run])):
                return False
            for _ in run:
                self._batches.popleft()
            self._size -= size
            too_many -= size
        return True

    def _is_there(self, fd: int, offset: int, data: bytes) -> bool:
        try:
            return read_ranges(self._files, fd, [offset], [len(data)]) == [data]
        except OSError as error:
            if error.errno == errno.ESTALE:  # the file ends before
                return False
            raise

    def lost(self, *, last: bool = False) -> tuple[list[str], str | None]:
        """The entries of ours that the file at the path hasn't, by their ids, and the file in which they are kept.

        That file was written anew, or is another by now. Where there is none, that was a deletion, and where it can't
        be read, nobody knows: nothing is lost yet, but for the `last` time that is asked. What can't be kept has no
        path. Who asks again is told the same: a waiter that was cancelled has not heard it. Raises nothing.
        """
        try:
            present = self._present() if self._batches else set()
        except FileNotFoundError:
            return [], None
        except OSError:
            if not last:
                return [], None
            present = set()
        lines = {head.id: line for head, line in self._entries() if head.id not in present}
        self._batches.clear()
        self._size = 0
        if lines:
            self._lost, self._kept_at = list(lines), self._keep(list(lines.values()))
        return self._lost, self._kept_at

    def part(self, file: Follower) -> None:
        """A last look: nobody is told any more, but what was lost is kept. Raises nothing."""
        if self._batches:
            try:
                file.check()
                there = self.look(file.fd, all_of_them=True)
            except Replaced:
                there = False
            except (OSError, StorageFailed):
                return
            if not there:
                self.lost(last=True)

    def _entries(self) -> Iterator[tuple[Head, bytes]]:
        for batch in self._batches:
            for line in batch.data.split(b"\n"):
                head = read_line(line, 0)
                if isinstance(head, Head):
                    yield head, line

    def _present(self) -> set[str]:
        fd = self._files.open(self._path, READ)
        try:
            return {head.id for head in scan(self._files, fd).heads}
        finally:
            self._files.close(fd)

    def _keep(self, lines: list[bytes]) -> str | None:
        # One file a loss, under a name that none had before.
        path = self._lost_dir / f"{self._path.stem[:200]}.{secrets.token_hex(4)}{self._path.suffix}"
        try:
            changed = make_folder(self._files, self._lost_dir)
            fd = write_new(self._files, path, lambda: [b"\n".join([*lines, b""])], synced=True)
            self._files.close(fd)
            for folder in (self._lost_dir, *changed):
                sync_folder(self._files, folder)
        except OSError:
            return None
        return str(path)
