"""The lines that we wrote, kept until they have been seen in the file some seconds later.

Whoever had read the file before us may write it anew after us: pi does when it migrates, an editor when it saves, a
sync tool when it takes the other side. What we wrote and answered for is then gone from it, and only we still have it.
"""

from __future__ import annotations

import contextlib
import errno
import math
import secrets
import threading
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


class Batch(Struct, frozen=True, gc=False):
    """`data` was written at `offset`; `at` is when, on the clock of Files."""

    at: float
    offset: int
    data: bytes


class OwnLines:
    """Of one session file, whichever log has it open. `lost_dir` takes what was lost."""

    def __init__(self, files: Files, path: Path, lost_dir: Path, parted: set[OwnLines]) -> None:
        """`parted` holds those that no log looks after, while they have something to be looked for."""
        self.path = path
        self._files = files
        self._lost_dir = lost_dir
        self._parted = parted
        self._logs = 0
        # When the oldest is to be looked for, on the clock of Files: asked before each batch.
        self.due_at = math.inf
        self._batches: deque[Batch] = deque()
        self._size = 0
        # A log that takes over from another may overlap with it.
        self._lock = threading.RLock()

    def __bool__(self) -> bool:
        return bool(self._batches)

    def wrote(self, offset: int, data: bytes) -> None:
        at = self._files.now()
        with self._lock:
            if not self._batches:
                self.due_at = at + SEEN_SECONDS
            self._batches.append(Batch(at, offset, data))
            self._size += len(data)
            if self._size > MOST_BYTES:
                self.due_at = -math.inf

    @property
    def full(self) -> bool:
        return self.due_at == -math.inf

    def due(self) -> bool:
        """Whether batches are to be looked for in the file."""
        return self._files.now() >= self.due_at

    def _left(self, batches: deque[Batch]) -> None:
        self._batches = batches
        self._size = sum(len(batch.data) for batch in batches)
        if self._size > MOST_BYTES:
            self.due_at = -math.inf
        else:
            self.due_at = batches[0].at + SEEN_SECONDS if batches else math.inf

    def look(self, fd: int, *, every: bool = False) -> bool:
        """Let go what is in the file behind `fd`, of the batches that are due; False where one isn't where it was
        written. `every`: look for all of them, and let none go. Raises OSError."""
        with self._lock:
            if not every and not self.due():
                return True
            try:
                for run in self._runs(every):
                    if not self._is_there(fd, run[0].offset, b"".join([batch.data for batch in run])):
                        return False
                    for _ in range(0 if every else len(run)):
                        self._batches.popleft()
                return True
            finally:
                self._left(self._batches)

    def _runs(self, every: bool) -> list[list[Batch]]:
        """Batches that are old enough, those together that lie together."""
        now = self._files.now()
        # Half at a time: not every batch beyond the bound shall have to wait for a look.
        too_many = self._size - MOST_BYTES // 2 if self.full else 0
        runs: list[list[Batch]] = []
        size = end = 0
        for batch in self._batches:
            if not (every or too_many > 0 or now - batch.at >= SEEN_SECONDS / 2):
                break
            if not runs or batch.offset != end or size > _RUN_BYTES:
                runs.append([])
                size = 0
            runs[-1].append(batch)
            size += len(batch.data)
            end = batch.offset + len(batch.data)
            too_many -= len(batch.data)
        return runs

    def _is_there(self, fd: int, offset: int, data: bytes) -> bool:
        try:
            return read_ranges(self._files, fd, [offset], [len(data)]) == [data]
        except OSError as error:
            if error.errno == errno.ESTALE:  # the file ends before
                return False
            raise

    def lost(self, *, last: bool = False) -> tuple[list[str], str | None]:
        """The entries of ours that the file at the path hasn't, by their ids, and the file in which they are kept;
        those that it has are looked for again where they are now.

        That file was written anew, or is another by now. Where there is none, that was a deletion, and where it can't
        be read, nobody knows: nothing is lost yet, but for the `last` time that is asked. What can't be kept has no
        path. Raises nothing.
        """
        with self._lock:
            try:
                there = self._in_the_file() if self._batches else {}
            except FileNotFoundError:
                return [], None
            except OSError:
                if not last:
                    return [], None
                there = {}
            lost = {head.id: line for _, head, line in self._entries() if head.id not in there}
            left = [(at, there.get(head.id), line) for at, head, line in self._entries()]
            self._left(deque(Batch(at, place.offset, line) for at, place, line in left if place is not None))
            return list(lost), self._keep(list(lost.values())) if lost else None

    def _entries(self) -> Iterator[tuple[float, Head, bytes]]:
        for batch in self._batches:
            for line in batch.data.split(b"\n"):
                head = read_line(line, 0)
                if isinstance(head, Head):
                    yield batch.at, head, line[: head.length]

    def _in_the_file(self) -> dict[str, Head | None]:
        """Which entries the file at the path has, and where those of ours are; None for what is said differently there:
        who wrote it had read ours."""
        fd = self._files.open(self.path, READ)
        try:
            there: dict[str, Head | None] = {head.id: head for head in scan(self._files, fd).heads}
            for _, head, line in self._entries():
                place = there.get(head.id)
                if place and read_ranges(self._files, fd, [place.offset], [place.length]) != [line]:
                    there[head.id] = None
            return there
        finally:
            self._files.close(fd)

    # Logs that come and go

    def taken(self, fd: int | None) -> tuple[list[str], str | None]:
        """A log is opened, of the file behind `fd` if there is one. Gives what has been lost since the last one was
        closed, as `lost` does. Raises nothing."""
        with self._lock:
            self._logs += 1
            self._parted.discard(self)
            if not self._batches or fd is None or self._logs > 1:
                return [], None
            try:
                return ([], None) if self.look(fd, every=True) else self.lost()
            except OSError:
                return [], None  # it will be looked for again

    def part(self, file: Follower | None) -> None:
        """A log is closed, of that file: nobody is told any more, but what was lost is kept. Raises nothing."""
        with self._lock:
            self._logs -= 1
            if self._logs or not self._batches or file is None:
                return
            try:
                file.check()
                there = self.look(file.fd, every=True)
            except Replaced:
                there = False
            except (OSError, StorageFailed):
                there = True  # for all that anybody knows; it will be looked for again
            if not there:
                self.lost(last=True)
            if self._batches:
                self._parted.add(self)

    def look_after(self) -> tuple[list[str], str | None]:
        """As `lost`, when some seconds have passed since the last log was closed. Raises nothing."""
        with self._lock:
            if self._logs or not self.due():
                return [], None
            there = False
            with contextlib.suppress(OSError):
                fd = self._files.open(self.path, READ)
                try:
                    there = self.look(fd)
                finally:
                    self._files.close(fd)
            lost: tuple[list[str], str | None] = ([], None) if there else self.lost(last=True)
            if not there:
                self._left(deque())
            if not self._batches:
                self._parted.discard(self)
            return lost

    def _keep(self, lines: list[bytes]) -> str | None:
        # One file a loss, under a name that none had before.
        path = self._lost_dir / f"{self.path.stem[:200]}.{secrets.token_hex(4)}{self.path.suffix}"
        try:
            changed = make_folder(self._files, self._lost_dir)
            fd = write_new(self._files, path, lambda: [b"\n".join([*lines, b""])], synced=True)
            self._files.close(fd)
            for folder in (self._lost_dir, *changed):
                sync_folder(self._files, folder)
        except OSError:
            return None
        return str(path)
