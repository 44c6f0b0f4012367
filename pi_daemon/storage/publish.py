"""New files come whole or not at all.

The bytes go into a file of our own beside the place, made with O_EXCL under a random name that no reader takes for a
session, and then get their name by a hard link, which fails where that name is taken. So nobody ever reads half a fork,
and what a failure leaves behind is ours beyond doubt.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec import Struct

from pi_daemon.session.errors import SessionExists
from pi_daemon.storage.system import CREATE, PRIVATE_FILE, Files, make_folder

NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
"""What file systems without hard links answer."""

Chunks = Callable[[], Iterable[bytes]]
"""The content of a new file; called once more where a first attempt came to nothing."""


class Published(Struct, frozen=True):
    """A new file: its descriptor, open for appending and locked, its state, and the folders whose names must yet be
    synced for it to survive a power loss."""

    fd: int
    state: os.stat_result
    folders: list[Path]


def publish(files: Files, path: Path, chunks: Chunks, *, synced: bool) -> Published:
    """Make `path` with what `chunks` gives; its content is synced if `synced` says so, its name isn't yet.

    Raises SessionExists where the path is taken, OSError (nothing is left) for every other failure.
    """
    folders = [path.parent, *make_folder(files, path.parent)]
    beside = staging_path(path)
    fd = write_new(files, beside, chunks, synced=synced)
    try:
        files.lock(fd)
        state = files.fstat(fd)
        files.link(beside, path)
    except OSError as error:
        drop(files, beside, fd)
        files.close(fd)
        if isinstance(error, FileExistsError):
            raise SessionExists(f"{path.name} exists already; choose another id") from error
        if error.errno not in NO_LINKS:
            raise
        return _publish_directly(files, path, chunks, folders, synced)
    with contextlib.suppress(OSError):
        files.unlink(beside)
    return Published(fd, state, folders)


def _publish_directly(files: Files, path: Path, chunks: Chunks, folders: list[Path], synced: bool) -> Published:
    """Where there are no hard links, a reader may see the file while it is being written."""
    try:
        fd = write_new(files, path, chunks, synced=synced)
    except FileExistsError as error:
        raise SessionExists(f"{path.name} exists already; choose another id") from error
    try:
        files.lock(fd)
        return Published(fd, files.fstat(fd), folders)
    except OSError:
        drop(files, path, fd)
        files.close(fd)
        raise


def staging_path(path: Path) -> Path:
    """Beside `path`, under a name that no two attempts share."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}")


_STAGED = re.compile(r"\..+\.[0-9a-f]{8}", re.DOTALL)


def is_staged(name: str) -> bool:
    """Whether it is a name that `staging_path` gives, for a session file."""
    return _STAGED.fullmatch(name) is not None and name[:-9].endswith(".jsonl")


def write_new(files: Files, path: Path, chunks: Chunks, *, synced: bool, mode: int = PRIVATE_FILE) -> int:
    """A file that wasn't there before, with that content; the descriptor. Raises OSError, and leaves nothing."""
    fd = files.open(path, CREATE, mode)
    try:
        for chunk in chunks():
            write_all(files, fd, chunk)
        if synced:
            files.fsync(fd)
    except BaseException:
        drop(files, path, fd)
        files.close(fd)
        raise
    return fd


def write_all(files: Files, fd: int, data: bytes) -> None:
    """Write on where a write was cut short; only for a file that nobody else knows. Raises OSError."""
    rest = memoryview(data)
    while rest:
        taken = files.write(fd, rest)
        if taken <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        rest = rest[taken:]


def drop(files: Files, path: Path, fd: int, size: int | None = None) -> None:
    """Unlink `path` if it is the file behind `fd`, one that we made, and (with `size`) nobody has added to it."""
    with contextlib.suppress(OSError):
        there = files.stat(path)
        if os.path.samestat(there, files.fstat(fd)) and size in (None, there.st_size):
            files.unlink(path)
