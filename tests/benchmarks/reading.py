"""Contexts, trees and entries out of open sessions, against pi's RPC mode over its pipes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.benchmarks.appending import draft
from tests.benchmarks.run import Run
from tests.benchmarks.table import Row, median
from tests.benchmarks.wire import Lines, Peer

FASTER = 1 / 5
MILLISECONDS_A_MB = 2.0
LINEAR = 1.3
"""Time an entry, large against small: what page caches and processor caches may add to a linear cost."""
REPEATS = 3


class Answers:
    """Milliseconds of each round, and the bytes of the last answer."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.bytes = 0
        self.error = ""

    def measure(self, ask: Callable[[], int]) -> None:
        began = time.perf_counter()
        self.bytes = ask()
        self.times.append((time.perf_counter() - began) * 1e3)

    @property
    def median(self) -> float:
        return median(self.times)


@contextlib.contextmanager
def both(run: Run, file: Path) -> Iterator[tuple[Peer, Lines | None]]:
    """A client of our daemon and pi's RPC mode, each with a copy of `file` open, asked once to warm up."""
    with contextlib.ExitStack() as stack:
        sessions = run.workshop.sessions(file)
        client = stack.enter_context(run.workshop.daemon(sessions)).client()
        client.call("session/open", {"path": str(next(sessions.iterdir()))})
        lines = None
        if run.pi:
            lines = stack.enter_context(run.pi.rpc(next(run.workshop.sessions(file).iterdir())))
        yield client, lines


def interleaved(
    run: Run, file: Path, ask: Callable[[Peer], int], command: str, before: Callable[[Peer], object] | None = None
) -> tuple[Answers, Answers | None]:
    """`before` is done each time before our side is asked, and not measured."""
    ours, theirs = Answers(), Answers()
    with both(run, file) as (client, lines):
        for round_number in range(run.size.rounds + 1):  # the first warms up
            for _ in range(REPEATS if round_number else 1):
                if before:
                    before(client)
                ours.measure(lambda: ask(client))
            if lines:
                theirs.measure(lambda: _answer(theirs, lines, command))
        del ours.times[:1], theirs.times[:1]
    return ours, theirs if run.pi else None


def _answer(answers: Answers, lines: Lines, command: str) -> int:
    line = lines.request(command)
    if b'"success":true' not in line[:120]:
        answers.error = line[-100:].decode(errors="replace").partition('"error":"')[2].rstrip('"}\n')
    return len(line)


def pages(client: Peer, method: str, params: dict[str, Any], next_name: str, cursor_name: str) -> int:
    """All pages of an answer; the bytes of all. The place of the next page is found without decoding the page."""
    total = 0
    marker = f'"{next_name}":"'.encode()
    while True:
        body = client.request(method, params)
        total += len(body)
        at = body.rfind(marker)
        if at < 0 or len(body) - at > 1_000:
            return total
        start = at + len(marker)
        params = {**params, cursor_name: bytes(body[start : body.index(b'"', start)]).decode()}


def context(run: Run) -> list[Row]:
    """Each context is asked for after an append, so no answer can be one that was kept."""
    rows: list[Row] = []
    for kept in (None, run.size.kept):
        file = run.deep_session(kept=kept)
        params = {"sessionId": file.stem}
        append = {**params, "entries": [draft(0, 100)]}
        ours, theirs = interleaved(
            run, file, _one("session/context", params), "get_messages", _one("session/append", append)
        )
        on = f"{run.size.deep:,} entries on the path" + (f", {kept} kept after a compaction" if kept else "")
        note = f"{ours.bytes / 1e6:.3g} MB answered" + (f", pi {theirs.bytes / 1e6:.3g} MB" if theirs else "")
        rows.append(
            Row(
                what="session/context",
                on=on,
                unit="ms",
                ours=ours.median,
                theirs=theirs.median if theirs else None,
                against=f"{run.reference} get_messages" if theirs else "",
                limit=FASTER if theirs else None,
                note=note,
            )
        )
        rows.append(
            Row(
                what="session/context",
                on=on,
                unit="ms/MB",
                ours=ours.median / (ours.bytes / 1e6),
                limited="value",
                limit=MILLISECONDS_A_MB,
            )
        )
    return rows


def tree(run: Run) -> list[Row]:
    return _both_sizes(run, "session/tree", {"filter": "all"}, ("nextCursor", "cursor"), "get_tree")


def entries(run: Run) -> list[Row]:
    return _both_sizes(run, "session/entries", {}, ("nextSince", "since"), "get_entries")


def _one(method: str, params: dict[str, Any]) -> Callable[[Peer], int]:
    return lambda client: len(client.request(method, params))


def _all(method: str, params: dict[str, Any], names: tuple[str, str]) -> Callable[[Peer], int]:
    return lambda client: pages(client, method, params, *names)


def _both_sizes(run: Run, method: str, params: dict[str, Any], names: tuple[str, str], command: str) -> list[Row]:
    """`session/entries` has pi's time to beat, `session/tree` answers where pi can't; both are linear."""
    rows: list[Row] = []
    per_entry: list[float] = []
    for count, file in ((run.size.deep, run.straight_session()), (run.size.large, run.large_session())):
        ask = _all(method, {**params, "sessionId": file.stem}, names)
        ours, theirs = interleaved(run, file, ask, command)
        per_entry.append(ours.median / count)
        note = f"{ours.bytes / 1e6:.3g} MB answered"
        if theirs and theirs.error:
            note += f"; pi fails: {theirs.error}"
        fair = theirs is not None and not theirs.error
        rows.append(
            Row(
                what=method,
                on=run.size_name(count, file),
                unit="ms",
                ours=ours.median,
                theirs=theirs.median if theirs and fair else None,
                against=f"{run.reference} {command}" if fair else "",
                limit=FASTER if fair and method == "session/entries" else None,
                note=note,
            )
        )
    on = f"time an entry, {run.size.deep:,} and {run.size.large:,} entries"
    growth = per_entry[1] / per_entry[0]
    rows.append(Row(what=f"{method}, linear", on=on, unit="", growth=growth, limited="growth", limit=LINEAR))
    return rows
