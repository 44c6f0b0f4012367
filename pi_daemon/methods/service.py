"""The daemon as a connection sees it: the handlers by name, and what happens when clients come and go."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Protocol

from msgspec import Raw, UnsetType

from pi_daemon.compaction.retention import POLICIES
from pi_daemon.methods import (
    catalogue,
    compaction,
    context,
    daemon,
    doctoring,
    entries,
    explain,
    exporting,
    leaf,
    resume,
    sessions,
    stats,
    subscriptions,
    writer,
)
from pi_daemon.methods.listeners import OUTBOX_KEY, missed
from pi_daemon.methods.shared import Shared
from pi_daemon.rpc import codec
from pi_daemon.rpc.call import Call
from pi_daemon.rpc.connection import Connection
from pi_daemon.rpc.types import lifecycle as life
from pi_daemon.rpc.types.notifications import Resync
from pi_daemon.session.errors import ShuttingDown

log = logging.getLogger(__name__)

Handler = Callable[[Shared, Call, Any], Awaitable[Any]]

HANDLERS: dict[str, Handler] = {
    "session/create": sessions.create,
    "session/open": sessions.open_session,
    "session/configure": sessions.configure,
    "session/close": sessions.close,
    "session/list": sessions.list_sessions,
    "session/delete": sessions.delete,
    "session/append": entries.append,
    "session/entries": entries.entries,
    "session/tree": entries.tree,
    "session/path": entries.path,
    "session/compare": entries.compare,
    "session/context": context.context,
    "session/explain": explain.explain,
    "session/moveLeaf": leaf.move_leaf,
    "session/fork": sessions.fork,
    "session/label": context.label,
    "session/rename": context.rename,
    "session/editContext": context.edit_context,
    "session/compactionPlan": compaction.plan,
    "session/compact": compaction.compact,
    "session/resumeReport": resume.resume_report,
    "session/stats": stats.stats,
    "session/export": exporting.export,
    "session/check": sessions.check,
    "session/repair": sessions.repair,
    "session/requestWriter": writer.request_writer,
    "session/subscribe": subscriptions.subscribe,
    "session/unsubscribe": subscriptions.unsubscribe,
    "session/search": catalogue.search,
    "catalog/totals": catalogue.totals,
    "catalog/subscribe": catalogue.subscribe,
    "catalog/unsubscribe": catalogue.unsubscribe,
    "daemon/status": daemon.status,
    "daemon/panel": daemon.panel,
    "daemon/doctor": doctoring.doctor,
    "daemon/stop": daemon.stop,
}

FEATURES: dict[str, dict[str, Any]] = {
    "branchSummary": {"summarize": True},
    "compaction": {
        "summarizers": ["client", "model", "extractive"],
        "retention": list(POLICIES),
        "openCalls": ["wait", "refuse", "ignore"],
        "automatic": True,
    },
    "fork": {"scopes": ["path", "tree"]},
    "context": {"formats": ["agent", "llm"], "pairing": ["report", "repair"]},
    "resumeReport": {},
    "doctor": {},
    "explain": {},
    "panel": {},
    "export": {"formats": ["jsonl", "tree", "markdown"]},
    "replay": {},
    "search": {},
    "catalog": {},
    "progress": {},
}
"""What a client may count on; a feature that is absent isn't there."""


class Documents(Protocol):
    """What makes documents of sessions, beside the methods. `left` comes when the last request has ended."""

    @property
    def handlers(self) -> Mapping[str, Callable[[Call, Any], Awaitable[Any]]]: ...

    def capabilities(
        self, connection: Connection, params: life.InitializeParams, experimental: life.Experimental
    ) -> life.ServerCapabilities: ...

    def notified(self, connection: Connection, method: str, params: Raw | UnsetType) -> None: ...

    async def left(self, connection: Connection) -> None: ...


class DaemonService:
    """Implements the service that `rpc.connection` asks of us."""

    def __init__(self, shared: Shared, documents: Documents | None = None) -> None:
        self.shared = shared
        self._documents = documents
        self.handlers: Mapping[str, Callable[[Call, Any], Awaitable[Any]]] = {
            name: partial(handler, shared) for name, handler in HANDLERS.items()
        }
        if documents is not None:
            self.handlers = {**self.handlers, **documents.handlers}
        self._leaving: set[asyncio.Task[None]] = set()
        self._refusing = False

    def refuse(self) -> None:
        """Begin nothing new: the daemon is going away."""
        self._refusing = True
        self.handlers = dict.fromkeys(self.handlers, _refuse)

    def initialize(self, connection: Connection, params: life.InitializeParams) -> life.InitializeResult:
        if self._refusing:
            raise _going_away()
        experimental = life.Experimental(
            pi_daemon=life.PiDaemonCapabilities(
                protocol_version=life.PROTOCOL_VERSION,
                daemon_id=self.shared.daemon_id,
                client_id=connection.client.client_id,
                features=FEATURES,
                limits=connection.limits.report(),
                sessions_dir=self.shared.sessions_dir,
            )
        )
        capabilities = life.ServerCapabilities(experimental=experimental)
        if self._documents is not None:
            capabilities = self._documents.capabilities(connection, params, experimental)
        return life.InitializeResult(
            capabilities=capabilities,
            server_info=life.ServerInfo(name="pi-daemon", version=self.shared.version),
        )

    def notified(self, connection: Connection, method: str, params: Raw | UnsetType) -> None:
        if self._documents is not None and not self._refusing:
            self._documents.notified(connection, method, params)

    def connected(self, connection: Connection) -> None:
        client = connection.client
        self.shared.connections[client.client_id] = connection
        self.shared.presence()
        fields = {"clientId": client.client_id, "name": client.name, "clients": len(self.shared.connections)}
        log.info("client came", extra={"fields": fields})

    def disconnected(self, connection: Connection) -> None:
        client_id = connection.client.client_id
        self.shared.catalogue.leave(connection)
        self.shared.connections.pop(client_id, None)
        self.shared.presence()
        fields = {"clientId": client_id, "clients": len(self.shared.connections)}
        log.info("client went", extra={"fields": fields})
        task = asyncio.get_running_loop().create_task(self._leave(connection))
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def _leave(self, connection: Connection) -> None:
        """Again when its last request has ended: one that could not be stopped half-way may have come to a session."""
        hub, client_id = self.shared.hub, connection.client.client_id
        await hub.leave(client_id)
        await connection.settled()
        if self._documents is not None:
            await self._documents.left(connection)
        await hub.leave(client_id)

    async def settled(self) -> None:
        """Until what the clients that left had open is seen to."""
        while self._leaving:
            await asyncio.wait(set(self._leaving))

    def resync(self, session_id: str) -> bytes | None:
        if session_id == OUTBOX_KEY:
            return missed()
        session = self.shared.hub.loaded(session_id)
        if session is None:
            return None
        params = Resync(session_id=session_id, instance_id=session.instance_id, revision=session.revision)
        return codec.notification("session/resync", params)


def _going_away() -> ShuttingDown:
    return ShuttingDown("The daemon is going away, and nothing was done: connect again.", applied=False)


async def _refuse(call: Call, params: Any) -> Any:
    raise _going_away()
