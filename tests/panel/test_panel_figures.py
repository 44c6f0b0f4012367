"""The panel's figures, which are printed (`pytest -s`) and not judged: other programs run on the machine too."""

from __future__ import annotations

import os
import statistics
import time
from typing import Any

import pytest

from tests.panel import sessions
from tests.panel.conftest import Shown

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

APPENDS = 50

GROWTH = int(os.environ.get("PI_DAEMON_PANEL_GROWTH", "300"))
"""Entries that come while the page is open. 3,600 is an hour of an agent that says something each second."""


def said(text: str) -> dict[str, Any]:
    return {"type": "message", "message": {"role": "user", "content": text, "timestamp": 1}}


def report(what: str, value: float, unit: str, target: str) -> None:
    print(f"\n{what}: {value:.4g} {unit} (target {target})", end="")


def shown_at(shown: Shown, text: str) -> float:
    """When the row with it was painted, in seconds since 1970."""
    shown.browser("until", code=f"window.seen[{text!r}]")
    found: float = shown.browser("evaluate", code=f"window.seen[{text!r}]")
    return found / 1000


def test_figures(shown: Shown, capsys: pytest.CaptureFixture[str]) -> None:
    long = sessions.long(2_500)
    assert len(long.lines) >= 10_000
    session = shown.open(long)
    first = []
    for _ in range(5):
        shown.browser("reload")
        shown.browser("wait", selector=".row.leaf")
        painted = "Math.min(...Object.values(window.seen).filter(Boolean)) - performance.timeOrigin"
        shown.browser("until", code=f"Number.isFinite({painted})")
        first.append(shown.browser("evaluate", code=painted))
    delays = []
    for number in range(APPENDS):
        shown.client.append(session, [said(f"append {number}")])
        acknowledged = time.time()
        delays.append(1000 * (shown_at(shown, f"append {number}") - acknowledged))
    before = shown.browser("memory")
    for number in range(GROWTH):
        shown.client.append(session, [said(f"growth {number} " + "words " * 100)])
    shown.browser("wait", selector=f".row:has-text('growth {GROWTH - 1} ')")
    after = shown.browser("memory")
    with capsys.disabled():
        report(
            "first paint of rows, 10,000 entries, after the page's navigation", statistics.median(first), "ms", "1000"
        )
        report("an append is painted, after its acknowledgement, median", statistics.median(delays), "ms", "100")
        report("the same, slowest", max(delays), "ms", "100")
        report("the page's heap with 10,000 entries", before["heap"] / 1e6, "MB", "150")
        report(f"the same {GROWTH:,} entries later", after["heap"] / 1e6, "MB", "150")
        report("memory of its process that is its own", after["process"] / 1e6, "MB", "150")
        print()
    shown.harmless()
