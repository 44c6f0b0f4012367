"""A user of one's own, with directories that are short enough for sockets, and editors that run `pi-daemon connect`.

Every wait is bounded, and what was started is ended."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import termios
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from pi_daemon.cli.reach import daemon_command
from pi_daemon.rpc.framing import frame
from pi_daemon.transports.lock import told
from pi_daemon.transports.unix import lock_path

PATIENCE = 30.0
"""Seconds that anything here may take on a machine that is busy with other tests."""

OUR_OWN = ("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "LISTEN_PID", "LISTEN_FDS")


class Home:
    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="pd-", dir="/tmp"))
        self.runtime = self.directory / "run"
        self.runtime.mkdir(mode=0o700)
        self.sessions = self.directory / "sessions"
        self.sessions.mkdir()
        self.state = self.directory / "state"
        self.socket = self.runtime / "pi-daemon" / "daemon.sock"
        self.log = self.state / "daemon.log"
        _, environment = daemon_command()
        for name in [name for name in environment if name.startswith("PI_") or name in OUR_OWN]:
            del environment[name]
        self.environment = {
            **environment,
            "HOME": str(self.directory),
            "XDG_RUNTIME_DIR": str(self.runtime),
            "PI_DAEMON_STATE_DIR": str(self.state),
            "PI_CODING_AGENT_SESSION_DIR": str(self.sessions),
        }

    def __enter__(self) -> Home:
        return self

    def __exit__(self, *_: object) -> None:
        for socket in self.directory.rglob("*.lock"):
            holder = told(socket)
            if holder is not None and is_daemon(holder.pid):
                kill(holder.pid)
        shutil.rmtree(self.directory)

    def argv(self, *arguments: str) -> list[str]:
        return daemon_command(*arguments)[0]

    def run(self, *arguments: str, code: int = 0, **environment: str) -> str:
        """A command of `pi-daemon`; what it prints."""
        done = subprocess.run(
            self.argv(*arguments),
            env={**self.environment, **environment},
            cwd=self.directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def json(self, *arguments: str, code: int = 0, **environment: str) -> Any:
        printed = self.run(*arguments, "--json", code=code, **environment)
        assert printed.count("\n") == 1
        return json.loads(printed)

    @property
    def pid(self) -> int:
        """The daemon's at the standard socket, by the lock that it holds."""
        holder = told(lock_path(self.socket))
        assert holder is not None
        return holder.pid

    @contextlib.asynccontextmanager
    async def editor(self, *options: str, name: str = "editor", **environment: str) -> AsyncIterator[Editor]:
        """Runs `connect`; not initialized yet."""
        process = await asyncio.create_subprocess_exec(
            *self.argv("connect", *options),
            env={**self.environment, **environment},
            cwd=self.directory,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            limit=1 << 26,
        )
        try:
            yield Editor(process, name)
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.communicate()

    def records(self) -> list[dict[str, Any]]:
        """The daemon's log."""
        return [json.loads(line) for line in self.log.read_bytes().splitlines()]

    async def logged(self, event: str) -> dict[str, Any]:
        """The first record of that event, once there is one."""

        def find() -> dict[str, Any] | None:
            found = self.records() if self.log.exists() else []
            return next((record for record in found if record["event"] == event), None)

        record: dict[str, Any] = await eventually(find)
        return record


class Editor:
    """A client of LSP at the other end of `pi-daemon connect`."""

    def __init__(self, process: asyncio.subprocess.Process, name: str) -> None:
        assert process.stdin is not None and process.stdout is not None
        self.process = process
        self.name = name
        self.notified: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self._answers: dict[Any, dict[str, Any]] = {}
        self._in, self._out = process.stdin, process.stdout
        self._number = 0

    async def initialize(self, **options: Any) -> dict[str, Any]:
        """The daemon's piDaemon capabilities."""
        params = {
            "processId": None,
            "clientInfo": {"name": self.name},
            "capabilities": {},
            "initializationOptions": {"piDaemon": {"protocolVersion": 1, **options}},
        }
        answer = await self.request("initialize", params)
        assert "result" in answer, answer
        self.notify("initialized", {})
        found: dict[str, Any] = answer["result"]["capabilities"]["experimental"]["piDaemon"]
        return {**found, "version": answer["result"]["serverInfo"]["version"]}

    def send(self, method: str, params: Any = None) -> int:
        """A request; its id."""
        self._number += 1
        self.write({"id": self._number, "method": method, "params": params or {}})
        return self._number

    def notify(self, method: str, params: Any) -> None:
        self.write({"method": method, "params": params})

    def write(self, message: dict[str, Any]) -> None:
        self._in.write(frame(json.dumps({"jsonrpc": "2.0", **message}).encode()))

    async def answer(self, id: int) -> dict[str, Any]:
        """The answer to a request, error or result; exactly one comes."""
        async with asyncio.timeout(PATIENCE):
            while id not in self._answers:
                await self._take()
        return self._answers[id]

    async def sent(self) -> None:
        """Until the bridge has been given what was written."""
        await self._in.drain()

    async def taken(self) -> None:
        """Until the bridge has taken what was written, and so has handed it on: it does both in one go."""
        await self._in.drain()
        pipe = self._in.transport.get_extra_info("pipe").fileno()
        await eventually(lambda: not int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder))

    async def request(self, method: str, params: Any = None) -> dict[str, Any]:
        return await self.answer(self.send(method, params))

    async def call(self, method: str, **params: Any) -> Any:
        """The result."""
        answer = await self.request(method, params)
        assert "result" in answer, answer
        return answer["result"]

    async def told(self, method: str) -> Any:
        """The parameters of the next notification with this method."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for place, message in enumerate(self.notified):
                    if message["method"] == method:
                        return self.notified.pop(place)["params"]
                await self._take()

    async def end(self) -> int:
        """shutdown and exit; the exit code."""
        assert await self.call("shutdown") is None
        self.notify("exit", {})
        return await self.left()

    async def left(self) -> int:
        async with asyncio.timeout(PATIENCE):
            return await self.process.wait()

    async def _take(self) -> None:
        head = await self._out.readuntil(b"\r\n\r\n")
        message = json.loads(await self._out.readexactly(int(head.split(b":")[1])))
        if "method" not in message:
            assert message["id"] not in self._answers
            self._answers[message["id"]] = message
        elif "id" in message:
            self.asked.append(message)
        else:
            self.notified.append(message)


async def eventually(look: Callable[[], Any]) -> Any:
    """What `look` gives, once that is something."""
    async with asyncio.timeout(PATIENCE):
        while True:
            if found := look():
                return found
            await asyncio.sleep(0.01)


async def ended(pid: int) -> None:
    """Until the process is gone. It isn't a child of ours."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop = asyncio.get_running_loop()
    gone = asyncio.Event()
    loop.add_reader(descriptor, gone.set)
    try:
        async with asyncio.timeout(PATIENCE):
            await gone.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


def is_daemon(pid: int) -> bool:
    """Whether that is a daemon that runs, not somebody who got the number of a dead one."""
    try:
        return b"pi_daemon.cli\0serve" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def kill(pid: int) -> None:
    """kill -9, and wait until it is gone."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        select.select([descriptor], [], [], PATIENCE)
    except ProcessLookupError:
        pass
    finally:
        os.close(descriptor)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)
