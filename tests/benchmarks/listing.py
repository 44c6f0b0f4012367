"""Listing a directory of sessions that nobody has looked at yet."""

from __future__ import annotations

import shutil
import time

from tests.benchmarks.reading import pages
from tests.benchmarks.run import Run
from tests.benchmarks.table import Row, median

RATIO = 0.5
MOST_ROUNDS = 3
PAGE = 1_000


def run(run: Run) -> list[Row]:
    """Each round is a fresh daemon with an empty state directory and a fresh pi; the files are in the page cache."""
    agent = run.workshop.folder()
    sessions = agent / "sessions"
    run.fixtures.directory(sessions, run.size.files, run.size.files_bytes)
    ours: list[float] = []
    again: list[float] = []
    theirs: list[float] = []
    for _ in range(min(MOST_ROUNDS, run.size.rounds)):
        with run.workshop.daemon(sessions) as daemon:
            client = daemon.client()
            for times in (ours, again):
                began = time.perf_counter()
                pages(client, "session/list", {"limit": PAGE}, "nextCursor", "cursor")
                times.append(time.perf_counter() - began)
            found = len(client.call("session/list", {"limit": PAGE})["sessions"])
        if found != min(PAGE, run.size.files):
            raise RuntimeError(f"session/list finds {found} of {run.size.files} sessions")
        if run.pi:
            listed = run.pi.script("list.mjs", agent=agent)
            if listed["sessions"] != run.size.files:
                raise RuntimeError(f"listAll finds {listed['sessions']} of {run.size.files} sessions")
            theirs.append(listed["seconds"])
    shutil.rmtree(agent)
    on = f"{run.size.files:,} files, {run.size.files_bytes / 1e6:,.0f} MB"
    return [
        Row(
            what="session/list, nothing known yet",
            on=on,
            unit="s",
            ours=median(ours),
            theirs=median(theirs) if theirs else None,
            against=f"{run.reference} listAll" if theirs else "",
            limit=RATIO if theirs else None,
        ),
        Row(what="session/list, again", on=on, unit="s", ours=median(again)),
    ]
