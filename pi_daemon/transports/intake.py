"""What came over one connection and isn't delivered yet, and whether more is read."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Generic, Protocol, TypeVar

TURN_SECONDS = 0.002
"""How long one client's messages may keep the event loop at a time. Requests that needn't wait are served as they are
delivered, and thousands of them fit into one read."""

Item = TypeVar("Item")


class Reading(Protocol):
    """The reading side of a transport. Both calls may be repeated."""

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


class Intake(Generic[Item]):
    """Delivers in order, for a short while at a time, and reads only while nothing waits and nobody holds it."""

    def __init__(self, deliver: Callable[[Item], None]) -> None:
        self._deliver = deliver
        self._loop = asyncio.get_running_loop()
        self._reading: Reading | None = None
        self._queue: deque[Item] = deque()
        self._holds: set[str] = set()
        self._scheduled = False
        self._paused = False

    def attach(self, reading: Reading) -> None:
        self._reading = reading
        self._regulate()

    def take(self, items: Iterable[Item]) -> None:
        """Deliver these after what waits already."""
        self._queue.extend(items)
        if not self._scheduled:
            self._run()

    def hold(self, why: str) -> None:
        """Deliver and read nothing until `release` of the same."""
        self._holds.add(why)
        self._regulate()

    def release(self, why: str) -> None:
        self._holds.discard(why)
        self._schedule()
        self._regulate()

    def discard(self) -> None:
        """Drop what waits; read on, to see the end."""
        self._queue.clear()
        self._holds.clear()
        self._regulate()

    def _run(self) -> None:
        self._scheduled = False
        until = perf_counter() + TURN_SECONDS
        while self._queue and not self._holds:
            self._deliver(self._queue.popleft())
            if perf_counter() > until:
                break
        self._schedule()
        self._regulate()

    def _schedule(self) -> None:
        if self._queue and not self._holds and not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._run)

    def _regulate(self) -> None:
        wanted = bool(self._queue or self._holds)
        if wanted != self._paused and self._reading is not None:
            self._paused = wanted
            if wanted:
                self._reading.pause_reading()
            else:
                self._reading.resume_reading()
