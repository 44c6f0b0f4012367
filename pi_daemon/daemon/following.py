"""The daemon follows what happens in the sessions directory, and lets go of what nobody uses."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

from pi_daemon.engine.hub import Hub
from pi_daemon.storage.changes import FileChange
from pi_daemon.storage.indexed import Indexed
from pi_daemon.storage.layout import Layout
from pi_daemon.storage.system import Files
from pi_daemon.storage.watch import Watcher

UNSEEN_SECONDS = 5.0
"""How often sessions look whether what they wrote stayed in their files, and what is idle is let go."""


class Following:
    """Between `start` and `stop` the hub hears of changed files, and the catalogue too."""

    def __init__(self, hub: Hub, layout: Layout, indexed: Indexed | None = None) -> None:
        self._hub = hub
        self._indexed = indexed
        self._watcher = Watcher(layout, Files(), self._tell)
        self._tidying: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """What was loaded before is looked at once: it may have changed unseen."""
        await self._watcher.start()
        if self._indexed is not None:
            self._indexed.follow()
        self._hub.opened = self._watcher.watch
        paths = [session.log.ref.location for session in self._hub.sessions]
        self._watcher.watch(paths)
        self._hub.files_changed(paths)
        self._tidying = asyncio.create_task(self._tidy())

    async def stop(self) -> None:
        if self._tidying is not None:
            self._tidying.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._tidying
        await self._watcher.stop()
        if self._indexed is not None:
            await self._indexed.stop()

    def _tell(self, changes: Sequence[FileChange]) -> None:
        paths = [change.was or change.path for change in changes] + [c.path for c in changes if c.was]
        self._hub.files_changed(paths)
        if self._indexed is not None:
            self._indexed.note(paths)

    async def _tidy(self) -> None:
        while True:
            await asyncio.sleep(UNSEEN_SECONDS)
            await self._hub.look_for_unseen()
            await self._hub.tidy()
