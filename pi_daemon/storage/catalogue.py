"""Which session files there are, by their headers, and what a listing shows of them.

Both are remembered by path and stat, so a file that stayed as it was is not read again. The file is the truth: whatever
is remembered here can be had again from it. A folder or file that can't be read is left out, never an error.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from pi_daemon.session.entry import BadLine, read_line
from pi_daemon.session.head import Header
from pi_daemon.storage.layout import Layout
from pi_daemon.storage.lines import whole_lines
from pi_daemon.storage.protocols import SessionRef, SessionSummary
from pi_daemon.storage.scan import BYTE_ORDER_MARK, HEADER_WITHIN
from pi_daemon.storage.summary import Summary, newest_first
from pi_daemon.storage.system import READ, Files

HEADER_SCAN = 1 << 20
"""Bytes in which a header is looked for (pi 1.6.0's bound): opening a session reads on, looking around doesn't."""

_HEADER_BLOCK = 4096

Identity = tuple[int, int, int, int]
"""Device, inode, size, and time of the last change in ns."""


def identity(state: os.stat_result) -> Identity:
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns


def read_header(files: Files, fd: int) -> Header | None:
    """The first header within the first lines that can be read. Raises OSError."""
    parsed = 0
    for block, offset in whole_lines(files, fd, 0, HEADER_SCAN, _HEADER_BLOCK):
        for line in block.removeprefix(BYTE_ORDER_MARK if offset == 0 else b"").split(b"\n"):
            item = read_line(line.removesuffix(b"\r"), 0)
            if isinstance(item, Header):
                return item
            parsed += item is not None and not (isinstance(item, BadLine) and not item.counts)
            if parsed >= HEADER_WITHIN:
                return None
    return None


class Catalogue:
    """Of one layout. Its methods run in a thread, several at a time if need be."""

    def __init__(self, files: Files, layout: Layout) -> None:
        self._files = files
        self._layout = layout
        self._headers: dict[Path, tuple[Identity, Header | None]] = {}
        self._summaries: dict[Path, tuple[Identity, SessionSummary]] = {}

    def header(self, path: Path) -> Header | None:
        """The file's header; None where it has none or can't be read."""
        try:
            state = self._files.stat(path)
            known = self._headers.get(path)
            if known is not None and known[0] == identity(state):
                return known[1]
            fd = self._files.open(path, READ)
            try:
                header = read_header(self._files, fd)
            finally:
                self._files.close(fd)
        except OSError:
            return None
        self._headers[path] = identity(state), header
        return header

    def with_id(self, session_id: str, paths: Iterable[Path] | None = None) -> Iterator[Path]:
        """The files whose header has that id, of `paths` or of all."""
        for path in self._layout.session_files(self._files) if paths is None else paths:
            header = self.header(path)
            if header is not None and header.id == session_id:
                yield path

    def summaries(
        self, cwd: str | None, progress: Callable[[int, int], None], stop: threading.Event
    ) -> list[SessionSummary]:
        """Of every session, or of those whose header names `cwd`; newest activity first."""
        paths = list(self._layout.session_files(self._files))
        for known in (self._headers, self._summaries):
            for path in known.keys() - set(paths):
                known.pop(path, None)
        if cwd is not None:
            wanted = os.path.normpath(cwd)
            paths = [path for path in paths if (h := self.header(path)) and h.cwd and os.path.normpath(h.cwd) == wanted]
        found: list[SessionSummary] = []
        for done, path in enumerate(paths, 1):
            if stop.is_set():
                break
            summary = self._summary(path)
            if summary is not None:
                found.append(summary)
            progress(done, len(paths))
        return newest_first(found)

    def _summary(self, path: Path) -> SessionSummary | None:
        try:
            state = self._files.stat(path)
            known = self._summaries.get(path)
            if known is not None and known[0] == identity(state):
                return known[1]
            header = self.header(path)
            if header is None:
                return None
            summary = Summary(header)
            fd = self._files.open(path, READ)
            try:
                for block, _ in whole_lines(self._files, fd, 0):
                    summary.read(block)
            finally:
                self._files.close(fd)
        except OSError:
            return None
        made = summary.made(SessionRef(header.id, str(path)), state.st_size, state.st_mtime_ns / 1e6)
        self._summaries[path] = identity(state), made
        return made
