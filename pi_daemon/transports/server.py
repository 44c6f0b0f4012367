"""What the listening transports have in common: accepting up to a bound, and closing."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import ClassVar

from pi_daemon.rpc.connection import Channel, Connection, Gate
from pi_daemon.rpc.limits import Limits
from pi_daemon.session.errors import PiDaemonError
from pi_daemon.transports.channel import SocketChannel

ConnectionFactory = Callable[[Channel, str | Gate | None], Connection]
"""Makes the connection of a channel. The second argument is the token that `initialize` must bring, who knows it, or
None."""

_BACKLOG = 128
"""Connections the kernel may hold before they are accepted: a hundred subscribers may come at once."""

_RECEIVE_BYTES = 256 * 1024
"""More than a Unix socket holds."""


class CannotListen(PiDaemonError):
    """The address can't be used, or not safely. The message says what to do."""

    reason = "cannotListen"


class AlreadyServed(CannotListen):
    """A daemon serves there already."""

    reason = "alreadyServed"


class Server:
    """A listening transport. `start` opens it, `close` ends it and all its connections; in between `stop_listening`
    lets nobody in any more, and `release` gives the address to another process.

    `address` is where it listens, once it does: a path, or `host:port`.
    """

    name: ClassVar[str]

    def __init__(self, connect: ConnectionFactory, limits: Limits, token: str | Gate | None) -> None:
        self.limits = limits
        self.address = ""
        self.channels: set[SocketChannel] = set()
        self.received = memoryview(bytearray(_RECEIVE_BYTES))
        self._connect = connect
        self._token = token
        self._listening: asyncio.Server | None = None
        self._emptied = asyncio.Event()

    async def start(self) -> None:
        """Listen. Raises CannotListen."""
        raise NotImplementedError

    def stop_listening(self) -> None:
        """Who comes now finds nobody. May be called twice."""
        if self._listening is not None:
            self._listening.close()
            self._listening = None

    def release(self) -> None:
        """Another process may have the address now. May be called twice."""

    async def close(self) -> None:
        """Stop listening; close every connection after what was sent to it, within the limit's `linger_seconds`."""
        self.stop_listening()
        self.release()
        for channel in list(self.channels):
            channel.dismiss()
        while self.channels:
            self._emptied.clear()
            await self._emptied.wait()

    # What channels call

    def admit(self, channel: SocketChannel, peer: socket.socket) -> bool:
        """Whether the new connection may stay; counts it if so."""
        if len(self.channels) >= self.limits.clients or not self.trusts(peer):
            return False
        self.channels.add(channel)
        return True

    def trusts(self, peer: socket.socket) -> bool:
        """Whether the other process may talk to us at all."""
        return True

    def connect(self, channel: SocketChannel) -> Connection:
        return self._connect(channel, self._token)

    def gone(self, channel: SocketChannel) -> None:
        self.channels.discard(channel)
        if not self.channels:
            self._emptied.set()

    async def _listen(self, channel: Callable[[], SocketChannel], sock: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        if sock.family == socket.AF_UNIX:
            self._listening = await loop.create_unix_server(channel, sock=sock, backlog=_BACKLOG)
        else:
            self._listening = await loop.create_server(channel, sock=sock, backlog=_BACKLOG)


def bind_tcp(host: str, port: int, token: str | Gate | None) -> socket.socket:
    """A bound socket; port 0 takes a free one.

    Any process and any web page on this machine can reach a TCP port, hence the token, always. Raises CannotListen.
    """
    if not token:
        raise CannotListen(f"{host}:{port} needs a token: every process of this machine can connect to it.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        sock = socket.socket(family, kind, protocol)
    except OSError as error:
        raise CannotListen(f"{host}:{port} is no address to listen on: {error.strerror}.") from error
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
    except OSError as error:
        sock.close()
        raise CannotListen(f"{host}:{port} can't be bound: {error.strerror}. Choose another port.") from error
    return sock


def host_port(sock: socket.socket) -> tuple[str, int]:
    """Where the socket is bound, an IPv6 address in brackets."""
    host, port = sock.getsockname()[:2]
    return (f"[{host}]" if ":" in host else host), port
