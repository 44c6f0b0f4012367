"""The Python client of pi-daemon: sessions as trees of entries, and their events over lost connections.

    async with await AsyncClient.connect_unix() as client:
        state = await client.create_session("/home/me/project")
        async with await client.watch(state["sessionId"]) as events:
            await client.append(state["sessionId"], [{"type": "message", "message": {...}}], retry=True)
            print(await anext(events))

`Client` is the same without asyncio.
"""

from . import types
from ._client import AsyncClient
from ._events import (
    AppendedEvent,
    CompactedEvent,
    CompactionEvent,
    DamagedEvent,
    DeletedEvent,
    Event,
    FailedEvent,
    LabelChangedEvent,
    LeafChangedEvent,
    RenamedEvent,
    ReplacedEvent,
    ResyncEvent,
)
from ._json import dumps, loads
from ._methods import ABSENT, Absent, Draft
from ._role import Summarizer
from ._settings import Backoff
from ._sync import Client, SyncWatch
from ._watch import Watch
from .errors import ClientClosed, ClientError, ConnectionLost, NotConnected, ServerError, Unreachable

__all__ = [
    "ABSENT",
    "Absent",
    "AppendedEvent",
    "AsyncClient",
    "Backoff",
    "Client",
    "ClientClosed",
    "ClientError",
    "CompactedEvent",
    "CompactionEvent",
    "ConnectionLost",
    "DamagedEvent",
    "DeletedEvent",
    "Draft",
    "Event",
    "FailedEvent",
    "LabelChangedEvent",
    "LeafChangedEvent",
    "NotConnected",
    "RenamedEvent",
    "ReplacedEvent",
    "ResyncEvent",
    "ServerError",
    "Summarizer",
    "SyncWatch",
    "Unreachable",
    "Watch",
    "dumps",
    "loads",
    "types",
]
