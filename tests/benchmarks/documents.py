"""A session file as a document: its outline, and hovers while another client appends as fast as it can."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import orjson

from tests.benchmarks.appending import append_params, open_session
from tests.benchmarks.run import Run
from tests.benchmarks.table import Row, median, percentile
from tests.benchmarks.wire import Peer, framed, is_notification

OUTLINE_MS = 150.0
HOVER_MS = 10.0
AHEAD = 32
"""Appends that are on their way before each hover, and as many as a daemon takes at a time from one client."""


EDITOR = {"textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}}}


def about(file: Path, **more: Any) -> dict[str, Any]:
    return {"textDocument": {"uri": file.as_uri()}, **more}


def outline(run: Run) -> list[Row]:
    """The first one after the session was opened, and one after each append."""
    rows: list[Row] = []
    for count, source in ((run.size.deep, run.straight_session()), (run.size.large, run.large_session())):
        first: list[float] = []
        again: list[float] = []
        size = 0
        for _ in range(run.size.rounds):
            sessions = run.workshop.sessions(source)
            file = next(sessions.iterdir())
            with run.workshop.daemon(sessions) as daemon:
                client = daemon.connect()
                client.call("initialize", {"processId": None, "capabilities": EDITOR})
                open_session(client, source.stem, "written")
                client.call("session/unsubscribe", {"sessionId": source.stem})
                took, size = _ask(client, "textDocument/documentSymbol", about(file))
                first.append(took)
                client.call("session/append", append_params(source.stem, 0))
                again.append(_ask(client, "textDocument/documentSymbol", about(file))[0])
        limit = OUTLINE_MS if count == run.size.deep else None
        on = run.size_name(count, source)
        note = f"{size / 1e6:.3g} MB answered; after an append {median(again):.3g} ms"
        rows.append(
            Row(
                what="outline of a document",
                on=on,
                unit="ms",
                ours=median(first),
                limited="value",
                limit=limit,
                note=note,
            )
        )
    return rows


def _ask(client: Peer, method: str, params: Any) -> tuple[float, int]:
    message = client.prepare(method, params)
    began = time.perf_counter()
    body = client.exchange(message)
    return (time.perf_counter() - began) * 1e3, len(body)


def hover(run: Run) -> list[Row]:
    source = run.straight_session()
    sessions = run.workshop.sessions(source)
    file = next(sessions.iterdir())
    times: list[list[float]] = []
    with run.workshop.daemon(sessions) as daemon:
        reader, writer = daemon.client(), daemon.client()
        open_session(writer, source.stem, "written")
        opened = about(file)["textDocument"] | {"languageId": "jsonl", "version": 1, "text": ""}
        reader.socket.sendall(notification("textDocument/didOpen", {"textDocument": opened}))
        number = 0
        for round_number in range(run.size.rounds + 1):  # the first warms up
            measured: list[float] = []
            for place in range(run.size.appends // 3):
                burst = [writer.prepare("session/append", append_params(source.stem, number + n)) for n in range(AHEAD)]
                number += AHEAD
                where = {"line": 1 + place * 7 % run.size.deep, "character": 30}
                message = reader.prepare("textDocument/hover", about(file, position=where))
                writer.socket.sendall(b"".join(burst))
                began = time.perf_counter()
                reader.exchange(message)
                measured.append((time.perf_counter() - began) * 1e3)
                answers = 0
                while answers < AHEAD:
                    answers += not is_notification(writer.receive())
            if round_number:
                times.append(measured)

    def at(share: float) -> float:
        return median([percentile(measured, share) for measured in times])

    return [
        Row(
            what="hover, p95",
            on=f"{run.size.deep:,} entries, {AHEAD} appends of another client on their way",
            unit="ms",
            ours=at(0.95),
            limited="value",
            limit=HOVER_MS,
            note=f"p50 {at(0.5):.3g} ms",
        )
    ]


def notification(method: str, params: Any) -> bytes:
    """One framed notification."""
    return framed(orjson.dumps({"jsonrpc": "2.0", "method": method, "params": params}))
