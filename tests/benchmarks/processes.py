"""The processes that are measured: our daemon, pi, and the bare loops."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.counted import Counts
from tests.benchmarks.wire import Lines, Peer, PeerError
from tests.reference import reference

REPOSITORY = Path(__file__).parents[2]
SCRIPTS = Path(__file__).parent / "pi"
START_SECONDS = 20.0
STOP_SECONDS = 10.0


def memory(pid: int, field: str = "VmRSS") -> int:
    """Bytes: `VmRSS` now resident, `VmHWM` the most there ever was."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/{pid}/status has no {field}")


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """This process and the children it starts meanwhile take turns on one core. Waking another core costs more than
    a small request and varies more; without it the smallest floor there is is measured."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def python_environment(**more: str) -> dict[str, str]:
    path = os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "clients/python")])
    return {**os.environ, "PYTHONPATH": path, **more}


class Server:
    """A child that listens on a Unix socket in a directory of its own (socket paths have to be short)."""

    def __init__(self, command: list[str], directory: Path) -> None:
        self.path = str(directory / "socket")
        self._log = (directory / "stderr").open("w+b")
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._log, env=python_environment()
        )
        self._peers: list[Peer] = []
        self._wait()

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                Peer(self.path).close()
                return
            except OSError as error:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self._log.seek(0)
                    said = self._log.read().decode(errors="replace")[-2_000:]
                    raise PeerError(f"{self.process.args!r} doesn't listen: {error}\n{said}") from None
                time.sleep(0.01)

    def connect(self) -> Peer:
        peer = Peer(self.path)
        self._peers.append(peer)
        return peer

    def memory(self, field: str = "VmRSS") -> int:
        return memory(self.process.pid, field)

    def stop(self) -> None:
        for peer in self._peers:
            peer.close()
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._log.close()


class Daemon(Server):
    """`pi-daemon serve` over the session files that were copied into `sessions`.

    `counts` is there when the daemon runs with its syncs counted.
    """

    def __init__(self, directory: Path, sessions: Path, counts: Path | None = None) -> None:
        arguments = ["serve", "--socket", str(directory / "socket"), "--sessions-dir", str(sessions)]
        arguments += ["--state-dir", str(directory / "state")]
        if counts is None:
            command = [sys.executable, "-c", "from pi_daemon.cli import main; main()", *arguments]
            self.counts = None
        else:
            self.counts = Counts(counts)
            command = [sys.executable, "-m", "tests.benchmarks.counted", str(counts), *arguments]
        super().__init__(command, directory)

    def client(self) -> Peer:
        peer = self.connect()
        peer.initialize()
        return peer


class Pi:
    """The reference: the package and a Node that runs it, both by npm, offline and in a home of its own."""

    def __init__(self, package: Path, node: Path, home: Path) -> None:
        self.package = package
        self.node = node
        self.home = home
        version = json.loads((package / "package.json").read_text())["version"]
        self.name = f"pi {version}"
        self.node_version = self._run([str(node), "--version"]).strip()

    @classmethod
    def installed(cls, home: Path) -> Pi:
        """Fetched by npm where it isn't there yet. Raises PeerError where it can't be had."""
        try:
            found = reference()
        except (pytest.skip.Exception, pytest.fail.Exception) as missing:
            raise PeerError(f"{missing}; --without-reference does without it") from None
        return cls(found.package, found.node, home)

    def _environment(self, agent: Path | None = None) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "PI_CODING_AGENT_DIR": str(agent or self.home / "agent"),
            "PI_OFFLINE": "1",
        }

    def _run(self, command: list[str], agent: Path | None = None) -> str:
        done = subprocess.run(command, env=self._environment(agent), cwd=self.home, capture_output=True, text=True)
        if done.returncode:
            raise PeerError(f"{command!r} ended with {done.returncode}: {done.stderr[-2_000:]}")
        return done.stdout

    def script(
        self, name: str, *arguments: str, flags: tuple[str, ...] = (), agent: Path | None = None
    ) -> dict[str, Any]:
        """What one of our scripts says in the last line of its output."""
        command = [str(self.node), *flags, str(SCRIPTS / name), str(self.package), *arguments]
        result: dict[str, Any] = json.loads(self._run(command, agent).splitlines()[-1])
        return result

    @contextlib.contextmanager
    def rpc(self, session: Path) -> Iterator[Lines]:
        """pi's RPC mode over `session`, past its start. It may append to the file."""
        command = [str(self.node), str(self.package / "dist/bundle/cli.js"), "--mode", "rpc", "--session", str(session)]
        command += ["--offline", "--no-extensions", "--no-skills", "--no-mcp", "--no-context-files", "--no-themes"]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self._environment(),
            cwd=self.home,
        )
        try:
            lines = Lines(process)
            lines.request("get_state")
            yield lines
        finally:
            process.kill()
            process.communicate()


class Workshop:
    """A scratch directory on the cache's file system for one run, and the processes in it."""

    def __init__(self, cache: Path) -> None:
        cache.mkdir(parents=True, exist_ok=True)
        self.root = Path(tempfile.mkdtemp(prefix="run-", dir=cache))
        self._sockets = Path(tempfile.mkdtemp(prefix="pi-daemon-bench-"))
        self._number = 0

    def close(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.rmtree(self._sockets, ignore_errors=True)

    def folder(self) -> Path:
        self._number += 1
        folder = self.root / str(self._number)
        folder.mkdir()
        return folder

    def sessions(self, *files: Path) -> Path:
        """A new flat sessions directory with a copy of each file."""
        folder = self.folder()
        for file in files:
            shutil.copyfile(file, folder / f"2026-01-05T08-00-00-000Z_{file.stem}.jsonl")
        return folder

    def socket_folder(self) -> Path:
        """For sockets, whose paths have to be short."""
        self._number += 1
        folder = self._sockets / str(self._number)
        folder.mkdir(mode=0o700)
        return folder

    @contextlib.contextmanager
    def daemon(self, sessions: Path, *, counted: bool = False) -> Iterator[Daemon]:
        folder = self.socket_folder()
        daemon = Daemon(folder, sessions, folder / "counts" if counted else None)
        try:
            yield daemon
        finally:
            daemon.stop()

    @contextlib.contextmanager
    def floor(self) -> Iterator[Server]:
        folder = self.socket_folder()
        floor = Server([sys.executable, "-m", "tests.benchmarks.floors", str(folder / "socket")], folder)
        try:
            yield floor
        finally:
            floor.stop()
