"""The daemon as a process: it puts the rooms together, listens, and leaves in order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import signal
import sys
from pathlib import Path
from typing import Literal

from msgspec import Struct

from pi_daemon.daemon import paths
from pi_daemon.daemon.memory import settle
from pi_daemon.daemon.token import token
from pi_daemon.engine.hub import Hub
from pi_daemon.engine.options import SessionOptions
from pi_daemon.methods.service import DaemonService
from pi_daemon.methods.shared import Shared
from pi_daemon.rpc.connection import Channel, Connection
from pi_daemon.rpc.limits import Limits
from pi_daemon.storage.files import FileRepository
from pi_daemon.storage.layout import find_layout
from pi_daemon.storage.memory import MemoryRepository
from pi_daemon.transports.server import Server
from pi_daemon.transports.stdio import StdioServer
from pi_daemon.transports.stream import TcpServer, UnixServer
from pi_daemon.transports.websocket import WebSocketServer

logger = logging.getLogger("pi_daemon")

DRAIN_SECONDS = 10.0
"""How long running requests may take to finish when the daemon drains."""


class Address(Struct, frozen=True):
    host: str
    port: int


class Config(Struct, frozen=True):
    """What to serve and where. With no transport named: the Unix socket at its standard place."""

    stdio: bool = False
    socket: Path | None = None
    tcp: Address | None = None
    websocket: Address | None = None
    sessions_dir: Path | None = None
    state_dir: Path | None = None
    durability: Literal["written", "synced"] = "synced"
    limits: Limits = Limits()


class Daemon:
    """Made, started, waited for: `run` does all three."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.state = paths.private_dir(config.state_dir or paths.state_dir())
        given = str(config.sessions_dir) if config.sessions_dir is not None else None
        layout = find_layout(given, os.environ, Path.home())
        self._stopping = asyncio.Event()
        self._drain = True
        self.hub = Hub(
            FileRepository(layout, self.state),
            MemoryRepository(),
            defaults=SessionOptions(durability=config.durability),
        )
        self.shared = Shared(
            self.hub,
            daemon_id=secrets.token_hex(8),
            sessions_dir=str(layout.sessions_dir),
            transports=[],
            stop=self.stop,
        )
        self.service = DaemonService(self.shared)
        self.servers: list[Server | StdioServer] = []

    def connect(self, channel: Channel, wanted: str | None) -> Connection:
        return Connection(channel, self.service, self.config.limits, wanted)

    def _transports(self) -> list[Server | StdioServer]:
        config = self.config
        servers: list[Server | StdioServer] = []
        alone = not (config.stdio or config.tcp or config.websocket)
        if config.socket is not None or alone:
            servers.append(UnixServer(config.socket or paths.socket_path(), self.connect, config.limits))
        if config.tcp is not None:
            address = config.tcp
            servers.append(TcpServer(address.host, address.port, self.connect, token(self.state), config.limits))
        if config.websocket is not None:
            address = config.websocket
            servers.append(WebSocketServer(address.host, address.port, self.connect, token(self.state), config.limits))
        if config.stdio:
            servers.append(StdioServer(self.connect, config.limits))
        return servers

    async def start(self) -> None:
        """Listen. Raises CannotListen, UnsafeDirectory."""
        for server in self._transports():
            await server.start()
            self.servers.append(server)
            self.shared.transports.append(server.name if server.name == "stdio" else f"{server.name}:{server.address}")
        if len(self.servers) == 1 and isinstance(self.servers[0], StdioServer):
            self._parent = asyncio.create_task(self._leave_with_parent(self.servers[0]))

    async def _leave_with_parent(self, server: StdioServer) -> None:
        """A daemon that serves nobody but its parent goes with it."""
        await server.closed.wait()
        self.stop(True)

    def stop(self, drain: bool) -> None:
        self._drain = self._drain and drain
        self._stopping.set()

    async def run(self) -> None:
        """Serve until told to stop."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop, True)
        try:
            await self.start()
            for name in self.shared.transports:
                logger.info("listening on %s", name)
            await self._stopping.wait()
        finally:
            await self.close()

    async def close(self) -> None:
        """Let running requests finish, write what isn't written, and go."""
        if self._drain:
            await self._quiet()
        for server in self.servers:
            await server.close()
        await self.service.settled()
        await self.hub.close()

    async def _quiet(self) -> None:
        """Until the requests in flight are answered, within bounds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                for connection in list(self.shared.connections.values()):
                    await connection.settled()


def serve(config: Config) -> None:
    """Run a daemon in this process until it is stopped. Raises CannotListen, UnsafeDirectory.

    stdout belongs to the protocol; what there is to say goes to stderr."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")

    settle()

    async def main() -> None:
        await Daemon(config).run()

    asyncio.run(main())
