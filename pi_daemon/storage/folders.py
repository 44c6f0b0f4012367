"""The folders in which session files lie, and what has become of sessions."""

from __future__ import annotations

import os
from typing import Literal, TypeAlias

from pi_daemon.storage.layout import Layout
from pi_daemon.storage.protocols import SessionChange, SessionSummary
from pi_daemon.storage.system import Files

ChangeKind: TypeAlias = Literal["created", "changed", "deleted"]


class Folders:
    """`seen` are the times of the folders when somebody last looked into them."""

    def __init__(self, layout: Layout, files: Files) -> None:
        self._layout = layout
        self._files = files
        self._base = -1
        self._folders: list[str] = []
        self.seen: dict[str, int] = {}

    def look(self) -> dict[str, int]:
        """Their times now: a name that comes or goes changes that of its folder."""
        base = self._stamp(os.path.realpath(self._layout.sessions_dir))
        if base == -1 or base != self._base:
            self._folders = [str(folder) for folder in self._layout.places(self._files)[1]]
            self._base = base
        return {folder: stamp for folder in self._folders if (stamp := self._stamp(folder)) != -1}

    def _stamp(self, folder: str) -> int:
        try:
            return self._files.stat(folder).st_mtime_ns
        except OSError:
            return -1


class Changes:
    """Those that nobody has taken yet, one for each path."""

    def __init__(self) -> None:
        self._changes: dict[str, SessionChange] = {}

    def take(self) -> list[SessionChange]:
        return [self._changes.pop(path) for path in list(self._changes)]

    def clear(self) -> None:
        self._changes.clear()

    def add(self, kind: ChangeKind, known: SessionSummary) -> None:
        """What is created and written to before anybody asks is created, and what is gone by then is nothing."""
        ref = known.ref
        before = self._changes.get(ref.location)
        if before is not None and before.kind == "created":
            if kind == "deleted":
                del self._changes[ref.location]
                return
            kind = "created"
        elif before is not None and before.kind == "deleted" and kind == "created":
            kind = "changed"
        self._changes[ref.location] = SessionChange(kind, ref, known.cwd)
