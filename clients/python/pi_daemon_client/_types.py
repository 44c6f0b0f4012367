"""The objects of the protocol on the wire. Written by `python -m pi_daemon.rpc.generate`: don't edit.

A member that is NotRequired may be absent, which is not the same as null.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

Json: TypeAlias = Any
"""A JSON value that the daemon passes on as it is."""


class ClientInfo(TypedDict):
    name: str
    version: NotRequired[str]


class PiDaemonInitialize(TypedDict):
    """What a client may say beside LSP's own. `token` is wanted on TCP and WebSocket; `summarizer` offers to
    answer `summarizer/summarize`.
    """

    protocolVersion: NotRequired[int]
    token: NotRequired[str]
    summarizer: NotRequired[bool]


class InitializationOptions(TypedDict):
    piDaemon: NotRequired[PiDaemonInitialize | None]


class InitializeParams(TypedDict):
    """LSP's own; the daemon reads these members of it."""

    processId: NotRequired[int | None]
    clientInfo: NotRequired[ClientInfo | None]
    initializationOptions: NotRequired[InitializationOptions | None]
    capabilities: NotRequired[dict[str, Json]]


class Empty(TypedDict):
    """No members."""


class Options(TypedDict):
    """What a session can be set to. A member that is absent is left as it is; null means the default."""

    contextWindow: NotRequired[int | None]
    durability: NotRequired[Literal["synced", "written"] | None]
    autoCompact: NotRequired[bool | None]
    summarizer: NotRequired[str | None]
    reserveTokens: NotRequired[int | None]
    keepRecentTokens: NotRequired[int | None]


class CreateParams(TypedDict):
    """`persist` says when the file is first written: with the first assistant message, the first user or assistant
    message, at once, or never.
    """

    cwd: str
    id: NotRequired[str]
    name: NotRequired[str]
    parentSession: NotRequired[str]
    persist: NotRequired[Literal["firstAssistant", "firstMessage", "immediate", "never"]]
    options: NotRequired[Options]


class OpenParams(TypedDict):
    """Exactly one of `sessionId` and `path`."""

    sessionId: NotRequired[str]
    path: NotRequired[str]
    recover: NotRequired[Literal["refuse", "skip"]]
    readOnly: NotRequired[bool]
    options: NotRequired[Options]


class ConfigureParams(TypedDict):
    """What a session can be set to. A member that is absent is left as it is; null means the default."""

    contextWindow: NotRequired[int | None]
    durability: NotRequired[Literal["synced", "written"] | None]
    autoCompact: NotRequired[bool | None]
    summarizer: NotRequired[str | None]
    reserveTokens: NotRequired[int | None]
    keepRecentTokens: NotRequired[int | None]
    sessionId: str


class SessionParams(TypedDict):
    sessionId: str


class ListParams(TypedDict):
    """`cwd` keeps to the sessions whose header names it. `limit` is at most 1,000."""

    cwd: NotRequired[str]
    cursor: NotRequired[str]
    limit: NotRequired[int]
    workDoneToken: NotRequired[str | int]


class AppendParams(TypedDict):
    """`entries` are drafts: an entry without `parentId` and `timestamp`, `id` optional. Several form a chain.
    `parentId` absent: under the leaf; null: as a root.
    """

    sessionId: str
    entries: list[Json]
    parentId: NotRequired[str | None]
    expectedLeafId: NotRequired[str | None]


class EntriesParams(TypedDict):
    """`ids` or `since`, or neither: from the first entry.

    `since`: the entry after which to begin.
    `limit`: at most 10,000, which is also the default.
    """

    sessionId: str
    ids: NotRequired[list[str]]
    since: NotRequired[str]
    limit: NotRequired[int]
    workDoneToken: NotRequired[str | int]


class TreeParams(TypedDict):
    """`fold` joins straight stretches of the tree into their last entry."""

    sessionId: str
    filter: NotRequired[Literal["all", "default", "labeledOnly", "noTools", "userOnly"]]
    fold: NotRequired[bool]
    cursor: NotRequired[str]
    workDoneToken: NotRequired[str | int]


