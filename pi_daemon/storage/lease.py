"""The writer lease: between daemons, one process at a time writes to a session file.

The lock is a flock on the session file itself: it dies with its holder, whatever becomes of that, and leaves nothing
behind. Reading needs none, and pi knows none. Who holds it says so in a small file in a fixed directory of the user,
for others to name; nobody takes that note for the lock.
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec

from pi_daemon.session.dates import from_ms
from pi_daemon.session.errors import StorageFailed, WriterBusy
from pi_daemon.session.rawjson import BadJson, dumps, loads
from pi_daemon.storage.protocols import Owner
from pi_daemon.storage.publish import write_all
from pi_daemon.storage.reserve import private_folder
from pi_daemon.storage.system import READ, Files

NOTE_BYTES = 4096
"""More than any note has: a file that is larger is none."""

_NOTE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW

Identity = tuple[int, int]
"""Device and inode."""

_held: set[Identity] = set()
"""The files that this process holds; each name is added and removed under the file's lock."""


class Notes:
    """Who holds which file, as the holders have said. What can't be written or read is not said; no error is raised."""

    def __init__(self, files: Files, folder: Path) -> None:
        self._files = files
        self._folder = folder
        self._tidied = False
        self._tidying = threading.Lock()

    def write(self, held: Identity, owner: Owner) -> None:
        with contextlib.suppress(OSError, StorageFailed):
            private_folder(self._files, self._folder)
            self._tidy()
            fd = self._files.open(self._path(held), _NOTE)
            try:
                write_all(self._files, fd, dumps(msgspec.to_builtins(owner)))
            finally:
                self._files.close(fd)

    def read(self, held: Identity) -> Owner | None:
        return self._read(self._path(held))

    def remove(self, held: Identity) -> None:
        with contextlib.suppress(OSError):
            self._files.unlink(self._path(held))

    def _path(self, held: Identity) -> Path:
        return self._folder / f"{held[0]:x}-{held[1]:x}.json"

    def _read(self, path: Path) -> Owner | None:
        """None too where the note's writer is no more."""
        try:
            fd = self._files.open(path, READ)
            try:
                state = self._files.fstat(fd)
                if not stat.S_ISREG(state.st_mode) or state.st_uid != os.geteuid():
                    return None
                owner = msgspec.convert(loads(self._files.read(fd, NOTE_BYTES, 0)), Owner)
            finally:
                self._files.close(fd)
        except (OSError, msgspec.MsgspecError, BadJson):
            return None
        return owner if _lives(owner) else None

    def _tidy(self) -> None:
        """Once: drop what processes have left that were killed."""
        with self._tidying:
            if self._tidied:
                return
            self._tidied = True
        for entry in self._files.entries(self._folder):
            if self._read(Path(entry.path)) is None:
                with contextlib.suppress(OSError):
                    self._files.unlink(Path(entry.path))


class Lease:
    """The lease of one open session. Not for two threads at a time."""

    def __init__(self, files: Files, notes: Notes, path: Path, contact: str | None = None) -> None:
        self._files = files
        self._notes = notes
        self._path = path
        self._contact = contact
        self._holds: Identity | None = None
        self._owner: Owner | None = None

    @property
    def held(self) -> bool:
        return self._holds is not None

    def take(self, fd: int, state: os.stat_result, client: str | None = None) -> None:
        """Hold the file behind `fd`, `state`; nothing new where it is held. Raises WriterBusy, OSError where the file
        system has no locks."""
        file = (state.st_dev, state.st_ino)
        if self._holds is None:
            if not self._files.lock(fd):
                raise busy(self._path, self._notes.read(file))
            self.took(state, client)
        elif self._owner is not None and client not in (None, self._owner.client):
            self._say(file, msgspec.structs.replace(self._owner, client=client))

    def took(self, state: os.stat_result, client: str | None = None) -> None:
        """The file is locked already; where another one was held, that one isn't any more."""
        old, self._holds = self._holds, (state.st_dev, state.st_ino)
        _held.add(self._holds)
        since = from_ms(self._files.wall() * 1000) or ""
        self._say(self._holds, self._owner or Owner(os.getpid(), os.uname().nodename, since, client, self._contact))
        if old is not None and old != self._holds:
            _held.discard(old)
            self._notes.remove(old)

    def release(self, fd: int) -> None:
        """Give up the lease, if it is held, on the file behind `fd`. Raises OSError, and it is held yet."""
        if self._holds is None:
            return
        # Under the lock, so the next one's note isn't removed.
        self._notes.remove(self._holds)
        self._files.unlock(fd)
        _held.discard(self._holds)
        self._holds = self._owner = None

    def owner(self, state: os.stat_result) -> Owner | None:
        """Who holds the file, as far as it is known."""
        return self._owner or self._notes.read((state.st_dev, state.st_ino))

    def _say(self, file: Identity, owner: Owner) -> None:
        self._owner = owner
        self._notes.write(file, owner)


@contextlib.contextmanager
def holding(files: Files, notes: Notes, path: Path, fd: int) -> Iterator[None]:
    """Hold the file for one change to it. Raises WriterBusy, OSError."""
    lease = Lease(files, notes, path)
    lease.take(fd, files.fstat(fd))
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # it ends with the descriptor
            lease.release(fd)


def held_elsewhere(files: Files, notes: Notes, path: Path, fd: int) -> None:
    """Raises WriterBusy where another process holds the file, OSError."""
    state = files.fstat(fd)
    if (state.st_dev, state.st_ino) in _held:
        return
    if not files.lock(fd):
        raise busy(path, notes.read((state.st_dev, state.st_ino)))
    files.unlock(fd)


def busy(path: Path, owner: Owner | None) -> WriterBusy:
    if owner is None:
        return WriterBusy(f"another process writes to {path.name}; close the session there, or ask for it", owner=None)
    client = f" for {owner.client}" if owner.client else ""
    return WriterBusy(
        f"process {owner.pid} on {owner.host} writes to {path.name}{client} since {owner.since}; close the session "
        "there, or ask for it",
        owner={"pid": owner.pid, "host": owner.host, "since": owner.since, "client": owner.client},
    )


def _lives(owner: Owner) -> bool:
    if owner.host != os.uname().nodename:
        return True  # as far as anybody here can tell
    try:
        os.kill(owner.pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
