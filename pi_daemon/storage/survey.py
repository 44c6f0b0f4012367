"""The session files that there are, as last seen, and what has changed when one looks again.

The sweep looks at everything and is the truth. A glance looks at a few paths of which somebody said that something
happened there; whatever that somebody missed, the next sweep finds.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable
from pathlib import Path

from pi_daemon.storage.changes import FileChange, Stamp, differences
from pi_daemon.storage.layout import SUFFIX, Layout, is_utf8
from pi_daemon.storage.system import Files

Folder = tuple[str, int, int]
"""A directory's real path, device and inode: one that was deleted and made again is another."""


class Survey:
    """`chosen` are files that are looked at wherever they lie. Not for two threads at a time."""

    def __init__(self, layout: Layout, files: Files) -> None:
        self._layout = layout
        self._files = files
        self.known: dict[str, Stamp] = {}
        self.folders: frozenset[Folder] = frozenset()
        self.chosen: frozenset[str] = frozenset()
        self._roots: list[Path] = []
        self._listed: frozenset[str] = frozenset()
        self._base: Folder | None = None

    def sweep(self) -> list[FileChange]:
        """Look at everything. What can't be looked at isn't there."""
        self._roots, listed = self._layout.places(self._files)
        self._listed = frozenset(map(str, listed))
        self._base = self._folder(str(listed[0]))
        around = self._listed.union(map(os.path.dirname, self.chosen))
        self.folders = frozenset(filter(None, map(self._folder, around)))
        found = dict.fromkeys(self._layout.session_files(self._files)) | dict.fromkeys(self.chosen)
        return self._take(self._stamps(found), None)

    def glance(self, paths: Iterable[str]) -> list[FileChange]:
        """Look at these paths alone. A link stands for the file that it leads to."""
        looked = {real for path in paths if (real := self._session_file(path)) is not None}
        found = self._stamps(looked)
        # A file that was renamed shows under its new name, perhaps before anybody spoke of the old one.
        by_file = {(stamp.dev, stamp.ino): path for path, stamp in found.items() if path not in self.known}
        if by_file:
            olds = [path for path, stamp in self.known.items() if (stamp.dev, stamp.ino) in by_file]
            looked.update(olds)
            found |= self._stamps(olds)
        return self._take(found, looked)

    def moved(self, paths: Iterable[str]) -> bool:
        """Whether directories in which files may lie have come or gone among `paths`, so that a sweep is due."""
        known = {path for path, _, _ in self.folders}
        return any(path in known or (not path.endswith(SUFFIX) and self._folder(path) is not None) for path in paths)

    def base_moved(self) -> bool:
        """Whether the sessions directory is another than at the last sweep, or gone, or back."""
        return self._folder(os.path.realpath(self._layout.sessions_dir)) != self._base

    def _take(self, found: dict[str, Stamp], looked: Collection[str] | None) -> list[FileChange]:
        """`looked` is None where everything was."""
        if looked is None:
            changes = differences(self.known, found)
            self.known = found
            return changes
        changes = differences({path: self.known[path] for path in looked if path in self.known}, found)
        for path in looked:
            self.known.pop(path, None)
        self.known |= found
        return changes

    def _session_file(self, path: str) -> str | None:
        """The real path, if a sweep would look at it too."""
        if path in self.known or path in self.chosen:
            return path
        if os.path.dirname(path) not in self._listed or not path.endswith(SUFFIX) or not is_utf8(path):
            return None
        if not os.path.islink(path):
            return path
        real = Path(os.path.realpath(path))
        return str(real) if any(real.is_relative_to(root) for root in self._roots) else None

    def _stamps(self, paths: Iterable[str]) -> dict[str, Stamp]:
        found: dict[str, Stamp] = {}
        for path in paths:
            try:
                state = self._files.stat(path)
            except OSError:
                continue
            if stat.S_ISREG(state.st_mode):
                found[path] = Stamp.of(state)
        return found

    def _folder(self, path: str) -> Folder | None:
        try:
            state = self._files.stat(path)
        except OSError:
            return None
        return (path, state.st_dev, state.st_ino) if stat.S_ISDIR(state.st_mode) else None
