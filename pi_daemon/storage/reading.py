"""Opening a session file to read it, and what is said of one that is none."""

from __future__ import annotations

import contextlib
import errno
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from pi_daemon.session.errors import SessionCorrupted, SessionNotFound
from pi_daemon.session.head import Header
from pi_daemon.storage.scan import Scan, scan
from pi_daemon.storage.system import READ, Files, telling

_NOT_THERE = {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP}


@contextlib.contextmanager
def finding(path: Path) -> Iterator[None]:
    """Turn an OSError of the block into SessionNotFound or StorageFailed."""
    with telling(f"open {path.name}"):
        try:
            yield
        except OSError as error:
            if error.errno in _NOT_THERE:
                raise SessionNotFound(f"there is no session file {path.name}") from error
            raise


def open_file(files: Files, path: Path, flags: int = READ) -> int:
    """Raises OSError, SessionCorrupted for what is no file: to open a pipe would be to wait for ever."""
    if not stat.S_ISREG(files.stat(path).st_mode):
        raise SessionCorrupted(f"{path.name} is no file", damage=[], recoverable=False, copy=None)
    return files.open(path, flags)


@contextlib.contextmanager
def scanned(files: Files, path: Path) -> Iterator[tuple[int, Scan]]:
    """The file, open and read. Raises SessionNotFound, SessionCorrupted for what is no file, StorageFailed."""
    with finding(path):
        fd = open_file(files, path)
    try:
        with telling(f"read {path.name}"):
            yield fd, scan(files, fd)
    finally:
        files.close(fd)


def header_of(path: Path, found: Scan) -> Header:
    """Raises SessionCorrupted for a file that is no session."""
    if found.header is None or found.refused is not None:
        raise corrupted(path, found, None)
    return found.header


def corrupted(path: Path, found: Scan, copy: str | None) -> SessionCorrupted:
    """What is wrong with the file, and what can be done about it."""
    if found.refused is not None:
        message = f"{path.name} is no session: {found.refused}. It was left as it is"
    else:
        count = "1 entry" if found.lost == 1 else f"{found.lost:,} entries"
        message = (
            f"{path.name} has lines that can't be read, and {count} lost an ancestor with them; "
            'open it with recover: "skip", or repair it'
        )
    return SessionCorrupted(
        message, damage=msgspec.to_builtins(found.damage), recoverable=found.refused is None, copy=copy
    )
