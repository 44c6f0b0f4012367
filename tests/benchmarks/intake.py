"""One large message in: the daemon against a bare loop that only decodes it."""

from __future__ import annotations

from typing import Any

from tests.benchmarks.appending import open_session, timed
from tests.benchmarks.run import Run
from tests.benchmarks.table import Row, median

RATIO = 2.0


def nested(size: int) -> dict[str, Any]:
    """A custom entry of `size` bytes in small objects, which is what hurts a generic converter."""
    rows = [
        {"path": f"src/module_{n}.py", "line": n, "hit": {"column": n % 80, "text": 'return "x"'}, "ok": n % 2 == 0}
        for n in range(size // 88)
    ]
    return {"type": "custom", "customType": "search", "data": {"rows": rows}}


def text(size: int) -> dict[str, Any]:
    """A tool result of `size` bytes in one string, full of what JSON has to escape."""
    line = '    11 | const found = entries.find((entry) => entry.id === "grün");\n'
    body = {
        "role": "toolResult",
        "toolCallId": "toolu_large",
        "toolName": "bash",
        "content": [{"type": "text", "text": (line * (size // len(line)))[:size]}],
        "isError": False,
        "timestamp": 1767600000000,
    }
    return {"type": "message", "message": body}


def run(run: Run) -> list[Row]:
    file = run.small_session()
    kinds = {"nested objects": nested, "one string": text}
    rows: list[Row] = []
    with run.workshop.floor() as floor, run.workshop.daemon(run.workshop.sessions(file)) as daemon:
        bare, client = floor.connect(), daemon.client()
        open_session(client, file.stem, "written")
        for kind, make in kinds.items():
            params = {"sessionId": file.stem, "entries": [make(run.size.message_bytes)]}
            ours: list[float] = []
            theirs: list[float] = []
            for round_number in range(run.size.rounds + 1):  # the first warms up
                measured = (
                    timed(bare, [bare.prepare("sink", params)]),
                    timed(client, [client.prepare("session/append", params)]),
                )
                if round_number:
                    theirs += measured[0]
                    ours += measured[1]
            rows.append(
                Row(
                    what="a large message in",
                    on=f"{len(client.prepare('', params)) / 1e6:.2g} MB, {kind}, session/append written",
                    unit="ms",
                    ours=median(ours),
                    theirs=median(theirs),
                    against="bare loop",
                    limit=RATIO,
                )
            )
    return rows
