"""What a watch yields: one class for each notification of a session, and ResyncEvent.

A reader tells them apart by class:

    match event:
        case AppendedEvent(params=params):
            print([node["preview"] for node in params["entries"]])
        case ResyncEvent():
            ...  # read the session anew
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from . import _types as t


@dataclass(frozen=True, slots=True)
class Event:
    """A notification about a session. Of this very class only where this client knows no class for it.

    `revision` counts the changes of one `instance_id`; the notifications of one change share it."""

    method: str
    params: Any

    @property
    def session_id(self) -> str:
        return str(self.params["sessionId"])

    @property
    def instance_id(self) -> str:
        return str(self.params["instanceId"])

    @property
    def revision(self) -> int:
        return int(self.params["revision"])

    @property
    def origin(self) -> t.Origin | None:
        """Who caused the change; None where it came from outside the daemon."""
        origin: t.Origin | None = self.params.get("origin")
        return origin


@dataclass(frozen=True, slots=True)
class AppendedEvent(Event):
    params: t.Appended


@dataclass(frozen=True, slots=True)
class LeafChangedEvent(Event):
    params: t.LeafChanged


@dataclass(frozen=True, slots=True)
class CompactedEvent(Event):
    params: t.Compacted


@dataclass(frozen=True, slots=True)
class CompactionEvent(Event):
    """A compaction that the daemon makes has begun or ended."""

    params: t.Compaction


@dataclass(frozen=True, slots=True)
class LabelChangedEvent(Event):
    params: t.LabelChanged


@dataclass(frozen=True, slots=True)
class RenamedEvent(Event):
    params: t.Renamed


@dataclass(frozen=True, slots=True)
class ReplacedEvent(Event):
    """A ResyncEvent follows."""

    params: t.Replaced


@dataclass(frozen=True, slots=True)
class DamagedEvent(Event):
    params: t.Damaged


@dataclass(frozen=True, slots=True)
class FailedEvent(Event):
    params: t.Failed


@dataclass(frozen=True, slots=True)
class DeletedEvent(Event):
    """The last event of a watch."""

    params: t.Deleted


@dataclass(frozen=True, slots=True)
class ResyncEvent:
    """Changes lie between the last event and the next one that can't be told singly: read the session anew,
    for example with `entries(session_id, since=<the last entry you know>)`. Events after this one have a
    revision above `revision`.

    `cause` is "fresh" where the daemon no longer has what lies between (it was restarted, the file was
    replaced, or too much happened), "behind" where this watch was not read for too long."""

    session_id: str
    instance_id: str
    revision: int
    leaf_id: str | None
    cause: Literal["fresh", "behind"]


EVENTS: dict[str, type[Event]] = {
    "session/appended": AppendedEvent,
    "session/leafChanged": LeafChangedEvent,
    "session/compacted": CompactedEvent,
    "session/compaction": CompactionEvent,
    "session/labelChanged": LabelChangedEvent,
    "session/renamed": RenamedEvent,
    "session/replaced": ReplacedEvent,
    "session/damaged": DamagedEvent,
    "session/failed": FailedEvent,
    "session/deleted": DeletedEvent,
}

CHANGES = (AppendedEvent, LeafChangedEvent, CompactedEvent, CompactionEvent, LabelChangedEvent, RenamedEvent)
"""These tell a change that made their revision; the others tell a state and may repeat one."""


def event_of(method: str, params: Any) -> Event:
    return EVENTS.get(method, Event)(method, params)
