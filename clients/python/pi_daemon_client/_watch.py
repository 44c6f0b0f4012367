"""The events of one session, in order of their revisions, each once, over as many connections as it takes.

What has been seen is known by the last revision that is complete, and by the notifications of the one after
it that came so far: a connection may break between two notifications of one change. Catching up asks for
everything after the complete revision and leaves out those.

While a catch-up is under way live notifications are held. Its answer settles which of them it already covers.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, Literal

from . import _types as t
from ._events import CHANGES, DeletedEvent, Event, ResyncEvent, event_of
from .errors import ClientError, ConnectionLost, ServerError

if TYPE_CHECKING:
    from ._connection import Connection

DEFAULT_LIMIT = 10_000
"""Events that wait for their reader. Beyond, they are dropped for one ResyncEvent: a reader that stopped must
not fill the memory."""

_AGAIN = 0.2
"""Seconds until a catch-up that was refused as `overloaded` is tried again."""


class Watch(AsyncIterator[Event | ResyncEvent]):
    """`async for event in watch`. Made by `AsyncClient.watch`; ends when it or the client is closed, or after
    the session's DeletedEvent. Raises what ended it otherwise: ServerError where the session can't be had any
    more, ConnectionLost where no connection comes back."""

    def __init__(self, session_id: str, since: t.SubscribeSince | None, limit: int, forget: Callable[[Watch], None]):
        self.session_id = session_id
        self.opened: t.SubscribeResult | None = None
        """The daemon's first answer: the state that the events start from."""
        self._forget = forget
        self._limit = limit
        self._queue: deque[Event | ResyncEvent] = deque()
        self._wake = asyncio.Event()
        self._over = False
        self._error: ClientError | None = None
        self._instance: str | None = since["instanceId"] if since else None
        self._complete = since["revision"] if since else 0
        self._revision = self._complete
        self._floor = self._complete
        self._partial: list[Event] = []
        self._held: list[Event] | None = []
        self._starting = False
        self._again = False
        self._behind = False
        self._task: asyncio.Task[None] | None = None

    async def __anext__(self) -> Event | ResyncEvent:
        while not self._queue:
            if self._error is not None:
                raise self._error
            if self._over:
                raise StopAsyncIteration
            self._wake.clear()
            await self._wake.wait()
        return self._queue.popleft()

    async def __aenter__(self) -> Watch:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the watch. What was not read is dropped; the daemon is told that nobody listens any more."""
        self._queue.clear()
        self._end(None)

    # What the client calls.

    def hold(self) -> None:
        """The connection is gone: until the next catch-up nothing live counts."""
        self._held = []
        self._again = False
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def notified(self, connection: Connection, method: str, params: dict[str, Any]) -> None:
        if self._over:
            return
        if method == "session/resync":
            self.catch_up(connection)
            return
        event = event_of(method, params)
        if self._held is not None:
            self._held.append(event)
        else:
            self._live(connection, event)

    def catch_up(self, connection: Connection) -> None:
        """Subscribes on this connection from where the watch stands. Where that is under way, once more after it."""
        if self._held is None:
            self._held = []
        if self._task is not None or self._starting:
            self._again = True
            return
        self._task = asyncio.get_running_loop().create_task(self._subscribe_in_background(connection))

    async def subscribe(self, connection: Connection) -> None:
        """The first time: raises what `session/subscribe` does."""
        self._starting = True
        try:
            await self._subscribe(connection)
        finally:
            self._starting = False
        if self._again:
            self.catch_up(connection)

    def fail(self, error: ClientError | None) -> None:
        """The end, after what is queued; with an error that the reader gets."""
        self._end(error)

    # Catching up.

    async def _subscribe_in_background(self, connection: Connection) -> None:
        try:
            while True:
                self._again = False
                try:
                    await self._subscribe(connection)
                except ServerError as error:
                    if error.reason == "overloaded":
                        await asyncio.sleep(_AGAIN)
                        continue
                    if error.reason != "shuttingDown":
                        self._end(error)
                if not self._again:
                    return
        except ConnectionLost:
            pass  # the next connection starts the next catch-up
        finally:
            if self._task is asyncio.current_task():
                self._task = None

    async def _subscribe(self, connection: Connection) -> None:
        params: dict[str, Any] = {"sessionId": self.session_id}
        known, behind = self._instance is not None, self._behind
        if known and not behind:
            params["since"] = {"instanceId": self._instance, "revision": self._complete}
        result: t.SubscribeResult = await connection.request("session/subscribe", params)
        if self.opened is None:
            self.opened = result
        replayed = [event_of(message["method"], message["params"]) for message in result.get("events", [])]
        seen, self._partial, self._behind = self._partial, [], False
        if known and (behind or result["fresh"]):
            cause: Literal["fresh", "behind"] = "behind" if behind else "fresh"
            self._push(ResyncEvent(self.session_id, result["instanceId"], result["revision"], result["leafId"], cause))
        else:
            for event in replayed:
                if event in seen:
                    seen.remove(event)
                else:
                    self._push(event)
        self._instance = result["instanceId"]
        self._complete = self._revision = self._floor = result["revision"]
        held, self._held = self._held or [], None
        for event in held:
            if isinstance(event, CHANGES) or event not in replayed:
                self._live(connection, event)
        if self._behind:
            self.catch_up(connection)

    def _live(self, connection: Connection, event: Event) -> None:
        if self._held is not None:
            self._held.append(event)
            return
        if event.instance_id != self._instance:
            # Another loading of the session: its revisions don't continue ours.
            if not isinstance(event, CHANGES):
                self._push(event)
            self.catch_up(connection)
            return
        if isinstance(event, CHANGES) and event.revision <= self._floor:
            return
        if event.revision > self._revision:
            self._complete, self._revision, self._partial = self._revision, event.revision, []
        self._partial.append(event)
        self._push(event)
        if self._behind:
            self.catch_up(connection)

    # The reader's queue.

    def _push(self, event: Event | ResyncEvent) -> None:
        if self._over:
            return
        if len(self._queue) >= self._limit:
            self._queue.clear()
            self._behind = True
        if self._behind:
            return  # a ResyncEvent comes with the next catch-up and stands for this one too
        self._queue.append(event)
        self._wake.set()
        if isinstance(event, DeletedEvent):
            self._end(None)

    def _end(self, error: ClientError | None) -> None:
        if self._over:
            return
        self._over = True
        self._error = error
        self._wake.set()
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
        self._forget(self)
