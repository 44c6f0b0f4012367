"""Compactions: what an append costs while one is under way, and how long the embedded summary takes."""

from __future__ import annotations

import select
import time

from tests.benchmarks.appending import append_params, open_session
from tests.benchmarks.processes import Daemon
from tests.benchmarks.run import Run
from tests.benchmarks.table import Row, median, percentile
from tests.benchmarks.wire import Peer, is_notification

RATIO = 1.1
"""An append costs no more than without; a tenth is noise."""

SUMMARY_MS = 1_000
KEPT = {"keepRecentTokens": 2_000}
APPENDS = 500
WARMING = 2
"""Rounds of appends before it counts: at first the system puts the two processes now here, now there."""


def run(run: Run) -> list[Row]:
    rows: list[Row] = []
    appends = APPENDS if run.size.rounds > 1 else run.size.appends
    file = run.deep_session()
    on = f"1 KB message, written, same session of {run.size_name(run.size.deep, file)}"
    for summarizer in ("client", "extractive"):
        without: list[list[float]] = []
        during: list[list[float]] = []
        for _ in range(run.size.rounds):
            with run.workshop.daemon(run.workshop.sessions(file)) as daemon:
                client = daemon.client()
                open_session(client, file.stem, "written")
                for _ in range(WARMING):
                    _appended(client, file.stem, appends, None)
                before = _appended(client, file.stem, appends, None)
                during.append(_while_compacting(daemon, client, file.stem, appends, summarizer))
                without.append(before + _appended(client, file.stem, appends, None))
        for name, share in (("p50", 0.5), ("p95", 0.95)):
            rows.append(
                Row(
                    what=f"append during a compaction, {name}",
                    on=on,
                    unit="ms",
                    ours=median([percentile(times, share) for times in during]),
                    theirs=median([percentile(times, share) for times in without]),
                    against="without",
                    limit=RATIO,
                    note=f"summarizer: {summarizer}; {min(map(len, during)):,} appends or more a round",
                )
            )
    return [*rows, _summary(run)]


def _summary(run: Run) -> Row:
    """All of a request: read, summarized, questioned, written."""
    file = run.fixtures.session(run.size.small, run.size.message_bytes)
    times: list[float] = []
    for _ in range(run.size.rounds):
        with run.workshop.daemon(run.workshop.sessions(file)) as daemon:
            client = daemon.client()
            open_session(client, file.stem, "written")
            began = time.perf_counter()
            client.call("session/compact", {"sessionId": file.stem, "summarizer": "extractive", **KEPT})
            times.append((time.perf_counter() - began) * 1e3)
    return Row(
        what="session/compact, extractive",
        on=run.size_name(run.size.small, file),
        unit="ms",
        ours=median(times),
        limited="value",
        limit=SUMMARY_MS,
    )


def _while_compacting(daemon: Daemon, client: Peer, session_id: str, appends: int, summarizer: str) -> list[float]:
    """Another client compacts; as a summarizer it has all the time it wants."""
    other = daemon.connect()
    options = {"piDaemon": {"summarizer": summarizer == "client"}}
    other.call("initialize", {"processId": None, "capabilities": {}, "initializationOptions": options})
    params = {"sessionId": session_id, "summarizer": summarizer, **KEPT}
    other.socket.sendall(other.prepare("session/compact", params))
    if summarizer == "client":
        while b'"summarizer/summarize"' not in bytes(other.receive()[:200]):
            pass
        return _appended(client, session_id, appends, None)
    return _appended(client, session_id, appends, other)


def _appended(client: Peer, session_id: str, appends: int, until: Peer | None) -> list[float]:
    """Milliseconds of each, as long as `until` has no answer."""
    times: list[float] = []
    for number in range(appends):
        message = client.prepare("session/append", append_params(session_id, number))
        began = time.perf_counter()
        client.exchange(message)
        times.append((time.perf_counter() - began) * 1e3)
        if until is not None and select.select([until.socket], [], [], 0)[0] and not is_notification(until.receive()):
            break
    return times
