"""Planning a compaction: on a long path, and how it grows with what an earlier one has left behind."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson

from tests.benchmarks.fixtures import EPOCH, Writer, iso
from tests.benchmarks.processes import REPOSITORY, python_environment
from tests.benchmarks.run import Run
from tests.benchmarks.table import Row, median
from tests.benchmarks.wire import PeerError

RATIO = 1 / 2
GROWTH = 1.3
"""Nothing of what lies before a compaction is looked at; processor caches may add a little."""

ROUNDS = 20
"""Plans in a process, of which the quickest counts: some take two milliseconds, and anything else costs as much."""

LATER = 400
"""Entries after the compaction: more than is kept as it is."""


def run(run: Run) -> list[Row]:
    """Each round is a fresh process of either side with the session open; the file is in the page cache for both."""
    size = run.size
    straight = run.fixtures.session(size.large, size.deep_bytes * size.large // size.deep)
    ours, theirs = _both(run, straight, 0)
    on = f"{ours[0]['path']:,} entries on the path, {straight.stat().st_size / 1e6:.3g} MB"
    against = f"{run.reference} prepareCompaction" if theirs else ""
    reference = _best(theirs, "plan") if theirs else None

    def row(what: str, pick: str, limit: float | None, note: str) -> Row:
        return Row(
            what=what,
            on=on,
            unit="ms",
            ours=_best(ours, pick),
            theirs=reference,
            against=against,
            limit=limit if theirs else None,
            note=note,
        )

    rows = [
        row("compaction plan", "plan", RATIO, "read from the file; pi has all in memory, decoded, and lists files too"),
        row("compaction plan: files", "files", None, "what comes on top for the lists of files"),
        row("compaction plan: material", "material", None, "what comes on top for messages and lists, decoded"),
    ]
    times: list[float] = []
    for count in (size.small, size.large):
        file = run.fixtures.session(count, size.deep_bytes * count // size.deep, kept=size.kept)
        after, theirs = _both(run, file, LATER)
        times.append(_best(after, "plan"))
        rows.append(
            Row(
                what="compaction plan",
                on=f"{LATER} entries after a compaction, {count:,} before it",
                unit="ms",
                ours=times[-1],
                theirs=_best(theirs, "plan") if theirs else None,
                against=against,
            )
        )
    on = f"time a plan, {size.small:,} and {size.large:,} entries before a compaction"
    growth = times[1] / times[0]
    rows.append(Row(what="compaction plan, growth", on=on, unit="", growth=growth, limited="growth", limit=GROWTH))
    return rows


def _both(run: Run, file: Path, later: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    ours: list[dict[str, Any]] = []
    theirs: list[dict[str, Any]] = []
    for _ in range(min(run.size.rounds, 3)):
        copy = next(run.workshop.sessions(file).iterdir())
        with copy.open("ab") as session:
            session.writelines(line + b"\n" for line in more(file, later))
        command = [sys.executable, "-m", "tests.benchmarks.planned", str(copy), str(ROUNDS)]
        done = subprocess.run(command, env=python_environment(), cwd=REPOSITORY, stdout=subprocess.PIPE, check=True)
        ours.append(json.loads(done.stdout))
        if run.pi:
            theirs.append(run.pi.script("plan.mjs", str(copy), str(ROUNDS)))
            for what in ("path", "messages"):
                if theirs[-1][what] != ours[-1][what]:
                    raise PeerError(f"{what}: pi has {theirs[-1][what]} where we have {ours[-1][what]}")
        copy.unlink()
    return ours, theirs


def more(file: Path, count: int) -> list[bytes]:
    """`count` lines that go on from the last one of `file`."""
    parent = orjson.loads(file.read_bytes().rstrip(b"\n").rpartition(b"\n")[2])["id"]
    writer = Writer(count)
    lines: list[bytes] = []
    for number in range(count):
        at = EPOCH + timedelta(days=365, seconds=number)
        own = writer.entry(number, 600, at)
        entry = {"type": own["type"], "id": f"later{number:03d}", "parentId": parent, "timestamp": iso(at), **own}
        lines.append(orjson.dumps(entry))
        parent = entry["id"]
    return lines


def _best(results: list[dict[str, Any]], what: str) -> float:
    return median([min(result[what]) for result in results])
