"""One connection over a socket, as the event loop's protocol."""

from __future__ import annotations

import asyncio
import select
import socket
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pi_daemon.rpc.connection import Connection
from pi_daemon.rpc.framing import Broken, Framer, frame
from pi_daemon.transports.intake import Intake

if TYPE_CHECKING:
    from pi_daemon.transports.server import Server

_COPY_BYTES = 256 * 1024
"""Up to here a header and its message are joined, so that they go out in one call; beyond, the copy costs more."""


PEER_SECONDS = 0.25
"""Between two looks whether a client that has ended its side is still there for its answers."""

_PIECE_BYTES = 256 * 1024
"""As much of a large message is handed to the transport at a time: a little more than a socket takes at once."""


class SocketChannel(asyncio.BufferedProtocol):
    """What all sockets have in common. The kinds say how bytes become messages and back.

    Closing sends what is queued and our end of the stream, then waits for the peer's end, or for the limit's
    `linger_seconds`: closing at once could destroy an answer on its way to a peer that is still sending.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._connection: Connection | None = None
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport
        self._intake: Intake[Any] = Intake(self._deliver)
        self._full = False
        self._closing = False
        self._ended = False
        self._peer_ended = False
        self._linger: asyncio.TimerHandle | None = None

    # What the connection calls

    @property
    def name(self) -> str:
        return self._server.name

    @property
    def backlog(self) -> int:
        return self._transport.get_write_buffer_size() if self._full else 0

    def send(self, *messages: bytes) -> None:
        raise NotImplementedError

    def pause(self) -> None:
        self._intake.hold("connection")

    def resume(self) -> None:
        self._intake.release("connection")

    def close(self) -> None:
        if self._closing:
            return
        self._closing = True
        self._intake.discard()
        self._say_goodbye()
        if self._peer_ended:
            self._transport.close()
        if self._linger is None:
            self._linger = self._loop.call_later(self._server.limits.linger_seconds, self._transport.abort)

    def _say_goodbye(self) -> None:
        self._end()

    def _end(self) -> None:
        """Send the end of our side."""
        if not self._ended:
            self._ended = True
            self._transport.write_eof()

    # What the server calls

    def dismiss(self) -> None:
        """Close, with the connection if there is one yet."""
        if self._connection is not None:
            self._connection.close()
        self.close()

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=0)
        if self._server.admit(self, transport.get_extra_info("socket")):
            self._intake.attach(transport)
            self._begin()
        else:
            self._closing = True
            transport.abort()

    def _begin(self) -> None:
        self._connection = self._server.connect(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        """The server's one buffer: the loop fills it and calls `buffer_updated` before it turns to anything else.
        A new 256 KB object for each read, as plain protocols get, costs more than serving a small request."""
        return self._server.received

    def buffer_updated(self, nbytes: int) -> None:
        self._take(bytes(self._server.received[:nbytes]))

    def _take(self, data: bytes) -> None:
        """Bytes came: cut them up for the intake."""
        raise NotImplementedError

    def _deliver(self, item: Any) -> None:
        """A piece of them is due."""
        raise NotImplementedError

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        if self._connection is not None:
            self._connection.drained()

    def connection_lost(self, error: Exception | None) -> None:
        self._closing = True
        self._intake.discard()
        if self._linger is not None:
            self._linger.cancel()
        if self._connection is not None:
            self._connection.lost()
        self._server.gone(self)


class FramedChannel(SocketChannel):
    """Messages framed by Content-Length."""

    def __init__(self, server: Server) -> None:
        super().__init__(server)
        self._framer = Framer(server.limits)
        self._rest: deque[memoryview] = deque()

    @property
    def backlog(self) -> int:
        return super().backlog + sum(map(len, self._rest))

    def send(self, *messages: bytes) -> None:
        if self._closing:
            return
        if len(messages) == 1 and len(messages[0]) > _COPY_BYTES:
            self._rest.append(memoryview(b"Content-Length: %d\r\n\r\n" % len(messages[0])))
            self._rest.append(memoryview(messages[0]))
            self._go_on()
        elif self._rest:
            self._rest.append(memoryview(frame(*messages)))
        else:
            self._transport.write(frame(*messages))

    def _go_on(self) -> None:
        """Hand over pieces while the socket takes them. What the transport has to keep it moves up by every byte that
        goes out, so that a message of 6 MB would be moved a dozen times."""
        while self._rest and not self._full:
            data = self._rest.popleft()
            if len(data) > _PIECE_BYTES:
                self._rest.appendleft(data[_PIECE_BYTES:])
            self._transport.write(data[:_PIECE_BYTES])

    def resume_writing(self) -> None:
        self._full = False
        self._go_on()
        if not self._full:
            super().resume_writing()

    def _say_goodbye(self) -> None:
        while self._rest:
            self._transport.write(self._rest.popleft())
        super()._say_goodbye()

    def _take(self, data: bytes) -> None:
        self._intake.take(self._framer.feed(data))

    def _deliver(self, item: bytes | Broken) -> None:
        if self._connection is not None:
            deliver(item, self._connection, self._transport.abort)

    def eof_received(self) -> bool:
        self._peer_ended = True
        if self._connection is not None:
            self._connection.ended()
        if not self._closing:
            self._look_for_peer()
        return not self._closing

    def _look_for_peer(self) -> None:
        """One that has no more to ask waits for its answers; one that is gone asked for nothing any more. Of a Unix
        socket the kernel tells which it is."""
        sock = self._transport.get_extra_info("socket")
        if sock.family == socket.AF_UNIX and not self._transport.is_closing():
            if hung_up(sock.fileno()):
                self._transport.abort()
            else:
                self._loop.call_later(PEER_SECONDS, self._look_for_peer)


def hung_up(descriptor: int) -> bool:
    """Whether nobody is at the other end any more."""
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(events & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, events in poll.poll(0))


def deliver(item: bytes | Broken, connection: Connection, abort: Callable[[], None]) -> None:
    """Hand to the connection what a framer found; `abort` for a peer that speaks HTTP."""
    if isinstance(item, bytes):
        connection.receive(item)
    elif item.refused is not None:
        connection.framing_failed(item.refused, item.fatal)
    else:
        abort()
