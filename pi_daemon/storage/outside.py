"""A file that a client wants written somewhere else than among the sessions.

It comes whole or not at all, and never over anything that is there: its bytes go into a file of our own beside the
place, which then gets the name by a hard link, as a new session does.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from pathlib import Path

from pi_daemon.session.errors import InvalidParams, StorageFailed
from pi_daemon.storage.keep import chunks
from pi_daemon.storage.layout import Layout
from pi_daemon.storage.publish import NO_LINKS, drop, staging_path, write_all, write_new
from pi_daemon.storage.system import PATH_BYTES, Files, sync_folder, telling
from pi_daemon.storage.threads import in_thread

NAME_BYTES = 240
"""Of a file's name at most: a file name may have 255 bytes, and the one of our own is longer by ten."""


class NewFile:
    """To be written in portions, then finished or dropped. Its methods raise StorageFailed."""

    def __init__(self, files: Files, path: Path, beside: Path, fd: int) -> None:
        self._files = files
        self._path = path
        self._beside = beside
        self._fd = fd
        # A waiter that is cancelled doesn't stop the thread that writes for it.
        self._lock = threading.Lock()

    @property
    def path(self) -> str:
        return str(self._path)

    async def write(self, data: bytes) -> None:
        await in_thread(self._write, data)

    async def finish(self) -> None:
        """Give it its name. Raises StorageFailed with EEXIST where something has that by now."""
        await in_thread(self._finish)

    async def drop(self) -> None:
        await in_thread(self._drop)

    def _write(self, data: bytes) -> None:
        with self._lock, telling(f"write {self._path.name}"):
            write_all(self._files, self._fd, data)

    def _finish(self) -> None:
        try:
            with self._lock, telling(f"write {self._path.name}"):
                self._files.fsync(self._fd)
                try:
                    self._files.link(self._beside, self._path)
                except OSError as error:
                    if error.errno == errno.EEXIST:
                        raise taken(self._path) from error
                    if error.errno not in NO_LINKS:
                        raise
                    self._copy()
                sync_folder(self._files, self._path.parent)
        finally:
            self._drop()

    def _copy(self) -> None:
        """Where there are no hard links."""
        try:
            size = self._files.fstat(self._fd).st_size
            fd = write_new(self._files, self._path, lambda: chunks(self._files, self._fd, 0, size), synced=True)
        except FileExistsError as error:
            raise taken(self._path) from error
        self._files.close(fd)

    def _drop(self) -> None:
        with self._lock:
            fd, self._fd = self._fd, -1
            if fd >= 0:
                drop(self._files, self._beside, fd)
                self._files.close(fd)


def new_file(files: Files, layout: Layout, path: str) -> NewFile:
    """Raises InvalidParams for a path that is not absolute, or leads to where sessions lie; StorageFailed, with EEXIST
    where something is there."""
    real = _real(files, layout, path)
    if os.path.lexists(real):
        raise taken(real)
    beside = staging_path(real)
    with telling(f"write {real.name} in {real.parent}"):
        return NewFile(files, real, beside, write_new(files, beside, tuple, synced=False))


def _real(files: Files, layout: Layout, path: str) -> Path:
    with contextlib.suppress(UnicodeEncodeError):
        sizes = len(os.fsencode(path)), len(os.fsencode(os.path.basename(path)))
        if os.path.isabs(path) and "\0" not in path and sizes[0] < PATH_BYTES and sizes[1] <= NAME_BYTES:
            folder = Path(os.path.realpath(os.path.dirname(path)))
            name = os.path.basename(path)
            if name in ("", ".", ".."):
                raise InvalidParams("Name a file, not a directory.", path="path")
            if any(folder.is_relative_to(root) for root in layout.roots(files)):
                words = "An export among the sessions would be another session: give a path elsewhere."
                raise InvalidParams(words, path="path")
            return folder / name
    raise InvalidParams(f"Give an absolute path, whose last part has at most {NAME_BYTES} bytes.", path="path")


def taken(path: Path) -> StorageFailed:
    return StorageFailed(f"{path.name} exists already, and nothing is overwritten; give another path", errno="EEXIST")
