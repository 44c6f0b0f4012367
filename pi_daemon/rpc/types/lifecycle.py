"""initialize, shutdown, exit and the `$/` messages."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType

from pi_daemon.rpc.types.base import Wire

PROTOCOL_VERSION = 1


class ClientInfo(Wire, kw_only=True):
    """Who connects.

    `name`: shown to other clients beside what this one changed; at most 100 characters of it.
    `version`: the client's version.
    """

    name: str
    version: str | UnsetType = UNSET


class PiDaemonInitialize(Wire, kw_only=True):
    """What a client may say beside LSP's own.

    `protocol_version`: the version that the client was written for; another than the daemon's is refused.
    `token`: the daemon's token. TCP and WebSocket want it, the panel's the code of its address or what that was
        exchanged for.
    `summarizer`: true: the client answers `summarizer/summarize`.
    """

    protocol_version: int | UnsetType = UNSET
    token: str | UnsetType = UNSET
    summarizer: bool | UnsetType = UNSET


class InitializationOptions(Wire, kw_only=True):
    """LSP's place for what a server wants to know.

    `pi_daemon`: what this daemon wants to know.
    """

    pi_daemon: PiDaemonInitialize | UnsetType | None = UNSET


class InitializeParams(Wire, kw_only=True):
    """LSP's own; the daemon reads these members of it.

    `process_id`: the client's process.
    `client_info`: who connects.
    `initialization_options`: this daemon's own.
    `capabilities`: LSP's client capabilities.
    """

    process_id: int | UnsetType | None = UNSET
    client_info: ClientInfo | UnsetType | None = UNSET
    initialization_options: InitializationOptions | UnsetType | None = UNSET
    capabilities: dict[str, Any] | UnsetType = UNSET


class ServerInfo(Wire, kw_only=True):
    """Who answers.

    `name`: `pi-daemon`.
    `version`: the daemon's version.
    """

    name: str
    version: str


class PiDaemonCapabilities(Wire, kw_only=True):
    """What the daemon is and can do.

    `protocol_version`: the version of this protocol.
    `daemon_id`: names the process; another id is another process, with nothing of the old one's subscriptions.
    `client_id`: names this connection, as in `origin`.
    `features`: what this daemon can do, by name; absent: it can't.
    `limits`: the caps in force, each in the unit of its name.
    `sessions_dir`: where sessions lie.
    `token`: the panel's, in exchange for the code of its address: what to bring in `initialize` from now on.
    """

    protocol_version: int
    daemon_id: str
    client_id: str
    features: dict[str, dict[str, Any]]
    limits: dict[str, int]
    sessions_dir: str
    token: str | UnsetType = UNSET


class Experimental(Wire, kw_only=True):
    """LSP's place for what isn't LSP's.

    `pi_daemon`: this daemon's own.
    """

    pi_daemon: PiDaemonCapabilities


class ServerCapabilities(Wire, kw_only=True):
    """LSP's server capabilities, as far as there are any.

    `experimental`: what isn't LSP's.
    """

    experimental: Experimental


class InitializeResult(Wire, kw_only=True):
    """LSP's own.

    `capabilities`: what can be asked for.
    `server_info`: who answers.
    """

    capabilities: ServerCapabilities
    server_info: ServerInfo


class Empty(Wire, kw_only=True):
    """No members."""
