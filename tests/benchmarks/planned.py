"""`python -m tests.benchmarks.planned FILE ROUNDS`: milliseconds that planning a compaction takes with an open session,
as a JSON line.

`plan`: the cut, the size of the context and what will be summarized, without its messages. `files`: the lists of files
that the summary would name. `material`: the messages too, decoded. All read from the file what they need of bodies.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from pathlib import Path
from typing import Any, TypeVar

from pi_daemon.compaction.gather import Gathering, portions
from pi_daemon.compaction.listing import Listing
from pi_daemon.compaction.plan import Planner
from pi_daemon.compaction.settings import CompactionSettings
from pi_daemon.session.selection import Trail
from pi_daemon.storage.files import FileRepository
from pi_daemon.storage.layout import find_layout
from pi_daemon.storage.protocols import SessionLog

SETTINGS = CompactionSettings()
FEW = 3
"""Rounds of what takes long."""


Steps = TypeVar("Steps", Planner, Listing)


async def fed(steps: Steps, log: SessionLog) -> Steps:
    while wanted := steps.wanted():
        steps.give(await log.read(wanted))
    return steps


async def measure(file: Path, rounds: int) -> dict[str, Any]:
    repository = FileRepository(find_layout(str(file.parent), {}, Path.home()), file.parent / "state")
    loaded, log = await repository.open(await repository.ref(str(file)))
    trail = Trail(loaded.tree.path(loaded.tree.last_id))  # the daemon keeps it up with the leaf
    trail.selection()
    gc.collect()
    times: dict[str, list[float]] = {"plan": [], "files": [], "material": []}
    for number in range(rounds):
        began = time.perf_counter()
        plan = (await fed(Planner(trail.path, trail.selection(), SETTINGS), log)).plan
        times["plan"].append((time.perf_counter() - began) * 1e3)
        if number < FEW:
            began = time.perf_counter()
            await fed(Listing(plan), log)
            times["files"].append((time.perf_counter() - began) * 1e3)
            began = time.perf_counter()
            gathering = Gathering(len(plan.history))
            for portion in portions(plan):
                gathering.give(portion.use, await log.read(portion.heads()))
            times["material"].append((time.perf_counter() - began) * 1e3)
    await log.close()
    return {**times, "path": len(trail.path), "messages": len(plan.history) + len(plan.prefix)}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(Path(sys.argv[1]), int(sys.argv[2])))))
