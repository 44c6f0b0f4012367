"""The documents that a client has open: it is told of what is wrong with them, again and again as they change.

A document keeps its session open, as a subscriber that takes no writer lease. Of changes that come in quick succession
it tells once.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from time import monotonic
from typing import Any, Protocol

from pi_daemon.documents import diagnostics
from pi_daemon.documents.asked import Asked, Editor
from pi_daemon.documents.uris import path_of
from pi_daemon.engine.events import Change, Deleted
from pi_daemon.engine.hub import Hub
from pi_daemon.engine.live import LiveSession
from pi_daemon.rpc.connection import Connection, PeerError
from pi_daemon.rpc.types.lsp import Diagnostic, PublishDiagnostics
from pi_daemon.session.errors import PiDaemonError
from pi_daemon.storage.protocols import SessionRef

TOLD_SECONDS = 0.2
"""Between a change and what is told of it: as fast as anybody reads, and an agent appends faster."""

SHARE = 10
"""A client is told after that many times as long as the telling took: a tenth of a core at most."""


class Rooms(Protocol):
    """What an open document needs of whoever keeps it."""

    hub: Hub

    async def find(self, uri: str) -> SessionRef:
        """Raises as Hub.find does."""

    async def refused(self, uri: str, error: PiDaemonError) -> list[Diagnostic]:
        """What is told of a document that is no session, or can't be opened."""

    async def asked(self, uri: str, session: LiveSession, editor: Editor) -> Asked:
        """Raises StorageFailed."""


class Client:
    """One connection's documents by URI. `editor` is what it can do."""

    def __init__(self, connection: Connection, editor: Editor) -> None:
        self.connection = connection
        self.editor = editor
        self.documents: dict[str, OpenDocument] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        self._refreshing = False
        self._again = False

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def refresh(self) -> None:
        """Have the client ask again for what it shows. One such request at a time."""
        self._again = True
        if self._refreshing:
            return
        self._refreshing = True
        try:
            while self._again:
                self._again = False
                for method, wanted in (
                    ("workspace/codeLens/refresh", self.editor.refreshes_lenses),
                    ("workspace/diagnostic/refresh", self.editor.asks_for_diagnostics),
                ):
                    if wanted:
                        await self.connection.request(method, None)
        except PeerError:
            return
        finally:
            self._refreshing = False


class OpenDocument:
    """From didOpen to didClose. `ref` names its session while there is one. `place`: its path without links, as it was
    when its session was last looked for; None for what is no file."""

    def __init__(self, rooms: Rooms, client: Client, uri: str) -> None:
        self._rooms = rooms
        self._client = client
        self._uri = uri
        self._session: LiveSession | None = None
        self._told: list[Diagnostic] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._working = False
        self._dirty = False
        self._took = 0.0
        self._closed = False
        self.ref: SessionRef | None = None
        self.place: str | None = None

    @property
    def waits(self) -> bool:
        """Whether there is no session behind it."""
        return self._session is None

    async def open(self) -> None:
        self._working = True
        await self._work()

    async def close(self) -> None:
        """What was told of it is taken back."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        session, self._session = self._session, None
        if session is not None:
            await self._rooms.hub.unsubscribe(session, self._listener)
        if self._told:
            self._publish([])

    @property
    def _listener(self) -> str:
        """Of its own: one that the client opened by the same URI before may still be on its way out."""
        return f"{self._client.connection.client.client_id}/{id(self)}"

    def changed(self) -> None:
        """Something has happened to the file or the session."""
        if self._closed or self._timer is not None:
            return
        if self._working:
            self._dirty = True
        else:
            delay = max(TOLD_SECONDS, SHARE * self._took)
            self._timer = asyncio.get_running_loop().call_later(delay, self._start)

    def _deliver(self, change: Change) -> None:
        if any(isinstance(event, Deleted) for event in change.events) and self._session is not None:
            self._client.spawn(self._leave(self._session))
            self._session = self.ref = None
        self.changed()

    async def _leave(self, session: LiveSession) -> None:
        await self._rooms.hub.unsubscribe(session, self._listener)

    def _start(self) -> None:
        self._timer = None
        self._working = True
        self._client.spawn(self._work())

    async def _work(self) -> None:
        began = monotonic()
        try:
            await self._tell()
        finally:
            self._took = monotonic() - began
            self._working = False
            if self._dirty:
                self._dirty = False
                self.changed()

    async def _tell(self) -> None:
        try:
            if self._session is None:
                self.place = await asyncio.to_thread(_place, self._uri)
            session = self._session or await self._join()
            asked = await self._rooms.asked(self._uri, session, self._client.editor)
            found = await diagnostics.items(asked)
        except PiDaemonError as error:
            found = await self._rooms.refused(self._uri, error)
        if self._closed:
            return
        if not self._client.editor.asks_for_diagnostics and found != self._told:
            self._publish(found)
        first, self._told = self._told is None, found
        if not first:
            self._client.spawn(self._client.refresh())

    async def _join(self) -> LiveSession:
        hub = self._rooms.hub
        ref = await self._rooms.find(self._uri)
        async with hub.use_file(ref) as session:
            if not self._closed:
                self.ref = ref
                self._session = session
                hub.subscribe(session, self._listener, self._deliver)
            return session

    def _publish(self, found: list[Diagnostic]) -> None:
        params = PublishDiagnostics(uri=self._uri, diagnostics=found)
        self._client.connection.notify("textDocument/publishDiagnostics", params)


def _place(uri: str) -> str | None:
    path = path_of(uri)
    return os.path.realpath(path) if path is not None else None
