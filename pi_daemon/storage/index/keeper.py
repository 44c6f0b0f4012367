"""The index of one sessions directory: kept up in a thread of its own, asked in another.

First the rows of the catalogue are written, then the text of messages is read behind them, in portions, the newest
session first. Nothing here raises for what is wrong with the index: it is made anew, and until then less is found.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from pi_daemon.storage.index import blocks
from pi_daemon.storage.index.blocks import Part, TextState
from pi_daemon.storage.index.database import Database, damaged, transaction
from pi_daemon.storage.index.replies import Reply
from pi_daemon.storage.index.rows import Row
from pi_daemon.storage.index.store import Pending, Source, load_rows, store_rows
from pi_daemon.storage.system import Files

logger = logging.getLogger(__name__)

PORTION_CHARS = 1_000_000
"""Of text that is put into the index at a time, in about 0.1 s: as long as one who asks may have to wait for the disk,
and as much work as a killed daemon loses."""

PORTION_FILES = 200

MOST_MADE_ANEW = 5
"""In one process: a disk that damages more than that, or a mistake of ours, must not keep it busy."""

Result = TypeVar("Result")


class Progress(Struct, frozen=True):
    """Bytes of session files whose text is in the index, of all."""

    done: int
    total: int


def index_path(state_dir: Path, sessions_dir: Path) -> Path:
    """Each sessions directory has its own."""
    name = hashlib.sha256(os.fsencode(os.path.realpath(sessions_dir))).hexdigest()[:16]
    return state_dir / "index" / f"{name}.sqlite3"


class Index:
    """At `path`; `source` is set by whoever knows the files. `follow` begins the text, `close` ends everything."""

    def __init__(self, path: Path, files: Files) -> None:
        self.path = path
        self._files = files
        self._database = Database(path, files)
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="pi-daemon-index")
        self._asking = ThreadPoolExecutor(1, thread_name_prefix="pi-daemon-search")
        self._guard = threading.Lock()
        self._pending: dict[str, Pending] = {}
        self._flushing = False
        self._changed: set[str] = set()
        self._todo: list[str] = []
        self._states: dict[str, TextState] | None = None
        self._newest = -1.0
        self.source: Source | None = None
        self._following = False
        self._busy = False
        self._closed = False
        self._made_anew = 0

    # The catalogue's rows

    def load(self) -> Mapping[str, Row]:
        with contextlib.suppress(RuntimeError):  # closed
            found = self._writing.submit(self._write, load_rows).result()
            return found or self._asking.submit(self._asked, load_rows).result() or {}
        return {}

    def put(self, path: str, row: Row | None, replies: Sequence[Reply], before: bytes) -> None:
        with self._guard:
            pending = self._pending.get(path)
            if pending is None or not before or row is None:
                pending = self._pending[path] = Pending(row, [], not before or row is None)
            pending.row = row
            if row is not None:
                pending.answers.append((before, row.mark, list(replies)))
            self._changed.add(path)
        self._wake()

    def _wake(self) -> None:
        with self._guard:
            due = bool(self._pending) and not self._flushing and not self._closed
            self._flushing |= due
        if due:
            self._submit(self._flush)

    def _flush(self) -> None:
        with self._guard:
            pending, self._pending = self._pending, {}
            self._flushing = False
        self._write(partial(self._store, pending))
        self._go_on()

    def _store(self, pending: Mapping[str, Pending], connection: sqlite3.Connection) -> None:
        store_rows(connection, pending)
        for path, one in pending.items():
            if one.row is None and self._states is not None:
                self._states.pop(path, None)

    def later(self, work: Callable[[], None]) -> None:
        """Do it in the index's thread, which must not raise. Not where the index is closed."""
        self._submit(work)

    # The text

    def follow(self) -> None:
        """Index the text too, from now on."""
        if not self._following:
            self._following = True
            self.go_on()

    def go_on(self) -> None:
        """See to what there is to do, if nobody does. Another daemon that did may be gone."""
        self._submit(self._go_on)

    def _go_on(self) -> None:
        """One portion, if there is anything to do, and then another one behind whoever waits meanwhile."""
        if not self._following or self._closed:
            return
        self._busy = True
        try:
            more = self._write(self._portion)
        finally:
            self._busy = False
        if more:
            self._submit(self._go_on)

    def _portion(self, connection: sqlite3.Connection) -> bool:
        """Whether there is more to do."""
        source = self.source
        if source is None:
            return False
        states = self._states
        if states is None:
            states = self._states = self._begin(connection, source)
        self._sort(source, states)
        parts: list[Part] = []
        new: bool | None = None
        chars = 0
        while self._todo and chars < PORTION_CHARS and len(parts) < PORTION_FILES:
            path = self._todo[-1]
            row = source.row(path)
            if row is None or not _behind(row, states.get(path)):
                self._todo.pop()
                continue
            is_new = self._newest >= 0 and row.tally.active >= self._newest
            if new is not None and is_new != new:
                break
            new = is_new
            self._todo.pop()
            part = self._gathered(connection, path, row, states.get(path), PORTION_CHARS - chars)
            if part is not None:
                parts.append(part)
                chars += part.chars
                if part.state.end < row.end:
                    self._todo.append(path)
                    break
        if parts:
            with transaction(connection):
                if blocks.littered(connection):
                    blocks.clear(connection)
                    self._states = None
                    return True
                blocks.write(connection, parts, new=bool(new))
            for part in parts:
                states[part.path] = part.state
                row = source.row(part.path)
                self._newest = max(self._newest, row.tally.active if row is not None else -1.0)
        return bool(self._todo or self._changed)

    def _begin(self, connection: sqlite3.Connection, source: Source) -> dict[str, TextState]:
        states = blocks.load_states(connection)
        rows = dict(source.rows())
        with self._guard:
            self._changed.update(rows)
        self._newest = max((row.tally.active for path, row in rows.items() if path in states), default=-1.0)
        with transaction(connection):
            for path in states.keys() - rows.keys():
                blocks.forget(connection, path)
                del states[path]
        return states

    def _gathered(
        self, connection: sqlite3.Connection, path: str, row: Row, known: TextState | None, most: int
    ) -> Part | None:
        tail = blocks.tail_of(connection, known.id) if known is not None else None
        try:
            return blocks.gather(self._files, path, row, known, tail, most)
        except OSError:
            return None  # gone, or not to be read: the catalogue will say so

    def _sort(self, source: Source, states: Mapping[str, TextState]) -> None:
        """The newest one last, which is taken first."""
        with self._guard:
            changed, self._changed = self._changed, set()
        if not changed:
            return
        rows = {path: source.row(path) for path in changed.union(self._todo)}
        behind = [(row.tally.active, path) for path, row in rows.items() if row and _behind(row, states.get(path))]
        self._todo = [path for _, path in sorted(behind)]

    # Asking

    def ask(self, question: Callable[[sqlite3.Connection, Mapping[str, TextState]], Result]) -> Future[Result | None]:
        """Put a question, in a thread of its own; None where there is no index yet. Raises RuntimeError once closed."""

        def work() -> Result | None:
            return self._asked(lambda connection: question(connection, self._known(connection)))

        return self._asking.submit(work)

    def progress(self, states: Mapping[str, TextState]) -> Progress:
        """How far the text of all that is known has come."""
        done = total = 0
        for path, row in self.source.rows() if self.source is not None else ():
            total += row.end
            state = states.get(path)
            if state is not None:
                done += row.end if not _behind(row, state) else min(state.end, row.end - 1)
        return Progress(done, total)

    def settled(self) -> bool:
        """Whether the text of all that is known is in the index, for whoever asks after this."""
        with self._guard:
            waits = self._changed or self._pending or self._todo or self._busy
        return not waits and self._states is not None and self._database.held

    def _known(self, connection: sqlite3.Connection) -> Mapping[str, TextState]:
        """Where another daemon writes the index, what it says."""
        states = self._states
        return dict(states) if states is not None and self._database.held else blocks.load_states(connection)

    def _asked(self, question: Callable[[sqlite3.Connection], Result]) -> Result | None:
        try:
            connection = self._database.reader()
            return None if connection is None else question(connection)
        except (sqlite3.Error, msgspec.MsgspecError) as error:
            self._database.close_reader()
            if isinstance(error, msgspec.MsgspecError) or damaged(error):
                self._submit(self._anew)
            return None

    # In the writer's thread

    def _write(self, work: Callable[[sqlite3.Connection], Result]) -> Result | None:
        """None where the index can't be written."""
        try:
            if self._database.lost():
                self._begin_again()
            connection = self._database.writer()
            return None if connection is None else work(connection)
        except sqlite3.Error as error:
            if damaged(error):
                self._anew()
            else:
                logger.warning("the index could not be written: %s", error)
                self._database.close_writer()
            return None

    def _anew(self) -> None:
        """Throw it away, and write again what is known."""
        if self._closed or not self._database.held:
            return
        self._database.remove()
        self._made_anew += 1
        if self._made_anew > MOST_MADE_ANEW:
            logger.error("the index was damaged again and again; there is none until the daemon is started anew")
            self._closed = True
            return
        logger.warning("the index was damaged, and is made anew")
        self._begin_again()

    def _begin_again(self) -> None:
        """Write what is known into another file."""
        self._states, self._todo = None, []
        rows = self.source.rows() if self.source is not None else []
        with self._guard:
            for path, row in rows:
                self._pending.setdefault(path, Pending(row, [], True))
        self._wake()

    def _submit(self, work: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):
            self._writing.submit(work)

    def close(self) -> None:
        """Write what is known, and let go. May wait for a portion."""
        self._closed = True
        with contextlib.suppress(RuntimeError):  # again
            self._release()
        self._writing.shutdown()
        self._asking.shutdown()

    def _release(self) -> None:
        self._writing.submit(self._database.release)
        self._asking.submit(self._database.close_reader)


def _behind(row: Row, state: TextState | None) -> bool:
    if state is None or (state.dev, state.ino) != row.identity[:2]:
        return True
    return state.end != row.end or state.mark != row.mark
