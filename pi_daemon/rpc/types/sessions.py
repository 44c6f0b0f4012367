"""Parameters and results about whole sessions."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from pi_daemon.rpc.types.base import DamageInfo, Durability, Model, Options, Persist, Raw, Wire


class SessionState(Wire, kw_only=True):
    """An open session as it is now.

    `path` is null while `persisted` is false. `name` is null without a name. `context_tokens` is an estimate
    until the next valid usage. `read_only` is why nothing can be appended, or false. `instance_id` names this
    loading of the session; `revision` counts its changes. `editor_text` only after a fork before a user message."""

    session_id: str
    path: str | None
    cwd: str
    name: str | None
    parent_session: str | None
    leaf_id: str | None
    revision: int
    instance_id: str
    entry_count: int
    model: Model | None
    thinking_level: str
    context_tokens: int
    persisted: bool
    read_only: bool | str
    options: Options
    damage: list[DamageInfo]
    editor_text: str | UnsetType = UNSET


class SessionInfo(Wire, kw_only=True):
    """A session in a list. `modified` is the time of the last user or assistant message; times are ISO 8601 with
    milliseconds and Z; `size` is in bytes."""

    session_id: str
    path: str | None
    cwd: str
    name: str | None
    parent_session: str | None
    created: str
    modified: str
    message_count: int
    first_message: str
    size: int
    open: bool
    persisted: bool


class CreateParams(Wire, kw_only=True):
    """`persist` says when the file is first written: with the first assistant message, the first user or assistant
    message, at once, or never."""

    cwd: str
    id: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    parent_session: str | UnsetType = UNSET
    persist: Persist = "firstAssistant"
    options: Options | UnsetType = UNSET


class OpenParams(Wire, kw_only=True):
    """Exactly one of `session_id` and `path`."""

    session_id: str | UnsetType = UNSET
    path: str | UnsetType = UNSET
    recover: Literal["refuse", "skip"] = "refuse"
    read_only: bool = False
    options: Options | UnsetType = UNSET


class ConfigureParams(Options, kw_only=True):
    session_id: str


class SessionParams(Wire, kw_only=True):
    session_id: str


class ListParams(Wire, kw_only=True):
    """`cwd` keeps to the sessions whose header names it. `limit` is at most 1,000."""

    cwd: str | UnsetType = UNSET
    cursor: str | UnsetType = UNSET
    limit: int = 100
    work_done_token: str | int | UnsetType = UNSET


class ListResult(Wire, kw_only=True):
    sessions: list[SessionInfo]
    next_cursor: str | UnsetType = UNSET


class DeleteResult(Wire, kw_only=True):
    """`trashed_to` where the system tells it."""

    trashed_to: str | UnsetType = UNSET


class ForkParams(Wire, kw_only=True):
    """`path` copies the path to `entry_id` (the leaf, if absent), `tree` every line. `before` forks before a user or
    custom message and gives its text as `editorText`."""

    session_id: str
    entry_id: str | UnsetType = UNSET
    position: Literal["at", "before"] = "at"
    scope: Literal["path", "tree"] = "path"
    cwd: str | UnsetType = UNSET
    id: str | UnsetType = UNSET


class PathParams(Wire, kw_only=True):
    path: str


class CheckResult(Wire, kw_only=True):
    """`opens` is false where session/open would refuse without `recover: "skip"`."""

    path: str
    session_id: str | None
    entry_count: int
    opens: bool
    damage: list[DamageInfo]


class RepairResult(Wire, kw_only=True):
    """`original_kept_at` is null where nothing had to be repaired and nothing was written."""

    path: str
    original_kept_at: str | None
    dropped: list[DamageInfo]


class TokenTotals(Wire, kw_only=True):
    """Sums over the assistant messages of the file."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    cost: float


class StatsResult(Wire, kw_only=True):
    """`context_share` is context_tokens over the context window, null while the window is unknown."""

    session_id: str
    entry_count: int
    message_count: int
    messages_by_role: dict[str, int]
    tool_calls: int
    tokens: TokenTotals
    context_tokens: int
    context_window: int | None
    context_share: float | None
    revision: int


class SubscribeSince(Wire, kw_only=True):
    instance_id: str
    revision: int


class SubscribeParams(Wire, kw_only=True):
    session_id: str
    since: SubscribeSince | UnsetType = UNSET


class SubscribeResult(Wire, kw_only=True):
    """`fresh`: what lies between can't be replayed, read the session anew. Otherwise `events` are the notifications
    that were missed, `{method, params}`, oldest first."""

    instance_id: str
    revision: int
    leaf_id: str | None
    fresh: bool
    events: list[Raw] | UnsetType = UNSET


class UnsubscribeResult(Wire, kw_only=True):
    status: Literal["unsubscribed", "notSubscribed", "notOpen"]


class ClientStatus(Wire, kw_only=True):
    """`queued` counts messages not yet taken by the client, `queued_bytes` their bytes."""

    client_id: str
    name: str
    transport: str
    requests: int
    queued: int
    queued_bytes: int
    resyncs: int


class OpenSessionStatus(Wire, kw_only=True):
    session_id: str
    path: str | None
    revision: int
    entry_count: int
    subscribers: int
    queued: int
    persisted: bool


class StatusResult(Wire, kw_only=True):
    """`uptime` is in seconds, `memory` the resident bytes of the process."""

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


class StopParams(Wire, kw_only=True):
    """`drain`: let running requests finish and write sessions that are not written yet."""

    drain: bool = True


DurabilityName = Durability
