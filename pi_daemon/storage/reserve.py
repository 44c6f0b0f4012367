"""Reservations: between the choice of a session's place and its file, one creator has it.

Two creates or forks to one directory and id, in this process or another, must not both succeed,
and O_EXCL can't see to that, since a file's name begins with the time. A reservation is a flock on a file in a fixed
directory of the user; it dies with its holder. The lock's name is a hash of directory and id, and the directory
stands for the working directory, since `/a/b` and `/a-b` share a folder.
"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from pi_daemon.session.errors import SessionExists, StorageFailed
from pi_daemon.storage.system import PRIVATE_FOLDER, Files, make_folder, refusal

_OPEN = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class Reservation:
    """One held reservation. `release` may be called twice."""

    def __init__(self, files: Files, path: Path, fd: int) -> None:
        self._files = files
        self._path = path
        self._fd = fd

    def release(self) -> None:
        if self._fd < 0:
            return
        fd, self._fd = self._fd, -1
        try:
            # Under the lock, so nobody can be unlinked by us who has it.
            self._files.unlink(self._path)
        except OSError:
            pass  # a lock file that stays is empty, and taken again by the next one
        finally:
            self._files.close(fd)


def reserve(files: Files, lock_dir: Path, folder: Path, session_id: str) -> Reservation:
    """Raises SessionExists where somebody holds it, StorageFailed where the lock can't be had at all."""
    key = hashlib.sha256(f"{folder}\0{session_id}".encode("utf-8", "surrogateescape")).hexdigest()
    path = lock_dir / f"{key}.lock"
    try:
        private_folder(files, lock_dir)
        while True:
            fd = files.open(path, _OPEN)
            held = False
            try:
                if not files.lock(fd):
                    raise SessionExists(f"a session {session_id} is being created there; choose another id")
                held = _same(files, path, fd)
            finally:
                if not held:
                    files.close(fd)
            if held:
                return Reservation(files, path, fd)
            # Its last holder unlinked it between our open and our lock.
    except OSError as error:
        raise refusal(error, f"reserve the session id in {lock_dir}") from error


def _same(files: Files, path: Path, fd: int) -> bool:
    try:
        there = files.stat(path)
    except FileNotFoundError:
        return False
    return os.path.samestat(there, files.fstat(fd))


def private_folder(files: Files, folder: Path) -> None:
    """Make a directory of locks; refuse one that somebody else could write to. Raises OSError, StorageFailed."""
    make_folder(files, folder)
    state = os.lstat(folder)
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.geteuid():
        raise StorageFailed(f"{folder} must be a directory of this user; remove what is there", errno="EPERM")
    if stat.S_IMODE(state.st_mode) & 0o022:
        os.chmod(folder, PRIVATE_FOLDER)
