"""When a daemon that nobody uses may leave."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


class Idle:
    """Calls `leave` when nobody has been there for `seconds`, and `may_leave` agrees.

    `look` is told of whoever comes and goes. `may_leave` is asked after the time has passed; where it says no, the
    time begins anew.
    """

    def __init__(
        self,
        seconds: float,
        occupied: Callable[[], object],
        may_leave: Callable[[], Awaitable[bool]],
        leave: Callable[[], None],
    ) -> None:
        self._seconds = seconds
        self._occupied = occupied
        self._may_leave = may_leave
        self._leave = leave
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._asking: asyncio.Task[None] | None = None

    def look(self) -> None:
        """Somebody came or went."""
        if self._occupied():
            self.stop()
        elif self._timer is None and self._asking is None:
            self._timer = self._loop.call_later(self._seconds, self._ask)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ask(self) -> None:
        self._timer = None
        self._asking = self._loop.create_task(self._ask_and_leave())

    async def _ask_and_leave(self) -> None:
        try:
            agreed = await self._may_leave()
        finally:
            self._asking = None
        if agreed and not self._occupied():
            self._leave()
        else:
            self.look()
