"""WebSocket: one message a text frame.

A web page can open a WebSocket to any port of this machine, so Origin and Host are checked against allow lists before
anything else, and the token is wanted all the same. Messages aren't compressed: a small frame would unpack to any size.
"""

from __future__ import annotations

import http
import logging
from collections.abc import Iterable
from typing import ClassVar

from websockets.datastructures import MultipleValuesError
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import Event, State
from websockets.server import ServerProtocol
from websockets.typing import Origin

from pi_daemon.rpc.connection import Gate
from pi_daemon.rpc.limits import Limits
from pi_daemon.transports.channel import SocketChannel
from pi_daemon.transports.server import ConnectionFactory, Server, bind_tcp, host_port

_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")

_PONG_BYTES = 64 * 1024
"""Answers to pings that a client may leave unread before it isn't read from."""

_logger = logging.getLogger(f"{__name__}.library")
_logger.setLevel(logging.WARNING)  # below that the library logs each frame, and the token is in one


class WebSocketServer(Server):
    """Listens for WebSockets. `origins` are the web origins that may connect (none by default; clients that are no
    browsers send none); `hosts` the names, beside those of the loopback, by which the server may be called."""

    name: ClassVar[str] = "websocket"

    def __init__(
        self,
        host: str,
        port: int,
        connect: ConnectionFactory,
        token: str | Gate,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
        origins: Iterable[str] = (),
        hosts: Iterable[str] = (),
    ) -> None:
        super().__init__(connect, limits, token)
        self.origins: list[Origin | None] = [None, *map(Origin, origins)]
        self._names = {*_LOOPBACK_NAMES, *hosts}
        self._hosts: set[str] = set()
        self._wanted = (host, port)

    async def start(self) -> None:
        sock = bind_tcp(*self._wanted, self._token)
        host, port = host_port(sock)
        self._hosts = {f"{name}:{port}".lower() for name in self._names | {host}}
        self.address = f"{host}:{port}"
        await self._listen(lambda: _WebSocketChannel(self), sock)

    def page(self, request: Request) -> Response | None:
        """The answer to a request that shall open no WebSocket; None: it may try."""
        return None

    def knows(self, request: Request) -> bool:
        """Whether the request calls us by a name of ours; another one was rebound to our address."""
        try:
            return request.headers.get("Host", "").lower() in self._hosts
        except MultipleValuesError:
            return False


class _WebSocketChannel(SocketChannel):
    def __init__(self, server: WebSocketServer) -> None:
        super().__init__(server)
        self._accepting = server
        self._wire = ServerProtocol(origins=server.origins, max_size=server.limits.body_bytes, logger=_logger)
        self._parts: list[bytes] = []

    def _begin(self) -> None:
        self._linger = self._loop.call_later(self._server.limits.handshake_seconds, self._transport.abort)

    def send(self, *messages: bytes) -> None:
        if self._wire.state is State.OPEN:
            for message in messages:
                self._wire.send_text(message)
            self._flush()

    def resume_writing(self) -> None:
        self._intake.release("pongs")
        super().resume_writing()

    def _take(self, data: bytes) -> None:
        self._wire.receive_data(data)
        self._intake.take(self._wire.events_received())
        self._flush()
        if self._full and self._transport.get_write_buffer_size() > _PONG_BYTES:
            self._intake.hold("pongs")

    def _deliver(self, event: Event) -> None:
        if isinstance(event, Request):
            self._shake_hands(event)
        elif isinstance(event, Frame):
            self._take_frame(event)

    def eof_received(self) -> bool:
        self._peer_ended = True
        self._wire.receive_eof()
        return False

    def _say_goodbye(self) -> None:
        if self._wire.state is State.OPEN:
            self._wire.send_close(CloseCode.GOING_AWAY)
            self._flush()
        else:
            self._end()

    def _shake_hands(self, request: Request) -> None:
        if self._accepting.knows(request):
            response = self._accepting.page(request) or self._wire.accept(request)
        else:
            response = self._wire.reject(http.HTTPStatus.FORBIDDEN, "This server has another name.\n")
        self._wire.send_response(response)
        self._flush()
        if self._wire.state is State.OPEN and self._linger is not None:
            self._linger.cancel()
            self._linger = None
            super()._begin()

    def _take_frame(self, frame: Frame) -> None:
        if self._connection is None or self._closing:
            return
        if frame.opcode is Opcode.BINARY:
            self._wire.fail(CloseCode.UNSUPPORTED_DATA, "text frames only")
        elif frame.opcode in (Opcode.TEXT, Opcode.CONT):
            if frame.data:
                self._parts.append(bytes(frame.data))
            if frame.fin:
                message, self._parts = b"".join(self._parts), []
                self._connection.receive(message)

    def _flush(self) -> None:
        pieces = self._wire.data_to_send()
        if pieces and not self._ended and not self._transport.is_closing():
            self._transport.write(b"".join(pieces))
            if pieces[-1] == b"":  # the library's sign for the end of our side
                self._end()
                self.dismiss()
