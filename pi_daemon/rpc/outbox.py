"""What waits to be sent on one connection, bounded.

Answers are never dropped. Notifications are: beyond the bound a session's notifications are left out until the
client has read everything, and then one `session/resync` says so. A change's notifications wait for the answer of
the request that caused it, and later changes of that session wait behind them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from pi_daemon.rpc.limits import Limits

_BATCH_BYTES = 64 * 1024
"""How much is handed over in one piece once a slow client reads again: about a socket's buffer."""


class Sink(Protocol):
    """Where messages go. `backlog`: bytes taken but not yet with the kernel; above 0 the outbox keeps the rest."""

    @property
    def backlog(self) -> int: ...

    def send(self, *messages: bytes) -> None: ...


class Cause(Protocol):
    """A request that may still have to be answered. `holds`: the sessions whose notifications wait for that."""

    answered: bool
    holds: list[str]


class Outbox:
    """The order and the bounds of what one client is sent.

    `resync(session_id)` gives the notification that replaces what was left out, None where the client has no
    use for it any more. `resyncs` counts those sent.
    """

    def __init__(self, sink: Sink, limits: Limits, resync: Callable[[str], bytes | None]) -> None:
        self._sink = sink
        self._limits = limits
        self._resync = resync
        self._queue: deque[tuple[bytes, bool]] = deque()
        self._held: dict[str, deque[tuple[Cause | None, Sequence[bytes]]]] = {}
        self._lagging: dict[str, Cause | None] = {}
        self._droppable = 0
        self._droppable_bytes = 0
        self._answer_bytes = 0
        self.resyncs = 0

    @property
    def queued(self) -> int:
        """Messages that the channel hasn't taken."""
        return len(self._queue)

    @property
    def queued_bytes(self) -> int:
        return self._droppable_bytes + self._answer_bytes + self._sink.backlog

    @property
    def answer_backlog(self) -> int:
        """Bytes that the client must read before more of its requests are read."""
        return self._answer_bytes + self._sink.backlog

    def send(self, message: bytes, cause: Cause | None = None) -> None:
        """Send what is never dropped: the answer to `cause` and then what waited for it, or a request of ours."""
        released: list[bytes] = []
        if cause is not None:
            cause.answered = True
            for session_id in cause.holds:
                self._release(session_id, released)
        if self._waiting():
            self._queue.append((message, False))
            self._answer_bytes += len(message)
            self._keep(released)
        else:
            self._count(released, -1)
            self._sink.send(message, *released)
        if self._lagging:
            self.drained()

    def notify(self, session_id: str | None, messages: Sequence[bytes], cause: Cause | None = None) -> None:
        """Send the notifications of one change, hold them back, or leave them out.

        `cause` is a request of this connection; without a session they are dropped with nothing in their place.
        """
        if cause is not None and cause.answered:
            cause = None
        if session_id in self._lagging:
            if cause is not None:
                self._lagging[session_id] = cause
            return
        if self._full(messages):
            if session_id is not None:
                self._lagging[session_id] = cause
                self._forget(session_id)
            return
        if session_id is not None and (cause is not None or session_id in self._held):
            self._held.setdefault(session_id, deque()).append((cause, messages))
            self._count(messages, 1)
            if cause is not None:
                cause.holds.append(session_id)
        elif self._waiting():
            self._count(messages, 1)
            self._keep(messages)
        else:
            self._sink.send(*messages)

    def drained(self) -> None:
        """The channel has room: hand over what waits, then say what was left out."""
        while self._queue and not self._sink.backlog:
            self._sink.send(*self._next_batch())
        for session_id, cause in list(self._lagging.items()):
            if self._waiting():
                break
            if cause is None or cause.answered:
                del self._lagging[session_id]
                if message := self._resync(session_id):
                    self.resyncs += 1
                    self._sink.send(message)

    def flush(self) -> None:
        """Hand everything over, room or not: the connection closes."""
        while self._queue:
            self._sink.send(*self._next_batch())

    def _waiting(self) -> bool:
        """Whether what is sent now has to queue."""
        return bool(self._queue) or self._sink.backlog > 0

    def _full(self, messages: Sequence[bytes]) -> bool:
        if not self._droppable and not self._sink.backlog:
            return False
        return (
            self._droppable + len(messages) > self._limits.outbox_messages
            or self._droppable_bytes + sum(map(len, messages)) > self._limits.outbox_bytes
        )

    def _count(self, messages: Sequence[bytes], sign: int) -> None:
        self._droppable += sign * len(messages)
        self._droppable_bytes += sign * sum(map(len, messages))

    def _keep(self, messages: Sequence[bytes]) -> None:
        self._queue.extend((message, True) for message in messages)

    def _next_batch(self) -> list[bytes]:
        batch: list[bytes] = []
        size = 0
        while self._queue and size < _BATCH_BYTES:
            message, droppable = self._queue.popleft()
            if droppable:
                self._count((message,), -1)
            else:
                self._answer_bytes -= len(message)
            batch.append(message)
            size += len(message)
        return batch

    def _release(self, session_id: str, released: list[bytes]) -> None:
        """Take what is held for a session up to the next change whose cause is unanswered."""
        held = self._held.get(session_id)
        while held and (held[0][0] is None or held[0][0].answered):
            released.extend(held.popleft()[1])
        if held is not None and not held:
            del self._held[session_id]

    def _forget(self, session_id: str) -> None:
        for _, messages in self._held.pop(session_id, ()):
            self._count(messages, -1)
