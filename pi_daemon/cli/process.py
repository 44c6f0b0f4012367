"""`pi-daemon status` and `stop`: the daemon that runs."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pi_daemon_client import Unreachable
from pi_daemon_client.types import StatusResult

from pi_daemon.cli import safe
from pi_daemon.cli.exits import Exit, Failure
from pi_daemon.cli.output import Output
from pi_daemon.cli.reach import Where, running

if TYPE_CHECKING:
    from pi_daemon.transports.lock import Holder

PATIENCE = 30.0
"""Seconds that a daemon may take to leave: it drains within ten."""


@asynccontextmanager
async def _end_of(pid: int) -> AsyncIterator[asyncio.Event]:
    """An event that is set when the process is gone."""
    ended = asyncio.Event()
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        ended.set()
        yield ended
        return
    loop = asyncio.get_running_loop()
    loop.add_reader(descriptor, ended.set)
    try:
        yield ended
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


def _socket(where: Where) -> Path:
    from pi_daemon.daemon.paths import socket_path

    return where.socket or socket_path()


def _no_daemon(error: Unreachable, socket: Path) -> str:
    said = safe.line(error.message)
    holder = _holder(socket)
    mute = f" Process {holder.pid} serves it: end that with `kill {holder.pid}`." if holder is not None else ""
    return f"{said[:1].upper()}{said[1:]}.{mute}"


def _holder(socket: Path) -> Holder | None:
    """Who serves the socket, by what it has told; None where nobody listens."""
    from pi_daemon.transports.lock import told
    from pi_daemon.transports.unix import answers, lock_path

    return told(lock_path(socket)) if answers(socket) else None


def versions(socket: Path) -> dict[str, str | None]:
    """Of this program, and of the daemon that runs; that is null where none does."""
    from pi_daemon.daemon.version import version

    holder = _holder(socket)
    return {"commandVersion": version(), "daemonVersion": holder.version if holder is not None else None}


async def status(where: Where, output: Output) -> Exit:
    try:
        client = await running(where)
    except Unreachable as error:
        if output.as_json:
            socket = _socket(where)
            output.json({"running": False, "socket": str(socket), "message": error.message, **versions(socket)})
        else:
            output.print(f"{_no_daemon(error, _socket(where))} `pi-daemon serve` starts one.")
        return Exit.NO_DAEMON
    async with client:
        found = await client.daemon_status()
    if output.as_json:
        told = {**versions(_socket(where)), "daemonVersion": found["version"]}
        output.json({"running": True, "socket": str(_socket(where)), **found, **told})
    else:
        draw(output, found)
    return Exit.OK


async def stop(where: Where, output: Output, *, drain: bool) -> None:
    """Done when the daemon has gone; one that doesn't run is stopped already."""
    try:
        client = await running(where)
    except Unreachable as error:
        if output.as_json:
            told = {"message": error.message, **versions(_socket(where))}
            output.json({"stopped": False, "running": told["daemonVersion"] is not None, **told})
        else:
            output.print(_no_daemon(error, _socket(where)))
        return
    async with client, output.working("Waiting for the daemon to finish"):
        found = await client.daemon_status()
        pid = found["pid"]
        async with _end_of(pid) as ended:
            await client.stop_daemon(drain=drain)
            try:
                await asyncio.wait_for(ended.wait(), PATIENCE)
            except TimeoutError:
                raise Failure(Exit.FAILED, f"The daemon (process {pid}) still runs after {PATIENCE:.0f} s.") from None
    if output.as_json:
        told = {**versions(_socket(where)), "daemonVersion": found["version"]}
        output.json({"stopped": True, "running": False, "pid": pid, **told})
    else:
        output.print(f"The daemon (process {pid}) has stopped.")
        if len(found["clients"]) > 1:
            output.print("Editors that were connected through `pi-daemon connect` start another one.")


def draw(output: Output, found: StatusResult) -> None:
    from rich.table import Table

    output.print(
        f"pi-daemon {safe.line(found['version'])}, protocol {found['protocolVersion']}, process {found['pid']}, "
        f"up {_duration(found['uptime'])}, {found['memory'] / 1e6:.0f} MB"
    )
    output.print(f"serves {safe.line(found['sessionsDir'])} on {safe.line(', '.join(found['transports']))}")
    clients = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("client", "transport", "requests", "queued", "bytes", "resyncs"):
        clients.add_column(name, justify="left" if name in ("client", "transport") else "right")
    for client in found["clients"]:
        clients.add_row(
            safe.line(f"{client['name']} ({client['clientId']})"),
            safe.line(client["transport"]),
            *(f"{client[name]:,}" for name in ("requests", "queued", "queuedBytes", "resyncs")),
        )
    output.table(clients)
    if not found["sessions"]:
        output.print("No session is open.")
        return
    sessions = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("session", "entries", "revision", "subscribers", "queued", "on disk"):
        sessions.add_column(name, justify="left" if name in ("session", "on disk") else "right")
    for session in found["sessions"]:
        sessions.add_row(
            safe.line(session["sessionId"]),
            *(f"{session[name]:,}" for name in ("entryCount", "revision", "subscribers", "queued")),
            "yes" if session["persisted"] else "not yet",
        )
    output.table(sessions)


def _duration(seconds: float) -> str:
    minutes, hours = int(seconds) // 60, int(seconds) // 3600
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if hours < 1 else f"{hours} h {minutes % 60} min"
