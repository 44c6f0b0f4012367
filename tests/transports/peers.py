"""A server and a raw client for each transport, so that one suite runs over all of them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import struct
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from fake_service import TOKEN, FakeService
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as connect_websocket
from websockets.exceptions import ConnectionClosed

from pi_daemon.rpc.framing import frame
from pi_daemon.rpc.limits import Limits
from pi_daemon.transports.server import Server
from pi_daemon.transports.stdio import StdioServer
from pi_daemon.transports.stream import TcpServer, UnixServer
from pi_daemon.transports.websocket import WebSocketServer

TRANSPORTS = ["stdio", "unix", "tcp", "websocket"]
FRAMED = ["stdio", "unix", "tcp"]


class Wire(Protocol):
    """One client's end: messages out and in. `receive` gives None at the end."""

    async def send(self, *messages: bytes) -> None: ...

    async def receive(self) -> bytes | None: ...

    async def close(self) -> None: ...


class StreamWire:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, *messages: bytes) -> None:
        await self.send_bytes(frame(*messages))

    async def send_bytes(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def receive(self) -> bytes | None:
        try:
            head = await self.reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionResetError):
            return None
        return await self.reader.readexactly(int(head.removeprefix(b"Content-Length: ")))

    async def rest(self) -> bytes:
        """Everything up to the end."""
        try:
            return await self.reader.read()
        except ConnectionResetError:
            return b""

    def vanish(self) -> None:
        """Go without a word; over TCP that is a reset."""
        sock = self.writer.get_extra_info("socket")
        if sock is not None and sock.family == socket.AF_INET:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()


class WebSocketWire:
    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    async def send(self, *messages: bytes) -> None:
        for message in messages:
            await self.connection.send(message, text=True)

    async def receive(self) -> bytes | None:
        try:
            return await self.connection.recv(decode=False)
        except ConnectionClosed:
            return None

    async def close(self) -> None:
        self.connection.transport.abort()
        await self.connection.wait_closed()


class Peer:
    """A client that speaks JSON-RPC over a wire and keeps what it wasn't waiting for."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.notified: list[dict[str, Any]] = []
        self._number = 0

    async def send(self, *messages: dict[str, Any]) -> None:
        await self.wire.send(*(json.dumps({"jsonrpc": "2.0", **message}).encode() for message in messages))

    async def receive(self) -> dict[str, Any]:
        message = await self.wire.receive()
        assert message is not None, "the connection has ended"
        found: dict[str, Any] = json.loads(message)
        assert found["jsonrpc"] == "2.0"
        return found

    async def answer(self) -> dict[str, Any]:
        """The next message that is no notification."""
        while "id" not in (message := await self.receive()):
            self.notified.append(message)
        return message

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The answer to a request, which is expected to be the next one."""
        self._number += 1
        await self.send({"id": self._number, "method": method, "params": params})
        answer = await self.answer()
        assert answer["id"] == self._number
        return answer

    async def initialize(self, **ours: Any) -> dict[str, Any]:
        options = {"piDaemon": {"token": TOKEN, **ours}}
        info = {"name": "a test", "version": "1"}
        return await self.call("initialize", capabilities={}, clientInfo=info, initializationOptions=options)

    async def ended(self) -> bool:
        """Whether nothing comes any more but the end."""
        return await self.wire.receive() is None


class House:
    """A fake service behind one transport."""

    def __init__(self, transport: str, service: FakeService, server: Server | StdioServer) -> None:
        self.transport = transport
        self.service = service
        self.server = server
        self.stdio_wire: StreamWire | None = None

    async def wire(self) -> Wire:
        """A new client's wire; over stdio there is only one."""
        if self.transport == "stdio":
            assert self.stdio_wire is not None
            return self.stdio_wire
        if self.transport == "unix":
            return StreamWire(*await asyncio.open_unix_connection(self.server.address))
        if self.transport == "tcp":
            host, port = self.server.address.split(":")
            return StreamWire(*await asyncio.open_connection(host, int(port)))
        uri = f"ws://{self.server.address}"
        return WebSocketWire(await connect_websocket(uri, compression=None, max_size=None, proxy=None))

    async def stream(self) -> StreamWire:
        """The same for the transports that frame."""
        wire = await self.wire()
        assert isinstance(wire, StreamWire)
        return wire

    @contextlib.asynccontextmanager
    async def raw(self) -> AsyncIterator[Peer]:
        """A client that hasn't initialized."""
        peer = Peer(await self.wire())
        try:
            yield peer
        finally:
            await peer.wire.close()

    @contextlib.asynccontextmanager
    async def client(self) -> AsyncIterator[Peer]:
        """A client that has."""
        async with self.raw() as peer:
            assert "result" in await peer.initialize()
            yield peer


@contextlib.asynccontextmanager
async def house(transport: str, directory: Path, **caps: Any) -> AsyncIterator[House]:
    """Open a house and close it again, after which nothing of it may be left."""
    limits = Limits(**{"linger_seconds": 1, **caps})
    service = FakeService(limits)
    server: Server | StdioServer
    wire = None
    if transport == "stdio":
        ours, theirs = os.pipe(), os.pipe()
        server = StdioServer(service.connect, limits, (ours[0], theirs[1]))
        wire = await pipe_wire(theirs[0], ours[1])
    elif transport == "unix":
        server = UnixServer(directory / "run" / "socket", service.connect, limits)
    elif transport == "tcp":
        server = TcpServer("127.0.0.1", 0, service.connect, TOKEN, limits)
    else:
        server = WebSocketServer("127.0.0.1", 0, service.connect, TOKEN, limits, origins=["https://editor.example"])
    await server.start()
    opened = House(transport, service, server)
    opened.stdio_wire = wire
    try:
        yield opened
    finally:
        await server.close()
        if wire is not None:
            await wire.close()
    assert service.connections == []


async def pipe_wire(read_end: int, write_end: int) -> StreamWire:
    """The client's end of two pipes."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read_end, "rb", 0))
    flow, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(write_end, "wb", 0)
    )
    return StreamWire(reader, asyncio.StreamWriter(flow, protocol, None, loop))


def raw_socket(address: str) -> socket.socket:
    """A blocking TCP client."""
    host, port = address.split(":")
    return socket.create_connection((host, int(port)), timeout=10)


each_transport = pytest.mark.parametrize("transport", TRANSPORTS)
each_framed = pytest.mark.parametrize("transport", FRAMED)
