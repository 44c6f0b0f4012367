"""What every handler gets: the hub, and how a request is told to it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

from pi_daemon.engine.events import Change, Origin
from pi_daemon.engine.hub import Hub
from pi_daemon.engine.live import LiveSession
from pi_daemon.methods import wire
from pi_daemon.methods.listeners import CatalogueListeners
from pi_daemon.rpc.call import Call
from pi_daemon.rpc.connection import Connection
from pi_daemon.session.errors import StorageFailed
from pi_daemon.storage.protocols import Finder


class Shared:
    """One for each daemon. `stop` is called with whether to drain; `transports` names what it listens on; `presence` is
    called whenever a client has come or gone; `ask_owner` asks the daemon that is reached at its first argument to let
    go of a session, and raises WriterBusy where it doesn't; `panel` gives an address at which a browser may open the
    panel once, with the session of that id, and raises StorageFailed where it can't listen."""

    def __init__(
        self,
        hub: Hub,
        *,
        daemon_id: str,
        version: str,
        sessions_dir: str,
        transports: list[str],
        stop: Callable[[bool], None],
    ) -> None:
        self.hub = hub
        self.daemon_id = daemon_id
        self.version = version
        self.sessions_dir = sessions_dir
        self.transports = transports
        self.stop = stop
        self.presence: Callable[[], None] = lambda: None
        self.ask_owner: Callable[[str, str], Awaitable[None]] = _nobody
        self.panel: Callable[[str | None], Awaitable[str]] = _no_panel
        self.started = time.monotonic()
        self.connections: dict[str, Connection] = {}
        self.finder: Finder | None = None
        self.catalogue = CatalogueListeners()

    def origin(self, call: Call) -> Origin:
        client = call.connection.client
        return Origin(client.client_id, client.name, call)

    def use(self, call: Call, session_id: str) -> AbstractAsyncContextManager[LiveSession]:
        """The session for the time of a call; see Hub.use."""
        return self.hub.use(session_id, call.connection.client.client_id)

    def subscribe(self, session: LiveSession, connection: Connection, *, read_only: bool | None = None) -> None:
        """From the next change on the connection hears of the session."""

        def deliver(change: Change) -> None:
            connection.publish(change.session_id, wire.messages(change), change.call)

        self.hub.subscribe(session, connection.client.client_id, deliver, read_only=read_only)


async def _no_panel(session_id: str | None) -> str:
    raise StorageFailed("This daemon serves no panel.")


async def _nobody(contact: str, session_id: str) -> None:
    """Where there is no way to other daemons, taking the writer says who holds it."""
