"""Deleting means the trash of the desktop: a session can be had back until its user empties that."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from send2trash.exceptions import TrashPermissionError  # type: ignore[import-untyped]

from pi_daemon.session.errors import StorageFailed
from pi_daemon.storage.system import READ, Files, refusal


def move_to_trash(files: Files, path: Path) -> str | None:
    """Where the file went, if the system tells. Raises StorageFailed, and the file is where it was: it is never
    unlinked instead."""
    try:
        fd = files.open(path, READ)
    except OSError as error:
        raise refusal(error, f"delete {path.name}") from error
    try:
        files.trash(path)
        return _name_of(fd)
    except TrashPermissionError as error:
        raise StorageFailed(
            f"can't move {path.name} to the trash: its file system has none that we may use; delete the file yourself",
            errno="EACCES",
        ) from error
    except OSError as error:
        told = refusal(error, f"move {path.name} to the trash")
        message = f"{told.message}. Nothing was deleted; you may delete the file yourself"
        raise StorageFailed(message, **told.data) from error
    finally:
        files.close(fd)


def _name_of(fd: int) -> str | None:
    """The path by which the system knows an open file now (Linux tells)."""
    with contextlib.suppress(OSError):
        path = os.readlink(f"/proc/self/fd/{fd}")
        if os.path.samestat(os.stat(path), os.fstat(fd)):
            return path
    return None