class PathOfParams(TypedDict):
    """`leafId` absent: the session's leaf; null: before the first entry."""

    sessionId: str
    leafId: NotRequired[str | None]


class CompareParams(TypedDict):
    sessionId: str
    a: str
    b: str


class ContextParams(TypedDict):
    """What to project, and how.

    `leafId`: absent: the session's leaf; null: before the first entry.
    `format`: `agent`, messages as the agent holds them, or `llm`, as a provider is sent them.
    `pairing`: `repair` leaves out tool results without a call, and answers calls without a result as aborted.
    """

    sessionId: str
    leafId: NotRequired[str | None]
    format: NotRequired[Literal["agent", "llm"]]
    pairing: NotRequired[Literal["repair", "report"]]


class MoveLeafParams(TypedDict):
    """`entryId` null: before the first entry. `before` moves to the parent of a user or custom message and gives
    its text as `editorText`. `summary` appends a branch summary with that text at the target. `label` labels
    the summary if there is one, else the target.
    """

    sessionId: str
    entryId: str | None
    position: NotRequired[Literal["at", "before"]]
    summarize: NotRequired[bool]
    instructions: NotRequired[str]
    summary: NotRequired[str]
    label: NotRequired[str]
    expectedLeafId: NotRequired[str | None]


class ForkParams(TypedDict):
    """`path` copies the path to `entryId` (the leaf, if absent), `tree` every line. `before` forks before a user
    or custom message and gives its text as `editorText`.
    """

    sessionId: str
    entryId: NotRequired[str]
    position: NotRequired[Literal["at", "before"]]
    scope: NotRequired[Literal["path", "tree"]]
    cwd: NotRequired[str]
    id: NotRequired[str]


class LabelParams(TypedDict):
    """null or an empty `label` clears."""

    sessionId: str
    entryId: str
    label: str | None


class RenameParams(TypedDict):
    """An empty `name` clears."""

    sessionId: str
    name: str


class Replacement(TypedDict):
    content: Json


class EditContextParams(TypedDict):
    """`replacement` null omits the target from the context, from here on, on this path."""

    sessionId: str
    targetId: str
    replacement: Replacement | None


class PathParams(TypedDict):
    path: str


class SubscribeSince(TypedDict):
    instanceId: str
    revision: int


class SubscribeParams(TypedDict):
    sessionId: str
    since: NotRequired[SubscribeSince]


class StopParams(TypedDict):
    """`drain`: let running requests finish and write sessions that are not written yet."""

    drain: NotRequired[bool]


class PiDaemonCapabilities(TypedDict):
    """`limits` are in the unit of their name; `features` name what this daemon can do (absent: it can't)."""

    protocolVersion: int
    daemonId: str
    clientId: str
    features: dict[str, dict[str, Json]]
    limits: dict[str, int]
    sessionsDir: str


class Experimental(TypedDict):
    piDaemon: PiDaemonCapabilities


class ServerCapabilities(TypedDict):
    experimental: Experimental


class ServerInfo(TypedDict):
    name: str
    version: str


class InitializeResult(TypedDict):
    capabilities: ServerCapabilities
    serverInfo: ServerInfo


class Model(TypedDict):
    """The model that the path has selected."""

    provider: str
    modelId: str


class DamageInfo(TypedDict):
    """One thing that is wrong with a session file. `line` counts from 1; `offset` and `length` are bytes."""

    kind: str
    message: str
    line: int | None
    offset: int | None
    length: int | None
    entryIds: list[str]


class SessionState(TypedDict):
    """An open session as it is now.

    `path` is null while `persisted` is false. `name` is null without a name. `contextTokens` is an estimate
    until the next valid usage. `readOnly` is why nothing can be appended, or false. `instanceId` names this
    loading of the session; `revision` counts its changes. `editorText` only after a fork before a user message.
    """

    sessionId: str
    path: str | None
    cwd: str
    name: str | None
    parentSession: str | None
    leafId: str | None
    revision: int
    instanceId: str
    entryCount: int
    model: Model | None
    thinkingLevel: str
    contextTokens: int
    persisted: bool
    readOnly: bool | str
    options: Options
    damage: list[DamageInfo]
    editorText: NotRequired[str]


