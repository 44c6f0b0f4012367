"""initialize, shutdown, exit and the `$/` messages."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType

from pi_daemon.rpc.types.base import Wire

PROTOCOL_VERSION = 1


class ClientInfo(Wire, kw_only=True):
    name: str
    version: str | UnsetType = UNSET


class PiDaemonInitialize(Wire, kw_only=True):
    """What a client may say beside LSP's own. `token` is wanted on TCP and WebSocket; `summarizer` offers to
    answer `summarizer/summarize`."""

    protocol_version: int | UnsetType = UNSET
    token: str | UnsetType = UNSET
    summarizer: bool | UnsetType = UNSET


class InitializationOptions(Wire, kw_only=True):
    pi_daemon: PiDaemonInitialize | UnsetType | None = UNSET


class InitializeParams(Wire, kw_only=True):
    """LSP's own; the daemon reads these members of it."""

    process_id: int | UnsetType | None = UNSET
    client_info: ClientInfo | UnsetType | None = UNSET
    initialization_options: InitializationOptions | UnsetType | None = UNSET
    capabilities: dict[str, Any] | UnsetType = UNSET


class ServerInfo(Wire, kw_only=True):
    name: str
    version: str


class PiDaemonCapabilities(Wire, kw_only=True):
    """`limits` are in the unit of their name; `features` name what this daemon can do (absent: it can't)."""

    protocol_version: int
    daemon_id: str
    client_id: str
    features: dict[str, dict[str, Any]]
    limits: dict[str, int]
    sessions_dir: str


class Experimental(Wire, kw_only=True):
    pi_daemon: PiDaemonCapabilities


class ServerCapabilities(Wire, kw_only=True):
    experimental: Experimental


class InitializeResult(Wire, kw_only=True):
    capabilities: ServerCapabilities
    server_info: ServerInfo


class Empty(Wire, kw_only=True):
    """No members."""
