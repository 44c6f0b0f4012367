"""Parameters and results about whole sessions."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from pi_daemon.rpc.types.base import DamageInfo, Durability, Model, Options, Persist, Raw, Wire


class SessionState(Wire, kw_only=True):
    """An open session as it is now.

    `session_id`: its id.
    `path`: its file; null while `persisted` is false.
    `cwd`: the directory that its agent works in.
    `name`: null without one.
    `parent_session`: the file that it was forked from.
    `leaf_id`: where the next entry is appended; null: before the first.
    `revision`: counts the changes of state since it was loaded, moves of the leaf included.
    `instance_id`: names this loading of the session: each load, reload or replacement is a new one.
    `entry_count`: how many entries it has.
    `model`: the model that the path has selected.
    `thinking_level`: the level that the path has selected.
    `context_tokens`: the size of the context; an estimate until the next valid usage.
    `persisted`: whether it is in a file.
    `read_only`: why nothing can be appended, or false.
    `options`: what it is set to.
    `damage`: what is wrong with its file.
    `editor_text`: the text of the message before which it was forked.
    """

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
    """A session in a list. Times are ISO 8601 with milliseconds and Z.

    `session_id`: its id.
    `path`: its file; null while it has none.
    `cwd`: the directory that its agent works in.
    `name`: null without one.
    `parent_session`: the file that it was forked from.
    `created`: when it began.
    `modified`: the time of its last user or assistant message.
    `message_count`: how many messages it has.
    `first_message`: the text of the first user message.
    `size`: of the file, in bytes.
    `open`: whether the daemon has it open.
    `persisted`: whether it is in a file.
    `damaged`: whether a quick look saw lines that can't be read, so that it may not open: `session/check` says more.
    """

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
    damaged: bool


class CreateParams(Wire, kw_only=True):
    """A new session.

    `cwd`: the directory that its agent works in, absolute.
    `id`: its id; absent: a new one.
    `name`: its name.
    `parent_session`: the file that it comes from.
    `persist`: when the file is first written: with the first assistant message, the first user or assistant message,
        at once, or never.
    `options`: what to set it to.
    """

    cwd: str
    id: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    parent_session: str | UnsetType = UNSET
    persist: Persist = "firstAssistant"
    options: Options | UnsetType = UNSET


class OpenParams(Wire, kw_only=True):
    """A session to open, by exactly one of `session_id` and `path`.

    `session_id`: its id.
    `path`: its file.
    `recover`: what to do with lines that can't be read: `refuse` the session, or `skip` them. It holds for this client
    alone, until it closes the session: others are refused as before, with `sessionCorrupted`.
    `read_only`: promise not to append.
    `options`: what to set it to.
    """

    session_id: str | UnsetType = UNSET
    path: str | UnsetType = UNSET
    recover: Literal["refuse", "skip"] = "refuse"
    read_only: bool = False
    options: Options | UnsetType = UNSET


class ConfigureParams(Options, kw_only=True):
    """A session, and what it is to be set to. A member that is absent is left as it is; null means the default.

    `session_id`: the session.
    """

    session_id: str


class SessionParams(Wire, kw_only=True):
    """A session.

    `session_id`: its id.
    """

    session_id: str


class ListParams(Wire, kw_only=True):
    """Which sessions.

    `cwd`: those whose agent works there; absent: all.
    `cursor`: `nextCursor` of the page before.
    `limit`: at most 1,000.
    `work_done_token`: where to report progress.
    """

    cwd: str | UnsetType = UNSET
    cursor: str | UnsetType = UNSET
    limit: int = 100
    work_done_token: str | int | UnsetType = UNSET


class ListResult(Wire, kw_only=True):
    """Sessions, newest activity first.

    `sessions`: one page of them.
    `next_cursor`: where there is more.
    """

    sessions: list[SessionInfo]
    next_cursor: str | UnsetType = UNSET


class DeleteResult(Wire, kw_only=True):
    """The session is gone.

    `trashed_to`: where its file went, if the system tells.
    """

    trashed_to: str | UnsetType = UNSET


class ForkParams(Wire, kw_only=True):
    """A new session from a part of another.

    `session_id`: the session to fork.
    `entry_id`: where the path ends; absent: at the leaf.
    `position`: `at` the entry, or `before` a user or custom message, whose text comes back as `editorText`.
    `scope`: `path` copies the path to the entry, `tree` every line.
    `cwd`: where the new session's agent works; absent: where the old one's does.
    `id`: the new session's id; absent: a new one.
    """

    session_id: str
    entry_id: str | UnsetType = UNSET
    position: Literal["at", "before"] = "at"
    scope: Literal["path", "tree"] = "path"
    cwd: str | UnsetType = UNSET
    id: str | UnsetType = UNSET


class ExportParams(Wire, kw_only=True):
    """A session, or a path of it, to be taken elsewhere.

    `session_id`: the session.
    `format`: `jsonl`: a session file of one path, as a fork of it would be; `tree`: every line of the file, byte for
        byte; `markdown`: a document of one path, to be read.
    `leaf_id`: where the path ends; absent: at the leaf. Not for a `tree`.
    `path`: the file to write, absolute: one that isn't there yet, in a directory that is, not among the sessions.
        Absent: the text is the answer.
    `thinking`: for `markdown`: false leaves out what the model thought, which else is folded.
    `full`: for `markdown`: true cuts no tool results and arguments.
    `work_done_token`: where to report progress.
    """

    session_id: str
    format: Literal["jsonl", "tree", "markdown"]
    leaf_id: str | UnsetType | None = UNSET
    path: str | UnsetType = UNSET
    thinking: bool = True
    full: bool = False
    work_done_token: str | int | UnsetType = UNSET


class ExportResult(Wire, kw_only=True):
    """What was exported: one of the two.

    `path`: the file that was written, readable by its user alone.
    `text`: the text itself.
    """

    path: str | UnsetType = UNSET
    text: str | UnsetType = UNSET


class PathParams(Wire, kw_only=True):
    """A file.

    `path`: the session file, absolute.
    """

    path: str


class CheckResult(Wire, kw_only=True):
    """What a check found.

    `path`: the file.
    `session_id`: the id in its header.
    `entry_count`: how many entries can be read.
    `opens`: false where `session/open` would refuse without `recover: "skip"`.
    `damage`: what is wrong.
    """

    path: str
    session_id: str | None
    entry_count: int
    opens: bool
    damage: list[DamageInfo]


class RepairResult(Wire, kw_only=True):
    """What a repair did.

    `path`: the file.
    `original_kept_at`: where the file as it was is kept; null where nothing had to be repaired and nothing was
        written.
    `dropped`: what was left out.
    `rewritten`: what was made readable: a line with several entries was split; in one that isn't UTF-8 U+FFFD stands
        for what isn't, as pi reads it.
    """

    path: str
    original_kept_at: str | None
    dropped: list[DamageInfo]
    rewritten: list[DamageInfo]


class TokenTotals(Wire, kw_only=True):
    """Sums of what was billed.

    `input`: tokens sent.
    `output`: tokens made.
    `cache_read`: tokens read from the provider's cache.
    `cache_write`: tokens written to it.
    `cost`: in the currency that the agent counts in.
    """

    input: float
    output: float
    cache_read: float
    cache_write: float
    cost: float


class Failures(Wire, kw_only=True):
    """What went wrong.

    `tool_results`: tool results that say they are errors.
    `errors`: answers that ended in an error.
    `aborted`: answers that were aborted.
    """

    tool_results: int
    errors: int
    aborted: int


class TimeSpan(Wire, kw_only=True):
    """When a session, or a branch, was worked on.

    `first`: the time of its first entry; null: none has a time.
    `last`: the time of its last one.
    `active`: seconds of work: what lies between each entry and its parent, where that is at most five minutes. It
        adds up over branches.
    """

    first: str | None
    last: str | None
    active: float


class RepeatedReplies(Wire, kw_only=True):
    """What stands in copies of a reply that was counted before: the same `responseId`, or without one the same model,
    time and tokens. It is part of the totals, as pi counts it too; take it away to have each reply once.

    `count`: how many copies there are.
    `tokens`: what they say was billed.
    """

    count: int
    tokens: TokenTotals


class ModelStats(Wire, kw_only=True):
    """What one model did. Over all rows this adds up to the totals.

    `model`: the model; null for what names none (summaries, tools that were billed).
    `models`: how many models the row stands for: 1, or in the last row all that are not told one by one.
    `answers`: its assistant messages.
    `tool_calls`: how many tools it called.
    `failures`: its answers that failed, and results of its calls.
    `tokens`: what was billed.
    """

    model: Model | None
    models: int
    answers: int
    tool_calls: int
    failures: Failures
    tokens: TokenTotals


class BranchStats(Wire, kw_only=True):
    """What a branch has to itself. Every entry is in exactly one row, so the rows add up to the totals.

    `tip`: its last entry; null in the row of the rest.
    `left_at`: the entry under which it hangs, on whichever branch that is; null: it has a root of its own.
    `main`: whether this is the path to the leaf. A stretch that several other branches share counts with the newest.
    `branches`: how many branches the row stands for: 1, or in the last row all that are not told one by one. Entries
        whose id was used again are there too.
    `entry_count`: its entries.
    `message_count`: how many of them are messages.
    `tool_calls`: how many tools were called.
    `failures`: what went wrong.
    `tokens`: what was billed.
    `time`: when it was worked on.
    """

    tip: str | None
    left_at: str | None
    main: bool
    branches: int
    entry_count: int
    message_count: int
    tool_calls: int
    failures: Failures
    tokens: TokenTotals
    time: TimeSpan


class StatsResult(Wire, kw_only=True):
    """What a session amounts to.

    `session_id`: the session.
    `entry_count`: how many entries it has.
    `message_count`: how many of them are messages.
    `messages_by_role`: the same by role.
    `tool_calls`: how many tools were called.
    `failures`: what went wrong.
    `tokens`: sums over all branches, as pi has them.
    `repeated`: the part of them that stands in copies of replies.
    `time`: when it was worked on.
    `models`: the same by model, the costliest first.
    `branches`: the same by branch: the path to the leaf, then the others, the newest first.
    `context_tokens`: the size of the context at the leaf.
    `context_window`: what the session is set to; null: unknown.
    `context_share`: `context_tokens` over `context_window`; null while that is unknown.
    `context_threshold`: more tokens than this are too many, and a compaction is due; null while the window is unknown.
    `should_compact`: whether that is so now; null while the window is unknown.
    `revision`: the revision that this shows.
    """

    session_id: str
    entry_count: int
    message_count: int
    messages_by_role: dict[str, int]
    tool_calls: int
    failures: Failures
    tokens: TokenTotals
    repeated: RepeatedReplies
    time: TimeSpan
    models: list[ModelStats]
    branches: list[BranchStats]
    context_tokens: int
    context_window: int | None
    context_share: float | None
    context_threshold: int | None
    should_compact: bool | None
    revision: int


class RequestWriterParams(Wire, kw_only=True):
    """Whose turn it is to write.

    `session_id`: the session.
    `release`: what one daemon asks another for: hand the writer over, instead of asking for it.
    """

    session_id: str
    release: bool = False


class RequestWriterResult(Wire, kw_only=True):
    """Who may write now.

    `status`: `held`: this daemon holds the writer; `released`: it has let go of it; `free`: nobody holds it, the next
    append takes it.
    """

    status: Literal["held", "released", "free"]


class SubscribeSince(Wire, kw_only=True):
    """What a client knows of a session.

    `instance_id`: the loading that it saw.
    `revision`: the last revision that it saw.
    """

    instance_id: str
    revision: int


class SubscribeParams(Wire, kw_only=True):
    """What to hear of.

    `session_id`: the session.
    `since`: what the client knows already; what it missed is replayed.
    """

    session_id: str
    since: SubscribeSince | UnsetType = UNSET


class SubscribeResult(Wire, kw_only=True):
    """From here on every revision is told, once and in order.

    `instance_id`: this loading of the session.
    `revision`: the revision as of now.
    `leaf_id`: the leaf as of now.
    `fresh`: what lies between can't be replayed: read the session anew.
    `events`: the notifications that were missed, `{method, params}`, oldest first.
    """

    instance_id: str
    revision: int
    leaf_id: str | None
    fresh: bool
    events: list[Raw] | UnsetType = UNSET


class UnsubscribeResult(Wire, kw_only=True):
    """What there was to end.

    `status`: `notOpen`: the session isn't even open.
    """

    status: Literal["unsubscribed", "notSubscribed", "notOpen"]


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
