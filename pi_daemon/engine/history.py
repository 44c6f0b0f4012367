"""The latest changes of a session, kept so that a client which was away can be told what it missed."""

from __future__ import annotations

from collections import deque

from pi_daemon.engine.events import Change

HISTORY_CHANGES = 1_000
"""About a day of one agent's turns, or ten minutes of a busy one; beyond it a client reads the session anew."""


class History:
    """Changes in revision order, the newest `HISTORY_CHANGES` of them."""

    def __init__(self, revision: int) -> None:
        self._changes: deque[Change] = deque(maxlen=HISTORY_CHANGES)
        self._revision = revision

    def add(self, change: Change) -> None:
        self._changes.append(change)
        self._revision = change.revision

    def since(self, revision: int) -> list[Change] | None:
        """The changes after `revision`, oldest first; None where they aren't all here any more (or yet)."""
        missed = self._revision - revision
        if missed < 0 or missed > len(self._changes):
            return None
        return list(self._changes)[len(self._changes) - missed :]
