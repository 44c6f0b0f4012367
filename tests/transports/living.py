"""The real daemon behind one transport, put together as `pi-daemon serve` does, and clients that know its token."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from peers import House, Peer, pipe_wire

from pi_daemon.daemon.server import Address, Config, Daemon
from pi_daemon.daemon.token import token_path
from pi_daemon.engine.options import SessionOptions
from pi_daemon.rpc.limits import Limits
from pi_daemon.transports.stdio import StdioServer


class LivingHouse(House):
    """`base` holds the directories: sessions, state, run."""

    def __init__(self, transport: str, daemon: Daemon, base: Path) -> None:
        super().__init__(transport, None, daemon.servers[0])  # type: ignore[arg-type]
        self.daemon = daemon
        self.base = base
        self.sessions = base / "sessions"

    @property
    def token(self) -> str | None:
        """None where none is wanted, so none was made."""
        path = token_path(self.base / "state")
        return path.read_text().strip() if path.exists() else None

    @contextlib.asynccontextmanager
    async def client(self) -> AsyncIterator[Peer]:
        async with self.raw() as peer:
            assert "result" in await peer.initialize(**({"token": self.token} if self.token else {}))
            yield peer


@contextlib.asynccontextmanager
async def living(transport: str, base: Path, **caps: Any) -> AsyncIterator[LivingHouse]:
    (base / "sessions").mkdir(exist_ok=True)
    limits = Limits(**{"linger_seconds": 1, **caps})
    address = Address("127.0.0.1", 0)
    config = Config(
        socket=base / "run" / "socket" if transport == "unix" else None,
        tcp=address if transport == "tcp" else None,
        websocket=address if transport == "websocket" else None,
        stdio=transport == "stdio",
        sessions_dir=base / "sessions",
        state_dir=base / "state",
        options=SessionOptions(durability="written"),
        limits=limits,
    )
    daemon = Daemon(config)
    wire = None
    if transport == "stdio":  # the streams of this process belong to the tests
        ours, theirs = os.pipe(), os.pipe()
        wire = await pipe_wire(theirs[0], ours[1])
        server = StdioServer(daemon.connect, limits, (ours[0], theirs[1]))
        daemon._transports = lambda: [server]  # type: ignore[method-assign]
    await daemon.start()
    house = LivingHouse(transport, daemon, base)
    house.stdio_wire = wire
    try:
        yield house
    finally:
        await daemon.close()
        if wire is not None:
            await wire.close()
