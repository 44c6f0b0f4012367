"""The files that a search looks into, and the trees of those that are odd."""

from __future__ import annotations

from bisect import bisect_left

from pi_daemon.session.tree import SessionTree
from pi_daemon.storage.index.blocks import TextState, stat_matches
from pi_daemon.storage.index.hits import Hit
from pi_daemon.storage.scan import scan
from pi_daemon.storage.system import READ, Files


class Reading:
    """The files that a search has open."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._open: dict[str, int | None] = {}

    def opens(self, path: str, state: TextState) -> bool:
        """Whether the file is the one that the index speaks of."""
        if path not in self._open:
            fd = None
            try:
                fd = self._files.open(path, READ)
                if not stat_matches(self._files.fstat(fd), state):
                    self._files.close(fd)
                    fd = None
            except OSError:
                if fd is not None:
                    self._files.close(fd)
                    fd = None
            self._open[path] = fd
        return self._open[path] is not None

    def fd(self, path: str) -> int | None:
        return self._open.get(path)

    def lines(self, path: str, start: int, end: int) -> list[bytes]:
        fd = self._open[path]
        assert fd is not None
        try:
            return self._files.read(fd, end - start, start).split(b"\n")
        except OSError:
            return []

    def close(self) -> None:
        for fd in self._open.values():
            if fd is not None:
                self._files.close(fd)


class OddTree:
    """The whole tree of a file that is odd."""

    def __init__(self, files: Files, reading: Reading, path: str) -> None:
        self._ids: dict[int, str] = {}
        self._tips: dict[str, str] = {}
        self._path: set[str] = set()
        fd = reading.fd(path)
        if fd is None:
            return
        try:
            found = scan(files, fd)
            data_lines = _line_starts(files, fd, found.tail.end)
        except OSError:
            return
        tree = SessionTree(found.heads)
        self._ids = {bisect_left(data_lines, head.offset): head.id for head in found.heads}
        self._path = {head.id for head in tree.path(tree.last_id)}
        for head in reversed(tree.entries):
            above = tree.get(head.id)
            seen = 0
            while above is not None and above.id not in self._tips and seen <= len(tree):
                self._tips[above.id] = head.id
                above = tree.parent(above)
                seen += 1

    def place(self, hit: Hit) -> None:
        said = hit.said
        said.entry_id = self._ids.get(hit.line, said.entry_id)
        hit.on_path, hit.tip_id = said.entry_id in self._path, self._tips.get(said.entry_id)


def _line_starts(files: Files, fd: int, end: int) -> list[int]:
    starts = [0]
    at = 0
    while at < end:
        data = files.read(fd, min(1 << 20, end - at), at)
        if not data:
            break
        found = data.find(b"\n")
        while found >= 0:
            starts.append(at + found + 1)
            found = data.find(b"\n", found + 1)
        at += len(data)
    return starts
