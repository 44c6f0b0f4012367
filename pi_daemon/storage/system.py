"""The calls to the operating system that this room makes, one thin method each.

Everything that touches a session file goes through a `Files`, so a test can make the N-th call fail,
be cut short, or take its time. Each method but `close` raises OSError as the system does; `refusal` turns that
into the error a client sees.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from send2trash import send2trash  # type: ignore[import-untyped]

from pi_daemon.session.errors import StorageFailed

PRIVATE_FILE = 0o600
"""A transcript holds what its user typed and what the tools printed, secrets included."""

PRIVATE_FOLDER = 0o700

PATH_BYTES = 4096
"""No system call takes a path that long. To follow its links name by name costs the square of its length: seconds in
a thread that others wait for, if it is a client's."""

READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
"""To read a file by its real path: a link put there since, or a pipe, must not be opened in its place."""

APPEND = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK

CREATE = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


class Files:
    """The operating system itself."""

    def open(self, path: str | Path, flags: int, mode: int = PRIVATE_FILE) -> int:
        return os.open(path, flags, mode)

    def close(self, fd: int) -> None:
        """Raises nothing for what a late write-back has to say: the descriptor is gone all the same, and what must be
        on the disk has been synced."""
        try:
            os.close(fd)
        except OSError as error:
            if error.errno == errno.EBADF:
                raise

    def stat(self, path: str | Path) -> os.stat_result:
        return os.stat(path)

    def fstat(self, fd: int) -> os.stat_result:
        return os.fstat(fd)

    def read_into(self, fd: int, buffer: memoryview, offset: int) -> int:
        """Fill as much of `buffer` as the file has at `offset`; 0 at its end."""
        return os.preadv(fd, [buffer], offset)

    def read(self, fd: int, size: int, offset: int) -> bytes:
        """Up to `size` bytes at `offset`."""
        return os.pread(fd, size, offset)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """One write; how many bytes were taken."""
        return os.write(fd, data)

    def position(self, fd: int) -> int:
        """Where the last write to an O_APPEND descriptor ended."""
        return os.lseek(fd, 0, os.SEEK_CUR)

    def fsync(self, fd: int) -> None:
        os.fsync(fd)

    def fdatasync(self, fd: int) -> None:
        os.fdatasync(fd)

    def ftruncate(self, fd: int, size: int) -> None:
        os.ftruncate(fd, size)

    def chmod(self, fd: int, mode: int) -> None:
        os.fchmod(fd, mode)

    def link(self, source: Path, target: Path) -> None:
        """A second name for a file; fails where the target exists, whatever it is."""
        os.link(source, target, follow_symlinks=False)

    def rename(self, source: Path, target: Path) -> None:
        os.rename(source, target)

    def unlink(self, path: Path) -> None:
        os.unlink(path)

    def mkdir(self, path: Path) -> None:
        os.mkdir(path, PRIVATE_FOLDER)

    def entries(self, folder: Path) -> Sequence[os.DirEntry[str]]:
        """What lies in a folder, in no order."""
        with os.scandir(folder) as found:
            return list(found)

    def lock(self, fd: int) -> bool:
        """An exclusive flock, if nobody else holds one on that file."""
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(self, fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_UN)

    def trash(self, path: Path) -> None:
        send2trash(str(path))

    def now(self) -> float:
        """Seconds on a clock that only goes forward."""
        return time.monotonic()

    def wall(self) -> float:
        """Seconds since 1970, as the system's clock has it."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


_ADVICE = {
    errno.ENOSPC: "free some space and try again",
    errno.EDQUOT: "free some space within the quota and try again",
    errno.EACCES: "check the permissions of the file and its folder",
    errno.EPERM: "check the permissions of the file and its folder",
    errno.EROFS: "the file system is mounted read-only",
    errno.EFBIG: "the file has reached the size that this process or file system allows",
    errno.EMFILE: "close some sessions, or raise the limit on open files",
    errno.ENFILE: "close some sessions, or raise the limit on open files",
    errno.ENOENT: "it was moved or deleted",
    errno.ENOLCK: "its file system has no locks; keep sessions on one that has",
    errno.EOPNOTSUPP: "its file system has no locks; keep sessions on one that has",
}


def refusal(error: OSError, action: str) -> StorageFailed:
    """What a client is told of `error`: the action that failed, why, and what to do."""
    code = error.errno or errno.EIO
    advice = _ADVICE.get(code)
    why = os.strerror(code)
    return StorageFailed(
        f"can't {action}: {why}; {advice}" if advice else f"can't {action}: {why}",
        errno=errno.errorcode.get(code, str(code)),
    )


@contextlib.contextmanager
def telling(action: str) -> Iterator[None]:
    """Turn an OSError of the block into StorageFailed."""
    try:
        yield
    except OSError as error:
        raise refusal(error, action) from error


def make_folder(files: Files, folder: Path) -> list[Path]:
    """Make `folder` and what lacks above it, each 0700. Gives the folders whose listing has changed."""
    missing: list[Path] = []
    while True:
        try:
            files.stat(folder)
        except FileNotFoundError:
            missing.append(folder)
            folder = folder.parent
        else:
            break
    for path in reversed(missing):
        try:
            files.mkdir(path)
        except FileExistsError:
            continue
    return [path.parent for path in missing]


_NO_FOLDER_SYNC = {errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS}
"""What file systems answer that can't sync a directory: they have nothing to sync there."""


def sync_folder(files: Files, folder: Path) -> None:
    """Make the names in `folder` survive a power loss; what we may not read isn't ours to see to. Raises OSError."""
    try:
        fd = files.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except PermissionError:
        return
    try:
        files.fsync(fd)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        files.close(fd)
