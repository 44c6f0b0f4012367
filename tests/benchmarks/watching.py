"""What it costs to watch many session files, and how soon is told what somebody else has written to one."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson

from tests.benchmarks.processes import Daemon
from tests.benchmarks.run import Run
from tests.benchmarks.table import Row, percentile
from tests.benchmarks.wire import Peer

IDLE_PERCENT = 0.5
"""Of a core, at most."""

MEDIAN_MS = 60
HIGH_MS = 300
"""For 99 of 100."""

SETTLED_SECONDS = 3.0
"""After which the work of starting and opening is over."""

FILE_BYTES = 4_000
PAUSES = (0.02, 0.2)
"""Seconds between two lines of the stranger, at random, so that they meet the watcher anywhere in its round."""


def run(run: Run) -> list[Row]:
    on = f"{run.size.files:,} files watched, one of them open"
    with watched(run) as (daemon, client, file):
        time.sleep(SETTLED_SECONDS)
        idle = busy_percent(daemon, run.size.idle_seconds)
        told = [append(client, file, number) for number in range(run.size.foreign)]
    return [
        Row(
            what="idle daemon",
            on=on,
            unit="% of a core",
            ours=idle,
            limited="value",
            limit=IDLE_PERCENT,
            note=f"over {run.size.idle_seconds:.0f} s",
        ),
        *(
            Row(
                what=f"notification after a stranger's append, p{share:.0%}".rstrip("%"),
                on=on,
                unit="ms",
                ours=percentile(told, share),
                limited="value",
                limit=limit,
                note=f"{len(told)} appends, longest {max(told):.0f} ms",
            )
            for share, limit in ((0.5, MEDIAN_MS), (0.99, HIGH_MS))
        ),
    ]


@contextmanager
def watched(run: Run) -> Iterator[tuple[Daemon, Peer, Path]]:
    """A daemon over many files, a client of it, and the file of the session that this one has open."""
    folder = run.workshop.folder()
    sessions = folder / "sessions"
    run.fixtures.directory(sessions, run.size.files, run.size.files * FILE_BYTES)
    file = sorted(sessions.rglob("*.jsonl"))[run.size.files // 2]
    try:
        with run.workshop.daemon(sessions) as daemon:
            client = daemon.client()
            client.call("session/open", {"path": str(file)})
            yield daemon, client, file
    finally:
        shutil.rmtree(folder)


def busy_percent(daemon: Daemon, seconds: float) -> float:
    """Of a core, by the kernel's account of the process and its threads."""
    before, began = busy(daemon.process.pid), time.perf_counter()
    time.sleep(seconds)
    return 100 * (busy(daemon.process.pid) - before) / (time.perf_counter() - began)


def busy(pid: int) -> float:
    """Seconds of processor time, to the nanosecond, where /proc/PID/stat counts in ticks of 10 ms."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def append(client: Peer, file: Path, number: int) -> float:
    """Milliseconds from a line of somebody else's until its notification is here."""
    time.sleep(random.uniform(*PAUSES))
    entry = {"type": "custom", "id": f"theirs{number}", "parentId": None, "timestamp": "", "customType": "benchmark"}
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND)
    try:
        began = time.perf_counter()
        os.write(descriptor, orjson.dumps(entry) + b"\n")
    finally:
        os.close(descriptor)
    wanted = f'"theirs{number}"'.encode()
    while True:
        body = client.receive()
        if b'"session/appended"' in body[:80] and wanted in body:
            return (time.perf_counter() - began) * 1e3
