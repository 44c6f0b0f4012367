"""Who hears of session files that come, change and go."""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec import UnsetType

from pi_daemon.rpc import codec
from pi_daemon.rpc.connection import Connection
from pi_daemon.rpc.types.catalogue import CatalogChanged, SessionFile
from pi_daemon.storage.protocols import SessionChange

OUTBOX_KEY = "catalog/changed"
"""What stands for the catalogue in an outbox, among the ids of sessions: none of them has a slash."""

MOST_CHANGES = 500
"""In one notification, some 100 KB: who was told of more would list anew anyway."""

METHOD = "catalog/changed"


class CatalogueListeners:
    """Connections by the working directories that they want to hear of, None for all."""

    def __init__(self) -> None:
        self._wanted: dict[Connection, set[str | None]] = {}

    def subscribe(self, connection: Connection, cwd: str | None) -> None:
        self._wanted.setdefault(connection, set()).add(_normal(cwd))

    def unsubscribe(self, connection: Connection, cwd: str | UnsetType) -> bool:
        """From one directory, or from everything. Whether something is left."""
        wanted = self._wanted.get(connection, set())
        if isinstance(cwd, UnsetType):
            wanted.clear()
        wanted.discard(_normal(None if isinstance(cwd, UnsetType) else cwd))
        if not wanted:
            self._wanted.pop(connection, None)
        return bool(wanted)

    def leave(self, connection: Connection) -> None:
        self._wanted.pop(connection, None)

    def tell(self, changes: Sequence[SessionChange]) -> None:
        encoded: dict[frozenset[str | None], bytes | None] = {}
        for connection, wanted in self._wanted.items():
            key = frozenset(wanted)
            if key not in encoded:
                heard = [change for change in changes if None in key or _normal(change.cwd) in key]
                encoded[key] = _message(heard) if heard else None
            message = encoded[key]
            if message is not None:
                connection.publish(OUTBOX_KEY, (message,))


def missed() -> bytes:
    """In the place of what was left out."""
    return codec.notification(METHOD, CatalogChanged(created=[], changed=[], deleted=[], missed=True))


def _message(changes: Sequence[SessionChange]) -> bytes:
    if len(changes) > MOST_CHANGES:
        return missed()
    by_kind: dict[str, list[SessionFile]] = {"created": [], "changed": [], "deleted": []}
    for change in changes:
        file = SessionFile(session_id=change.ref.session_id, path=change.ref.location, cwd=change.cwd)
        by_kind[change.kind].append(file)
    params = CatalogChanged(created=by_kind["created"], changed=by_kind["changed"], deleted=by_kind["deleted"])
    return codec.notification(METHOD, params)


def _normal(cwd: str | None) -> str | None:
    return os.path.normpath(cwd) if cwd else cwd
