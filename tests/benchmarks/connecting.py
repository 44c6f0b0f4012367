"""How long an editor waits for its daemon: one that runs, and one that has to be started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pi_daemon.daemon.launch import command
from pi_daemon.daemon.launch import environment as clean
from tests.benchmarks.processes import python_environment
from tests.benchmarks.run import Run
from tests.benchmarks.table import Row, median
from tests.benchmarks.wire import PeerError

CONNECT_MS = 150
"""At most, beyond a bare start of Python."""

START_MS = 600
TIMES = 5
"""Of each, in one round: they vary with the machine's caches."""

INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"processId": None, "capabilities": {}}}


class Editor:
    """A process of `connect`, spoken to over its pipes."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.began = time.perf_counter()
        self._process = subprocess.Popen(
            command("connect"), env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def call(self, message: dict[str, Any]) -> Any:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        body = json.dumps(message).encode()
        stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        stdin.flush()
        header = stdout.readline()
        stdout.readline()
        answer = json.loads(stdout.read(int(header.split(b":")[1] or 0)))
        if "error" in answer:
            raise PeerError(answer["error"]["message"])
        return answer["result"]

    def close(self) -> None:
        self._process.communicate()


@contextmanager
def editor(environment: dict[str, str]) -> Iterator[Editor]:
    made = Editor(environment)
    try:
        yield made
    finally:
        made.close()


def run(run: Run) -> list[Row]:
    directory = run.workshop.folder()
    runtime = run.workshop.socket_folder()
    environment = python_environment(
        XDG_RUNTIME_DIR=str(runtime),
        PI_DAEMON_STATE_DIR=str(directory / "state"),
        PI_CODING_AGENT_SESSION_DIR=str(run.workshop.sessions()),
    )
    bare: list[float] = []
    connected: list[float] = []
    started: list[float] = []
    found: list[float] = []
    answered: list[float] = []
    for _ in range(run.size.rounds):
        began = time.perf_counter()
        argv = command("serve", "--detach", "--json", "--socket", str(runtime / "pi-daemon" / "daemon.sock"))
        subprocess.run(argv, env=clean(environment), check=True, stdout=subprocess.DEVNULL)
        started.append(time.perf_counter() - began)
        for _ in range(TIMES):
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", ""], env=environment, check=True)
            bare.append(time.perf_counter() - began)
            with editor(environment) as running:
                running.call(INITIALIZE)
                connected.append(time.perf_counter() - running.began)
        with editor(environment) as running:
            running.call(INITIALIZE)
            answered += _round_trips(running)
        _stop(environment)
        with editor(environment) as starting:
            starting.call(INITIALIZE)
            found.append(time.perf_counter() - starting.began)
        _stop(environment)
    beyond = f"a bare Python start of {median(bare) * 1e3:.0f} ms"
    return [
        Row(
            what="connect, a daemon runs",
            on=f"until initialize is answered, beyond {beyond}",
            unit="ms",
            ours=(median(connected) - median(bare)) * 1e3,
            limited="value",
            limit=CONNECT_MS,
        ),
        Row(
            what="serve, until it listens",
            on="as connect starts it",
            unit="ms",
            ours=median(started) * 1e3,
            limited="value",
            limit=START_MS,
        ),
        Row(what="connect, none runs", on="until initialize is answered", unit="ms", ours=median(found) * 1e3),
        Row(what="connect, there and back", on="daemon/status", unit="ms", ours=median(answered) * 1e3),
    ]


def _round_trips(running: Editor) -> list[float]:
    times: list[float] = []
    for number in range(2, 102):
        began = time.perf_counter()
        running.call({"jsonrpc": "2.0", "id": number, "method": "daemon/status"})
        times.append(time.perf_counter() - began)
    return times


def _stop(environment: dict[str, str]) -> None:
    with open(os.devnull, "wb") as nothing:
        subprocess.run(command("stop"), env=environment, check=True, stdout=nothing, cwd=Path("/"))
