"""Parameters and results about the daemon itself."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from pi_daemon.rpc.types.base import Durability, Wire


class ClientStatus(Wire, kw_only=True):
    """One connection.

    `client_id`: its id.
    `name`: what it calls itself.
    `transport`: `stdio`, `unix`, `tcp`, `websocket` or `panel`.
    `requests`: how many are in flight.
    `queued`: messages that the client hasn't taken yet.
    `queued_bytes`: their bytes.
    `resyncs`: how often notifications had to be left out.
    """

    client_id: str
    name: str
    transport: str
    requests: int
    queued: int
    queued_bytes: int
    resyncs: int


class OpenSessionStatus(Wire, kw_only=True):
    """One open session.

    `session_id`: its id.
    `path`: its file; null while it has none.
    `revision`: its revision.
    `entry_count`: how many entries it has.
    `subscribers`: how many clients hear of it.
    `queued`: changes that wait for its writer.
    `persisted`: whether it is in a file.
    `compacting`: whether a compaction or a move with a summary is under way.
    """

    session_id: str
    path: str | None
    revision: int
    entry_count: int
    subscribers: int
    queued: int
    persisted: bool
    compacting: bool


class StatusResult(Wire, kw_only=True):
    """What the daemon is doing.

    `version`: the daemon's version.
    `protocol_version`: the version of this protocol.
    `daemon_id`: names the process.
    `pid`: its process id.
    `uptime`: in seconds.
    `sessions_dir`: where sessions lie.
    `transports`: where it listens.
    `clients`: who is connected.
    `sessions`: what is open.
    `memory`: resident bytes of the process.
    """

    version: str
    protocol_version: int
    daemon_id: str
    pid: int
    uptime: float
    sessions_dir: str
    transports: list[str]
    clients: list[ClientStatus]
    sessions: list[OpenSessionStatus]
    memory: int


class PanelParams(Wire, kw_only=True):
    """What the panel is to show.

    `session_id`: the session to begin with.
    """

    session_id: str | UnsetType = UNSET


class PanelResult(Wire, kw_only=True):
    """Where the panel is.

    `url`: the address to open in a browser: once, and within a minute. What is behind its `#` is a secret: it must not
        come into a log, or into the arguments of a command.
    """

    url: str


class StopParams(Wire, kw_only=True):
    """How to stop.

    `drain`: let running requests finish, and write sessions that are not written yet.
    """

    drain: bool = True


DurabilityName = Durability
