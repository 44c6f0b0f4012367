"""`python -m tests.benchmarks.opened FILE`: what opening a session takes storage in a fresh process, as a JSON line.

The same work as pi's SessionManager.open: the file is read, each entry has its head and its place, and the tree's
index is there. Seconds, and memory in bytes: before and after, and the highest.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path

from pi_daemon.storage.files import FileRepository
from pi_daemon.storage.index.keeper import Index, index_path
from pi_daemon.storage.layout import find_layout
from pi_daemon.storage.system import Files
from tests.benchmarks.processes import memory


async def measure(file: Path, again: bool) -> dict[str, float]:
    """`again`: with what was kept of it."""
    layout = find_layout(str(file.parent), {}, Path.home())
    state = file.parent / "state"
    index = Index(index_path(state, file.parent), Files()) if again else None
    repository = FileRepository(layout, state, index=index)
    await asyncio.to_thread(os.getpid)  # the executor's first thread is no part of a session
    before = memory(os.getpid())
    began = time.perf_counter()
    loaded, log = await repository.open(await repository.ref(str(file)))
    seconds = time.perf_counter() - began
    after = memory(os.getpid())
    await log.close()
    if index is not None:
        index.close()
    highest = memory(os.getpid(), "VmHWM")
    return {"seconds": seconds, "before": before, "after": after, "highest": highest, "entries": len(loaded.tree)}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(Path(sys.argv[1]), "again" in sys.argv[2:]))))
