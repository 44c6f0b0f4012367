"""`pi-daemon panel`: the branches of sessions in a browser, served by the daemon that everybody shares."""

from __future__ import annotations

import asyncio
import contextlib
import html
import os
import sys
import tempfile
import webbrowser
from collections.abc import Iterator
from pathlib import Path

from pi_daemon_client import ABSENT, Absent, AsyncClient, Unreachable

from pi_daemon.cli import safe
from pi_daemon.cli.exits import Exit, Failure
from pi_daemon.cli.naming import listed
from pi_daemon.cli.output import Output
from pi_daemon.cli.reach import Where, running
from pi_daemon.daemon.bridge.join import Goal, Joining
from pi_daemon.session.errors import PiDaemonError

OPENING_SECONDS = 60.0
"""As long as the address is good for."""

LOOK_AGAIN = 0.1

_HINT = "`pi-daemon panel --no-open` prints the address."

PAGE_NAME = "pi-daemon panel"
"""What the page calls itself."""


async def panel(where: Where, output: Output, name: str | None, *, open: bool) -> Exit:
    """With `open`, until the page has come; else until interrupted. Raises Failure, ClientError."""
    joining = Joining(Goal(socket=_socket(where), sessions_dir=where.sessions_dir))
    async with await _joined(where, joining) as client:
        session_id = await _session_id(client, name, output)
        if open:
            return await _open(client, session_id, output)
        url = (await client.panel(session_id))["url"]
        if output.as_json:
            output.json({"url": url})
        else:
            output.print(url)
        sys.stdout.flush()
        await _ended(client)
    while True:  # the page finds back to the next daemon, which has to be there for that
        async with await _joined(where, joining) as client:
            await _ended(client)


async def _joined(where: Where, joining: Joining) -> AsyncClient:
    """The shared daemon, started where none runs. Raises Failure where it serves another directory."""
    loop = asyncio.get_running_loop()
    for attempt in range(3):
        try:
            (await loop.run_in_executor(None, joining.join)).close()
            return await running(where)
        except PiDaemonError as error:
            raise Failure(Exit.NO_DAEMON, error.message, reason=error.reason) from error
        except Unreachable:  # it was just leaving
            if attempt == 2:
                raise
    raise AssertionError


def _socket(where: Where) -> Path:
    from pi_daemon.daemon.paths import socket_path

    return where.socket or socket_path()


async def _session_id(client: AsyncClient, name: str | None, output: Output) -> str | Absent:
    """Which session it is; nothing is opened."""
    if name is None:
        return ABSENT
    async with output.working("Looking for the session") as progress:
        if name == "last":
            newest = (await client.list_sessions(limit=1, progress=progress))["sessions"]
            return newest[0]["sessionId"] if newest else ABSENT
        if (path := _file(name)) is not None:
            async for session in client.iter_sessions(progress=progress):
                if session["path"] is not None and _file(session["path"]) == path:
                    return session["sessionId"]
        return (await listed(client, name, output, progress))["sessionId"]


def _file(name: str) -> str | None:
    """The file that is meant, by its one true path; None where there is none."""
    path = os.path.realpath(os.path.expanduser(name))
    return path if os.path.isfile(path) else None


async def _ended(client: AsyncClient) -> None:
    """Until the connection is gone."""
    ended = asyncio.Event()
    client.on_connection(lambda connected: ended.set())
    if client.connected:
        await ended.wait()


async def _open(client: AsyncClient, session_id: str | Absent, output: Output) -> Exit:
    """The browser is given a file of ours that leads on: what is in the arguments of a command, others can read."""
    before = await _pages(client)
    url = (await client.panel(session_id))["url"]
    with _file_leading_to(url) as file:
        loop = asyncio.get_running_loop()
        if not await loop.run_in_executor(None, webbrowser.open, file.as_uri()):
            raise Failure(Exit.FAILED, "No browser can be started.", hint=_HINT)
        until = loop.time() + OPENING_SECONDS
        async with output.working("Waiting for the browser"):
            while not (await _pages(client)) - before:
                if loop.time() > until:
                    raise Failure(Exit.FAILED, "The browser has not opened the panel.", hint=_HINT)
                await asyncio.sleep(LOOK_AGAIN)
    if output.as_json:
        output.json({"opened": True})
    else:
        output.print(
            f"The panel is open in the browser. It shows the sessions in {safe.line(client.daemon['sessionsDir'])}."
        )
    return Exit.OK


async def _pages(client: AsyncClient) -> set[str]:
    clients = (await client.daemon_status())["clients"]
    return {one["clientId"] for one in clients if one["name"] == PAGE_NAME}


@contextlib.contextmanager
def _file_leading_to(url: str) -> Iterator[Path]:
    """A page that only its user can read (0600), and that is gone afterwards."""
    address = html.escape(url)
    descriptor, name = tempfile.mkstemp(prefix="pi-daemon-panel-", suffix=".html")
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write('<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">')
            file.write(f'<title>pi-daemon</title><meta http-equiv="refresh" content="0;url={address}">')
            file.write(f'<a href="{address}">The panel</a>\n')
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)
