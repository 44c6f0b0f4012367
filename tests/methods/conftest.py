"""The whole daemon in this process, with clients that speak to it without a transport in between."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pi_daemon.daemon.server import Config, Daemon
from pi_daemon.engine.options import SessionOptions


class Refused(Exception):
    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code: int = error["code"]
        self.data: dict[str, Any] = error.get("data") or {}
        self.reason = self.data.get("reason")


class Client:
    """A channel and the peer behind it in one. `told` are the notifications in the order in which they came,
    `log` everything."""

    name = "unix"
    backlog = 0

    def __init__(self, daemon: Daemon, name: str) -> None:
        self.connection = daemon.connect(self, None)
        self.client_name = name
        self.log: list[dict[str, Any]] = []
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._changed = asyncio.Event()
        self._seen: set[Any] = set()

    # The channel

    def send(self, *messages: bytes) -> None:
        for message in messages:
            value = json.loads(message)
            self.log.append(value)
            if "method" not in value and value["id"] in self._waiting:
                self._waiting.pop(value["id"]).set_result(value)
        self._changed.set()

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def close(self) -> None:
        self.connection.lost()

    # The peer

    async def start(self, **options: Any) -> Client:
        more = {"initializationOptions": {"piDaemon": options}} if options else {}
        await self.call("initialize", processId=None, capabilities={}, clientInfo={"name": self.client_name}, **more)
        return self

    async def asked(self, method: str) -> dict[str, Any]:
        """The next request of the daemon's that this client has not looked at yet."""
        while True:
            for value in self.log:
                if value.get("method") == method and "id" in value and value["id"] not in self._seen:
                    self._seen.add(value["id"])
                    return value
            await self.changed()

    def answer(self, request: dict[str, Any], **outcome: Any) -> None:
        """`result` or `error` of a request of the daemon's."""
        self.connection.receive(json.dumps({"jsonrpc": "2.0", "id": request["id"], **outcome}).encode())

    async def heard(self, method: str, **members: Any) -> dict[str, Any]:
        """The first notification of that kind whose parameters have these members."""
        while True:
            for value in self.told:
                if value["method"] == method and members.items() <= value["params"].items():
                    return value["params"]  # type: ignore[no-any-return]
            await self.changed()

    async def changed(self) -> None:
        self._changed.clear()
        await asyncio.wait_for(self._changed.wait(), 20)

    def ask(self, method: str, params: Any) -> asyncio.Future[dict[str, Any]]:
        number = next(self._ids)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        return self.ask_raw(number, json.dumps(message).encode())

    def ask_raw(self, number: int, message: bytes) -> asyncio.Future[dict[str, Any]]:
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self.connection.receive(message)
        return answer

    async def call(self, method: str, **params: Any) -> Any:
        answer = await self.ask(method, params)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]

    @property
    def told(self) -> list[dict[str, Any]]:
        return [value for value in self.log if "method" in value]

    def told_methods(self) -> list[str]:
        return [value["method"] for value in self.told]


class Scene:
    """A daemon and its clients."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sessions = path / "sessions"
        self.sessions.mkdir(exist_ok=True)
        self.daemon: Daemon

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Scene]:
        state = self.path / "state"
        self.daemon = Daemon(
            Config(sessions_dir=self.sessions, state_dir=state, options=SessionOptions(durability="written"))
        )
        try:
            yield self
        finally:
            for connection in list(self.daemon.shared.connections.values()):
                connection.lost()
            await self.daemon.service.settled()
            await self.daemon.hub.close()

    async def client(self, name: str = "editor", **options: Any) -> Client:
        return await Client(self.daemon, name).start(**options)

    def files(self) -> list[Path]:
        return sorted(self.sessions.glob("*.jsonl"))


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def user(text: str = "hello", **more: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"role": "user", "content": text}, **more}


def assistant(text: str = "hi", tokens: int = 100, **more: Any) -> dict[str, Any]:
    usage = {"input": tokens, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": tokens}
    content = [{"type": "text", "text": text}]
    message = {"role": "assistant", "content": content, "provider": "p", "model": "m", "stopReason": "stop"}
    return {"type": "message", "message": {**message, "usage": usage}, **more}
