"""A service of a few methods that the conformance suite needs, and nothing of sessions."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Raw, UnsetType

from pi_daemon.rpc import codec
from pi_daemon.rpc.call import Call
from pi_daemon.rpc.connection import Channel, Connection, Handler
from pi_daemon.rpc.limits import Limits
from pi_daemon.rpc.table import Method
from pi_daemon.rpc.types.base import Wire
from pi_daemon.rpc.types.lifecycle import (
    PROTOCOL_VERSION,
    Empty,
    Experimental,
    InitializeParams,
    InitializeResult,
    PiDaemonCapabilities,
    ServerCapabilities,
    ServerInfo,
)
from pi_daemon.session.errors import EntryNotFound

TOKEN = "correct horse battery staple"


class Value(Wire, kw_only=True):
    value: Raw


class Key(Wire, kw_only=True):
    key: str


class Change(Wire, kw_only=True):
    """`count` changes of one notification of `size` characters each."""

    session_id: str
    count: int = 1
    size: int = 0
    fails: bool = False


class Steps(Wire, kw_only=True):
    count: int
    work_done_token: str | int | UnsetType = UNSET


METHODS: dict[str, Method] = {
    "test/echo": Method(Value, Value, "Gives back what it got."),
    "test/wait": Method(Key, Empty, "Waits until the test lets it go on."),
    "test/change": Method(Change, Empty, "Publishes changes to everybody, caused by the request."),
    "test/steps": Method(Steps, Empty, "Reports progress."),
    "test/bug": Method(Empty, Empty, "Raises what it shouldn't."),
    "test/refuse": Method(Empty, Empty, "Refuses."),
    "test/ask": Method(Value, Value, "Asks the client, and gives back its answer."),
    "test/unserved": Method(Empty, Empty, "Is in the table, but nobody serves it."),
}


class FakeService:
    """`started`, `cancelled` and `gates` are events by the key of a `test/wait`."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.connections: list[Connection] = []
        self.left: list[Connection] = []
        self.someone_left = asyncio.Event()
        self.gates: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.started: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.cancelled: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.most_queued = 0
        self._changes: defaultdict[str, int] = defaultdict(int)
        self._handlers: dict[str, Handler] = {
            "test/echo": self.echo,
            "test/wait": self.wait,
            "test/change": self.change,
            "test/steps": self.steps,
            "test/bug": self.bug,
            "test/refuse": self.refuse,
            "test/ask": self.ask,
        }

    def connect(self, channel: Channel, token: str | None) -> Connection:
        return Connection(channel, self, self.limits, token, METHODS)

    @property
    def handlers(self) -> Mapping[str, Handler]:
        return self._handlers

    def initialize(self, connection: Connection, params: InitializeParams) -> InitializeResult:
        ours = PiDaemonCapabilities(
            protocol_version=PROTOCOL_VERSION,
            daemon_id="fake",
            client_id=connection.client.client_id,
            features={},
            limits=self.limits.report(),
            sessions_dir="/nowhere",
        )
        capabilities = ServerCapabilities(experimental=Experimental(pi_daemon=ours))
        return InitializeResult(capabilities=capabilities, server_info=ServerInfo(name="fake", version="0"))

    def connected(self, connection: Connection) -> None:
        self.connections.append(connection)

    def disconnected(self, connection: Connection) -> None:
        self.connections.remove(connection)
        self.left.append(connection)
        self.someone_left.set()

    def notified(self, connection: Connection, method: str, params: Raw | UnsetType) -> None: ...

    def resync(self, session_id: str) -> bytes | None:
        return codec.notification("session/resync", {"sessionId": session_id, "revision": self._changes[session_id]})

    async def echo(self, call: Call, params: Value) -> Value:
        self.most_queued = max(self.most_queued, call.connection.statistics().queued_bytes)
        return params

    async def wait(self, call: Call, params: Key) -> Empty:
        self.started[params.key].set()
        try:
            await self.gates[params.key].wait()
        except asyncio.CancelledError:
            self.cancelled[params.key].set()
            raise
        return Empty()

    async def change(self, call: Call, params: Change) -> Empty:
        for _ in range(params.count):
            self._changes[params.session_id] += 1
            body = {
                "sessionId": params.session_id,
                "revision": self._changes[params.session_id],
                "text": "x" * params.size,
            }
            for connection in self.connections:
                connection.publish(params.session_id, [codec.notification("test/changed", body)], call)
            await asyncio.sleep(0)
        if params.fails:
            raise EntryNotFound("There is no such entry.", entryId="e")
        return Empty()

    async def steps(self, call: Call, params: Steps) -> Empty:
        for number in range(params.count):
            call.progress(f"step {number}", number, params.count)
        return Empty()

    async def bug(self, call: Call, params: Empty) -> Any:
        raise RuntimeError("a secret of /home/user")

    async def refuse(self, call: Call, params: Empty) -> Any:
        raise EntryNotFound("There is no such entry.", entryId="e")

    async def ask(self, call: Call, params: Value) -> Value:
        return Value(value=await call.connection.request("test/question", params))
