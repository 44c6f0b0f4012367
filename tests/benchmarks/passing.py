"""Memory of a daemon whose one client opens many sessions, one after the other, and closes each. It knows all of them
by then: what it keeps of each for lists and searches is not what is asked about."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from tests.benchmarks.run import Run
from tests.benchmarks.table import Row

RATIO = 1.1
"""Of what the daemon has when all were open once, to what it has after the first tenth: flat, but for what the
allocator has yet to get from the system."""

FILE_BYTES = 100_000


def run(run: Run) -> list[Row]:
    folder = run.workshop.folder()
    sessions = folder / "sessions"
    run.fixtures.directory(sessions, run.size.opened, run.size.opened * FILE_BYTES)
    with run.workshop.daemon(sessions) as daemon:
        client = daemon.client()
        while not client.call("session/search", {"query": "nothing"})["complete"]:
            time.sleep(0.05)  # the index of what was said is made once, behind whoever asks
        resident: list[int] = []
        for file in sorted(sessions.rglob("*.jsonl")):
            named = {"sessionId": file.stem.partition("_")[2]}
            client.call("session/open", named)  # by its id: the first one has the daemon learn which files there are
            client.request("session/context", named)
            client.call("session/close", named)
            resident.append(daemon.memory())
        left = len(client.call("daemon/status", {})["sessions"])
        descriptors = len(list(Path(f"/proc/{daemon.process.pid}/fd").iterdir()))
    shutil.rmtree(folder)
    warm = max(1, len(resident) // 10)
    return [
        Row(
            what="sessions opened and closed, one by one: memory",
            on=f"{len(resident):,} files of {FILE_BYTES / 1e6:.1g} MB on average",
            unit="MB",
            ours=resident[-1] / 1e6,
            theirs=resident[warm - 1] / 1e6,
            against=f"after the first {warm:,}",
            limit=RATIO,
            note=f"highest {max(resident) / 1e6:.1f} MB; {left} still loaded, {descriptors} descriptors",
        )
    ]
