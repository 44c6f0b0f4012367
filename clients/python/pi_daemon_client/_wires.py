"""The shells around the protocol: a socket, or a daemon of one's own on its stdin and stdout.

A wire hands each body to its receiver from within the event loop, in order, and says once when it is
over. Nothing here knows JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from typing import Protocol, cast

from ._framing import FrameReader, FramingError, frame
from ._places import standard_socket
from .errors import Unreachable

_STDERR_KEPT = 4096
"""Bytes of a child's stderr that are kept to explain its end."""

_PATIENCE = 10.0
"""Seconds in which what is queued must be taken, and a child whose stdin was closed must have left."""

_START = 'start one with `pi-daemon serve`, or use connect_stdio(["pi-daemon", "connect"]), which does'


class Receiver(Protocol):
    def received(self, body: bytes) -> None: ...

    def lost(self, why: str) -> None: ...


class Wire:
    """What socket and child have in common: framing, one end, and waiting while the other side is slow."""

    def __init__(self, receiver: Receiver) -> None:
        self.receiver = receiver
        self._frames = FrameReader()
        self._writable = asyncio.Event()
        self._writable.set()
        self.gone = asyncio.Event()
        """Nothing comes or goes any more, and the receiver was told."""
        self.closed = asyncio.Event()
        """The operating system's side is released too: socket closed, child waited for."""

    def send(self, body: bytes) -> None:
        """Queues one message. Does nothing on a wire that is gone."""
        if not self.gone.is_set():
            self._write(frame(body))

    @property
    def said(self) -> str:
        """What the other side said beside the protocol."""
        return ""

    async def drain(self) -> None:
        """Waits while what was sent is not taken."""
        await self._writable.wait()

    def _feed(self, data: bytes) -> None:
        if self.gone.is_set():
            return
        try:
            for body in self._frames.feed(data):
                self.receiver.received(body)
        except FramingError as error:
            self._end(f"the daemon does not speak the protocol: {error}")
            self.abort()

    def _end(self, why: str) -> None:
        if not self.gone.is_set():
            self.gone.set()
            self._writable.set()
            self.receiver.lost(why)

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def _write(self, data: bytes) -> None:
        raise NotImplementedError

    def abort(self) -> None:
        """Ends the wire without waiting for what is queued."""
        raise NotImplementedError

    async def close(self) -> None:
        """Ends the wire after what is queued, and waits for its end."""
        raise NotImplementedError


class SocketWire(Wire, asyncio.Protocol):
    _transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._feed(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(f"the connection broke: {exc}" if exc else "the daemon closed the connection")
        self.closed.set()

    def _write(self, data: bytes) -> None:
        self._transport.write(data)

    def abort(self) -> None:
        self._transport.abort()

    async def close(self) -> None:
        self._transport.close()
        try:
            async with asyncio.timeout(_PATIENCE):
                await self.closed.wait()
        except TimeoutError:
            self.abort()
            await self.closed.wait()


class ChildWire(Wire, asyncio.SubprocessProtocol):
    """A daemon that was started for this client. It leaves when its stdin is closed."""

    _transport: asyncio.SubprocessTransport
    _stdin: asyncio.WriteTransport

    def __init__(self, receiver: Receiver) -> None:
        super().__init__(receiver)
        self._stderr = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)
        self._stdin = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1:
            self._feed(data)
        else:
            self._stderr += data
            del self._stderr[:-_STDERR_KEPT]

    @property
    def said(self) -> str:
        return self._stderr.decode(errors="replace").strip()

    def connection_lost(self, exc: Exception | None) -> None:
        code = self._transport.get_returncode()
        self._end(f"the daemon that was started here ended with code {code}" + (f": {self.said}" if self.said else ""))
        self._transport.close()
        self.closed.set()

    def _write(self, data: bytes) -> None:
        self._stdin.write(data)

    def abort(self) -> None:
        if self._transport.get_returncode() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._transport.get_pid(), signal.SIGKILL)  # with what it may have started itself
        self._transport.close()

    async def close(self) -> None:
        self._stdin.close()
        try:
            async with asyncio.timeout(_PATIENCE):
                await self.closed.wait()
        except TimeoutError:
            self.abort()
            await self.closed.wait()


class Endpoint(Protocol):
    """Where a daemon is, and how to get a wire to it."""

    async def open(self, receiver: Receiver) -> Wire:
        """Raises Unreachable."""


class UnixEndpoint:
    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        """None: the standard socket."""
        self.path = os.fspath(path) if path is not None else standard_socket()

    def __str__(self) -> str:
        return self.path

    async def open(self, receiver: Receiver) -> Wire:
        loop = asyncio.get_running_loop()
        try:
            return (await loop.create_unix_connection(lambda: SocketWire(receiver), self.path))[1]
        except OSError as error:
            raise Unreachable(f"no daemon answers at {self.path}: {_strerror(error)}", _START) from None


class TcpEndpoint:
    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    async def open(self, receiver: Receiver) -> Wire:
        loop = asyncio.get_running_loop()
        try:
            return (await loop.create_connection(lambda: SocketWire(receiver), self.host, self.port))[1]
        except OSError as error:
            raise Unreachable(f"no daemon answers at {self}: {_strerror(error)}") from None


class StdioEndpoint:
    """`argv` is started for each connection, in a process group of its own: the terminal's interrupt is
    for the client, which then ends the daemon in an orderly way."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
    ) -> None:
        self.argv = list(argv)
        self.env = env
        self.cwd = cwd

    def __str__(self) -> str:
        return self.argv[0]

    async def open(self, receiver: Receiver) -> Wire:
        loop = asyncio.get_running_loop()
        try:
            _, wire = await loop.subprocess_exec(
                lambda: ChildWire(receiver), *self.argv, env=self.env, cwd=self.cwd, start_new_session=True
            )
        except OSError as error:
            raise Unreachable(f"{self.argv[0]} can't be started: {_strerror(error)}") from None
        return wire


def _strerror(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