class SessionInfo(TypedDict):
    """A session in a list. `modified` is the time of the last user or assistant message; times are ISO 8601 with
    milliseconds and Z; `size` is in bytes.
    """

    sessionId: str
    path: str | None
    cwd: str
    name: str | None
    parentSession: str | None
    created: str
    modified: str
    messageCount: int
    firstMessage: str
    size: int
    open: bool
    persisted: bool


class ListResult(TypedDict):
    sessions: list[SessionInfo]
    nextCursor: NotRequired[str]


class DeleteResult(TypedDict):
    """`trashedTo` where the system tells it."""

    trashedTo: NotRequired[str]


class AppendedEntry(TypedDict):
    id: str
    parentId: str | None
    timestamp: str


class AppendResult(TypedDict):
    """`raced`: another process had written to the file before these entries. `shouldCompact` is null while no
    context window is known.
    """

    entries: list[AppendedEntry]
    leafId: str | None
    revision: int
    durability: Literal["memory", "synced", "written"]
    raced: NotRequired[bool]
    contextTokens: int
    shouldCompact: bool | None


class EntriesResult(TypedDict):
    """In file order. `nextSince` where there is more."""

    entries: list[Json]
    leafId: str | None
    revision: int
    nextSince: NotRequired[str]


class TreeNode(TypedDict):
    """One entry as a tree shows it. `preview` is at most 120 characters of text: never images, thinking or whole
    arguments. `role` only for messages, `label` only where there is one. `childCount` counts what the filter
    shows. `run`: with `fold`, how many entries this straight stretch stands for.
    """

    id: str
    parentId: str | None
    type: str
    role: NotRequired[str]
    preview: str
    label: NotRequired[str]
    timestamp: str
    childCount: int
    onPath: bool
    run: NotRequired[int]


class TreeResult(TypedDict):
    """Flat: parents before their children, siblings by time. A hidden entry's children hang under its nearest
    visible ancestor.
    """

    nodes: list[TreeNode]
    leafId: str | None
    revision: int
    nextCursor: NotRequired[str]


class PathResult(TypedDict):
    entryIds: list[str]
    leafId: str | None


class CompareResult(TypedDict):
    """`a` and `b`: the entries of each path after the common ancestor, root first."""

    ancestorId: str | None
    a: list[str]
    b: list[str]


class Problem(TypedDict):
    """`resultWithoutCall` or `callWithoutResult`: a provider would refuse this request."""

    kind: Literal["callWithoutResult", "resultWithoutCall"]
    entryId: str
    toolCallId: str


class ContextResult(TypedDict):
    """`sources[i]` is the entry that `messages[i]` comes from."""

    messages: list[Json]
    sources: list[str]
    model: Model | None
    thinkingLevel: str
    tokens: int
    compactionId: NotRequired[str]
    leafId: str | None
    problems: list[Problem]


class MoveLeafResult(TypedDict):
    leafId: str | None
    previousLeafId: str | None
    summaryEntryId: NotRequired[str]
    editorText: NotRequired[str]
    revision: int


class ChangeResult(TypedDict):
    entryId: str
    revision: int


class TokenTotals(TypedDict):
    """Sums over the assistant messages of the file."""

    input: float
    output: float
    cacheRead: float
    cacheWrite: float
    cost: float


class StatsResult(TypedDict):
    """`contextShare` is context_tokens over the context window, null while the window is unknown."""

    sessionId: str
    entryCount: int
    messageCount: int
    messagesByRole: dict[str, int]
    toolCalls: int
    tokens: TokenTotals
    contextTokens: int
    contextWindow: int | None
    contextShare: float | None
    revision: int


class CheckResult(TypedDict):
    """`opens` is false where session/open would refuse without `recover: "skip"`."""

    path: str
    sessionId: str | None
    entryCount: int
    opens: bool
    damage: list[DamageInfo]


