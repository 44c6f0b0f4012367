"""Appends: how long one takes, and how many share one fdatasync."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from typing import Any

from tests.benchmarks.processes import Daemon, one_core
from tests.benchmarks.run import Run
from tests.benchmarks.table import Row, median, percentile
from tests.benchmarks.wire import Crowd, Peer, is_notification

LATENCY_RATIO = 4.0
GROWTH = 1.25
APPENDS_A_SYNC = 8
ONE_SESSION_RATIO = 0.5
MANY_SESSIONS_RATIO = 1 / 1.5
MESSAGE_CHARACTERS = 930
"""Makes the request's body about 1 KB."""


def draft(number: int, characters: int = MESSAGE_CHARACTERS) -> dict[str, Any]:
    text = (f"{number}: the test fails on the second run,\nbecause the cache isn't cleared. " * 40)[:characters]
    message = {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1767600000000 + number}
    return {"type": "message", "message": message}


def append_params(session_id: str, number: int) -> dict[str, Any]:
    return {"sessionId": session_id, "entries": [draft(number)]}


def open_session(peer: Peer, session_id: str, durability: str) -> None:
    peer.call("session/open", {"sessionId": session_id, "options": {"durability": durability}})


def timed(peer: Peer, messages: Sequence[bytes]) -> list[float]:
    """Milliseconds from each request to its whole answer, one after the other."""
    times: list[float] = []
    clock = time.perf_counter
    for message in messages:
        began = clock()
        peer.exchange(message)
        times.append((clock() - began) * 1e3)
    return times


def latency(run: Run) -> list[Row]:
    """One client, subscribed to the session it appends to, as an agent is. All on one core: see `one_core`."""
    small, large = run.small_session(), run.large_session()
    times: dict[str, list[list[float]]] = {"echo": [], small.stem: [], large.stem: []}
    sessions = run.workshop.sessions(small, large)
    with one_core(), run.workshop.floor() as floor, run.workshop.daemon(sessions) as daemon:
        echo = floor.connect()
        clients = {small.stem: daemon.client(), large.stem: daemon.client()}
        for session_id, client in clients.items():
            open_session(client, session_id, "written")
        number = 0
        for round_number in range(run.size.rounds + 1):  # the first warms up
            for name, results in times.items():
                peer = clients.get(name, echo)
                method = "session/append" if name in clients else "echo"
                messages = [
                    peer.prepare(method, append_params(name, number := number + 1)) for _ in range(run.size.appends)
                ]
                measured = timed(peer, messages)
                if round_number:
                    results.append(measured)

    def at(name: str, share: float) -> float:
        return median([percentile(measured, share) for measured in times[name]])

    rows = [
        Row(
            what="session/append, p50",
            on=f"1 KB message, written, {entries:,} entries",
            unit="ms",
            ours=at(file.stem, 0.5),
            theirs=at("echo", 0.5),
            against="bare echo",
            limit=LATENCY_RATIO,
            note=f"p99 {at(file.stem, 0.99):.3g} ms, echo's {at('echo', 0.99):.3g} ms",
        )
        for file, entries in ((small, run.size.small), (large, run.size.large))
    ]
    growth = at(large.stem, 0.5) / at(small.stem, 0.5)
    on = f"{run.size.small:,} and {run.size.large:,} entries"
    rows.append(Row(what="session/append, both sizes", on=on, unit="", growth=growth, limited="growth", limit=GROWTH))
    return rows


def synced(run: Run) -> list[Row]:
    """Milliseconds an append, and fdatasyncs an append, for one client and for many that each wait for their answer."""
    waiters = run.size.waiters
    template = run.small_session()
    sessions = run.workshop.folder()
    names = [f"synced-{number:02d}" for number in range(waiters)]
    lines = template.read_bytes()
    for name in names:
        shutil.copyfile(template, sessions / f"2026-01-05T08-00-00-000Z_{name}.jsonl")
        with open(sessions / f"2026-01-05T08-00-00-000Z_{name}.jsonl", "wb") as file:
            file.write(lines.replace(template.stem.encode(), name.encode(), 1))
    alone: list[tuple[float, float]] = []
    together: list[tuple[float, float]] = []
    apart: list[tuple[float, float]] = []
    with run.workshop.daemon(sessions, counted=True) as daemon:
        clients = [daemon.client() for _ in range(waiters)]
        for client, name in zip(clients, names, strict=True):
            open_session(client, name, "synced")
            client.call("session/unsubscribe", {"sessionId": name})
        for round_number in range(run.size.rounds + 1):
            measured = (
                crowd_appends(daemon, clients[:1], names[:1], run.size.appends),
                crowd_appends(daemon, clients, names[:1] * waiters, run.size.appends * 4),
                crowd_appends(daemon, clients, names, run.size.appends * 4),
            )
            if round_number:
                for results, result in zip((alone, together, apart), measured, strict=True):
                    results.append(result)

    def each(results: list[tuple[float, float]], place: int) -> float:
        return median([result[place] for result in results])

    return [
        Row(
            what="fdatasyncs an append",
            on=f"synced, {waiters} waiters on one session",
            unit="",
            ours=each(together, 1),
            theirs=each(alone, 1),
            against="one client",
            limited="value",
            limit=1 / APPENDS_A_SYNC,
        ),
        Row(
            what="time an append",
            on=f"synced, {waiters} waiters on one session",
            unit="ms",
            ours=each(together, 0),
            theirs=each(alone, 0),
            against="one client that waits",
            limit=ONE_SESSION_RATIO,
        ),
        Row(
            what="time an append",
            on=f"synced, {waiters} sessions, a waiter each",
            unit="ms",
            ours=each(apart, 0),
            theirs=each(alone, 0),
            against="one client that waits",
            limit=MANY_SESSIONS_RATIO,
            note=f"{each(apart, 1):.2g} fdatasyncs an append",
        ),
    ]


def crowd_appends(daemon: Daemon, clients: Sequence[Peer], names: Sequence[str], total: int) -> tuple[float, float]:
    """Milliseconds an append and fdatasyncs an append. Each client sends its next when it has its answer."""
    assert daemon.counts is not None
    session_of = dict(zip(clients, names, strict=True))
    waiting = [
        (client, client.prepare("session/append", append_params(session_of[client], number)))
        for number in range(total // len(clients))
        for client in clients
    ]
    queues: dict[Peer, list[bytes]] = {client: [] for client in clients}
    for client, message in waiting:
        queues[client].append(message)
    left = len(waiting)

    def answered(peer: Peer, body: bytes, _: float) -> bool:
        nonlocal left
        if is_notification(body):
            return True
        if b'"error"' in body[:64]:
            raise RuntimeError(body[:500].decode())
        left -= 1
        if queues[peer]:
            peer.socket.sendall(queues[peer].pop())
        return left > 0

    crowd = Crowd(clients)
    syncs = daemon.counts.fdatasync
    began = time.perf_counter()
    for client in clients:
        client.socket.sendall(queues[client].pop())
    crowd.run(answered)
    seconds = time.perf_counter() - began
    crowd.close()
    return seconds * 1e3 / len(waiting), (daemon.counts.fdatasync - syncs) / len(waiting)
