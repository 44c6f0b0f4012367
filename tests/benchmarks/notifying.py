"""How long it takes until the last of many subscribers has heard of an append."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import orjson

from tests.benchmarks.appending import append_params, open_session
from tests.benchmarks.run import Run
from tests.benchmarks.table import Row, median, percentile
from tests.benchmarks.wire import Crowd, Peer, is_notification

RATIO = 2.0
APPENDS_SHARE = 3
"""A third of the appends of other benchmarks: each is seen by every subscriber."""


def run(run: Run) -> list[Row]:
    """The bare loop sends the same notifications (recorded from the daemon) in answer to the same request."""
    file = run.small_session()
    count = run.size.subscribers
    appends = max(4, run.size.appends // APPENDS_SHARE)
    ours: list[list[float]] = []
    theirs: list[list[float]] = []
    with run.workshop.floor() as floor, run.workshop.daemon(run.workshop.sessions(file)) as daemon:
        writer = daemon.client()
        open_session(writer, file.stem, "written")
        subscribers = [daemon.client() for _ in range(count)]
        for subscriber in subscribers:
            subscriber.call("session/subscribe", {"sessionId": file.stem})
        bare_writer = floor.connect()
        joined = [floor.connect() for _ in range(count)]
        for peer in joined:
            peer.request("join", None)
        template = record(writer, subscribers, file.stem)
        bare_crowd, crowd = Crowd([bare_writer, *joined]), Crowd([writer, *subscribers])

        def fan(_: int) -> tuple[str, object]:
            return "fan", template

        def append(number: int) -> tuple[str, object]:
            return "session/append", append_params(file.stem, number)

        for round_number in range(run.size.rounds + 1):  # the first warms up
            numbers = range(round_number * appends, (round_number + 1) * appends)
            results = (
                fan_out(bare_crowd, bare_writer, joined, fan, numbers, len(template)),
                fan_out(crowd, writer, subscribers, append, numbers, len(template)),
            )
            if round_number:
                theirs.append(results[0])
                ours.append(results[1])

    def at(results: list[list[float]], share: float) -> float:
        return median([percentile(times, share) for times in results])

    return [
        Row(
            what="notification after an append, p99",
            on=f"{count} subscribers, {len(template)} notifications each",
            unit="ms",
            ours=at(ours, 0.99),
            theirs=at(theirs, 0.99),
            against="bare fan-out",
            limit=RATIO,
            note=f"p50 {at(ours, 0.5):.3g} ms, bare {at(theirs, 0.5):.3g} ms",
        )
    ]


def record(writer: Peer, subscribers: Sequence[Peer], session_id: str) -> list[object]:
    """The notifications of one append, as one subscriber gets them; all are read by everybody."""
    writer.request("session/append", append_params(session_id, 0))
    first = [subscribers[0].receive()]
    if b"session/appended" not in first[0] or b"session/leafChanged" not in first[0]:
        first.append(subscribers[0].receive())
    for subscriber in subscribers[1:]:
        for _ in first:
            subscriber.receive()
    return [orjson.loads(body) for body in first]


def fan_out(
    crowd: Crowd,
    writer: Peer,
    listeners: Sequence[Peer],
    request: Callable[[int], tuple[str, object]],
    numbers: range,
    expected: int,
) -> list[float]:
    """Milliseconds from each request until a listener has all `expected` notifications, for each listener. The next
    request is sent when all have."""
    times: list[float] = []
    missing = dict.fromkeys(listeners, 0)
    waiting = 0
    began = 0.0
    answered = False

    def heard(peer: Peer, body: bytes, now: float) -> bool:
        nonlocal waiting, answered
        if peer is writer:
            if not is_notification(body):
                answered = True
                if b'"error"' in body[:64]:
                    raise RuntimeError(body[:500].decode())
        else:
            missing[peer] -= 1
            if missing[peer] == 0:
                waiting -= 1
                times.append((now - began) * 1e3)
        return waiting > 0 or not answered

    for number in numbers:
        message = writer.prepare(*request(number))
        missing = dict.fromkeys(listeners, expected)
        waiting, answered = len(listeners), False
        began = time.perf_counter()
        writer.socket.sendall(message)
        crowd.run(heard)
    return times
