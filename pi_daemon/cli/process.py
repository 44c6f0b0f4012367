"""`pi-daemon status` and `stop`: the daemon that runs."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pi_daemon_client import AsyncClient, Unreachable
from pi_daemon_client.types import ClientStatus, StatusResult

from pi_daemon.cli import safe
from pi_daemon.cli.exits import Exit, Failure
from pi_daemon.cli.output import Output
from pi_daemon.cli.reach import NOT_RESPONDING, Where, running
from pi_daemon.session.dates import duration

if TYPE_CHECKING:
    from rich.text import Text

    from pi_daemon.transports.lock import Holder

NARROW = 100
"""Columns of a terminal below which `status` shows the half of it."""

PATIENCE = 30.0
"""Seconds that a daemon may take to leave: it drains within ten. And to come, where somebody is starting it."""

LOOK_AGAIN = 0.02


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


def _no_daemon(error: Unreachable | Failure) -> str:
    said = safe.line(error.message)
    if isinstance(error, Failure):
        return f"{said} {safe.line(error.hint or '')}"
    return f"{said[:1].upper()}{said[1:]}."


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
        async with output.working("Waiting for the daemon"):
            client = await running(where, any_directory=True)
    except (Unreachable, Failure) as error:
        if isinstance(error, Failure) and error.reason != NOT_RESPONDING:
            raise
        if output.as_json:
            socket = _socket(where)
            output.json({"running": False, "socket": str(socket), "message": error.message, **versions(socket)})
        else:
            hint = " `pi-daemon serve` starts one." if isinstance(error, Unreachable) else ""
            output.print(_no_daemon(error) + hint)
        return Exit.NO_DAEMON
    async with client:
        found = await client.daemon_status()
    if output.as_json:
        told = {**versions(_socket(where)), "daemonVersion": found["version"]}
        output.json({"running": True, "socket": str(_socket(where)), **found, **told})
    else:
        draw(output, found)
    return Exit.OK


async def _running_or_coming(where: Where) -> AsyncClient:
    """The daemon that runs, or that somebody is just starting. Raises as `running` does."""
    from pi_daemon.transports.lock import held
    from pi_daemon.transports.unix import start_lock_path

    lock = start_lock_path(_socket(where))
    until = time.monotonic() + PATIENCE
    while True:
        coming = held(lock) and time.monotonic() < until
        try:
            return await running(where, any_directory=True)
        except Unreachable:
            if not coming:
                raise
        await asyncio.sleep(LOOK_AGAIN)


async def stop(where: Where, output: Output, *, drain: bool) -> Exit:
    """Done when the daemon has gone. Raises Failure where it doesn't answer, or stays."""
    try:
        async with output.working("Waiting for the daemon to answer"):
            client = await _running_or_coming(where)
    except Unreachable as error:
        if output.as_json:
            told = {"message": error.message, **versions(_socket(where))}
            output.json({"stopped": False, "running": told["daemonVersion"] is not None, **told})
        else:
            output.print(_no_daemon(error))
        return Exit.NO_DAEMON
    async with client, output.working("Waiting for the daemon to finish, and for its clients to go"):
        found = await client.daemon_status()
        pid = found["pid"]
        async with _end_of(pid) as ended:
            await client.stop_daemon(drain=drain)
            try:
                await asyncio.wait_for(ended.wait(), PATIENCE)
            except TimeoutError:
                words = f"The daemon (process {pid}) still runs after {PATIENCE:.0f} s."
                raise Failure(Exit.FAILED, words, hint=f"End it with `kill {pid}`.") from None
    if output.as_json:
        told = {**versions(_socket(where)), "daemonVersion": found["version"]}
        output.json({"stopped": True, "running": False, "pid": pid, **told})
    else:
        output.print(f"The daemon (process {pid}) has stopped.")
        if len(found["clients"]) > 1:
            output.print("Editors that were connected through `pi-daemon connect` start another one.")
    return Exit.OK


def _called(client: ClientStatus) -> str:
    """An editor need not say its name."""
    return client["name"].strip() or "(no name)"


def draw(output: Output, found: StatusResult) -> None:
    from rich.table import Table

    output.print(
        f"pi-daemon {safe.line(found['version'])}, protocol {found['protocolVersion']}, process {found['pid']}, "
        f"up {duration(found['uptime'])}, {found['memory'] / 1e6:.0f} MB"
    )
    output.print(f"serves {safe.line(found['sessionsDir'])} on {safe.line(', '.join(found['transports']))}")
    narrow = output.narrow(NARROW)
    clients = Table(box=None, pad_edge=False, header_style="bold")
    clients.add_column("client")
    clients.add_column("transport", no_wrap=True)
    counts: list[tuple[str, Literal["requests", "queued", "queuedBytes", "resyncs"]]]
    counts = [("requests", "requests"), ("queued", "queued"), ("bytes", "queuedBytes"), ("resyncs", "resyncs")]
    counts = counts[:2] if narrow else counts
    for heading, _ in counts:
        clients.add_column(heading, justify="right", no_wrap=True)
    for client in found["clients"]:
        clients.add_row(
            _giving_way(_called(client) if narrow else f"{_called(client)} ({client['clientId']})"),
            safe.line(client["transport"]),
            *(f"{client[name]:,}" for _, name in counts),
        )
    output.table(clients)
    if not found["sessions"]:
        output.print("No session is open.")
        return
    sessions = Table(box=None, pad_edge=False, header_style="bold")
    sessions.add_column("session")
    facts: list[tuple[str, Literal["entryCount", "subscribers", "revision", "queued"]]]
    facts = [("entries", "entryCount"), ("subscribers", "subscribers"), ("revision", "revision"), ("queued", "queued")]
    facts = facts[:2] if narrow else facts
    for heading, _ in facts:
        sessions.add_column(heading, justify="right", no_wrap=True)
    sessions.add_column("on disk", no_wrap=True)
    for session in found["sessions"]:
        sessions.add_row(
            _giving_way(session["sessionId"]),
            *(f"{session[name]:,}" for _, name in facts),
            "yes" if session["persisted"] else "not yet",
        )
    output.table(sessions)


def _giving_way(text: str) -> Text:
    """A cell that is cut, so that the others of its row are not."""
    from rich.text import Text

    return Text(safe.line(text), no_wrap=True, overflow="ellipsis")
