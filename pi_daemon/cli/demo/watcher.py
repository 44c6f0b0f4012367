"""The demo's second client: it hears what the first one does, and reads what it missed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from pi_daemon_client import ABSENT, AsyncClient, Event, ResyncEvent, Watch, types

from pi_daemon.cli.exits import Exit, Failure
from pi_daemon.cli.output import plural

PATIENCE = 15.0
"""Seconds within which a notification has to come; it takes a millisecond."""

ID = 8
"""Characters of an id that are shown."""

Heard = Callable[[str, int, str, types.Origin | None], None]
"""Is told of each notification: method, revision, what it says, who caused it."""


class Watcher:
    def __init__(self, client: AsyncClient, heard: Heard) -> None:
        self._client = client
        self._heard = heard
        self._known: str | None = None
        self._moved = asyncio.Condition()
        self._reader: asyncio.Task[None] | None = None
        self.position: types.SubscribeSince = {"instanceId": "", "revision": 0}
        self.notifications: list[dict[str, Any]] = []
        self.resyncs = 0

    async def follow(self, session_id: str) -> None:
        watch = await self._client.watch(session_id)
        assert watch.opened is not None
        self.position = {"instanceId": watch.opened["instanceId"], "revision": watch.opened["revision"]}
        self._reader = asyncio.get_running_loop().create_task(self._read(watch))

    async def until(self, revision: int) -> None:
        """Until everything up to this revision has arrived: what the demo prints is in order then."""
        await self._until(lambda: self.position["revision"] >= revision)

    async def until_resync(self) -> None:
        await self._until(lambda: self.resyncs > 0)

    async def _until(self, reached: Callable[[], bool]) -> None:
        try:
            async with asyncio.timeout(PATIENCE), self._moved:
                await self._moved.wait_for(reached)
        except TimeoutError:
            raise Failure(Exit.FAILED, f"No notification came within {PATIENCE:.0f} s.", reason="demoFailed") from None

    async def _read(self, watch: Watch) -> None:
        async for event in watch:
            if isinstance(event, ResyncEvent):
                await self._reload(event)
                self.resyncs += 1
            else:
                self._tell(event)
            async with self._moved:
                self.position = {"instanceId": event.instance_id, "revision": event.revision}
                self._moved.notify_all()

    def _tell(self, event: Event) -> None:
        self.notifications.append({"method": event.method, "params": event.params})
        for node in event.params.get("entries", []):
            self._known = node["id"]
        self._heard(event.method, event.revision, gist(event.method, event.params), event.origin)

    async def _reload(self, event: ResyncEvent) -> None:
        since = self._known if self._known is not None else ABSENT
        missed = [entry["id"] async for entry in self._client.iter_entries(event.session_id, since=since)]
        self.notifications.append({"method": "resync", "revision": event.revision, "missed": missed})
        known = f"read what came after {self._known[:ID]}" if self._known else "read all"
        self._heard(
            "resync", event.revision, f"another daemon: {known}, {plural(len(missed), 'entry', 'entries')}", None
        )
        if missed:
            self._known = missed[-1]


def gist(method: str, params: dict[str, Any]) -> str:
    """What a notification says, in a line."""
    if method == "session/appended":
        return "; ".join(f"{node.get('role', node['type'])}: {node['preview']}" for node in params["entries"])
    if method == "session/leafChanged":
        return f"{_short(params['previousLeafId'])} -> {_short(params['leafId'])} ({params['cause']})"
    if method == "session/labelChanged":
        return f"{_short(params['targetId'])} is {params['label']!r}"
    if method == "session/compaction":
        return str(params["status"])
    if method == "session/compacted":
        return f"{params['tokensBefore']:,} -> {params['tokensAfter']:,} tokens"
    return repr(params["name"]) if method == "session/renamed" else ""


def _short(entry_id: str | None) -> str:
    return "nothing" if entry_id is None else entry_id[:ID]
