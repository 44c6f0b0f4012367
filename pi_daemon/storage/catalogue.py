"""Which session files there are, by their headers, and what a listing shows of them.

Both are remembered by path and stat, over restarts too where there is a store, so a file that stayed as it was is not
read again. The file is the truth: whatever is remembered here can be had again from it. A folder or file that can't be
read is left out, never an error.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from pi_daemon.session.head import Header
from pi_daemon.storage.folders import ChangeKind, Changes, Folders
from pi_daemon.storage.headers import read_header
from pi_daemon.storage.index.replies import Reply
from pi_daemon.storage.index.rows import Identity, Row, hashed, identity
from pi_daemon.storage.layout import Layout
from pi_daemon.storage.lines import whole_lines
from pi_daemon.storage.listed import Listed, Place
from pi_daemon.storage.protocols import SessionChange, SessionRef, SessionSummary
from pi_daemon.storage.scan import MARK, is_entry, mark_before
from pi_daemon.storage.summary import Summary, Tally, newest_first
from pi_daemon.storage.system import READ, Files

__all__ = ["Catalogue", "RowStore", "read_header"]

_WAIT_SECONDS = 0.1
"""Between two reports to somebody who waits for another one's sweep."""

_LOOKS = 3
"""At a page whose rows turn out to have changed."""


class RowStore(Protocol):
    """Keeps rows over restarts."""

    def load(self) -> Mapping[str, Row]:
        """May wait for a disk. Raises nothing."""

    def put(self, path: str, row: Row | None, replies: Sequence[Reply], before: bytes) -> None:
        """None where the file is gone. `replies` are the answers behind the mark `before`, which is empty at the start
        of a file. Doesn't wait."""


class Summed(Struct):
    """What is known of a file up to `end`, and `mark`, a hash of the bytes before it. `proven`: this process has seen
    the mark in the file."""

    identity: Identity
    header: Header
    tally: Tally
    end: int
    mark: bytes
    made: SessionSummary
    proven: bool = True


