"""The demo's daemon: a real process on a Unix socket, over a directory of its own."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

from pi_daemon_client import AsyncClient, Unreachable

from pi_daemon.cli.exits import Exit, Failure
from pi_daemon.cli.reach import daemon_command

START_SECONDS = 15.0
"""How long a daemon may take until it answers; it takes a third of a second."""

_ELSEWHERE = ("XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
"""Where daemons keep what all of a user's share; the demo's has its own."""

_LOOK_AGAIN = 0.02
"""Seconds between two looks whether it answers yet."""


class DemoDaemon:
    def __init__(self, directory: Path) -> None:
        self.sessions = directory / "sessions"
        self.socket = directory / "run" / "daemon.sock"
        self.log = directory / "daemon.log"
        self._state = directory / "state"
        self._process: asyncio.subprocess.Process | None = None
        self.sessions.mkdir()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def start(self) -> None:
        argv, environment = daemon_command(
            *("serve", "--socket", str(self.socket), "--durability", "written"),
            *("--sessions-dir", str(self.sessions), "--state-dir", str(self._state)),
        )
        environment |= {name: str(self._state.with_name("user")) for name in _ELSEWHERE}
        environment["PI_DAEMON_STATE_DIR"] = str(self._state)
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *argv, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    async def connect(self, name: str) -> AsyncClient:
        """Raises Failure where the daemon doesn't come up."""
        assert self._process is not None
        try:
            async with asyncio.timeout(START_SECONDS):
                while self._process.returncode is None:
                    try:
                        return await AsyncClient.connect_unix(self.socket, name=name)
                    except Unreachable:
                        await asyncio.sleep(_LOOK_AGAIN)
        except TimeoutError:
            pass
        said = self.log.read_text(errors="replace").strip()
        raise Failure(Exit.NO_DAEMON, f"The demo's daemon did not start: {said or 'it said nothing'}")

    async def kill(self) -> None:
        """kill -9: it can't put anything in order."""
        assert self._process is not None
        self._process.kill()
        await self._process.wait()

    async def close(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.terminate()
            await self._process.wait()
