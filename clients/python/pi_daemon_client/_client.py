"""The asynchronous client: one connection at a time to one daemon, made again whenever it is lost."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from . import _types as t
from ._connection import Connection, ProgressCallback
from ._methods import Methods
from ._opened import OpenSessions
from ._settings import Backoff, Settings
from ._watch import DEFAULT_LIMIT, Watch
from ._wires import Endpoint, StdioEndpoint, TcpEndpoint, UnixEndpoint
from .errors import ClientClosed, ClientError, ConnectionLost, NotConnected, ServerError, Unreachable

_ATTEMPTS = 5
"""How often a request with `retry` is sent. A daemon that dies at it each time is not helped by a sixth."""

_FIRST_LOOK = 0.5
"""Seconds, doubled with each attempt, until a request that a leaving daemon refused is sent again."""

_PASSING = ("shuttingDown", "overloaded")
"""Reasons for which a daemon may refuse a greeting that another one, or the same one later, will take."""

NotificationListener = Callable[[str, dict[str, Any]], None]
ConnectionListener = Callable[[bool], None]


class AsyncClient(Methods):
    """Use as an async context manager, or call `close`.

    A lost connection fails the requests that were under way and is made again in the background: sessions that
    were opened through this client are opened again with what they were opened with and set to, and every `watch`
    catches up. Requests made meanwhile wait for the new connection.
    """

    def __init__(self, endpoint: Endpoint, token: str | None, settings: Settings) -> None:
        """Use one of the `connect_` methods."""
        self._endpoint = endpoint
        self._token = token
        self._name = settings.get("name", "pi-daemon-client")
        self._reconnect = settings.get("reconnect", Backoff())
        self._wait = settings.get("wait", 10.0)
        self._summarizer = settings.get("summarizer")
        self._connection: Connection | None = None
        self._server: t.InitializeResult | None = None
        self._ready = asyncio.Event()
        self._error: ClientError | None = None
        self._supervisor: asyncio.Task[None] | None = None
        self._background: set[asyncio.Task[None]] = set()
        self._watches: list[Watch] = []
        self._opened = OpenSessions()
        self._listeners: list[NotificationListener] = []
        self._connection_listeners: list[ConnectionListener] = []

    @classmethod
    async def connect_unix(
        cls, path: str | os.PathLike[str] | None = None, **settings: Unpack[Settings]
    ) -> AsyncClient:
        """The daemon at that socket; without a path, the user's own at its standard place.
        Raises Unreachable, and ServerError where the daemon won't have this client."""
        return await cls(UnixEndpoint(path), None, settings)._start()

    @classmethod
    async def connect_tcp(cls, host: str, port: int, token: str, **settings: Unpack[Settings]) -> AsyncClient:
        """Raises Unreachable, and ServerError (`unauthorized`: the token is wrong)."""
        return await cls(TcpEndpoint(host, port), token, settings)._start()

    @classmethod
    async def connect_stdio(
        cls,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        **settings: Unpack[Settings],
    ) -> AsyncClient:
        """Starts `argv`, a daemon that serves its stdin and stdout; a lost one is started again.
        Raises Unreachable where it can't be started or ends at once."""
        return await cls(StdioEndpoint(argv, env=env, cwd=cwd), None, settings)._start()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def server(self) -> t.InitializeResult:
        """What the daemon said of itself at the last connection."""
        assert self._server is not None
        return self._server

    @property
    def daemon(self) -> t.PiDaemonCapabilities:
        """`daemonId`, `clientId`, `features`, `limits`, `sessionsDir`."""
        return self.server["capabilities"]["experimental"]["piDaemon"]

    @property
    def connected(self) -> bool:
        """Whether a request would be sent at once."""
        return self._error is None and self._connection is not None and self._connection.lost_because is None

    async def wait_connected(self) -> None:
        """Raises what ended the client, if it has ended."""
        while not self._ready.is_set():
            if self._error is not None:
                raise self._error
            await self._ready.wait()

    def on_notification(self, listener: NotificationListener) -> Callable[[], None]:
        """Calls `listener(method, params)` for each notification, as it comes and in the order in which they come;
        one that comes while the connection is lost is missed (`watch` misses none). Returns what ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def on_connection(self, listener: ConnectionListener) -> Callable[[], None]:
        """Calls `listener(False)` when the connection is lost, `listener(True)` when it is there again. Returns what
        ends it."""
        self._connection_listeners.append(listener)
        return lambda: self._connection_listeners.remove(listener)

    async def watch(
        self, session_id: str, *, since: t.SubscribeSince | None = None, limit: int = DEFAULT_LIMIT
    ) -> Watch:
        """The session's events from now on, or from `since`; opens the session for as long as the watch lives.

        `watch.opened` is the state that they start from. `limit`: how many events may wait to be read.
        Raises ServerError, ConnectionLost."""
        for attempt in itertools.count(1):
            connection = await self._connected()
            watch = Watch(session_id, since, limit, self._forget)
            self._watches.append(watch)
            try:
                await watch.subscribe(connection)
            except ConnectionLost:
                watch.close()
                if attempt == _ATTEMPTS:
                    raise
            except ServerError as error:
                watch.close()
                if attempt == _ATTEMPTS or error.reason != "shuttingDown":
                    raise
                await _gone(connection, attempt)
            except BaseException:
                watch.close()
                raise
            else:
                return watch
        raise AssertionError

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        progress: ProgressCallback | None = None,
        retry: bool = False,
    ) -> Any:
        for attempt in itertools.count(1):
            connection = await self._connected()
            try:
                result = await connection.request(method, params or {}, progress)
            except ConnectionLost as error:
                if attempt == _ATTEMPTS or not (retry or error.applied == "no"):
                    raise
                await connection.ended.wait()
            except ServerError as error:
                harmless = retry or error.data.get("applied") is False
                if attempt == _ATTEMPTS or not harmless or error.reason != "shuttingDown":
                    raise
                await _gone(connection, attempt)
            else:
                self._answered(connection, method, params or {}, result)
                return result
        raise AssertionError

    async def close(self) -> None:
        """Ends the connection and everything that waits for it. A daemon started by `connect_stdio` ends too."""
        if self._error is not None and self._supervisor is None:
            return
        self._fail(ClientClosed())
        supervisor, self._supervisor = self._supervisor, None
        if supervisor is not None:
            supervisor.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await supervisor
        for task in self._background:
            task.cancel()
        if self._connection is not None:
            await self._connection.close()

    # The connection, made again and again.

    async def _start(self) -> AsyncClient:
        await self._adopt(await self._open())
        self._supervisor = asyncio.create_task(self._supervise())
        return self

    async def _open(self) -> Connection:
        connection = Connection(self._notified, self._summarizer)
        self._server = await connection.open(self._endpoint, self._name, self._token)
        return connection

    async def _adopt(self, connection: Connection) -> None:
        """Opens again what was open, then lets requests and watches at the connection."""
        for session_id, params in list(self._opened.requests.items()):
            try:
                await connection.request("session/open", params)
            except ServerError as error:
                # Damaged, say, or held by another daemon: whoever uses it is told so then.
                if error.reason == "sessionNotFound":
                    self._opened.forget(session_id)
        for watched in {watch.session_id for watch in self._watches} & self._opened.configured.keys():
            with contextlib.suppress(ServerError):
                await connection.request("session/configure", self._opened.configured[watched])
        self._connection = connection
        self._ready.set()
        for watch in list(self._watches):
            watch.catch_up(connection)

    async def _supervise(self) -> None:
        while self._connection is not None:
            connection = self._connection
            await connection.ended.wait()
            self._ready.clear()
            for watch in self._watches:
                watch.hold()
            self._tell_connection(False)
            if await self._inherit(connection):
                self._tell_connection(True)
                continue
            if self._reconnect is None:
                self._fail(ConnectionLost(connection.lost_because or "the connection ended"))
                return
            try:
                async with asyncio.timeout(self._reconnect.give_up_after):
                    await self._come_back(self._reconnect)
            except TimeoutError:
                self._fail(NotConnected(f"{connection.lost_because}, and no daemon came back"))
                return
            except ServerError as error:
                self._fail(error)
                return
            self._tell_connection(True)

    async def _inherit(self, connection: Connection) -> bool:
        """Go on with another daemon on the same wire, where `pi-daemon connect` holds it."""
        while (heir := connection.heir) is not None and connection.replaced_by is not None:
            assert self._server is not None
            self._server = _replaced(self._server, connection.replaced_by)
            try:
                await self._adopt(heir)
            except ConnectionLost:
                connection = heir  # which may have an heir already
            else:
                return True
        return False

    def _tell_connection(self, connected: bool) -> None:
        for listener in self._connection_listeners:
            asyncio.get_running_loop().call_soon(listener, connected)

    async def _come_back(self, backoff: Backoff) -> None:
        """Raises ServerError where a daemon is there and won't have this client."""
        for delay in backoff.delays():
            await asyncio.sleep(delay)
            try:
                connection = await self._open()
            except Unreachable:
                continue
            except ServerError as error:
                if error.reason not in _PASSING:
                    raise
                continue
            try:
                await self._adopt(connection)
            except ConnectionLost:
                continue
            except BaseException:
                await connection.abort()
                raise
            return

    async def _connected(self) -> Connection:
        """Raises NotConnected, ClientClosed, or what made the client fail."""
        if self._connection is not None and self._connection.lost_because is not None:
            self._ready.clear()  # the supervisor has not run yet
        if not self._ready.is_set() or self._connection is None:
            try:
                async with asyncio.timeout(self._wait):
                    await self.wait_connected()
            except TimeoutError:
                raise NotConnected(f"no connection to a daemon at {self._endpoint}") from None
        if self._error is not None:
            raise self._error
        assert self._connection is not None
        return self._connection

    def _fail(self, error: ClientError) -> None:
        if self._error is None:
            self._error = error
        self._ready.set()  # wakes who waits; the error is what they find
        for watch in list(self._watches):
            watch.fail(None if isinstance(error, ClientClosed) else error)

    # Sessions that are open, and who listens.

    def _answered(self, connection: Connection, method: str, params: Mapping[str, Any], result: Any) -> None:
        self._opened.follow(method, params, result)
        if method == "session/configure" and all(watch.session_id != params["sessionId"] for watch in self._watches):
            self._opened.configured.pop(params["sessionId"], None)  # nobody here holds it open
        if method in ("session/close", "session/unsubscribe"):
            for watch in self._watches:  # they go on; the subscription they shared with the caller is gone
                if watch.session_id == params["sessionId"]:
                    watch.catch_up(connection)

    def _notified(self, connection: Connection, method: str, params: dict[str, Any]) -> None:
        loop = asyncio.get_running_loop()
        for listener in self._listeners:
            loop.call_soon(listener, method, params)
        session_id = params.get("sessionId")
        for watch in list(self._watches):
            if watch.session_id == session_id:
                watch.notified(connection, method, params)

    def _forget(self, watch: Watch) -> None:
        self._watches.remove(watch)
        session_id = watch.session_id
        if all(other.session_id != session_id for other in self._watches):
            self._opened.configured.pop(session_id, None)
        connection = self._connection
        if (
            connection is not None
            and connection.lost_because is None
            and self._error is None
            and session_id not in self._opened
            and all(other.session_id != session_id for other in self._watches)
        ):
            task = asyncio.get_running_loop().create_task(self._unsubscribe(connection, session_id))
            self._background.add(task)
            task.add_done_callback(self._background.discard)

    async def _unsubscribe(self, connection: Connection, session_id: str) -> None:
        if any(watch.session_id == session_id for watch in self._watches):
            return  # somebody came after all
        with contextlib.suppress(ClientError):
            await connection.request("session/unsubscribe", {"sessionId": session_id})


async def _gone(connection: Connection, attempt: int) -> None:
    """Wait until a daemon that is going away has gone, or for a while: it may finish something first, and it may have
    been the session alone that was closed."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_FIRST_LOOK * 2**attempt):
            await connection.ended.wait()


def _replaced(server: t.InitializeResult, told: t.DaemonReplaced) -> t.InitializeResult:
    """The same with another daemon's names."""
    ours = server["capabilities"]["experimental"]["piDaemon"]
    renamed: t.PiDaemonCapabilities = {**ours, "daemonId": told["daemonId"], "clientId": told["clientId"]}
    return {
        "capabilities": {"experimental": {"piDaemon": renamed}},
        "serverInfo": {**server["serverInfo"], "version": told["version"]},
    }
