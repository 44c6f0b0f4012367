"""The order of a listing, kept up while files change: by the time of the last message, the path tells apart what
happened in the same millisecond."""

from __future__ import annotations

import os
from bisect import bisect_left, insort

from pi_daemon.storage.protocols import SessionSummary

Place = tuple[str, str]
"""When it was modified, and its path."""


class Listed:
    """Places oldest first, of all sessions and of those of each working directory."""

    def __init__(self) -> None:
        self._all: list[Place] = []
        self._by_cwd: dict[str, list[Place]] = {}
        self._known: dict[str, tuple[Place, str]] = {}

    def of(self, cwd: str | None) -> list[Place]:
        """Not to be changed."""
        return self._all if cwd is None else self._by_cwd.get(os.path.normpath(cwd), [])

    def put(self, path: str, summary: SessionSummary) -> None:
        known = self._known.get(path)
        place = (summary.modified, path)
        cwd = os.path.normpath(summary.cwd) if summary.cwd else ""
        if known is not None:
            if known == (place, cwd):
                return
            self.drop(path)
        self._known[path] = place, cwd
        insort(self._all, place)
        insort(self._by_cwd.setdefault(cwd, []), place)

    def drop(self, path: str) -> None:
        known = self._known.pop(path, None)
        if known is None:
            return
        place, cwd = known
        places = self._by_cwd[cwd]
        for listed in (self._all, places):
            del listed[bisect_left(listed, place)]
        if not places:
            del self._by_cwd[cwd]
