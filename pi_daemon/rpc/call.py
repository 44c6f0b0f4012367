"""One request that is being served."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from time import monotonic
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from pi_daemon.eager import start
from pi_daemon.rpc.types.notifications import Progress, ProgressValue
from pi_daemon.session.errors import TooLarge

if TYPE_CHECKING:
    from pi_daemon.rpc.connection import Connection

logger = logging.getLogger(__name__)

SLOW_SECONDS = 1.0
"""A request that takes longer is worth a line in the log."""

PROGRESS_SECONDS = 0.1
"""The shortest time between two reports: more than ten a second nobody can read."""


class Call:
    """A request of `connection`. `id` is raw; `token` its workDoneToken; `holds` the sessions whose notifications
    wait for its answer."""

    __slots__ = (
        "_reported",
        "_stage",
        "answered",
        "began",
        "cancelled",
        "connection",
        "holds",
        "id",
        "method",
        "task",
        "token",
    )

    def __init__(self, connection: Connection, id: bytes, method: str, token: str | int | None = None) -> None:
        self.connection = connection
        self.id = id
        self.method = method
        self.token = token
        self.began = monotonic()
        self.answered = False
        self.cancelled = False
        self.holds: list[str] = []
        self.task: asyncio.Task[None] | None = None
        self._reported = 0.0
        self._stage = ""

    def fits(self, size: int) -> None:
        """Raises TooLarge where so many bytes are too many for an answer. Asked before one is put together, that costs
        nobody anything."""
        limit = self.connection.limits.reply_bytes
        if size > limit:
            raise TooLarge("The answer is too large: ask for less at a time.", limit="replyBytes", bytes=limit)

    def run(self, serving: Coroutine[Any, Any, None]) -> None:
        """Serve it, as far as it goes without waiting at once. Calls begin in the order in which they were made."""
        self.task = start(serving)

    def cancel(self) -> None:
        """At the client's wish. Asked twice it doesn't interrupt what a handler puts right before it ends."""
        if not self.cancelled:
            self.cancelled = True
            self.abandon()

    def abandon(self) -> None:
        """Stop it; nobody waits for the answer."""
        if self.task is not None:
            self.task.cancel()

    def log(self, session_id: str | None, reason: str | None) -> None:
        """One line about the request, if it took long or somebody wants to know of all. `reason`: of its refusal."""
        seconds = monotonic() - self.began
        level = logging.INFO if seconds > SLOW_SECONDS else logging.DEBUG
        if logger.isEnabledFor(level):
            client_id, ms = self.connection.client.client_id, round(seconds * 1e3, 2)
            fields = {"clientId": client_id, "method": self.method, "ms": ms}
            fields |= {"sessionId": session_id} if session_id else {}
            fields |= {"reason": reason} if reason else {}
            logger.log(level, "request", extra={"fields": fields})

    def progress(self, message: str, done: int, total: int) -> None:
        """Tell the client how far this is, about ten times a second; nothing without a token."""
        now = monotonic()
        if now - self._reported >= PROGRESS_SECONDS:
            self._report(message, min(100, 100 * done // total) if total > 0 else 0, now)

    def stage(self, message: str) -> None:
        """Tell the client what is being done, where it can't be said how far that is."""
        if message != self._stage:
            self._stage = message
            self._report(message, UNSET, monotonic())

    def _report(self, message: str, percentage: int | UnsetType, now: float) -> None:
        if self.token is None or self.answered:
            return
        if not self._reported:
            self._tell(ProgressValue(kind="begin", title=self.method, message=message, percentage=percentage))
        else:
            self._tell(ProgressValue(kind="report", message=message, percentage=percentage))
        self._reported = now

    def end_progress(self) -> None:
        """Close what `progress` began, before the answer."""
        if self._reported:
            self._tell(ProgressValue(kind="end"))

    def _tell(self, value: ProgressValue) -> None:
        assert self.token is not None
        self.connection.notify("$/progress", Progress(token=self.token, value=value))
