"""The files that a session speaks of, as they are. Nothing is written, and no time stamp of a file is set."""

from __future__ import annotations

import asyncio
import errno
import os
import stat
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal, TypeVar

from msgspec import Struct

from pi_daemon.storage.system import PATH_BYTES, READ, Files

T = TypeVar("T")

FILE_BYTES = 8 * 1024 * 1024
"""Of one file at most. What a model writes or is shown is a hundredth of that; a larger file is data."""

ALL_BYTES = 256 * 1024 * 1024
"""Of all files for one report: some seconds on a slow disk."""

NEAR_ENTRIES = 2_000
"""Names that are looked through for a directory that was moved."""

NEAR_FOUND = 5
"""Directories that are told where one was moved to, perhaps."""

NEAR_NAMES = 10
"""The last names of a path under which a moved directory is looked for: nobody moves one into the tree of another that
is deeper, and each name is looked for in each directory nearby."""

LOOKERS = 4
"""Threads. A network file system that doesn't answer holds one up for as long as it likes; it shall not be one of
those that write sessions."""

_NO_ATIME: int = getattr(os, "O_NOATIME", 0)
_NOT_THERE = {errno.ENOENT, errno.ENOTDIR}
_lookers = ThreadPoolExecutor(LOOKERS, thread_name_prefix="pi-daemon-world")

What = Literal["file", "folder", "gone", "other", "unreadable"]


class Seen(Struct):
    """`real`: without links. `size` in bytes, `modified` in ms since 1970, both of a file alone. `why`: for what is
    unreadable."""

    what: What
    real: str
    size: int = 0
    modified: int = 0
    why: str = ""


class World:
    """What is there. `home` is the user's home directory."""

    def __init__(self, files: Files | None = None, home: str | None = None) -> None:
        self._files = files or Files()
        self.home = home if home is not None else str(Path.home())

    async def looking(self, work: Callable[[], T]) -> T:
        """`work`, which asks for files, in a thread of these."""
        return await asyncio.get_running_loop().run_in_executor(_lookers, work)

    def look(self, path: str) -> Seen:
        """What is at an absolute path."""
        if len(path) >= PATH_BYTES:
            return Seen("unreadable", path, why=os.strerror(errno.ENAMETOOLONG))
        try:
            real = os.path.realpath(path)
            found = self._files.stat(real)
        except OSError as error:
            if error.errno in _NOT_THERE:
                return Seen("gone", os.path.realpath(path))
            return Seen("unreadable", path, why=os.strerror(error.errno or errno.EIO))
        except ValueError:  # NUL, or half a surrogate pair
            return Seen("unreadable", path, why="no file can have such a name")
        if stat.S_ISDIR(found.st_mode):
            return Seen("folder", real)
        if not stat.S_ISREG(found.st_mode):
            return Seen("other", real)
        return Seen("file", real, found.st_size, found.st_mtime_ns // 1_000_000)

    def text(self, seen: Seen) -> bytes | str:
        """The bytes of a file; or why they can't be had."""
        if seen.size > FILE_BYTES:
            return f"it has more than {FILE_BYTES // 1024 // 1024} MB"
        try:
            fd = self._open(seen.real)
        except OSError as error:
            return os.strerror(error.errno or errno.EIO)
        try:
            return self._read(fd)
        except OSError as error:
            return os.strerror(error.errno or errno.EIO)
        finally:
            self._files.close(fd)

    def _open(self, path: str) -> int:
        """A read must not even show in the time of the last access, where that can be had."""
        try:
            return self._files.open(path, READ | _NO_ATIME)
        except PermissionError:
            return self._files.open(path, READ)

    def _read(self, fd: int) -> bytes | str:
        if not stat.S_ISREG(self._files.fstat(fd).st_mode):
            return "it is no ordinary file any more"
        pieces: list[bytes] = []
        size = 0
        while piece := self._files.read(fd, min(1024 * 1024, FILE_BYTES + 1 - size), size):
            pieces.append(piece)
            size += len(piece)
            if size > FILE_BYTES:
                return f"it has more than {FILE_BYTES // 1024 // 1024} MB"
        return b"".join(pieces)

    def nearest(self, path: str) -> str:
        """The deepest directory above `path` that is there."""
        above = os.path.dirname(path)
        while above != os.path.dirname(above) and not self._is_folder(above):
            above = os.path.dirname(above)
        return above

    def near(self, path: str) -> list[str]:
        """Directories that one which isn't at `path` may have been moved to: of its name, or with the end of its path,
        beside it, below its nearest directory that is there, and at home. Sorted by how much of the path they share."""
        parts = [part for part in path.replace("\\", "/").split("/") if part]
        if not parts:
            return []
        nearest = self.nearest(path) if path.startswith("/") else "/"
        candidates = self._ends(self.home, parts)
        if nearest != "/":
            lost = parts[len([part for part in nearest.split("/") if part]) :]
            for folder in self._folders_below(nearest):
                candidates += self._ends(folder, lost)
            candidates += self._ends(nearest, lost)
        found = [one for one in dict.fromkeys(candidates) if one != path and self._is_folder(one)]
        found.sort(key=lambda one: -_shared_end(one, path))
        return found[:NEAR_FOUND]

    def _ends(self, folder: str, names: Sequence[str]) -> list[str]:
        """The ends of a path below `folder`, the longest first, those whose first name is there."""
        ends = [names[at:] for at in range(max(0, len(names) - NEAR_NAMES), len(names))]
        return [os.path.join(folder, *end) for end in ends if self._is_folder(os.path.join(folder, end[0]))]

    def _is_folder(self, path: str) -> bool:
        try:
            return stat.S_ISDIR(self._files.stat(path).st_mode)
        except (OSError, ValueError):
            return False

    def _folders_below(self, folder: str) -> list[str]:
        """One and two levels below, hidden ones left out."""
        found: list[str] = []
        level, seen = [folder], 0
        for _ in range(2):
            below: list[str] = []
            for one in level:
                if seen >= NEAR_ENTRIES:
                    break
                try:
                    entries = self._files.entries(Path(one))
                except OSError:
                    continue
                seen += len(entries)
                below += sorted(e.path for e in entries if not e.name.startswith(".") and _is_folder(e))
            found += below
            level = below
        return found[:NEAR_ENTRIES]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _shared_end(one: str, other: str) -> int:
    count = 0
    for left, right in zip(reversed(one.split("/")), reversed(other.split("/")), strict=False):
        if left != right:
            break
        count += 1
    return count
