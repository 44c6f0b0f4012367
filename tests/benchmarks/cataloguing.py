"""Thousands of sessions: the catalogue, the text behind it, searches, and what one changed file costs."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import time
from pathlib import Path
from typing import Any

import orjson

from tests.benchmarks.fixtures import EPOCH, iso
from tests.benchmarks.processes import Daemon
from tests.benchmarks.reading import pages
from tests.benchmarks.run import Run
from tests.benchmarks.table import Row, median, percentile
from tests.benchmarks.wire import Peer, PeerError

LIST_RATIO = 0.5
PAGE_MS = 10.0
PAGE_RATIO = 0.01
TEXT_MS_A_MB = 100.0
SEARCH_MS = 50.0
PAGE = 100
REPEATS = 20

QUERIES = (
    "parser",
    "the parser reads one line",
    '"because the cache"',
    "module_17",
    "src/app.py",
    "用户",
    "保留原来的",
    "größere",
    "needle-in-the-haystack",
    "needle-in",
    "nowhere to be found",
    "🙂",
)


def run(run: Run) -> list[Row]:
    """A fresh daemon with an empty state directory and a fresh pi; the files are in the page cache."""
    agent = run.workshop.folder()
    sessions = agent / "sessions"
    files, size = run.size.catalogue_files, run.size.catalogue_bytes
    run.fixtures.directory(sessions, files, size)
    paths = sorted(sessions.rglob("*.jsonl"))
    for path in paths[:: max(1, len(paths) // 3)]:
        append(path, "here lies the needle-in-the-haystack of this project")
    on = f"{files:,} files, {size / 1e6:,.0f} MB"
    listing: list[Row] = []
    theirs: float | None = None
    if run.pi:
        try:
            theirs = run.pi.script("list.mjs", agent=agent)["seconds"]
        except PeerError:
            listing.append(_tenth(run, paths))
    with run.workshop.daemon(sessions) as daemon:
        client = daemon.client()
        ours = _listed(client)
        listing.insert(0, _against(run, "session/list", on, ours, theirs))
        rows = [_text(daemon, client, on), *_pages(run, client, on, theirs), _searches(client, on)]
        rows.append(_changed(client, paths[len(paths) // 2], on))
        rows.append(
            Row(what="session/list and search: memory of the daemon", on=on, unit="MB", ours=daemon.memory() / 1e6)
        )
    shutil.rmtree(agent)
    return [*listing, *rows]


def append(path: Path, text: str) -> None:
    message = {"role": "user", "content": text, "timestamp": int(EPOCH.timestamp() * 1000)}
    line = {"type": "message", "id": "needle01", "parentId": None, "timestamp": iso(EPOCH), "message": message}
    with path.open("ab") as file:
        file.write(orjson.dumps(line) + b"\n")


def _listed(client: Peer) -> float:
    began = time.perf_counter()
    pages(client, "session/list", {"limit": 1_000}, "nextCursor", "cursor")
    return time.perf_counter() - began


def _against(run: Run, what: str, on: str, ours: float, theirs: float | None) -> Row:
    return Row(
        what=f"{what}, nothing known yet",
        on=on,
        unit="s",
        ours=ours,
        theirs=theirs,
        against=f"{run.reference} listAll" if theirs is not None else "",
        limit=LIST_RATIO if theirs is not None else None,
    )


def _tenth(run: Run, paths: list[Path]) -> Row:
    """Where pi runs out of memory: both on a tenth of the files."""
    agent = run.workshop.folder()
    for path in paths[::10]:
        folder = agent / "sessions" / path.parent.name
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / path.name)
    assert run.pi is not None
    theirs = run.pi.script("list.mjs", agent=agent)["seconds"]
    with run.workshop.daemon(agent / "sessions") as daemon:
        ours = _listed(daemon.client())
    shutil.rmtree(agent)
    return _against(run, "session/list", f"{len(paths[::10]):,} of these files", ours, theirs)


def _text(daemon: Daemon, client: Peer, on: str) -> Row:
    """Until a search is complete, while another client asks for the status all the time."""
    began = time.perf_counter()
    waits: list[float] = []
    while True:
        for _ in range(20):
            asked = time.perf_counter()
            client.call("daemon/status", {})
            waits.append((time.perf_counter() - asked) * 1e3)
            time.sleep(0.005)
        if client.call("session/search", {"query": "needle-in", "limit": 1})["complete"]:
            break
    seconds = time.perf_counter() - began
    (index,) = Path(daemon.path).parent.glob("state/index/*.sqlite3")
    with contextlib.closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True)) as connection:
        (characters,) = connection.execute("SELECT sum(chars) FROM blocks").fetchone()
    return Row(
        what="indexing text, behind requests",
        on=on,
        unit="ms a MB",
        ours=seconds * 1e3 / (characters / 1e6),
        limit=TEXT_MS_A_MB,
        limited="value",
        note=f"{characters / 1e6:,.0f} MB of text in {seconds:.0f} s, index {index.stat().st_size / 1e6:,.0f} MB; "
        f"a request meanwhile p50 {median(waits):.1f}, p99 {percentile(waits, 0.99):.1f} ms",
    )


def _pages(run: Run, client: Peer, on: str, theirs: float | None) -> list[Row]:
    times = [_timed(client, "session/list", {"limit": PAGE}) for _ in range(REPEATS)]
    rows = [
        Row(
            what=f"first page of session/list, {PAGE} rows",
            on=on,
            unit="ms",
            ours=median(times),
            limit=PAGE_MS,
            limited="value",
        )
    ]
    if theirs is not None:
        rows.append(
            Row(
                what="the same",
                on=on,
                unit="ms",
                ours=median(times),
                theirs=theirs * 1e3,
                against=f"{run.reference} listAll",
                limit=PAGE_RATIO,
            )
        )
    return rows


def _searches(client: Peer, on: str) -> Row:
    times: list[float] = []
    worst = ("", 0.0)
    for query in QUERIES:
        own = [_timed(client, "session/search", {"query": query}) for _ in range(REPEATS)]
        worst = max(worst, (query, median(own)), key=lambda one: one[1])
        times += own
    note = f"p50 {median(times):.1f} ms; slowest is {worst[0]!r}, {worst[1]:.0f} ms"
    ours = percentile(times, 0.95)
    return Row(what="session/search, p95", on=on, unit="ms", ours=ours, limit=SEARCH_MS, limited="value", note=note)


def _changed(client: Peer, path: Path, on: str) -> Row:
    """From a stranger's append until a list and a search know of it."""
    times: list[float] = []
    for number in range(REPEATS):
        append(path, f"a changed-file-{number} here")
        began = time.perf_counter()
        while not client.call("session/search", {"query": f"changed-file-{number} here"})["hits"]:
            time.sleep(0.002)
        times.append((time.perf_counter() - began) * 1e3)
    note = "the watcher's 25 to 50 ms included, and the pause after the change before"
    return Row(what="one changed file, until it is found", on=on, unit="ms", ours=median(times), note=note)


def _timed(client: Peer, method: str, params: dict[str, Any]) -> float:
    began = time.perf_counter()
    client.call(method, params)
    return (time.perf_counter() - began) * 1e3
