"""A daemon that does what a test tells it to: it answers, keeps silent, notifies and drops connections on command.

It shares no code with the client or the real daemon.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable
from typing import Any

SILENT = object()
"""A handler's result: no answer."""


class Refused(Exception):
    def __init__(self, code: int, reason: str, message: str = "no", **data: Any) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message, "data": {"reason": reason, **data}}


class Peer:
    """One client's connection, as the daemon sees it."""

    def __init__(self, daemon: FakeDaemon, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.daemon = daemon
        self.reader = reader
        self.writer = writer
        self.received: defaultdict[str, asyncio.Queue[dict[str, Any]]] = defaultdict(asyncio.Queue)
        self.ended = asyncio.Event()

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.writer.write(b"content-length: %d\r\nX-Other: 1\r\n\r\n%b" % (len(body), body))

    def notify(self, method: str, session: str = "s", instance: str = "i1", revision: int = 1, **params: Any) -> None:
        common = {"sessionId": session, "instanceId": instance, "revision": revision, "origin": None}
        self.send({"method": method, "params": {**common, **params}})

    def answer(self, request: dict[str, Any], result: Any) -> None:
        self.send({"id": request["id"], "result": result})

    def drop(self) -> None:
        self.writer.transport.abort()

    async def next(self, method: str) -> dict[str, Any]:
        """The next message with this method: the whole of it."""
        return await self.received[method].get()

    async def serve(self) -> None:
        try:
            while True:
                header = await self.reader.readuntil(b"\r\n\r\n")
                body = await self.reader.readexactly(int(header.split(b":")[1]))
                message = json.loads(body)
                self.daemon.log.append(message)
                self.received[message.get("method", "answer")].put_nowait(message)
                if "id" not in message or "method" not in message:
                    continue
                handler = self.daemon.handlers.get(message["method"])
                try:
                    result = handler(self, message.get("params")) if handler else {}
                except Refused as refused:
                    self.send({"id": message["id"], "error": refused.error})
                else:
                    if result is not SILENT:
                        self.answer(message, result)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.ended.set()
            self.writer.close()


Handler = Callable[[Peer, Any], Any]


def greeting(peer: Peer, params: Any) -> Any:
    pi_daemon = {
        "protocolVersion": 1,
        "daemonId": "d1",
        "clientId": "c1",
        "features": {},
        "limits": {},
        "sessionsDir": "/s",
    }
    return {
        "serverInfo": {"name": "pi-daemon", "version": "0"},
        "capabilities": {"experimental": {"piDaemon": pi_daemon}},
    }


class FakeDaemon:
    def __init__(self, path: str) -> None:
        self.path = path
        self.peers: asyncio.Queue[Peer] = asyncio.Queue()
        self.handlers: dict[str, Handler] = {"initialize": greeting}
        self.log: list[dict[str, Any]] = []
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def methods(self) -> list[str]:
        """What was received of requests and notifications, in order, without the greetings."""
        quiet = ("initialize", "initialized", "shutdown", "exit")
        return [message["method"] for message in self.log if message.get("method", "initialize") not in quiet]

    async def __aenter__(self) -> FakeDaemon:
        self._server = await asyncio.start_unix_server(self._accept, self.path)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = Peer(self, reader, writer)
        task = asyncio.get_running_loop().create_task(peer.serve())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.peers.put_nowait(peer)


def subscribed(revision: int, *, instance: str = "i1", leaf: str | None = None, events: list[Any] | None = None) -> Any:
    """An answer to session/subscribe; without `events` it is fresh."""
    answer = {"instanceId": instance, "revision": revision, "leafId": leaf, "fresh": events is None}
    return answer if events is None else {**answer, "events": events}


def event(method: str, revision: int, *, instance: str = "i1", **params: Any) -> dict[str, Any]:
    """A notification as a replay holds it."""
    common = {"sessionId": "s", "instanceId": instance, "revision": revision, "origin": None}
    return {"method": method, "params": {**common, **params}}
