"""What a daemon knows of all its sessions: the catalogue, kept current, and the index behind it."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Concatenate, ParamSpec, TypeVar

from pi_daemon.storage.catalogue import Catalogue
from pi_daemon.storage.index.blocks import TextState
from pi_daemon.storage.index.keeper import Index, Progress
from pi_daemon.storage.index.query import parse
from pi_daemon.storage.index.search import Cursor, Filters, Found, Searcher
from pi_daemon.storage.index.store import totals as sum_up
from pi_daemon.storage.protocols import Progress as Report
from pi_daemon.storage.protocols import SearchPage, SessionChange, TotalsOf, Wanted
from pi_daemon.storage.system import Files
from pi_daemon.storage.threads import in_thread

logger = logging.getLogger(__name__)

QUIET_SECONDS = 2.0
"""Until a daemon begins to read all sessions by itself: one that was started for a single question is gone by then."""

GATHER_SECONDS = 0.25
"""Between two looks at what has changed: a session that is written to all the time is indexed some times a second."""

P = ParamSpec("P")
T = TypeVar("T")


class Indexed:
    """A Finder. Between `follow` and `stop` it is kept current."""

    def __init__(self, catalogue: Catalogue, index: Index, files: Files) -> None:
        self._catalogue = catalogue
        self._index = index
        self._searcher = Searcher(files, catalogue)
        self._keeping: asyncio.Task[None] | None = None
        self._wanted = asyncio.Event()
        self._stop = threading.Event()
        self.changed: Callable[[Sequence[SessionChange]], None] = lambda changes: None
        """Called in the loop with what has become of sessions while somebody follows them."""
        index.source = catalogue

    # Keeping it current

    def follow(self) -> None:
        """Somebody watches the directory, and calls `note` from now on."""
        self._catalogue.follow()
        self._keeping = asyncio.get_running_loop().create_task(self._keep())

    def note(self, paths: Iterable[str]) -> None:
        """These files have changed, come or gone."""
        self._catalogue.note(paths)
        self._wanted.set()

    async def stop(self) -> None:
        """Write what is known, and let go of the index."""
        self._stop.set()
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.wait([self._keeping])
        await in_thread(self._index.close)

    async def _keep(self) -> None:
        # Not wait_for, which forgets that it was cancelled where what it waits for comes at the same time.
        quiet = asyncio.get_running_loop().call_later(QUIET_SECONDS, self._wanted.set)
        try:
            await self._wanted.wait()
        finally:
            quiet.cancel()
        while True:
            self._wanted.clear()
            try:
                await in_thread(self._catalogue.refresh, lambda done, total: None, self._stop)
            except OSError as error:
                logger.warning("the sessions can't be looked at: %s", error)
            self._index.follow()
            self._index.go_on()
            changes = self._catalogue.take_changes()
            if changes:
                self.changed(changes)
            await asyncio.sleep(GATHER_SECONDS)
            await self._wanted.wait()

    # Asking

    async def search(self, wanted: Wanted) -> SearchPage:
        query = parse(wanted.query)
        cursor = Cursor.read(wanted.cursor) if wanted.cursor is not None else None
        self._wanted.set()
        current = self._catalogue.current
        if current:
            await in_thread(self._catalogue.refresh, lambda done, total: None, self._stop)
        else:
            await in_thread(self._catalogue.load)
        paths = None if wanted.cwd is None else self._catalogue.paths(wanted.cwd)
        filters = Filters(paths, wanted.role, wanted.model, wanted.label, wanted.after, wanted.before)

        settled = self._index.settled()

        def ask(connection: sqlite3.Connection, states: Mapping[str, TextState]) -> tuple[Found, Progress]:
            # What is settled now is in `states`, what is while this searches may not be.
            progress = Progress(1, 1) if settled else self._index.progress(states)
            return self._searcher.search(connection, states, query, filters, cursor, wanted.limit), progress

        answer = await asyncio.wrap_future(self._index.ask(ask))
        if answer is None:
            return SearchPage([], False)
        found, progress = answer
        complete = current and progress.done >= progress.total
        return SearchPage(found.hits, complete, found.cursor, progress.done, progress.total)

    async def totals(self, cwd: str | None) -> TotalsOf:
        await in_thread(self._catalogue.refresh, lambda done, total: None, self._stop)
        paths = self._catalogue.paths(cwd)
        summaries = [one for path in paths if (one := self._catalogue.summary(path)) is not None]
        asked = self._index.ask(lambda connection, _: sum_up(connection, self._catalogue, sorted(paths)))
        totals = await asyncio.wrap_future(asked)
        if totals is None:  # there is no index
            totals = await in_thread(sum_up, None, self._catalogue, sorted(paths))
        return TotalsOf(
            len(summaries),
            sum(one.message_count for one in summaries),
            totals.replies,
            totals.repeated,
            totals.input,
            totals.output,
            totals.cache_read,
            totals.cache_write,
            totals.cost,
        )


async def reporting(
    progress: Report | None,
    work: Callable[Concatenate[Callable[[int, int], None], threading.Event, P], T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Do work in a thread that reports how far it is, and stops where nobody waits for it any more."""
    loop = asyncio.get_running_loop()
    stop = threading.Event()

    def report(done: int, total: int) -> None:
        if progress is not None and not stop.is_set():
            loop.call_soon_threadsafe(progress, done, total)

    try:
        return await in_thread(work, report, stop, *args, **kwargs)
    finally:
        stop.set()
