"""What the machine can do at best: a bare asyncio and orjson loop behind a Unix socket, with no session at all.

`python -m tests.benchmarks.floors PATH` serves until it is ended:

- `echo`: decodes the message and answers with its parameters
- `sink`: decodes the message and answers with null
- `join`, then `fan`: answers, then sends its two parameters as notifications to all who joined, encoded once
"""

from __future__ import annotations

import asyncio
import gc
import sys
from typing import Any

import orjson

_JOINED: list[asyncio.WriteTransport] = []


class Bare(asyncio.Protocol):
    def __init__(self) -> None:
        self._buffer = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport in _JOINED:
            _JOINED.remove(self._transport)

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer
        buffer += data
        while (end := buffer.find(b"\r\n\r\n")) >= 0:
            length = int(buffer[16:end])
            if len(buffer) < end + 4 + length:
                return
            message = orjson.loads(memoryview(buffer)[end + 4 : end + 4 + length])
            del buffer[: end + 4 + length]
            self._answer(message)

    def _answer(self, message: dict[str, Any]) -> None:
        method = message["method"]
        params: Any = message.get("params")
        self._send({"jsonrpc": "2.0", "id": message["id"], "result": params if method == "echo" else None})
        if method == "join":
            _JOINED.append(self._transport)
        elif method == "fan":
            bodies = [orjson.dumps(notification) for notification in params]
            data = b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies)
            for transport in _JOINED:
                transport.write(data)

    def _send(self, message: dict[str, Any]) -> None:
        body = orjson.dumps(message)
        self._transport.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))


async def serve(path: str) -> None:
    server = await asyncio.get_running_loop().create_unix_server(Bare, path, backlog=256)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    gc.freeze()
    asyncio.run(serve(sys.argv[1]))
