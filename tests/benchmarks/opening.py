"""Opening a large session, and what it costs in memory."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.processes import REPOSITORY, python_environment
from tests.benchmarks.run import Run
from tests.benchmarks.table import Row, median
from tests.benchmarks.wire import PeerError

TIME_RATIO = 0.4
MEMORY_RATIO = 0.25
AGAIN_RATIO = 0.2


def run(run: Run) -> list[Row]:
    """Each round is a fresh process of either side; the file is in the page cache for both."""
    file = run.large_session()
    ours: list[dict[str, Any]] = []
    theirs: list[dict[str, Any]] = []
    asked: list[float] = []
    served: list[float] = []
    again: list[dict[str, Any]] = []
    for _ in range(run.size.rounds):
        sessions = run.workshop.sessions(file)
        copy = next(sessions.iterdir())
        ours.append(storage(copy))
        storage(copy, "again")  # keeps the heads
        again.append(storage(copy, "again"))
        with run.workshop.daemon(sessions) as daemon:
            client = daemon.client()
            before = daemon.memory()
            began = time.perf_counter()
            client.call("session/open", {"path": str(copy)})
            asked.append(time.perf_counter() - began)
            served.append(daemon.memory() - before)
        if run.pi:
            theirs.append(run.pi.script("open.mjs", str(copy), flags=("--expose-gc",)))
            if theirs[-1]["entries"] != ours[-1]["entries"]:
                raise PeerError(f"pi sees {theirs[-1]['entries']} entries where we see {ours[-1]['entries']}")
        copy.unlink()

    def row(what: str, unit: str, scale: float, pick: str, limit: float | None, note: str = "", by: Any = ours) -> Row:
        return Row(
            what=what,
            on=run.size_name(run.size.large, file),
            unit=unit,
            ours=median([_pick(result, pick) for result in by]) * scale,
            theirs=median([_pick(result, pick) for result in theirs]) * scale if theirs else None,
            against=f"{run.reference} SessionManager.open" if theirs else "",
            limit=limit if theirs else None,
            note=note,
        )

    collected = median([float(result["collected"] - result["before"]) for result in theirs]) / 1e6 if theirs else 0
    on = run.size_name(run.size.large, file)
    return [
        row("open", "s", 1, "seconds", TIME_RATIO, "storage and tree, fresh process"),
        row("open again", "s", 1, "seconds", AGAIN_RATIO, "with the heads that were kept, fresh process", again),
        row("open again: highest memory", "MB", 1e-6, "highest", None, by=again),
        row(
            "open: memory of the session",
            "MB",
            1e-6,
            "growth",
            MEMORY_RATIO,
            f"pi after collecting: {collected:.0f} MB",
        ),
        row("open: memory of the process", "MB", 1e-6, "after", MEMORY_RATIO),
        row("open: highest memory", "MB", 1e-6, "highest", None),
        Row(what="session/open", on=on, unit="s", ours=median(asked), note="over the socket, first of a daemon"),
        Row(what="session/open: memory", on=on, unit="MB", ours=median(served) / 1e6, note="growth of the daemon"),
    ]


def _pick(result: dict[str, Any], name: str) -> float:
    return float(result["after"] - result["before"]) if name == "growth" else float(result[name])


def storage(file: Path, *again: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.benchmarks.opened", str(file), *again]
    done = subprocess.run(command, env=python_environment(), cwd=REPOSITORY, stdout=subprocess.PIPE, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result
