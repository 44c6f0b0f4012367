"""Sessions that are loaded and that nobody uses: they may be wanted again, and go when that takes too long."""

from __future__ import annotations

from collections import OrderedDict

from msgspec import Struct

from pi_daemon.engine.live import LiveSession

IDLE_SESSIONS = 32
"""Loaded but unused sessions that are kept: enough for a panel that flips through a project, at some tens of MB
for ordinary sessions."""

IDLE_MS = 5 * 60 * 1000
"""How long an unused session stays loaded at most."""


class _Rest(Struct, frozen=True):
    session: LiveSession
    since: int


class Resting:
    """By location, the one that has rested longest first. Times are in ms."""

    def __init__(self) -> None:
        self._rests: OrderedDict[str, _Rest] = OrderedDict()

    def add(self, session: LiveSession, now: int) -> None:
        location = session.log.ref.location
        self._rests[location] = _Rest(session, now)
        self._rests.move_to_end(location)

    def remove(self, location: str) -> None:
        self._rests.pop(location, None)

    @property
    def longest(self) -> LiveSession | None:
        """The one to let go first; None where none rests."""
        return next((rest.session for rest in self._rests.values()), None)

    @property
    def too_many(self) -> bool:
        return len(self._rests) > IDLE_SESSIONS

    def overdue(self, now: int) -> list[LiveSession]:
        """Those that rest for long, or since a time that has yet to come, the clock having been set back."""
        return [rest.session for rest in self._rests.values() if not now - IDLE_MS <= rest.since <= now]
