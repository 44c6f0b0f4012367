"""How a command comes to a daemon: the one that runs, else one of its own for as long as the command takes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pi_daemon_client
from pi_daemon_client import AsyncClient, Unreachable

import pi_daemon
from pi_daemon.cli import safe
from pi_daemon.cli.exits import Exit, Failure
from pi_daemon.cli.output import Output
from pi_daemon.daemon.launch import command
from pi_daemon.storage.layout import Chosen, chosen_dir

ANSWER_SECONDS = 5.0
"""How long a daemon may take to say who it is. It does so at once, or hangs."""

NOT_RESPONDING = "notResponding"

CLIENT_NAME = "pi-daemon command line"

_VARIABLES = ("PI_CODING_AGENT_SESSION_DIR", "PI_CODING_AGENT_DIR")


@dataclass(frozen=True)
class Where:
    """What the user said: `--socket`, `--sessions-dir`."""

    socket: Path | None = None
    sessions_dir: Path | None = None

    @property
    def standard(self) -> bool:
        return self.socket is None and self.sessions_dir is None

    def chosen(self) -> Chosen | None:
        """What a daemon must serve to be the right one, None where any is."""
        if self.sessions_dir is not None:
            return Chosen(self.sessions_dir, "--sessions-dir")
        return chosen_dir(os.environ, Path.home())

    def expected(self) -> Chosen | None:
        """The directory that was named for this command or in its environment, so that it is expected to be there."""
        chosen = self.chosen()
        if chosen is None or chosen.by not in ("--sessions-dir", *_VARIABLES):
            return None
        # pi makes `sessions` in its own directory when it has one to write.
        return Chosen(chosen.directory.parent, chosen.by) if chosen.by == _VARIABLES[1] else chosen

    def expect(self) -> None:
        """Raises Failure where that directory is missing: that no session is in it is the smaller part of the news."""
        if (expected := self.expected()) is None or os.path.isdir(expected.directory):
            return
        what = "is no directory" if os.path.lexists(expected.directory) else "does not exist"
        raise Failure(
            Exit.FAILED,
            f"The directory {expected.directory} {what}.",
            hint=f"{expected.by} names it." if expected.by in _VARIABLES else None,
            reason="directoryNotFound",
        )

    def beside(self, file: Path) -> Where:
        """The directory of a file that lies outside the standard one."""
        return replace(self, sessions_dir=file.parent)


def daemon_command(*arguments: str) -> tuple[list[str], dict[str, str]]:
    """How to run `pi-daemon` with this very code: argv and environment. A checkout that is not installed is named."""
    environment = dict(os.environ)
    roots = {str(Path(package.__file__).parents[1]) for package in (pi_daemon, pi_daemon_client) if package.__file__}
    checkouts = sorted(root for root in roots if "site-packages" not in root and "dist-packages" not in root)
    if checkouts:
        environment["PYTHONPATH"] = os.pathsep.join([*checkouts, *filter(None, [environment.get("PYTHONPATH")])])
    return command(*arguments), environment


async def running(where: Where, *, any_directory: bool = False) -> AsyncClient:
    """The daemon that runs. Raises Unreachable, ServerError, and Failure where it serves another directory or doesn't
    answer."""
    from pi_daemon.daemon.paths import socket_path

    path = where.socket or socket_path()
    try:
        found = os.lstat(path)
    except OSError as error:
        raise Unreachable(f"no daemon answers at {path}: {os.strerror(error.errno or 0)}") from error
    if found.st_uid != os.getuid():
        raise Failure(Exit.FAILED, f"{path} belongs to another user.", hint="Name your own with --socket.")
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            client = await AsyncClient.connect_unix(path, name=CLIENT_NAME, reconnect=None)
    except TimeoutError:
        raise _mute(path) from None
    serves = client.daemon["sessionsDir"]
    wanted = None if any_directory else where.chosen()
    if wanted is not None and not wanted.means(serves):
        await client.close()
        raise Failure(
            Exit.USAGE,
            f"The daemon at {path} serves {serves}, not {wanted.directory} as {wanted.by} says.",
            hint=f"Leave out --socket or {wanted.by}.",
            reason="otherDirectory",
        )
    return client


def _mute(path: Path) -> Failure:
    from pi_daemon.transports.lock import told
    from pi_daemon.transports.unix import lock_path

    holder = told(lock_path(path))
    who = f" (process {holder.pid})" if holder is not None else ""
    return Failure(
        Exit.NO_DAEMON,
        f"The daemon at {path}{who} does not answer.",
        hint=f"End it with `kill {holder.pid if holder is not None else 'PID'}`.",
        reason=NOT_RESPONDING,
    )


async def private(where: Where) -> AsyncClient:
    """A daemon for this command alone. Raises ServerError, and Failure with what it said where it ended at once: that
    none answers would be no help, and to start one by hand neither."""
    arguments = ["serve", "--stdio"]
    if where.sessions_dir is not None:
        arguments += ["--sessions-dir", str(where.sessions_dir.absolute())]
    argv, environment = daemon_command(*arguments)
    try:
        return await AsyncClient.connect_stdio(argv, env=environment, name=CLIENT_NAME, reconnect=None)
    except Unreachable as error:
        message = error.said.removeprefix("pi-daemon: ") or error.message
        raise Failure(Exit.NO_DAEMON, message, reason="unreachable") from error


@asynccontextmanager
async def reach(where: Where, output: Output, *, for_file: bool = False) -> AsyncIterator[AsyncClient]:
    """`for_file`: to do something with a file, which may lie elsewhere. Raises Unreachable, ServerError, Failure."""
    if where.sessions_dir is not None:
        where.expect()
    async with output.working("Waiting for the daemon"):
        client = await _reached(where, output, for_file)
    async with client:
        yield client


async def _reached(where: Where, output: Output, for_file: bool) -> AsyncClient:
    try:
        return await running(where)
    except Unreachable:
        if where.socket is not None:
            raise
    except Failure as failure:
        if where.socket is not None or failure.reason not in ("otherDirectory", NOT_RESPONDING):
            raise
        if failure.reason == NOT_RESPONDING:
            output.warn(safe.line(f"{failure.message} {failure.hint} This command does without it."))
    if not for_file:
        where.expect()
    return await private(where)
