"""Watches the sessions directory: what pi, an editor, a sync tool or another daemon does to session files.

A thread of its own waits for hints and looks at what they speak of; from time to time it sweeps everything, and more
often it looks at the files of open sessions. Without hints, changes are told later and nothing is lost.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence

from pi_daemon.storage.changes import FileChange
from pi_daemon.storage.hints import Hints, HintsFailed, WatchfilesHints
from pi_daemon.storage.layout import Layout
from pi_daemon.storage.survey import Folder, Survey
from pi_daemon.storage.system import Files

logger = logging.getLogger(__name__)

SWEEP_SECONDS = (5.0, 60.0)
"""Between two sweeps, at least and at most."""

SWEEP_SHARE = 0.001
"""Of a core, for sweeps: with many files they come less often. 3,000 files take 12 ms, or 25 when nothing of them is in
the processor's caches."""

OPEN_SECONDS = 1.0
"""Between two looks at the files of open sessions, and at the sessions directory itself."""

UNHINTED_SECONDS = (1.0, 60.0)
UNHINTED_SHARE = 0.01
UNHINTED_OPEN_SECONDS = 0.1
"""The same while there are no hints."""

RESTART_SECONDS = (0.1, 30.0)
"""Until broken hints are set up anew: twice as long each time that they break soon again."""

LASTED_SECONDS = 60.0
"""Hints that break after this long haven't broken soon."""

Tell = Callable[[list[FileChange]], None]
MakeHints = Callable[[Collection[str], threading.Event], Hints]


