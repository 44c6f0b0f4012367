"""The daemon as a process: it puts the rooms together, listens, and leaves in order.

It leaves when it is told to, by a request or a signal, when nobody has used it for a while, and when its socket is
gone and nobody can find it any more. Leaving has one order, whatever its reason: nobody is let in and nothing new is
begun; what runs is finished; what isn't written is written; then the address is free for another daemon, and only
then the connections end, so that clients who come back at once find the next one.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import signal
import socket as sockets
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from pi_daemon.compaction.summarizers.model import ModelSummarizer
from pi_daemon.compaction.summarizers.streams import ModelName
from pi_daemon.daemon import log, paths, systemd
from pi_daemon.daemon.desk.process import Desks
from pi_daemon.daemon.following import Following
from pi_daemon.daemon.idle import Idle
from pi_daemon.daemon.panel import Panel
from pi_daemon.daemon.resources import settle
from pi_daemon.daemon.takeover import replace_older
from pi_daemon.daemon.token import token
from pi_daemon.daemon.version import version
from pi_daemon.documents.service import Documents
from pi_daemon.engine.hub import Hub
from pi_daemon.engine.live import LiveSession
from pi_daemon.engine.options import SessionOptions
from pi_daemon.engine.summaries import EMBEDDED, Summarizers
from pi_daemon.methods.service import DaemonService
from pi_daemon.methods.shared import Shared
from pi_daemon.methods.summarizer import offer
from pi_daemon.rpc.call import Call
from pi_daemon.rpc.connection import Channel, Connection, Gate
from pi_daemon.rpc.limits import Limits
from pi_daemon.session.errors import PiDaemonError
from pi_daemon.storage.files import FileRepository
from pi_daemon.storage.index.keeper import Index, index_path
from pi_daemon.storage.layout import find_layout
from pi_daemon.storage.leaves import Leaves
from pi_daemon.storage.memory import MemoryRepository
from pi_daemon.storage.settings import SettingsFiles
from pi_daemon.storage.system import Files
from pi_daemon.transports.lock import Holder
from pi_daemon.transports.server import AlreadyServed, CannotListen, Server
from pi_daemon.transports.stdio import StdioServer
from pi_daemon.transports.stream import TcpServer, UnixServer

logger = logging.getLogger("pi_daemon")

DRAIN_SECONDS = 10.0
"""How long running requests may take to finish when the daemon drains."""

INTERRUPT_SECONDS = 2.0
"""How long they may take to end once they are interrupted; one that waits for a disk takes as long as the disk."""

PATIENCE_SECONDS = 1.0
"""After which somebody who stops a daemon wants to know what it waits for."""

LOST_SECONDS = 10.0
"""Between two looks whether the socket is still where clients look for it."""


class Address(Struct, frozen=True):
    host: str
    port: int


class Config(Struct, frozen=True):
    """What to serve and where. With no transport named: the Unix socket at its standard place.

    `idle`: seconds without a client after which it leaves; 0: never. `arguments`: the options of `pi-daemon serve` that
    say the same, for whoever has to start its successor.
    """

    stdio: bool = False
    socket: Path | None = None
    tcp: Address | None = None
    websocket: Address | None = None
    sessions_dir: Path | None = None
    state_dir: Path | None = None
    options: SessionOptions = SessionOptions()
    model: ModelName | None = None
    idle: float = 0
    arguments: tuple[str, ...] = ()
    limits: Limits = Limits()

    @property
    def unix(self) -> Path | None:
        """The Unix socket to serve, None where other transports are named alone."""
        if self.socket is None and (self.stdio or self.tcp or self.websocket):
            return None
        return self.socket or paths.socket_path()


class Daemon:
    """Made, started, waited for: `run` does all three. Raises UnsafeDirectory."""

    def __init__(self, config: Config, inherited: sockets.socket | None = None) -> None:
        self.config = config
        self.state = paths.private_dir(config.state_dir or paths.state_dir())
        given = str(config.sessions_dir) if config.sessions_dir is not None else None
        layout = find_layout(given, os.environ, Path.home())
        self._inherited = inherited
        self._stopping = asyncio.Event()
        self._started = False
        self._hurry = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        repository = FileRepository(
            layout,
            self.state,
            contact=str(config.unix) if config.unix is not None else None,
            index=Index(index_path(self.state, layout.sessions_dir), Files()),
        )
        self.indexed = repository.indexed
        self.hub = Hub(
            repository,
            MemoryRepository(),
            defaults=config.options,
            leaves=Leaves(self.state / "leaves"),
            settings=SettingsFiles(os.environ, Path.home()),
        )
        self.shared = Shared(
            self.hub,
            daemon_id=secrets.token_hex(8),
            version=version(),
            sessions_dir=str(layout.sessions_dir),
            transports=[],
            stop=self.stop,
        )
        self.shared.ask_owner = _ask_owner
        remember = config.unix.with_name(f"{config.unix.name}.panel") if config.unix is not None else None
        self.panel = Panel(self.connect, config.limits, remember, self._serve)
        self.shared.panel = self.panel.address
        self.hub.compactions.summarizers = self._summarizers()
        self.hub.compactions.desks = Desks()
        self.service = DaemonService(self.shared, Documents(self.hub, self._perform))
        self.servers: list[Server | StdioServer] = []
        self.shared.finder = self.indexed
        if self.indexed is not None:
            self.indexed.changed = self.shared.catalogue.tell
        self.following = Following(self.hub, layout, self.indexed)
        if config.idle > 0:
            occupied = self.shared.connections.__len__
            self.shared.presence = Idle(config.idle, occupied, self._may_leave, self._leave_idle).look

    def _summarizers(self) -> Summarizers:
        """Those of the clients, the model if there is one, and the embedded one."""
        model = ModelSummarizer(self.config.model, os.environ.get) if self.config.model is not None else None
        return Summarizers(
            {
                "client": partial(offer, self.shared),
                "model": lambda origin: model if model is not None and model.ready else None,
                **EMBEDDED,
            }
        )

    async def _perform(self, call: Call, method: str, params: Any) -> Any:
        """What a command of an editor stands for."""
        return await self.service.handlers[method](call, params)

    def connect(self, channel: Channel, wanted: str | Gate | None) -> Connection:
        return Connection(channel, self.service, self.config.limits, wanted)

    # -- listening

    def _transports(self) -> list[Server | StdioServer]:
        config = self.config
        servers: list[Server | StdioServer] = []
        if config.unix is not None:
            holder = Holder(os.getpid(), self.shared.version, config.arguments)
            servers.append(
                UnixServer(config.unix, self.connect, config.limits, holder=holder, inherited=self._inherited)
            )
        if config.tcp is not None:
            address = config.tcp
            servers.append(TcpServer(address.host, address.port, self.connect, token(self.state), config.limits))
        if config.websocket is not None:
            from pi_daemon.transports.websocket import WebSocketServer

            address = config.websocket
            servers.append(WebSocketServer(address.host, address.port, self.connect, token(self.state), config.limits))
        if config.stdio:
            servers.append(StdioServer(self.connect, config.limits))
        return servers

    async def start(self) -> None:
        """Listen. Raises CannotListen, AlreadyServed, UnsafeDirectory."""
        for server in self._transports():
            try:
                await server.start()
            except AlreadyServed:
                if not isinstance(server, UnixServer):
                    raise
                older = await replace_older(server.path, self.shared.version)
                if older is None:
                    raise
                await server.start(after=older)
            self._serve(server)
        await self.panel.resume()
        if len(self.servers) == 1 and isinstance(self.servers[0], StdioServer):
            self._spawn(self._leave_with_parent(self.servers[0]))
        self._spawn(self._leave_when_lost())
        self._spawn(self.following.start())
        self._started = True
        self.shared.presence()

    def _serve(self, server: Server | StdioServer) -> None:
        """It listens."""
        self.servers.append(server)
        self.shared.transports.append(server.name if server.name == "stdio" else f"{server.name}:{server.address}")

    @property
    def _listening(self) -> list[Server]:
        return [server for server in self.servers if isinstance(server, Server)]

    # -- reasons to leave

    def stop(self, drain: bool) -> None:
        """Leave. Asked a second time, or without `drain`, it doesn't wait for what runs."""
        if self._stopping.is_set() or not drain:
            self._hurry.set()
        self._stopping.set()

    async def _leave_with_parent(self, server: StdioServer) -> None:
        """A daemon that serves nobody but its parent goes with it."""
        await server.closed.wait()
        self.stop(True)

    async def _leave_when_lost(self) -> None:
        """A daemon whose socket was removed would stay in the way of the next one, with the sessions it holds."""
        for server in self._listening:
            while isinstance(server, UnixServer):
                await asyncio.sleep(LOST_SECONDS)
                if not server.found:
                    logger.warning("the socket is gone: leaving", extra={"fields": {"socket": server.address}})
                    self.stop(True)
                    return

    def _leave_idle(self) -> None:
        logger.info("nobody is here: leaving", extra={"fields": {"idleSeconds": round(self.config.idle, 3)}})
        self.stop(True)

    async def _may_leave(self) -> bool:
        """Whether everything is written, and nobody is just coming."""
        await self._write_unwritten()
        left = self._unwritten()
        if left:
            logger.info("sessions that aren't written keep the daemon here", extra={"fields": {"sessions": len(left)}})
        return not left and not any(server.channels for server in self._listening)

    def _unwritten(self) -> list[LiveSession]:
        """Sessions whose entries would be gone with this process."""
        return [session for session in self.hub.sessions if not session.log.persisted and len(session.tree)]

    async def _write_unwritten(self) -> None:
        for session in self._unwritten():
            try:
                await session.flush()
            except PiDaemonError as error:
                fields = {"sessionId": session.session_id, "reason": error.reason, **error.data}
                logger.error("a session could not be written", extra={"fields": fields})

    # -- the whole life

    async def run(self, ready: Callable[[], None] | None = None) -> None:
        """Serve until told to stop; `ready` is called once it listens. Raises as `start` does."""
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(_log_unhandled)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
                loop.add_signal_handler(number, self.stop, True)
        try:
            await self.start()
            for name in self.shared.transports:
                logger.info("listening on %s", name)
            started = {"version": self.shared.version, "daemonId": self.shared.daemon_id}
            logger.info("started", extra={"fields": {**started, "sessionsDir": self.shared.sessions_dir}})
            if ready is not None:
                ready()
            await self._stopping.wait()
        finally:
            await self.close()

    async def close(self) -> None:
        """Let running requests finish, write what isn't written, and go."""
        if self._started:
            logger.info("leaving", extra={"fields": {"clients": len(self.shared.connections)}})
        for task in self._tasks:
            task.cancel()
        self.shared.presence = lambda: None
        self.service.refuse()
        for server in self._listening:
            server.stop_listening()
        await self._finish()
        await self.following.stop()
        await self._write_unwritten()
        await self.hub.close()
        for server in self._listening:
            server.release()
        await self._close_connections()
        await self.service.settled()
        if self._started:
            logger.info("left")

    async def _close_connections(self) -> None:
        closing = asyncio.gather(*(server.close() for server in self.servers))
        await asyncio.wait([closing], timeout=PATIENCE_SECONDS)
        clients = sum(len(server.channels) for server in self._listening)
        if clients:
            logger.info("waiting for clients that have not closed their side", extra={"fields": {"clients": clients}})
        await closing

    async def _finish(self) -> None:
        """Until the requests in flight are answered; after a while, or in a hurry, they are interrupted."""
        connections = list(self.shared.connections.values())
        loop = asyncio.get_running_loop()
        settled = loop.create_task(_settled(connections))
        hurry = loop.create_task(self._told_to_hurry())
        await asyncio.wait([settled, hurry], timeout=DRAIN_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if not settled.done():
            for connection in connections:
                connection.interrupt()
            await asyncio.wait([settled], timeout=INTERRUPT_SECONDS)
        for task in (settled, hurry):
            task.cancel()

    async def _told_to_hurry(self) -> None:
        await self._hurry.wait()

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _settled(connections: Sequence[Connection]) -> None:
    for connection in connections:
        await connection.settled()


def _log_unhandled(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What asyncio itself would say has the objects in it that went wrong, and so what clients sent."""
    error = context.get("exception")
    logger.error("unhandled", exc_info=(type(error), error, error.__traceback__) if error else None)


def serve(
    config: Config, *, level: str = "info", detached: bool = False, ready: Callable[[Daemon], None] | None = None
) -> None:
    """Run a daemon in this process until it is stopped. Raises CannotListen, AlreadyServed, UnsafeDirectory.

    stdout belongs to the protocol; what there is to say goes to the log and, unless `detached`, to stderr. A daemon
    that serves its parent alone has no log of its own."""
    state = paths.private_dir(config.state_dir or paths.state_dir())
    inherited = systemd.inherited()
    if inherited is not None:
        config = structs.replace(config, socket=Path(inherited.getsockname()))
    alone = config.stdio and not (config.unix or config.tcp or config.websocket)
    file = None if alone else paths.log_path(state, config.unix)
    try:
        log.start(file, level, stderr=not detached)
    except OSError as error:
        raise CannotListen(f"{file} can't be written: {error.strerror}.") from error
    settle()

    async def main() -> None:
        daemon = Daemon(config, inherited)
        await daemon.run((lambda: ready(daemon)) if ready is not None else None)

    asyncio.run(main())


async def _ask_owner(contact: str, session_id: str) -> None:
    from pi_daemon.daemon.handover import ask_owner

    await ask_owner(contact, session_id)