class RepairResult(TypedDict):
    """`originalKeptAt` is null where nothing had to be repaired and nothing was written."""

    path: str
    originalKeptAt: str | None
    dropped: list[DamageInfo]


class SubscribeResult(TypedDict):
    """`fresh`: what lies between can't be replayed, read the session anew. Otherwise `events` are the
    notifications that were missed, `{method, params}`, oldest first.
    """

    instanceId: str
    revision: int
    leafId: str | None
    fresh: bool
    events: NotRequired[list[Json]]


class UnsubscribeResult(TypedDict):
    status: Literal["notOpen", "notSubscribed", "unsubscribed"]


class ClientStatus(TypedDict):
    """`queued` counts messages not yet taken by the client, `queuedBytes` their bytes."""

    clientId: str
    name: str
    transport: str
    requests: int
    queued: int
    queuedBytes: int
    resyncs: int


class OpenSessionStatus(TypedDict):
    sessionId: str
    path: str | None
    revision: int
    entryCount: int
    subscribers: int
    queued: int
    persisted: bool


class StatusResult(TypedDict):
    """`uptime` is in seconds, `memory` the resident bytes of the process."""

    version: str
    protocolVersion: int
    daemonId: str
    pid: int
    uptime: float
    sessionsDir: str
    transports: list[str]
    clients: list[ClientStatus]
    sessions: list[OpenSessionStatus]
    memory: int


class Origin(TypedDict):
    """The client that caused a change."""

    clientId: str
    name: str


class LeafChanged(TypedDict):
    sessionId: str
    instanceId: str
    revision: int
    origin: Origin | None
    leafId: str | None
    previousLeafId: str | None
    cause: Literal["append", "compact", "external", "move", "reload"]


class Appended(TypedDict):
    sessionId: str
    instanceId: str
    revision: int
    origin: Origin | None
    entries: list[TreeNode]
    cause: Literal["append", "compact", "external", "move", "reload"]


class Compacted(TypedDict):
    """`tokensAfter` is an estimate, null where another process appended the compaction."""

    sessionId: str
    instanceId: str
    revision: int
    origin: Origin | None
    entryId: str
    firstKeptEntryId: str | None
    tokensBefore: float
    tokensAfter: int | None
    retention: NotRequired[Json]
    cause: Literal["append", "compact", "external", "move", "reload"]


class LabelChanged(TypedDict):
    sessionId: str
    instanceId: str
    revision: int
    origin: Origin | None
    targetId: str
    label: str | None
    entryId: str


class Renamed(TypedDict):
    sessionId: str
    instanceId: str
    revision: int
    origin: Origin | None
    name: str | None
    entryId: str


class Replaced(TypedDict):
    """The file isn't the one that was open: `instanceId` is the new one. Subscribe again."""

    sessionId: str
    instanceId: str
    revision: int
    origin: Origin | None
    reason: str


class Damaged(TypedDict):
    """`lost`: ids of entries that were acknowledged and are not in the file any more."""

    sessionId: str
    instanceId: str
    revision: int
    origin: Origin | None
    damage: list[DamageInfo]
    lost: NotRequired[list[str]]


class Failed(TypedDict):
    """The session takes no more appends. `errno` is its name, such as EIO."""

    sessionId: str
    instanceId: str
    revision: int
    origin: Origin | None
    reason: str
    errno: str | None


class Deleted(TypedDict):
    sessionId: str
    instanceId: str
    revision: int
    origin: Origin | None
    trashedTo: NotRequired[str]


class Resync(TypedDict):
    """Notifications were left out because the client did not read. Subscribe again, then `session/entries`."""

    sessionId: str
    instanceId: str
    revision: int


class ProgressValue(TypedDict):
    """LSP's work done progress. `percentage` is 0 to 100."""

    kind: str
    title: NotRequired[str]
    message: NotRequired[str]
    percentage: NotRequired[int]


class Progress(TypedDict):
    token: str | int
    value: ProgressValue
