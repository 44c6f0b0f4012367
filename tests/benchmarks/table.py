"""The rows of the result, and how they are shown. In every row less is better."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec


class Row(msgspec.Struct, kw_only=True):
    """One figure. `ours` and `theirs` are medians in `unit`; `against` says whose `theirs` is.

    `limit` bounds `limited`: the ratio ours / theirs, our growth from the small to the large session, or our value
    itself. A row without a limit is there to be known. `failed` says why there is no figure.
    """

    what: str
    on: str
    unit: str
    ours: float | None = None
    theirs: float | None = None
    against: str = ""
    growth: float | None = None
    limited: Literal["ratio", "growth", "value"] = "ratio"
    limit: float | None = None
    note: str = ""
    failed: str = ""

    @property
    def ratio(self) -> float | None:
        return self.ours / self.theirs if self.ours is not None and self.theirs else None

    @property
    def met(self) -> bool | None:
        """None where there is nothing to meet."""
        if self.limit is None:
            return None
        reached = {"ratio": self.ratio, "growth": self.growth, "value": self.ours}[self.limited]
        return reached is not None and reached <= self.limit

    def cells(self) -> list[str]:
        target = ""
        if self.limit is not None:
            subject = {"ratio": "", "growth": "growth ", "value": ""}[self.limited]
            unit = f" {self.unit}" if self.limited == "value" else ""
            target = f"{subject}≤ {_short(self.limit)}{unit}"
        verdict = {None: "", True: "met", False: "MISSED"}[self.met]
        return [
            self.what,
            self.on,
            _with_unit(self.ours, self.unit) if not self.failed else f"failed: {self.failed[:60]}",
            " ".join(part for part in (_with_unit(self.theirs, self.unit), self.against) if part),
            _short(self.ratio),
            _short(self.growth),
            target,
            verdict,
            self.note,
        ]


HEADINGS = ("what", "on", "pi-daemon", "against", "ratio", "growth", "target", "", "note")


def _short(number: float | None) -> str:
    if number is None:
        return ""
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def _with_unit(number: float | None, unit: str) -> str:
    return "" if number is None else f"{_short(number)} {unit}".rstrip()


def markdown(rows: Sequence[Row]) -> str:
    cells = [list(HEADINGS), *(row.cells() for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEADINGS))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in cells
    ]
    lines.insert(1, "| " + " | ".join("-" * max(3, width) for width in widths) + " |")
    return "\n".join(lines)


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


class Machine(msgspec.Struct, kw_only=True):
    """Where the figures come from. `fdatasync_ms` is the median for 1 KB appended in the cache directory, `load` the
    processes that were busy on average before the run: above 0.3 or so the figures say little."""

    cpu: str
    cores: int
    memory_gb: float
    kernel: str
    python: str
    node: str
    fdatasync_ms: float
    load: float

    def line(self) -> str:
        return (
            f"{self.cpu}, {self.cores} cores, {self.memory_gb:.0f} GB, {self.kernel}, Python {self.python}, "
            f"Node {self.node}, fdatasync {self.fdatasync_ms:.2f} ms, load {self.load:.1f}"
        )


def machine(directory: Path, node: str) -> Machine:
    models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return Machine(
        cpu=models[0].partition(":")[2].strip() if models else platform.machine(),
        cores=os.cpu_count() or 0,
        memory_gb=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9,
        kernel=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        node=node,
        fdatasync_ms=_fdatasync(directory / "fdatasync-probe") * 1e3,
        load=os.getloadavg()[0],
    )


def _fdatasync(probe: Path) -> float:
    descriptor = os.open(probe, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    try:
        times: list[float] = []
        for _ in range(100):
            os.write(descriptor, bytes(1024))
            began = time.perf_counter()
            os.fdatasync(descriptor)
            times.append(time.perf_counter() - began)
        return median(times)
    finally:
        os.close(descriptor)
        probe.unlink()
