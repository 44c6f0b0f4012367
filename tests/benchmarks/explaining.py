"""Every entry explained, against what the same session's context and tree take."""

from __future__ import annotations

import time
from typing import Any

from tests.benchmarks.appending import draft
from tests.benchmarks.reading import pages
from tests.benchmarks.run import Run
from tests.benchmarks.table import Row, median

AGAINST = 2.0

FITTING = 0.35
"""Of the large session's bytes, so that the context at the leaf, most of them, fits one reply."""


def explain(run: Run) -> list[Row]:
    """All pages of each, in turns; the context is asked for after an append, so it is none that was kept."""
    file = run.fixtures.session(run.size.large, int(run.size.large_bytes * FITTING), branches=True)
    session = {"sessionId": file.stem}
    append = {**session, "entries": [draft(0, 100)]}
    asked: dict[str, tuple[str, dict[str, Any]]] = {
        "context": ("session/context", {}),
        "tree": ("session/tree", {"filter": "all"}),
        "reasons": ("session/explain", {}),
        "previews": ("session/explain", {"previews": True}),
        "query": ("session/explain", {"query": "nowhere to be found"}),
        "entry": ("session/explain", {"entryId": f"{2654435761 % 2**32:08x}"}),
    }
    times: dict[str, list[float]] = {name: [] for name in asked}
    size: dict[str, int] = {}
    sessions = run.workshop.sessions(file)
    with run.workshop.daemon(sessions) as daemon:
        client = daemon.client()
        client.call("session/open", {"path": str(next(sessions.iterdir()))})
        for _ in range(run.size.rounds + 1):  # the first warms up
            client.request("session/append", append)
            for name, (method, params) in asked.items():
                began = time.perf_counter()
                size[name] = pages(client, method, {**session, **params}, "nextCursor", "cursor")
                times[name].append((time.perf_counter() - began) * 1e3)
    took = {name: median(rounds[1:]) for name, rounds in times.items()}
    on = run.size_name(run.size.large, file)
    rows = [
        Row(
            what="session/explain",
            on=on + words,
            unit="ms",
            ours=took[name],
            theirs=took["context"] + took["tree"],
            against="session/context + session/tree",
            limit=AGAINST,
            note=f"{size[name] / 1e6:.3g} MB answered",
        )
        for name, words in (("reasons", ""), ("previews", ", with previews"))
    ]
    for name, words in (("query", "a text that no entry has"), ("entry", "one entry")):
        rows.append(Row(what="session/explain", on=f"{on}, {words}", unit="ms", ours=took[name]))
    return rows
