"""Leaves that were moved and not yet appended to, which no session file knows: remembered in the state directory.

One small file a session, so that two daemons on one state directory don't take each other's. What is remembered counts
while the session file has the size that it had then: whoever appends moves the leaf, and so does pi when it opens the
file. It is a convenience: what can't be read is not remembered.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path

import msgspec

from pi_daemon.session.rawjson import BadJson, dumps, loads
from pi_daemon.storage.protocols import MovedLeaf
from pi_daemon.storage.publish import staging_path, write_new
from pi_daemon.storage.system import READ, Files, make_folder, telling
from pi_daemon.storage.threads import in_thread

SUFFIX = ".leaf"

MOST_LEAVES = 1000
"""Beyond, the ones are dropped that were moved longest ago."""

LEAF_BYTES = 64 * 1024
"""More than any of these files has: a path has at most 4 KB."""


class Leaves:
    """In `folder`, which is made when it is needed."""

    def __init__(self, folder: Path, files: Files | None = None) -> None:
        self._folder = folder
        self._files = files or Files()

    async def remember(self, location: str, leaf_id: str | None, size: int) -> None:
        """It is there after a restart, if not after a power loss. Raises StorageFailed."""
        await in_thread(self._remember, MovedLeaf(location, leaf_id, size))

    async def recall(self, location: str, size: int) -> MovedLeaf | None:
        """None where no leaf was moved, or the file's size is another by now. Whether the session has such an entry is
        the caller's to see."""
        return await in_thread(self._recall, location, size)

    async def forget(self, location: str) -> None:
        """The leaf is where the file says, or the session is gone."""
        await in_thread(self._forget, location)

    def _remember(self, leaf: MovedLeaf) -> None:
        path = self._path(leaf.location)
        beside = staging_path(path)
        with telling("remember a moved leaf"):
            make_folder(self._files, self._folder)
            fd = write_new(self._files, beside, lambda: [dumps(msgspec.to_builtins(leaf))], synced=False)
            self._files.close(fd)
            try:
                self._files.rename(beside, path)
            except OSError:
                with contextlib.suppress(OSError):
                    self._files.unlink(beside)
                raise
        with contextlib.suppress(OSError):
            self._bound(self._files.entries(self._folder))

    def _recall(self, location: str, size: int) -> MovedLeaf | None:
        try:
            fd = self._files.open(self._path(location), READ)
            try:
                if not stat.S_ISREG(self._files.fstat(fd).st_mode):
                    return None
                leaf = msgspec.convert(loads(self._files.read(fd, LEAF_BYTES, 0)), MovedLeaf)
            finally:
                self._files.close(fd)
        except (OSError, msgspec.MsgspecError, BadJson):
            return None
        return leaf if (leaf.location, leaf.size) == (location, size) else None

    def _forget(self, location: str) -> None:
        with contextlib.suppress(OSError):
            self._files.unlink(self._path(location))

    def _path(self, location: str) -> Path:
        return self._folder / (hashlib.sha256(os.fsencode(location)).hexdigest()[:32] + SUFFIX)

    def _bound(self, entries: Sequence[os.DirEntry[str]]) -> None:
        """What was left half-written by a killed process goes with the oldest ones."""
        if len(entries) > MOST_LEAVES:
            aged = sorted(entries, key=lambda entry: entry.stat(follow_symlinks=False).st_mtime_ns)
            for entry in aged[: len(entries) - MOST_LEAVES]:
                self._files.unlink(Path(entry.path))