class Catalogue:
    """Of one layout. Its methods run in a thread, several at a time if need be.

    Somebody may follow the directory for it: then a page costs a look at the folders and at the files on it.
    """

    def __init__(self, files: Files, layout: Layout, store: RowStore | None = None) -> None:
        self._files = files
        self._layout = layout
        self._store = store
        self._loaded = store is None
        self._headers: dict[str, tuple[Identity, Header | None]] = {}
        self._summaries: dict[str, Summed] = {}
        self._listed = Listed()
        self._folders = Folders(layout, files)
        self._dirty: set[str] = set()
        self._changes = Changes()
        self._followed = False
        self._current = False
        self._loading = threading.Lock()
        self._so_far = (0, 0)
        self._too_long: dict[str, Identity] = {}
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
        self.load()
        paths = list(self._layout.session_files(self._files))
        # A header hardly ever changes, so only those are asked for again that are new, or said to be it.
        likely = [path for path in paths if (known := self._headers.get(path)) is None or _has_id(known[1], session_id)]
        return self.with_id(session_id, likely) or self.with_id(session_id, paths)

    def summaries(
        self, progress: Callable[[int, int], None], stop: threading.Event, cwd: str | None
    ) -> list[SessionSummary]:
        """Of every session, or of those whose header names `cwd`; newest activity first. Looks at every file."""
        with self._turn(progress, stop):
            self._sweep(cwd, progress, stop)
            known = self._summaries
            places = self._listed.of(cwd)
            return newest_first([known[path].made for _, path in places])

    def page(
        self,
        progress: Callable[[int, int], None],
        stop: threading.Event,
        cwd: str | None,
        after: Place | None,
        limit: int,
    ) -> list[SessionSummary]:
        """Up to `limit` of them, newest activity first, that come after that place."""
        with self._turn(progress, stop):
            self._refresh(progress, stop)
            for _ in range(_LOOKS):
                places = self._listed.of(cwd)
                start = 0 if after is None else len(places) - bisect_left(places, after)
                page = places[len(places) - start - limit if len(places) - start > limit else 0 : len(places) - start]
                before = len(self._summaries)
                stale = [path for _, path in page if not self._fresh(path)]
                for path in stale:
                    self._look(path)
                if not stale and len(self._summaries) == before:
                    break
            known = self._summaries
            return [known[path].made for _, path in reversed(page) if path in known]

    def refresh(self, progress: Callable[[int, int], None], stop: threading.Event) -> None:
        """Bring everything up to what is known of changes."""
        with self._turn(progress, stop):
            self._refresh(progress, stop)

    # Following

    def follow(self) -> None:
        """From now on somebody tells of every change with `note`, a little later than it happens."""
        self._followed, self._current = True, False

    def note(self, paths: Iterable[str]) -> None:
        """These files have changed, come or gone. Doesn't wait."""
        self._dirty.update(paths)

    def take_changes(self) -> list[SessionChange]:
        """What has become of sessions since the last time. Doesn't wait."""
        return self._changes.take()

    @property
    def current(self) -> bool:
        """Whether everything was looked at since somebody follows."""
        return self._current

    # For those who index what is in the files

    def paths(self, cwd: str | None) -> frozenset[str]:
        """Of the sessions whose header names `cwd`, or of all."""
        return frozenset(path for _, path in list(self._listed.of(cwd)))

    def rows(self) -> list[tuple[str, Row]]:
        """What is known, newest activity first. Doesn't wait."""
        known = self._summaries
        found = [(path, known.get(path)) for _, path in reversed(self._listed.of(None))]
        return [(path, _row(one)) for path, one in found if one is not None]

    def row(self, path: str) -> Row | None:
        known = self._summaries.get(path)
        return _row(known) if known is not None else None

    def summary(self, path: str) -> SessionSummary | None:
        known = self._summaries.get(path)
        return known.made if known is not None else None

    def replies(self, path: str) -> Sequence[Reply]:
        """The answers in a file, read from it. Raises OSError."""
        known = self._summaries.get(path)
        if known is None:
            return ()
        summary = Summary(known.header)
        fd = self._files.open(path, READ)
        try:
            for block, _ in whole_lines(self._files, fd, 0, known.end):
                summary.read(block)
        finally:
            self._files.close(fd)
        return summary.replies

    def load(self) -> None:
        """Take what the store has kept, once."""
        with self._loading:
            if self._loaded or self._store is None:
                return
            for path, row in self._store.load().items():
                ref = SessionRef(row.header.id, path)
                made = Summary(row.header, row.tally).made(ref, row.identity[2], row.identity[3] / 1e6)
                known = Summed(row.identity, row.header, row.tally, row.end, row.mark, made, proven=False)
                self._summaries[path] = known
                self._headers.setdefault(path, (row.identity, row.header))
                self._listed.put(path, made)
            self._loaded = True

    # With the lock

    @contextlib.contextmanager
    def _turn(self, report: Callable[[int, int], None], stop: threading.Event) -> Iterator[None]:
        """The lock. Who waits for it is told how far the one is who has it."""
        while not self._listing.acquire(timeout=_WAIT_SECONDS):
            report(*self._so_far)
            if stop.is_set():
                break
        else:
            try:
                yield
            finally:
                self._listing.release()
            return
        raise TimeoutError(errno.ETIMEDOUT, "nobody waits for it")

    def _refresh(self, progress: Callable[[int, int], None], stop: threading.Event) -> None:
        if not self._followed or not self._current:
            self._sweep(None, progress, stop)
            return
        dirty = [self._dirty.pop() for _ in range(len(self._dirty))]
        folders = self._folders.look()
        if folders != self._folders.seen or not all(map(self._lies_here, dirty)):
            paths = set(self._layout.session_files(self._files))
            self._forget(paths)
            dirty = list(paths.difference(self._summaries).union(paths.intersection(dirty)))
            self._folders.seen = folders
        for path in dirty:
            self._look(path)

    def _lies_here(self, path: str) -> bool:
        return path in self._summaries or os.path.dirname(path) in self._folders.seen

    def _sweep(self, cwd: str | None, progress: Callable[[int, int], None], stop: threading.Event) -> None:
        self.load()
        followed, folders = self._followed, self._folders.look()
        self._dirty.clear()
        paths = list(self._layout.session_files(self._files))
        self._forget(paths)
        if cwd is not None:
            wanted, listed = os.path.normpath(cwd), {path for _, path in self._listed.of(cwd)}
            paths = [path for path in paths if path in listed or _is_cwd(self.header(path), wanted)]
        for done, path in enumerate(paths, 1):
            if stop.is_set():
                return
            self._look(path)
            self._so_far = done, len(paths)
            progress(*self._so_far)
        if cwd is None:
            if not self._current:
                self._changes.clear()  # nobody has seen what was before
            self._current, self._folders.seen = followed, folders

    def _note(self, kind: ChangeKind, known: Summed) -> None:
        if self._followed:
            self._changes.add(kind, known.made)

    def _forget(self, paths: Iterable[str]) -> None:
        """All but these are gone."""
        there = set(paths)
        for path in set(self._headers).difference(there):
            self._headers.pop(path, None)
        for path in set(self._summaries).difference(there):
            self._drop(path)
        for path in set(self._too_long).difference(there):
            del self._too_long[path]

    def _drop(self, path: str) -> None:
        known = self._summaries.pop(path, None)
        if known is not None:
            self._listed.drop(path)
            self._note("deleted", known)
            if self._store is not None:
                self._store.put(path, None, (), b"")

    def _fresh(self, path: str) -> bool:
        known = self._summaries.get(path)
        try:
            return known is not None and known.proven and known.identity == identity(self._files.stat(path))
        except OSError:
            return False

    def _look(self, path: str) -> None:
        """Make what is known of the file what is in it."""
        try:
            state = self._files.stat(path)
            known = self._summaries.get(path)
            if known is not None and known.proven and known.identity == identity(state):
                return
            if self._too_long.get(path) == identity(state):
                return
            header = self.header(path)
            if header is None:
                self._drop(path)
                return
            fd = self._files.open(path, READ)
            try:
                if known is not None and not self._grew(fd, known, state):
                    known = None
                if known is not None and known.identity == identity(state) and known.end >= state.st_size:
                    known.proven = True
                    return
                self._sum(path, fd, header, known, state)
            finally:
                self._files.close(fd)
        except OSError as error:
            self._drop(path)
            if error.errno == errno.EMSGSIZE:
                self._too_long[path] = identity(state)  # half a gigabyte was read to see that

    def _grew(self, fd: int, known: Summed, state: os.stat_result) -> bool:
        """Whether the file is the one we knew, with more at its end."""
        same = known.identity[:2] == (state.st_dev, state.st_ino) and state.st_size >= known.end
        return same and hashed(mark_before(self._files, fd, known.end)) == known.mark

    def _sum(self, path: str, fd: int, header: Header, known: Summed | None, state: os.stat_result) -> None:
        """Read on. A last line without its newline counts where it is a whole object."""
        end, mark = (0, b"") if known is None else (known.end, known.mark)
        before = mark
        summary = Summary(header if known is None else known.header, None if known is None else known.tally)
        goes_on = end > 0 and not mark_before(self._files, fd, end).endswith(b"\n")
        for block, start in whole_lines(self._files, fd, end):
            lines = block
            if goes_on:
                line, newline, lines = block.partition(b"\n")
                if line.strip():  # what was an entry has become something else
                    self._sum(path, fd, header, None, state)
                    return
                goes_on = not newline
            elif not block.endswith(b"\n") and not is_entry(block):
                break
            if lines:
                summary.read(lines)
            end = start + len(block)
            mark = hashed(block[-MARK:] if len(block) >= MARK else mark_before(self._files, fd, end))
        summary.ended()
        if known is not None and summary.tally.runs.unknown:
            self._sum(path, fd, header, None, state)
            return
        made = summary.made(SessionRef(header.id, path), state.st_size, state.st_mtime_ns / 1e6)
        found = Summed(identity(state), summary.header, summary.tally, end, mark or hashed(b""), made)
        self._note("changed" if path in self._summaries else "created", found)
        self._summaries[path] = found
        self._listed.put(path, made)
        if self._store is not None:
            self._store.put(path, _row(found), summary.replies, before)


def _row(known: Summed) -> Row:
    return Row(known.identity, known.header, known.tally, known.end, known.mark)


def _has_id(header: Header | None, session_id: str) -> bool:
    return header is not None and header.id == session_id


def _is_cwd(header: Header | None, cwd: str) -> bool:
    return header is not None and header.cwd != "" and os.path.normpath(header.cwd) == cwd
