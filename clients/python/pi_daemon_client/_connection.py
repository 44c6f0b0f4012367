"""One connection: requests and their answers, cancelling, progress, and what the daemon says unasked."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from typing import Any, cast

from . import _json
from . import _types as t
from ._role import Role, Summarizer
from ._wires import Endpoint, Wire
from .errors import ConnectionLost, ServerError, Unreachable

PROTOCOL_VERSION = 1
"""What this client speaks; a daemon that doesn't says `versionMismatch`."""

ProgressCallback = Callable[[dict[str, Any]], None]
"""Is given LSP's WorkDoneProgress values: `kind` begin, report or end, `message`, `percentage`."""

_GREETING = 30
"""Seconds within which a daemon has to answer `initialize`; it does nothing long before."""

_FAREWELL = 5
"""Seconds that `close` waits for the answer to `shutdown`."""

_tokens = itertools.count(1)


class Connection:
    """Lives from `open` until its wire is gone, or leads to another daemon; never comes back. `lost_because` is None
    while it lives. In the second case `heir` goes on with the wire, and with what was sent meanwhile."""

    def __init__(
        self, notify: Callable[[Connection, str, dict[str, Any]], None], summarizer: Summarizer | None = None
    ) -> None:
        self._notify = notify
        self._role = Role(summarizer, self._send)
        self._ids = itertools.count(1)
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._progress: dict[str, ProgressCallback] = {}
        self._wire: Wire | None = None
        self._room: asyncio.Semaphore | None = None
        self._in_flight: set[int] = set()
        self.lost_because: str | None = None
        self.ended = asyncio.Event()
        self.heir: Connection | None = None
        self.replaced_by: t.DaemonReplaced | None = None
        """What `pi-daemon connect` said of the heir's daemon."""

    async def open(self, endpoint: Endpoint, name: str, token: str | None) -> Any:
        """Connects and initializes; returns the InitializeResult.

        Raises Unreachable, and ServerError (unauthorized, versionMismatch)."""
        self._wire = await endpoint.open(self)
        try:
            async with asyncio.timeout(_GREETING):
                result = await self._greet(name, token)
        except BaseException as error:
            await self.abort()
            if isinstance(error, ConnectionLost):
                message = f"no daemon answers at {endpoint}: {error}"
                raise Unreachable(message, said=self._wire.said) from None
            if isinstance(error, TimeoutError):
                raise Unreachable(f"what listens at {endpoint} did not answer within {_GREETING} s") from None
            raise
        self.notify("initialized", {})
        self._room = _room_of(result)
        return result

    async def _greet(self, name: str, token: str | None) -> Any:
        options: dict[str, Any] = {"protocolVersion": PROTOCOL_VERSION}
        if token is not None:
            options["token"] = token
        if self._role.summarizer is not None:
            options["summarizer"] = True
        params = {
            "processId": None,
            "clientInfo": {"name": name},
            "initializationOptions": {"piDaemon": options},
            "capabilities": {},
        }
        return await self.request("initialize", params)

    async def request(self, method: str, params: Mapping[str, Any], progress: ProgressCallback | None = None) -> Any:
        """Raises ServerError, ConnectionLost; TypeError or ValueError for params that are no JSON.
        Cancelling the awaiting task cancels the request at the daemon. One too many for the daemon waits until others
        are answered."""
        token = None
        if progress is not None:
            token = f"p{next(_tokens)}"
            params = {**params, "workDoneToken": token}
        number = next(self._ids)
        body = _json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        room = self._room if self.lost_because is None else None
        if room is not None:
            await room.acquire()
        if self._wire is None or self.lost_because is not None:
            if room is not None:
                room.release()  # for the next one that waits
            raise ConnectionLost(self.lost_because or "not connected", "no")
        if room is not None:
            self._in_flight.add(number)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending[number] = future
        if token is not None and progress is not None:
            self._progress[token] = progress
        self._wire.send(body)
        try:
            await self._wire.drain()
            return await future
        except asyncio.CancelledError:
            if self._pending.pop(number, None) is not None:
                self.notify("$/cancelRequest", {"id": number})
            elif not future.cancelled():
                future.exception()  # answered already, and nobody will look
            raise
        finally:
            if token is not None:
                self._progress.pop(token, None)

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    async def close(self) -> None:
        """`shutdown` and `exit`, as LSP has it, then the end of the wire."""
        if self._wire is None:
            return
        try:
            if self.lost_because is None:
                async with asyncio.timeout(_FAREWELL):
                    await self.request("shutdown", {})
                self.notify("exit", {})
        except (ConnectionLost, ServerError, TimeoutError):
            pass
        finally:
            await self._wire.close()

    async def abort(self) -> None:
        """The end at once, without a word."""
        if self._wire is not None:
            self._wire.abort()
            await self._wire.closed.wait()

    # What a Wire calls.

    def received(self, body: bytes) -> None:
        if self.lost_because is not None:
            return
        try:
            message = _json.loads(body)
            if not isinstance(message, dict):
                raise ValueError("a message that is no object")
        except ValueError as error:
            self.lost(f"the daemon sent what is no message: {error}")
            if self._wire is not None:
                self._wire.abort()
            return
        method = message.get("method")
        if not isinstance(method, str):
            self._answered(message)
        elif "id" in message:
            self._role.asked(message["id"], method, message.get("params") or {})
        else:
            self._told(method, message.get("params") or {})

    def lost(self, why: str) -> None:
        if self.lost_because is not None:
            return
        self.lost_because = why
        pending = list(self._pending.values())
        self._pending.clear()
        for number in list(self._in_flight):
            self._left(number)
        for future in pending:
            if not future.done():
                future.set_exception(ConnectionLost(why))
                future.exception()  # whoever awaits it is told; nobody does after a cancel
        self._progress.clear()
        self._role.end()
        self.ended.set()

    def _answered(self, message: dict[str, Any]) -> None:
        self._left(message.get("id", 0))
        future = self._pending.pop(message.get("id", 0), None)
        if future is None or future.done():
            return
        if "error" in message:
            future.set_exception(ServerError.from_wire(message["error"]))
        else:
            future.set_result(message.get("result"))

    def _left(self, number: int) -> None:
        """The daemon has answered that request, be it that nobody waits for it any more, or never will."""
        if number in self._in_flight and self._room is not None:
            self._in_flight.remove(number)
            self._room.release()

    def _told(self, method: str, params: dict[str, Any]) -> None:
        if method == "$/progress":
            callback = self._progress.get(params.get("token", ""))
            if callback is not None:
                # By way of the loop: what a callback raises is the loop's to report, not the connection's end.
                asyncio.get_running_loop().call_soon(callback, params.get("value") or {})
                return
        if method == "$/cancelRequest":
            self._role.cancel(params.get("id"))
            return
        self._notify(self, method, params)
        if method == "daemon/replaced" and self._wire is not None:
            self._bequeath(self._wire, cast(t.DaemonReplaced, params))

    def _bequeath(self, wire: Wire, told: t.DaemonReplaced) -> None:
        """What was in flight at the old daemon has been answered; what is pending now waits for the new one."""
        self._role.end()
        heir = Connection(self._notify, self._role.summarizer)
        heir._wire, heir._ids, heir._pending, heir._progress = wire, self._ids, self._pending, self._progress
        heir._room, heir._in_flight = self._room, self._in_flight
        wire.receiver = heir
        self.heir, self.replaced_by = heir, told
        self.lost_because = "the daemon was replaced"
        self.ended.set()

    def _send(self, message: dict[str, Any]) -> None:
        if self._wire is not None:
            self._wire.send(_json.dumps(message))


def _room_of(greeting: Any) -> asyncio.Semaphore | None:
    """For as many requests as the daemon takes at a time; None where it doesn't say."""
    limit = greeting["capabilities"]["experimental"]["piDaemon"].get("limits", {}).get("requestsInFlight")
    return asyncio.Semaphore(limit) if isinstance(limit, int) and limit > 0 else None
