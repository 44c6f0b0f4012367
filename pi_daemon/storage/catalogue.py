"""Which session files there are, by their headers, and what a listing shows of them.

Both are remembered by path and stat, so a file that stayed as it was is not read again. The file is the truth: whatever
is remembered here can be had again from it. A folder or file that can't be read is left out, never an error.
"""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Callable, Iterable

from msgspec import Struct

from pi_daemon.session.entry import BadLine, read_line
from pi_daemon.session.head import Header
from pi_daemon.storage.layout import Layout
from pi_daemon.storage.lines import whole_lines
from pi_daemon.storage.protocols import SessionRef, SessionSummary
from pi_daemon.storage.scan import BYTE_ORDER_MARK, HEADER_WITHIN, MARK, mark_before
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


class _Summed(Struct):
    """What is known of a file up to `end`, and `mark`, the bytes before it."""

    identity: Identity
    summary: Summary
    end: int
    mark: bytes
    made: SessionSummary | None = None


class Catalogue:
    """Of one layout. Its methods run in a thread, several at a time if need be."""

    def __init__(self, files: Files, layout: Layout) -> None:
        self._files = files
        self._layout = layout
        self._headers: dict[str, tuple[Identity, Header | None]] = {}
        self._summaries: dict[str, _Summed] = {}
        # A second listing at the same time finds what the first has read.
        self._listing = threading.Lock()

    def header(self, path: str) -> Header | None:
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

    def with_id(self, session_id: str, paths: Iterable[str]) -> list[str]:
        """Those of `paths` whose header has that id."""
        return [path for path in paths if _has_id(self.header(path), session_id)]

    def find(self, session_id: str) -> list[str]:
        """Every file whose header has that id."""
        paths = list(self._layout.session_files(self._files))
        # A header hardly ever changes, so only those are asked for again that are new, or said to be it.
        likely = [path for path in paths if (known := self._headers.get(path)) is None or _has_id(known[1], session_id)]
        return self.with_id(session_id, likely) or self.with_id(session_id, paths)

    def summaries(
        self, cwd: str | None, progress: Callable[[int, int], None], stop: threading.Event
    ) -> list[SessionSummary]:
        """Of every session, or of those whose header names `cwd`; newest activity first."""
        with self._listing:
            paths = list(self._layout.session_files(self._files))
            for known in (self._headers, self._summaries):
                for path in set(known).difference(paths):
                    known.pop(path, None)
            if cwd is not None:
                paths = [path for path in paths if _is_cwd(self.header(path), os.path.normpath(cwd))]
            found: list[SessionSummary] = []
            for done, path in enumerate(paths, 1):
                if stop.is_set():
                    break
                summary = self._summary(path)
                if summary is not None:
                    found.append(summary)
                progress(done, len(paths))
        return newest_first(found)

    def _summary(self, path: str) -> SessionSummary | None:
        try:
            state = self._files.stat(path)
            known = self._summaries.get(path)
            if known is not None and known.identity == identity(state):
                return known.made
            header = self.header(path)
            if header is None:
                return None
            fd = self._files.open(path, READ)
            try:
                if known is None or not self._grew(fd, known, state):
                    known = _Summed(identity(state), Summary(header), 0, b"")
                summary = self._sum(fd, known)
            finally:
                self._files.close(fd)
        except OSError:
            return None
        known.identity = identity(state)
        known.made = summary.made(SessionRef(header.id, path), state.st_size, state.st_mtime_ns / 1e6)
        self._summaries[path] = known
        return known.made

    def _grew(self, fd: int, known: _Summed, state: os.stat_result) -> bool:
        """Whether the file is the one we knew, with more at its end."""
        same = known.identity[:2] == (state.st_dev, state.st_ino) and state.st_size >= known.end
        return same and mark_before(self._files, fd, known.end) == known.mark

    def _sum(self, fd: int, known: _Summed) -> Summary:
        """Read on. A last line without its newline counts, but will be read again."""
        for block, start in whole_lines(self._files, fd, known.end):
            if not block.endswith(b"\n"):
                summary = copy.copy(known.summary)
                summary.read(block)
                return summary
            known.summary.read(block)
            known.end = start + len(block)
            known.mark = block[-MARK:] if len(block) >= MARK else mark_before(self._files, fd, known.end)
        return known.summary


def _has_id(header: Header | None, session_id: str) -> bool:
    return header is not None and header.id == session_id


def _is_cwd(header: Header | None, cwd: str) -> bool:
    return header is not None and header.cwd != "" and os.path.normpath(header.cwd) == cwd
