"""Copies put aside in the state directory: of a damaged file once, of every file before it is rewritten."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from pi_daemon.storage.publish import staging_path, write_new
from pi_daemon.storage.system import READ, Files, make_folder, sync_folder

CHUNK = 1 << 20
"""Bytes copied at once."""


def keep_copy(files: Files, path: Path, folder: Path) -> Path:
    """A copy of the file as it is now, in `folder`; the same one again while the file stays as it is.
    Raises OSError."""
    fd = files.open(path, READ)
    try:
        state = files.fstat(fd)
        identity = f"{path}\0{state.st_dev}\0{state.st_ino}\0{state.st_size}\0{state.st_mtime_ns}"
        digest = hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:12]
        # A file name may have 255 bytes, and the staged copy's is longer by ten.
        copy = folder / f"{path.stem[:200]}.{digest}{path.suffix}"
        with contextlib.suppress(FileNotFoundError):
            if files.stat(copy).st_size == state.st_size:
                return copy
        changed = make_folder(files, folder)
        beside = staging_path(copy)
        staged = write_new(files, beside, lambda: chunks(files, fd, 0, state.st_size), synced=True)
        try:
            files.rename(beside, copy)
        except BaseException:
            with contextlib.suppress(OSError):
                files.unlink(beside)
            raise
        finally:
            files.close(staged)
        for parent in (folder, *changed):
            sync_folder(files, parent)
        return copy
    finally:
        files.close(fd)


def chunks(files: Files, fd: int, start: int, stop: int) -> Iterator[bytes]:
    """The bytes from `start` to `stop`, or to the end where that comes first. Raises OSError."""
    while start < stop:
        chunk = files.read(fd, min(CHUNK, stop - start), start)
        if not chunk:
            break
        start += len(chunk)
        yield chunk


def same_file(files: Files, path: Path, fd: int) -> bool:
    """Whether `path` names the file behind `fd`. Raises OSError."""
    try:
        return os.path.samestat(files.stat(path), files.fstat(fd))
    except FileNotFoundError:
        return False
