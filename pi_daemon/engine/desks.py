"""Where the material of a summary is read: decoding it and drawing a summary from it takes seconds of computing, which
nobody else is to wait for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol, TypeAlias

from pi_daemon.compaction.brief import Brief, Order
from pi_daemon.compaction.briefing import Briefing
from pi_daemon.compaction.material import Use
from pi_daemon.engine.offload import OFFLOAD_BYTES, offload


class Desk(Protocol):
    """On which one material lies. Raises SummarizerFailed where it breaks down."""

    async def give(self, use: Use, lines: Sequence[bytes]) -> bool:
        """Whether more is wanted."""
        ...

    async def brief(self) -> Brief:
        """To be asked for when all is given, or no more is wanted."""
        ...


Desks: TypeAlias = Callable[[Order], AbstractAsyncContextManager[Desk]]
"""A desk as long as it is needed. Left early, it stops what it does."""


class _InThreads:
    """Of the process itself, whose interpreter it shares with everything else."""

    def __init__(self, order: Order) -> None:
        self._briefing = Briefing(order)

    async def give(self, use: Use, lines: Sequence[bytes]) -> bool:
        return await offload(sum(map(len, lines)), lambda: self._briefing.give(use, lines))

    async def brief(self) -> Brief:
        return await offload(OFFLOAD_BYTES, self._briefing.brief)


@asynccontextmanager
async def in_threads(order: Order) -> AsyncIterator[Desk]:
    """Can't be stopped while it computes."""
    yield _InThreads(order)
