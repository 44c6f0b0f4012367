"""stdin and stdout: one client, the process that started us."""

from __future__ import annotations

import asyncio
import os
import threading

from pi_daemon.rpc.connection import Connection
from pi_daemon.rpc.framing import Broken, Framer, frame
from pi_daemon.rpc.limits import Limits
from pi_daemon.transports.channel import deliver
from pi_daemon.transports.intake import Intake
from pi_daemon.transports.server import ConnectionFactory
from pi_daemon.transports.standard import can_wait, take_standard_streams

_READ_BYTES = 64 * 1024


class StdioServer:
    """Serves one client over two descriptors, which it owns from then on; by default the standard streams.

    Pipes and sockets are used as they are. Anything else (a terminal, a file) may not be made non-blocking, since
    other processes share it: a thread copies between it and a pipe. `closed` is set when the client is gone.
    """

    name = "stdio"

    def __init__(
        self,
        connect: ConnectionFactory,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
        descriptors: tuple[int, int] | None = None,
    ) -> None:
        self.limits = limits
        self.address = "stdio"
        self.closed = asyncio.Event()
        self._connect = connect
        self._descriptors = descriptors
        self._channel: _StdioChannel | None = None
        self._copying: threading.Thread | None = None

    async def start(self) -> None:
        source, target = self._descriptors or take_standard_streams()
        if not can_wait(source):
            read_end, write_end = os.pipe()
            _copy(source, write_end)
            source = read_end
        if not can_wait(target):
            read_end, write_end = os.pipe()
            self._copying = _copy(read_end, target)
            target = write_end
        self._channel = _StdioChannel(self)
        await self._channel.open(source, target, self._connect)

    async def close(self) -> None:
        """Close, after what was sent, within the limit's `linger_seconds`."""
        if self._channel is not None:
            self._channel.dismiss()
            await self.closed.wait()
            if self._copying is not None:
                await asyncio.to_thread(self._copying.join, self.limits.linger_seconds)


class _StdioChannel(asyncio.Protocol):
    """The channel, and the protocol of the reading side."""

    name = "stdio"

    def __init__(self, server: StdioServer) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._framer = Framer(server.limits)
        self._intake: Intake[bytes | Broken] = Intake(self._deliver)
        self._connection: Connection | None = None
        self._reading: asyncio.ReadTransport
        self._writing: asyncio.WriteTransport
        self._full = False
        self._closing = False
        self._linger: asyncio.TimerHandle | None = None

    async def open(self, source: int, target: int, connect: ConnectionFactory) -> None:
        self._writing, _ = await self._loop.connect_write_pipe(lambda: _Out(self), os.fdopen(target, "wb", 0))
        self._writing.set_write_buffer_limits(high=0)
        self._connection = connect(self, None)
        self._reading, _ = await self._loop.connect_read_pipe(lambda: self, os.fdopen(source, "rb", 0))
        self._intake.attach(self._reading)

    @property
    def backlog(self) -> int:
        return self._writing.get_write_buffer_size() if self._full else 0

    def send(self, *messages: bytes) -> None:
        if not self._closing:
            self._writing.write(frame(*messages))

    def pause(self) -> None:
        self._intake.hold("connection")

    def resume(self) -> None:
        self._intake.release("connection")

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            self._intake.discard()
            self._reading.close()
            self._writing.close()
            self._linger = self._loop.call_later(self._server.limits.linger_seconds, self._writing.abort)

    def dismiss(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def data_received(self, data: bytes) -> None:
        self._intake.take(self._framer.feed(data))

    def _deliver(self, item: bytes | Broken) -> None:
        if self._connection is not None:
            deliver(item, self._connection, self._writing.abort)

    def eof_received(self) -> None:
        if self._connection is not None:
            self._connection.ended()

    def full(self, full: bool) -> None:
        """Whether the client has stopped reading, or reads again."""
        self._full = full
        if not full and self._connection is not None:
            self._connection.drained()

    def lost(self) -> None:
        """The client reads no more, which it would only do when it is gone."""
        self._closing = True
        if self._linger is not None:
            self._linger.cancel()
        self._reading.close()
        if self._connection is not None:
            self._connection.lost()
        self._server.closed.set()


class _Out(asyncio.Protocol):
    """The protocol of the writing side."""

    def __init__(self, channel: _StdioChannel) -> None:
        self._channel = channel

    def pause_writing(self) -> None:
        self._channel.full(True)

    def resume_writing(self) -> None:
        self._channel.full(False)

    def connection_lost(self, error: Exception | None) -> None:
        self._channel.lost()


def _copy(source: int, target: int) -> threading.Thread:
    """Copy until the end of `source` in a thread, then close both."""

    def run() -> None:
        try:
            while data := os.read(source, _READ_BYTES):
                while data:
                    data = data[os.write(target, data) :]
        except OSError:
            pass  # the reader is gone; closing tells the other side
        finally:
            os.close(source)
            os.close(target)

    thread = threading.Thread(target=run, name="stdio", daemon=True)
    thread.start()
    return thread
