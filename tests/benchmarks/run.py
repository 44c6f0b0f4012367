"""What every benchmark is given: sizes, session files, a scratch place, pi."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import msgspec

from tests.benchmarks.fixtures import Fixtures
from tests.benchmarks.processes import Pi, Workshop
from tests.benchmarks.table import Row


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured. Counts are entries, sizes bytes; `appends` are requests a round.
    `foreign` are lines of a stranger, `opened` sessions that are opened one after the other."""

    rounds: int
    small: int
    deep: int
    deep_bytes: int
    large: int
    large_bytes: int
    kept: int
    appends: int
    waiters: int
    subscribers: int
    message_bytes: int
    files: int
    files_bytes: int
    catalogue_files: int
    catalogue_bytes: int
    idle_seconds: float
    foreign: int
    opened: int


FULL = Size(
    rounds=7,
    small=1_000,
    deep=10_000,
    deep_bytes=6_600_000,
    large=100_000,
    large_bytes=136_000_000,
    kept=200,
    appends=300,
    waiters=32,
    subscribers=100,
    message_bytes=2_400_000,
    files=3_000,
    files_bytes=1_000_000_000,
    catalogue_files=10_000,
    catalogue_bytes=3_000_000_000,
    idle_seconds=60,
    foreign=200,
    opened=2_000,
)
QUICK = Size(
    rounds=1,
    small=100,
    deep=300,
    deep_bytes=200_000,
    large=1_000,
    large_bytes=1_360_000,
    kept=20,
    appends=16,
    waiters=4,
    subscribers=5,
    message_bytes=100_000,
    files=30,
    files_bytes=1_000_000,
    catalogue_files=60,
    catalogue_bytes=2_000_000,
    idle_seconds=1,
    foreign=5,
    opened=20,
)


class Run(msgspec.Struct, kw_only=True):
    size: Size
    fixtures: Fixtures
    workshop: Workshop
    pi: Pi | None

    @property
    def reference(self) -> str:
        return self.pi.name if self.pi else ""

    def small_session(self) -> Path:
        """As large as the large one, entry for entry."""
        size = self.size
        return self.fixtures.session(size.small, size.large_bytes * size.small // size.large)

    def deep_session(self, *, kept: int | None = None) -> Path:
        return self.fixtures.session(self.size.deep, self.size.deep_bytes, kept=kept)

    def straight_session(self) -> Path:
        """As deep as the deep one, with entries as large as the large one's."""
        size = self.size
        return self.fixtures.session(size.deep, size.large_bytes * size.deep // size.large)

    def large_session(self) -> Path:
        return self.fixtures.session(self.size.large, self.size.large_bytes, branches=True)

    def size_name(self, entries: int, file: Path) -> str:
        return f"{entries:,} entries, {file.stat().st_size / 1e6:.3g} MB"


Benchmark: TypeAlias = Callable[[Run], list[Row]]
