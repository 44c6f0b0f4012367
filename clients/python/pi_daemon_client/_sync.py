"""The same client for code without an event loop: a thread of its own holds the asynchronous one."""

from __future__ import annotations

import asyncio
import functools
import os
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar, Unpack

from . import _types as t
from ._client import AsyncClient, ConnectionListener, NotificationListener
from ._connection import ProgressCallback
from ._events import Event, ResyncEvent
from ._methods import ABSENT, Absent
from ._settings import Settings
from ._watch import DEFAULT_LIMIT, Watch
from .errors import ClientClosed, Unreachable

P = ParamSpec("P")
R = TypeVar("R")


def _blocking(
    method: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[Client, P], R]:
    def call(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._run(method(self._client, *args, **kwargs))

    functools.update_wrapper(call, method)
    return call


async def _within(seconds: float | None, work: Coroutine[Any, Any, R]) -> R:
    # In the loop, where running out of time and the result can't both happen: no event is lost to a timeout.
    async with asyncio.timeout(seconds):
        return await work


async def _next(iterator: AsyncIterator[R]) -> R | None:
    return await anext(iterator, None)


class _Loop:
    """An event loop in a thread, until `stop`."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="pi-daemon-client", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, R], timeout: float | None = None) -> R:
        """Raises TimeoutError; the work is cancelled then, as with an interrupt from the keyboard."""
        if not self._thread.is_alive() or self._thread is threading.current_thread():
            work.close()
            raise ClientClosed
        future = asyncio.run_coroutine_threadsafe(_within(timeout, work), self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def stop(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()


class SyncWatch(Iterator[Event | ResyncEvent]):
    """`for event in watch`, or `next_event` with a timeout."""

    def __init__(self, loop: _Loop, watch: Watch) -> None:
        self._loop = loop
        self._watch = watch
        self.session_id = watch.session_id
        self.opened = watch.opened

    def __next__(self) -> Event | ResyncEvent:
        event = self.next_event()
        if event is None:
            raise StopIteration
        return event

    def next_event(self, timeout: float | None = None) -> Event | ResyncEvent | None:
        """None at the end of the watch. Raises TimeoutError after `timeout` seconds without an event, and what
        the watch was ended by."""
        return self._loop.run(_next(self._watch), timeout)

    def close(self) -> None:
        async def close() -> None:
            self._watch.close()

        self._loop.run(close())

    def __enter__(self) -> SyncWatch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Client:
    """AsyncClient, blocking: the same methods with the same arguments, from any thread. Use as a context manager, or
    call `close`. `timeout`: seconds after which a call raises TimeoutError and is cancelled at the daemon.

    Callbacks (`progress`, `on_notification`) run in the client's own thread and must not call the client.
    """

    def __init__(self, connect: Callable[[], Coroutine[Any, Any, AsyncClient]], timeout: float | None) -> None:
        """Use one of the `connect_` methods."""
        self._timeout = timeout
        self._loop = _Loop()
        try:
            self._client = self._run(connect())
        except BaseException as error:
            self._loop.stop()
            if isinstance(error, Unreachable):
                # Nobody is helped by the way from here to the socket, through two threads.
                raise error.with_traceback(None) from None
            raise

    @classmethod
    def connect_unix(
        cls, path: str | os.PathLike[str] | None = None, *, timeout: float | None = None, **settings: Unpack[Settings]
    ) -> Client:
        return cls(lambda: AsyncClient.connect_unix(path, **settings), timeout)

    @classmethod
    def connect_tcp(
        cls, host: str, port: int, token: str, *, timeout: float | None = None, **settings: Unpack[Settings]
    ) -> Client:
        return cls(lambda: AsyncClient.connect_tcp(host, port, token, **settings), timeout)

    @classmethod
    def connect_stdio(
        cls,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        timeout: float | None = None,
        **settings: Unpack[Settings],
    ) -> Client:
        return cls(lambda: AsyncClient.connect_stdio(argv, env=env, cwd=cwd, **settings), timeout)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, work: Coroutine[Any, Any, R]) -> R:
        return self._loop.run(work, self._timeout)

    def close(self) -> None:
        try:
            self._loop.run(self._client.close())
        except ClientClosed:
            return
        finally:
            self._loop.stop()

    @property
    def server(self) -> t.InitializeResult:
        return self._client.server

    @property
    def daemon(self) -> t.PiDaemonCapabilities:
        return self._client.daemon

    @property
    def connected(self) -> bool:
        return self._client.connected

    def on_notification(self, listener: NotificationListener) -> Callable[[], None]:
        return self._client.on_notification(listener)

    def on_connection(self, listener: ConnectionListener) -> Callable[[], None]:
        return self._client.on_connection(listener)

    def watch(self, session_id: str, *, since: t.SubscribeSince | None = None, limit: int = DEFAULT_LIMIT) -> SyncWatch:
        return SyncWatch(self._loop, self._run(self._client.watch(session_id, since=since, limit=limit)))

    def iter_sessions(
        self, *, cwd: str | Absent = ABSENT, progress: ProgressCallback | None = None
    ) -> Iterator[t.SessionInfo]:
        pages = self._client.iter_sessions(cwd=cwd, progress=progress)
        while (session := self._run(_next(pages))) is not None:
            yield session

    def iter_entries(
        self, session_id: str, *, since: str | Absent = ABSENT, progress: ProgressCallback | None = None
    ) -> Iterator[dict[str, Any]]:
        pages = self._client.iter_entries(session_id, since=since, progress=progress)
        while (entry := self._run(_next(pages))) is not None:
            yield entry

    request = _blocking(AsyncClient.request)
    wait_connected = _blocking(AsyncClient.wait_connected)
    create_session = _blocking(AsyncClient.create_session)
    open_session = _blocking(AsyncClient.open_session)
    close_session = _blocking(AsyncClient.close_session)
    configure = _blocking(AsyncClient.configure)
    list_sessions = _blocking(AsyncClient.list_sessions)
    delete_session = _blocking(AsyncClient.delete_session)
    fork = _blocking(AsyncClient.fork)
    rename = _blocking(AsyncClient.rename)
    stats = _blocking(AsyncClient.stats)
    export = _blocking(AsyncClient.export)
    check = _blocking(AsyncClient.check)
    repair = _blocking(AsyncClient.repair)
    append = _blocking(AsyncClient.append)
    entries = _blocking(AsyncClient.entries)
    tree = _blocking(AsyncClient.tree)
    whole_tree = _blocking(AsyncClient.whole_tree)
    path = _blocking(AsyncClient.path)
    compare = _blocking(AsyncClient.compare)
    context = _blocking(AsyncClient.context)
    explain = _blocking(AsyncClient.explain)
    whole_explanation = _blocking(AsyncClient.whole_explanation)
    move_leaf = _blocking(AsyncClient.move_leaf)
    label = _blocking(AsyncClient.label)
    compaction_plan = _blocking(AsyncClient.compaction_plan)
    compact = _blocking(AsyncClient.compact)
    resume_report = _blocking(AsyncClient.resume_report)
    edit_context = _blocking(AsyncClient.edit_context)
    subscribe = _blocking(AsyncClient.subscribe)
    unsubscribe = _blocking(AsyncClient.unsubscribe)
    request_writer = _blocking(AsyncClient.request_writer)
    search = _blocking(AsyncClient.search)
    catalog_totals = _blocking(AsyncClient.catalog_totals)
    subscribe_catalog = _blocking(AsyncClient.subscribe_catalog)
    unsubscribe_catalog = _blocking(AsyncClient.unsubscribe_catalog)
    daemon_status = _blocking(AsyncClient.daemon_status)
    panel = _blocking(AsyncClient.panel)
    doctor = _blocking(AsyncClient.doctor)
    stop_daemon = _blocking(AsyncClient.stop_daemon)
