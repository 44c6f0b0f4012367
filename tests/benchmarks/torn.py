"""Opening a session whose last line was torn by a crash, against the whole one."""

from __future__ import annotations

import shutil

from tests.benchmarks.opening import storage
from tests.benchmarks.run import Run
from tests.benchmarks.table import Row, median

RATIO = 1.1
TORN = b'{"type":"message","id":"torn0000","parentId":null,"timestamp":"2026-01-05T08:00:00.000Z","message":{"role":"as'


def run(run: Run) -> list[Row]:
    """Each round is a fresh process for either file, in turns; both are in the page cache."""
    file = run.large_session()
    whole = next(run.workshop.sessions(file).iterdir())
    torn = next(run.workshop.sessions(file).iterdir())
    with torn.open("ab") as end:
        end.write(TORN)
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(run.size.rounds + 1):  # the first warms up
        results = {path: storage(path) for path in ((whole, torn) if number % 2 else (torn, whole))}
        if results[whole]["entries"] != results[torn]["entries"]:
            raise RuntimeError("a torn last line has cost other entries")
        if number:
            ours.append(results[torn]["seconds"])
            theirs.append(results[whole]["seconds"])
    for path in (whole, torn):
        shutil.rmtree(path.parent)
    return [
        Row(
            what="open, with a torn last line",
            on=run.size_name(run.size.large, file),
            unit="s",
            ours=median(ours),
            theirs=median(theirs),
            against="the whole file",
            limit=RATIO,
        )
    ]