class Watcher:
    """Tells of changes to session files of `layout`, in the loop that called `start`.

    `tell` is given the changes of one look, each path once; what a daemon itself writes is told too. It must not block
    or raise. Who opens a file looks at it once after `watch`: it may have changed between its reading and that call.
    """

    def __init__(self, layout: Layout, files: Files, tell: Tell, *, hints: MakeHints = WatchfilesHints) -> None:
        self._survey = Survey(layout, files)
        self._files = files
        self._tell = tell
        self._make_hints = hints
        self._hints: Hints | None = None
        self._hinted: frozenset[Folder] = frozenset()
        self._hinted_at = self._restart_at = 0.0
        self._restart_after = RESTART_SECONDS[0]
        self._swept_at = self._sweep_took = self._looked_at = 0.0
        self._woken = threading.Event()
        self._stopping = False
        self._chosen: frozenset[str] = frozenset()
        self._missing: set[str] = set()
        self._asked: deque[asyncio.Future[None]] = deque()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def start(self) -> None:
        """Begin; what is there now is told to nobody."""
        self._loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = self._loop.create_future()
        self._thread = threading.Thread(target=self._run, args=(ready,), name="pi-daemon-watch", daemon=True)
        self._thread.start()
        await ready

    def watch(self, paths: Iterable[str]) -> None:
        """These are the files of open sessions, by their real paths: look at them often. Replaces the earlier ones."""
        self._chosen = frozenset(paths)

    async def swept(self) -> None:
        """Sweep now, and wait until its changes are told."""
        assert self._loop is not None, "not started"
        done: asyncio.Future[None] = self._loop.create_future()
        self._asked.append(done)
        self._woken.set()
        await done

    async def stop(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            self._stopping = True
            self._woken.set()
            await asyncio.get_running_loop().run_in_executor(None, thread.join)

    # In the thread

    def _run(self, ready: asyncio.Future[None]) -> None:
        try:
            self._survey.sweep()
            self._look_at_everything(renew=True)
            self._deliver([], [ready])
            while not self._stopping:
                self._look(self._wait())
        finally:
            if self._hints is not None:
                self._hints.close()
            self._deliver([], list(self._asked))

    def _wait(self) -> Collection[str]:
        """Until something is hinted at, somebody asks, or it is time to look at the open sessions."""
        seconds = UNHINTED_OPEN_SECONDS if self._hints is None else OPEN_SECONDS
        left = max(0.0, self._looked_at + seconds - self._files.now())
        if self._hints is None:
            self._woken.wait(left)
            return ()
        try:
            return self._hints.wait(left)
        except HintsFailed as failed:
            self._broken(failed)
            return ()

    def _look(self, hinted: Collection[str]) -> None:
        survey, now = self._survey, self._files.now()
        moved, due = survey.moved(hinted), self._sweep_due(now)
        survey.chosen = self._chosen
        unseen = survey.chosen.intersection(hinted).difference(survey.known)
        if now - self._looked_at >= (UNHINTED_OPEN_SECONDS if self._hints is None else OPEN_SECONDS):
            self._looked_at = now
            unseen |= survey.chosen.difference(survey.known, self._missing)
            self._missing = set(survey.chosen.difference(survey.known))
            hinted = survey.chosen.union(hinted)
            moved |= survey.base_moved()
        # Hints that had come by then went with the wait that this has ended.
        asked_for = self._woken.is_set()
        self._woken.clear()
        asked = [self._asked.popleft() for _ in range(len(self._asked))]
        if moved or due or asked_for:
            self._look_at_everything(renew=moved, asked_for=asked_for)
        else:
            self._deliver(survey.glance(hinted), [])
        # What came and went between two looks is in no picture, and is told all the same where it was an open session.
        self._deliver([FileChange("deleted", path, None) for path in sorted(unseen.difference(survey.known))], asked)

    def _sweep_due(self, now: float) -> bool:
        """Also where broken hints are to be set up anew."""
        if self._hints is None:
            (least, most), share = UNHINTED_SECONDS, UNHINTED_SHARE
            if self._survey.folders and now >= self._restart_at:
                return True
        else:
            (least, most), share = SWEEP_SECONDS, SWEEP_SHARE
        return now - self._swept_at >= min(max(least, self._sweep_took / share), most)

    def _look_at_everything(self, *, renew: bool, asked_for: bool = False) -> None:
        """Sweep, and sweep again where new hints were set up: what happened meanwhile wasn't hinted at.

        `renew` the hints where directories have moved: one that was made again, be it with the same inode, gives none.
        They are renewed too where the sweep found what they should have told.
        """
        changes = self._sweep()
        self._deliver(changes, [])
        stale = renew or self._survey.folders != self._hinted or bool(changes and not asked_for)
        if stale and self._files.now() >= self._restart_at:
            self._hint()
            self._deliver(self._sweep(), [])

    def _sweep(self) -> list[FileChange]:
        self._swept_at, started = self._files.now(), time.thread_time()
        changes = self._survey.sweep()
        self._sweep_took = time.thread_time() - started
        return changes

    def _hint(self) -> None:
        """Set up hints for the directories that there are, then drop the ones that there were."""
        old, self._hints = self._hints, None
        folders, self._hinted = self._survey.folders, frozenset()
        try:
            if folders:
                self._hints = self._make_hints([path for path, _, _ in folders], self._woken)
                self._hinted, self._hinted_at = folders, self._files.now()
        except HintsFailed as failed:
            self._broken(failed)
        if old is not None:
            old.close()

    def _broken(self, failed: HintsFailed) -> None:
        now = self._files.now()
        if self._hints is not None:
            self._hints.close()
            self._hints = None
            if now - self._hinted_at >= LASTED_SECONDS:
                self._restart_after = RESTART_SECONDS[0]
        self._hinted = frozenset()
        self._restart_at = now + self._restart_after
        logger.log(
            logging.WARNING if self._restart_after == RESTART_SECONDS[0] else logging.DEBUG,
            "no hints of changes to sessions for %.1f s: %s",
            self._restart_after,
            failed,
        )
        self._restart_after = min(2 * self._restart_after, RESTART_SECONDS[1])

    def _deliver(self, changes: list[FileChange], asked: Sequence[asyncio.Future[None]]) -> None:
        if not changes and not asked:
            return
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(self._tell_all, changes, asked)
        except RuntimeError:
            self._stopping = True  # the loop is closed, so nobody is there to be told

    def _tell_all(self, changes: list[FileChange], asked: Sequence[asyncio.Future[None]]) -> None:
        if changes:
            self._tell(changes)
        for done in asked:
            if not done.done():
                done.set_result(None)
