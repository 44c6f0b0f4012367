"""A lock that one process holds for as long as it lives: flock on a file, which nobody ever deletes.

What a dead process left behind is a file without a lock, and therefore no obstacle. The file says who holds it.
"""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

import msgspec

from pi_daemon.session.errors import PiDaemonError
from pi_daemon.transports.own import read_own

_ABOUT_BYTES = 4096
"""More than a holder says of itself."""


class Holder(msgspec.Struct, frozen=True):
    """Who holds a lock: the process, which version of this program it runs, and the options of `pi-daemon serve` that
    would start another like it."""

    pid: int
    version: str
    arguments: tuple[str, ...] = ()


class CannotLock(PiDaemonError):
    """The lock's file can't be used: it is a link, somebody else's, or can't be made."""

    reason = "cannotListen"


class Lock:
    """Made open, then acquired. Raises CannotLock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise CannotLock(f"{path} can't be opened: {error.strerror}. Remove it if it isn't yours.") from error
        found = os.fstat(self._descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            self.release()
            raise CannotLock(f"{path} is not a file of yours: remove it.")

    def acquire(self) -> bool:
        """Whether it is ours now. Doesn't wait."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def tell(self, holder: Holder) -> None:
        """Say who holds it, for those who find it taken."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, msgspec.json.encode(holder), 0)

    def release(self) -> None:
        """May be called twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def held(path: Path) -> bool:
    """Whether somebody holds the lock now. Who asks is in the way of whoever wants it at this very moment: only for
    locks that are tried again."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def told(path: Path) -> Holder | None:
    """Who held the lock last; None where nobody said, or the file can't be trusted."""
    about = read_own(path, _ABOUT_BYTES)
    try:
        return msgspec.json.decode(about, type=Holder) if about is not None else None
    except ValueError:
        return None
