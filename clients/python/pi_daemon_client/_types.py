"""The objects of the protocol on the wire. Written by `python -m pi_daemon.rpc.generate`: don't edit.

A member that is NotRequired may be absent, which is not the same as null.
"""

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

Json: TypeAlias = Any
"""A JSON value that the daemon passes on as it is."""


class ClientInfo(TypedDict):
    """Who connects.

    `name`: shown to other clients beside what this one changed; at most 100 characters of it.
    `version`: the client's version.
    """

    name: str
    version: NotRequired[str]


class PiDaemonInitialize(TypedDict):
    """What a client may say beside LSP's own.

    `protocolVersion`: the version that the client was written for; another than the daemon's is refused.
    `token`: the daemon's token. TCP and WebSocket want it, the panel's the code of its address or what that was
    exchanged for.
    `summarizer`: true: the client answers `summarizer/summarize`.
    """

    protocolVersion: NotRequired[int]
    token: NotRequired[str]
    summarizer: NotRequired[bool]


class InitializationOptions(TypedDict):
    """LSP's place for what a server wants to know.

    `piDaemon`: what this daemon wants to know.
    """

    piDaemon: NotRequired[PiDaemonInitialize | None]


class InitializeParams(TypedDict):
    """LSP's own; the daemon reads these members of it.

    `processId`: the client's process.
    `clientInfo`: who connects.
    `initializationOptions`: this daemon's own.
    `capabilities`: LSP's client capabilities.
    """

    processId: NotRequired[int | None]
    clientInfo: NotRequired[ClientInfo | None]
    initializationOptions: NotRequired[InitializationOptions | None]
    capabilities: NotRequired[dict[str, Json]]


class Empty(TypedDict):
    """No members."""


class Options(TypedDict):
    """What a session can be set to. A member that is absent is left as it is; null means the default.

    `contextWindow`: the model's context window in tokens; the daemon can't know it and asks nobody.
    `durability`: what an answered append promises: `written` survives kill −9, `synced` a loss of power.
    Default: `synced`.
    `autoCompact`: compact when an append passes the trigger, without being asked. Not again before the context
    has grown, where a compaction failed or could not make it small enough.
    `summarizer`: `client`, `model` or `extractive`; null: the first of these that is there.
    `reserveTokens`: tokens of the window that are kept free for the answer; null: as pi's settings.json has it.
    `keepRecentTokens`: about how many tokens of the newest messages a compaction keeps; null: as pi's
    settings.json has it.
    """

    contextWindow: NotRequired[int | None]
    durability: NotRequired[Literal["synced", "written"] | None]
    autoCompact: NotRequired[bool | None]
    summarizer: NotRequired[str | None]
    reserveTokens: NotRequired[int | None]
    keepRecentTokens: NotRequired[int | None]


class CreateParams(TypedDict):
    """A new session.

    `cwd`: the directory that its agent works in, absolute.
    `id`: its id; absent: a new one.
    `name`: its name.
    `parentSession`: the file that it comes from.
    `persist`: when the file is first written: with the first assistant message, the first user or assistant
    message, at once, or never.
    `options`: what to set it to.
    """

    cwd: str
    id: NotRequired[str]
    name: NotRequired[str]
    parentSession: NotRequired[str]
    persist: NotRequired[Literal["firstAssistant", "firstMessage", "immediate", "never"]]
    options: NotRequired[Options]


class OpenParams(TypedDict):
    """A session to open, by exactly one of `sessionId` and `path`.

    `sessionId`: its id.
    `path`: its file.
    `recover`: what to do with lines that can't be read: `refuse` the session, or `skip` them. It holds for this
    client alone, until it closes the session: others are refused as before, with `sessionCorrupted`.
    `readOnly`: promise not to append.
    `options`: what to set it to.
    """

    sessionId: NotRequired[str]
    path: NotRequired[str]
    recover: NotRequired[Literal["refuse", "skip"]]
    readOnly: NotRequired[bool]
    options: NotRequired[Options]


class ConfigureParams(TypedDict):
    """A session, and what it is to be set to. A member that is absent is left as it is; null means the default.

    `contextWindow`: the model's context window in tokens; the daemon can't know it and asks nobody.
    `durability`: what an answered append promises: `written` survives kill −9, `synced` a loss of power.
    Default: `synced`.
    `autoCompact`: compact when an append passes the trigger, without being asked. Not again before the context
    has grown, where a compaction failed or could not make it small enough.
    `summarizer`: `client`, `model` or `extractive`; null: the first of these that is there.
    `reserveTokens`: tokens of the window that are kept free for the answer; null: as pi's settings.json has it.
    `keepRecentTokens`: about how many tokens of the newest messages a compaction keeps; null: as pi's
    settings.json has it.
    `sessionId`: the session.
    """

    contextWindow: NotRequired[int | None]
    durability: NotRequired[Literal["synced", "written"] | None]
    autoCompact: NotRequired[bool | None]
    summarizer: NotRequired[str | None]
    reserveTokens: NotRequired[int | None]
    keepRecentTokens: NotRequired[int | None]
    sessionId: str


class SessionParams(TypedDict):
    """A session.

    `sessionId`: its id.
    """

    sessionId: str


class ListParams(TypedDict):
    """Which sessions.

    `cwd`: those whose agent works there; absent: all.
    `cursor`: `nextCursor` of the page before.
    `limit`: at most 1,000.
    `workDoneToken`: where to report progress.
    """

    cwd: NotRequired[str]
    cursor: NotRequired[str]
    limit: NotRequired[int]
    workDoneToken: NotRequired[str | int]


class AppendParams(TypedDict):
    """Entries to append. Several form a chain, each under the one before.

    `sessionId`: the session.
    `entries`: drafts, at most `limits.draftsInAppend`. A draft is an entry without `parentId` and `timestamp`.
    It may bring its `id`: the same id with the same content again is answered as before, so a retry is safe.
    `parentId`: the entry to append under; null: as a root; absent: under the leaf.
    `expectedLeafId`: refuse with `leafMoved` where the leaf is another by now. Entries that don't belong to the
    conversation (label, session_info, usage, custom) or a compaction in between do no harm.
    """

    sessionId: str
    entries: list[Json]
    parentId: NotRequired[str | None]
    expectedLeafId: NotRequired[str | None]


class EntriesParams(TypedDict):
    """Which entries: those of `ids`, those after `since`, or all.

    `sessionId`: the session.
    `ids`: the entries wanted; each must be there.
    `since`: the entry after which to begin, in file order.
    `limit`: at most 10,000, which is also the default.
    `workDoneToken`: where to report progress.
    """

    sessionId: str
    ids: NotRequired[list[str]]
    since: NotRequired[str]
    limit: NotRequired[int]
    workDoneToken: NotRequired[str | int]


class TreeParams(TypedDict):
    """Which nodes.

    `sessionId`: the session.
    `filter`: which entries, as in pi's own tree: `default` leaves out labels and settings, `noTools` tool
    results too; `userOnly` shows users' messages, `labeledOnly` what bears a label, `all` everything.
    `fold`: join straight stretches into their last entry.
    `cursor`: `nextCursor` of the page before.
    `workDoneToken`: where to report progress.
    """

    sessionId: str
    filter: NotRequired[Literal["all", "default", "labeledOnly", "noTools", "userOnly"]]
    fold: NotRequired[bool]
    cursor: NotRequired[str]
    workDoneToken: NotRequired[str | int]


class PathOfParams(TypedDict):
    """Which path.

    `sessionId`: the session.
    `leafId`: where it ends; absent: at the session's leaf; null: before the first entry.
    """

    sessionId: str
    leafId: NotRequired[str | None]


class CompareParams(TypedDict):
    """Two entries.

    `sessionId`: the session.
    `a`: one entry.
    `b`: the other.
    """

    sessionId: str
    a: str
    b: str


class ContextParams(TypedDict):
    """What to project, and how.

    `sessionId`: the session.
    `leafId`: absent: the session's leaf; null: before the first entry.
    `format`: `agent`: messages as an agent holds them; `llm`: as a provider is sent them.
    `pairing`: `report` names calls without results and results without calls; `repair` leaves the results out
    and answers the calls as aborted.
    """

    sessionId: str
    leafId: NotRequired[str | None]
    format: NotRequired[Literal["agent", "llm"]]
    pairing: NotRequired[Literal["repair", "report"]]


class ExplainParams(TypedDict):
    """What is to be explained: one entry, the entries in which a text occurs, or all.

    `sessionId`: the session.
    `entryId`: this entry.
    `query`: entries that have this text, in any case of letters: in what was said or thought, in tool calls'
    arguments, in results, summaries and details; in entries that never enter a context, and on damaged lines,
    anywhere.
    `leafId`: absent: in the context at the session's leaf; null: before the first entry.
    `previews`: with the text of `TreeNode.preview` where all entries are explained; it has to be read.
    `cursor`: `nextCursor` of the page before, with the same `query` and `previews`.
    `limit`: at most 20,000, which is also the default; with `query` at most 1,000, default 100.
    `workDoneToken`: where to report progress.
    """

    sessionId: str
    entryId: NotRequired[str]
    query: NotRequired[str]
    leafId: NotRequired[str | None]
    previews: NotRequired[bool]
    cursor: NotRequired[str]
    limit: NotRequired[int]
    workDoneToken: NotRequired[str | int]


class MoveLeafParams(TypedDict):
    """Where to go on from.

    `sessionId`: the session.
    `entryId`: the entry to go to; null: before the first.
    `position`: `at` the entry, or `before`: to the parent of a user or custom message, whose text comes back as
    `editorText`.
    `summarize`: have the branch that is left summarized.
    `instructions`: for the summarizer.
    `summary`: a summary of the branch that is left, made by the client; it is appended at the target.
    `summarizer`: `client`, `model` or `extractive`; absent: as the session is set to, else the first that is
    there.
    `label`: labels the summary if there is one, else the target.
    `expectedLeafId`: refuse with `leafMoved` where the leaf is another by now.
    `workDoneToken`: where to report progress.
    """

    sessionId: str
    entryId: str | None
    position: NotRequired[Literal["at", "before"]]
    summarize: NotRequired[bool]
    instructions: NotRequired[str]
    summary: NotRequired[str]
    summarizer: NotRequired[str]
    label: NotRequired[str]
    expectedLeafId: NotRequired[str | None]
    workDoneToken: NotRequired[str | int]


class ForkParams(TypedDict):
    """A new session from a part of another.

    `sessionId`: the session to fork.
    `entryId`: where the path ends; absent: at the leaf.
    `position`: `at` the entry, or `before` a user or custom message, whose text comes back as `editorText`.
    `scope`: `path` copies the path to the entry, `tree` every line.
    `cwd`: where the new session's agent works; absent: where the old one's does.
    `id`: the new session's id; absent: a new one.
    """

    sessionId: str
    entryId: NotRequired[str]
    position: NotRequired[Literal["at", "before"]]
    scope: NotRequired[Literal["path", "tree"]]
    cwd: NotRequired[str]
    id: NotRequired[str]


class LabelParams(TypedDict):
    """What to call an entry.

    `sessionId`: the session.
    `entryId`: the entry.
    `label`: its label; null or empty clears it.
    """

    sessionId: str
    entryId: str
    label: str | None


class RenameParams(TypedDict):
    """What to call a session.

    `sessionId`: the session.
    `name`: its name; empty clears it.
    """

    sessionId: str
    name: str


class Replacement(TypedDict):
    """What stands for an entry in the context.

    `content`: a string, or an array of content parts.
    """

    content: Json


class EditContextParams(TypedDict):
    """What an entry contributes to the context from here on, on this path.

    `sessionId`: the session.
    `targetId`: the entry.
    `replacement`: what stands for it; null: nothing does.
    """

    sessionId: str
    targetId: str
    replacement: Replacement | None


class CompactionPlanParams(TypedDict):
    """What a compaction at the leaf would be. Numbers that are absent are as the session, the daemon or pi's
    settings.json have them.

    `sessionId`: the session.
    `reserveTokens`: tokens of the window that are kept free for the answer.
    `keepRecentTokens`: about how many tokens of the newest messages stay as they are.
    `contextWindow`: the model's context window in tokens; absent: as the session is set to.
    `requests`: also what a model would be asked.
    `instructions`: for the summarizer, with `requests`.
    """

    sessionId: str
    reserveTokens: NotRequired[int]
    keepRecentTokens: NotRequired[int]
    contextWindow: NotRequired[int]
    requests: NotRequired[bool]
    instructions: NotRequired[str]


class CompactParams(TypedDict):
    """A compaction to make at the leaf. Numbers that are absent are as the session, the daemon or pi's
    settings.json have them.

    `sessionId`: the session.
    `reserveTokens`: tokens of the window that are kept free for the answer.
    `keepRecentTokens`: about how many tokens of the newest messages stay as they are.
    `contextWindow`: taken as in `session/compactionPlan`, and checked; what is asked for is done at any size,
    so it changes nothing.
    `instructions`: what the summary is to look after.
    `summary`: the summary itself, made by the client: no summarizer is asked. At most 1,000,000 characters.
    `summarizer`: `client`, `model` or `extractive`; absent: as the session is set to, else the first that is
    there.
    `retention`: what to do where the summary lacks facts: `report` them, `amend` the summary with them, or
    `refuse` it.
    `openCalls`: while a tool call at the leaf has no result, to `wait` for it (an hour at most after the call,
    then it counts as given up), to `refuse` with `callOpen`, or to `ignore` it, where nobody is left who would
    answer it.
    `workDoneToken`: where to report progress.
    """

    sessionId: str
    reserveTokens: NotRequired[int]
    keepRecentTokens: NotRequired[int]
    contextWindow: NotRequired[int]
    instructions: NotRequired[str]
    summary: NotRequired[str]
    summarizer: NotRequired[str]
    retention: NotRequired[Literal["amend", "refuse", "report"]]
    openCalls: NotRequired[Literal["ignore", "refuse", "wait"]]
    workDoneToken: NotRequired[str | int]


class ResumeReportParams(TypedDict):
    """A path to compare with the world, and what the client has to go on with.

    `sessionId`: the session.
    `leafId`: where the path ends; absent: at the session's leaf; null: before the first entry.
    `tools`: the names of all tools that the client has; absent: they are not compared.
    `credentials`: the names of all credentials that the client can use: providers, or environment variables as
    its tools see them. Names, never values; absent: they are not compared.
    """

    sessionId: str
    leafId: NotRequired[str | None]
    tools: NotRequired[list[str]]
    credentials: NotRequired[list[str]]


class ExportParams(TypedDict):
    """A session, or a path of it, to be taken elsewhere.

    `sessionId`: the session.
    `format`: `jsonl`: a session file of one path, as a fork of it would be; `tree`: every line of the file,
    byte for byte; `markdown`: a document of one path, to be read.
    `leafId`: where the path ends; absent: at the leaf. Not for a `tree`.
    `path`: the file to write, absolute: one that isn't there yet, in a directory that is, not among the
    sessions. Absent: the text is the answer.
    `thinking`: for `markdown`: false leaves out what the model thought, which else is folded.
    `full`: for `markdown`: true cuts no tool results and arguments.
    `workDoneToken`: where to report progress.
    """

    sessionId: str
    format: Literal["jsonl", "markdown", "tree"]
    leafId: NotRequired[str | None]
    path: NotRequired[str]
    thinking: NotRequired[bool]
    full: NotRequired[bool]
    workDoneToken: NotRequired[str | int]


class PathParams(TypedDict):
    """A file.

    `path`: the session file, absolute.
    """

    path: str


class RequestWriterParams(TypedDict):
    """Whose turn it is to write.

    `sessionId`: the session.
    `release`: what one daemon asks another for: hand the writer over, instead of asking for it.
    """

    sessionId: str
    release: NotRequired[bool]


class SubscribeSince(TypedDict):
    """What a client knows of a session.

    `instanceId`: the loading that it saw.
    `revision`: the last revision that it saw.
    """

    instanceId: str
    revision: int


class SubscribeParams(TypedDict):
    """What to hear of.

    `sessionId`: the session.
    `since`: what the client knows already; what it missed is replayed.
    """

    sessionId: str
    since: NotRequired[SubscribeSince]


class SearchParams(TypedDict):
    """What to look for.

    `query`: words, and "phrases" in quotation marks; an entry has to say all of them. They are found within
    other words, in names and in paths, upper and lower case alike. Nothing in it is an operator.
    `cwd`: in sessions whose agent works there.
    `role`: in messages of that role, or in entries of that type.
    `model`: in answers of models whose name has that, as `provider/model` or `model`, in upper or lower case.
    `label`: in entries with that label.
    `after`: in entries of that time or later, ISO 8601.
    `before`: in entries before that time, ISO 8601.
    `cursor`: `nextCursor` of the page before.
    `limit`: at most 100.
    """

    query: str
    cwd: NotRequired[str]
    role: NotRequired[str]
    model: NotRequired[str]
    label: NotRequired[str]
    after: NotRequired[str]
    before: NotRequired[str]
    cursor: NotRequired[str]
    limit: NotRequired[int]


class CatalogParams(TypedDict):
    """Which sessions.

    `cwd`: those whose agent works there; absent: all.
    """

    cwd: NotRequired[str]


class PanelParams(TypedDict):
    """What the panel is to show.

    `sessionId`: the session to begin with.
    """

    sessionId: NotRequired[str]


class DoctorParams(TypedDict):
    """What to do.

    `fix`: mend what `repair` names; false changes nothing.
    `workDoneToken`: where to report progress.
    """

    fix: NotRequired[bool]
    workDoneToken: NotRequired[str | int]


class StopParams(TypedDict):
    """How to stop.

    `drain`: let running requests finish, and write sessions that are not written yet.
    """

    drain: NotRequired[bool]


class SummarizeResult(TypedDict):
    """The summary.

    `summary`: Markdown. Nothing, a refusal, headings alone, and a line that names nothing count as a failure.
    `usage`: what it cost, as entries of pi have it.
    `model`: which model made it.
    """

    summary: str
    usage: NotRequired[Json]
    model: NotRequired[str]


class PiDaemonCapabilities(TypedDict):
    """What the daemon is and can do.

    `protocolVersion`: the version of this protocol.
    `daemonId`: names the process; another id is another process, with nothing of the old one's subscriptions.
    `clientId`: names this connection, as in `origin`.
    `features`: what this daemon can do, by name; absent: it can't.
    `limits`: the caps in force, each in the unit of its name.
    `sessionsDir`: where sessions lie.
    `token`: the panel's, in exchange for the code of its address: what to bring in `initialize` from now on.
    """

    protocolVersion: int
    daemonId: str
    clientId: str
    features: dict[str, dict[str, Json]]
    limits: dict[str, int]
    sessionsDir: str
    token: NotRequired[str]


class Experimental(TypedDict):
    """LSP's place for what isn't LSP's.

    `piDaemon`: this daemon's own.
    """

    piDaemon: PiDaemonCapabilities


class ServerCapabilities(TypedDict):
    """LSP's server capabilities, as far as there are any.

    `experimental`: what isn't LSP's.
    """

    experimental: Experimental


class ServerInfo(TypedDict):
    """Who answers.

    `name`: `pi-daemon`.
    `version`: the daemon's version.
    """

    name: str
    version: str


class InitializeResult(TypedDict):
    """LSP's own.

    `capabilities`: what can be asked for.
    `serverInfo`: who answers.
    """

    capabilities: ServerCapabilities
    serverInfo: ServerInfo


class Model(TypedDict):
    """A model, as a path has selected it.

    `provider`: the provider's name in the session file.
    `modelId`: the model's name there.
    """

    provider: str
    modelId: str


class DamageInfo(TypedDict):
    """One thing that is wrong with a session file.

    `kind`: a broken line: `notJson`, `glued` (several entries on it), `notObject`, `noId`, `tooDeep`,
    `notUtf8`; a last line without an end: `tornTail`; the tree: `orphan`, `duplicateId`, `loop`; the file:
    `lateHeader`, `extraHeader`, `byteOrderMark`, `unversioned`, `newerVersion`, `noHeader`, `empty`; what
    another process did: `lost`, acknowledged entries are gone from the file.
    `message`: the same in words.
    `line`: the line, counted from 1.
    `offset`: where the line begins, in bytes.
    `length`: the line's length in bytes.
    `entryIds`: the entries concerned: themselves, or those that lost an ancestor.
    """

    kind: str
    message: str
    line: int | None
    offset: int | None
    length: int | None
    entryIds: list[str]


class SessionState(TypedDict):
    """An open session as it is now.

    `sessionId`: its id.
    `path`: its file; null while `persisted` is false.
    `cwd`: the directory that its agent works in.
    `name`: null without one.
    `parentSession`: the file that it was forked from.
    `leafId`: where the next entry is appended; null: before the first.
    `revision`: counts the changes of state since it was loaded, moves of the leaf included.
    `instanceId`: names this loading of the session: each load, reload or replacement is a new one.
    `entryCount`: how many entries it has.
    `model`: the model that the path has selected.
    `thinkingLevel`: the level that the path has selected.
    `contextTokens`: the size of the context; an estimate until the next valid usage.
    `persisted`: whether it is in a file.
    `readOnly`: why nothing can be appended, or false.
    `options`: what it is set to.
    `damage`: what is wrong with its file.
    `editorText`: the text of the message before which it was forked.
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
    """A session in a list. Times are ISO 8601 with milliseconds and Z.

    `sessionId`: its id.
    `path`: its file; null while it has none.
    `cwd`: the directory that its agent works in.
    `name`: null without one.
    `parentSession`: the file that it was forked from.
    `created`: when it began.
    `modified`: the time of its last user or assistant message.
    `messageCount`: how many messages it has.
    `firstMessage`: the text of the first user message.
    `size`: of the file, in bytes.
    `open`: whether the daemon has it open.
    `persisted`: whether it is in a file.
    `damaged`: whether a quick look saw lines that can't be read, so that it may not open: `session/check` says
    more.
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
    damaged: bool


class ListResult(TypedDict):
    """Sessions, newest activity first.

    `sessions`: one page of them.
    `nextCursor`: where there is more.
    """

    sessions: list[SessionInfo]
    nextCursor: NotRequired[str]


class DeleteResult(TypedDict):
    """The session is gone.

    `trashedTo`: where its file went, if the system tells.
    """

    trashedTo: NotRequired[str]


class AppendedEntry(TypedDict):
    """What the daemon gave a draft.

    `id`: its id.
    `parentId`: the entry that it hangs under.
    `timestamp`: when it was appended.
    """

    id: str
    parentId: str | None
    timestamp: str


class AppendResult(TypedDict):
    """The entries are in the session.

    `entries`: what each draft was given, in their order.
    `leafId`: the last of them.
    `revision`: the session's revision with them.
    `durability`: what is promised for them: `memory` (not on disk yet), `written` (survives kill −9) or
    `synced` (survives a loss of power).
    `raced`: true where another process had written to the file before them.
    `contextTokens`: the size of the context at the leaf; an estimate until the next valid usage.
    `shouldCompact`: whether it is time to; null while no context window is known.
    """

    entries: list[AppendedEntry]
    leafId: str | None
    revision: int
    durability: Literal["memory", "synced", "written"]
    raced: NotRequired[bool]
    contextTokens: int
    shouldCompact: bool | None


class EntriesResult(TypedDict):
    """Entries in file order.

    `entries`: each as it is stored, byte for byte.
    `leafId`: the leaf now.
    `revision`: the revision that this shows.
    `nextSince`: where there is more: what to give as `since` for it.
    """

    entries: list[Json]
    leafId: str | None
    revision: int
    nextSince: NotRequired[str]


class TreeNode(TypedDict):
    """One entry as a tree shows it.

    `id`: the entry's id.
    `parentId`: the entry that it hangs under. In a filtered tree that is the nearest one shown.
    `type`: the entry's kind.
    `role`: the message's role, for messages.
    `preview`: at most 120 characters of text: never images, thinking or whole arguments.
    `label`: the label that the entry bears now.
    `timestamp`: the entry's own, as stored.
    `childCount`: how many of its children are shown.
    `onPath`: whether it lies on the path to the leaf.
    `run`: with `fold`, how many entries a straight stretch stands for.
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
    """The tree as a flat list.

    `nodes`: parents before their children, siblings by time. A hidden entry's children hang under its nearest
    visible ancestor.
    `leafId`: the leaf now.
    `revision`: the revision that this shows.
    `nextCursor`: where there is more.
    """

    nodes: list[TreeNode]
    leafId: str | None
    revision: int
    nextCursor: NotRequired[str]


class PathResult(TypedDict):
    """A path.

    `entryIds`: root first.
    `leafId`: where it ends.
    """

    entryIds: list[str]
    leafId: str | None


class CompareResult(TypedDict):
    """Where two paths part.

    `ancestorId`: the last entry that both have; null where they have none.
    `a`: the entries of the one path after it, root first.
    `b`: those of the other.
    """

    ancestorId: str | None
    a: list[str]
    b: list[str]


class Problem(TypedDict):
    """Something for which a provider would refuse the request.

    `kind`: a tool result without its call, or a call without its result.
    `entryId`: the entry that has it.
    `toolCallId`: the call's id.
    """

    kind: Literal["callWithoutResult", "resultWithoutCall"]
    entryId: str
    toolCallId: str


class ContextResult(TypedDict):
    """What the model sees at a leaf.

    `messages`: as they are stored, wherever the projection neither makes nor changes them.
    `sources`: `sources[i]` is the entry that `messages[i]` comes from.
    `model`: the model that the path has selected.
    `thinkingLevel`: the level that the path has selected.
    `tokens`: the context's size; an estimate until the next valid usage.
    `compactionId`: the compaction that the context begins with.
    `leafId`: the leaf that it belongs to.
    `problems`: what a provider would refuse; with `repair` what was repaired.
    """

    messages: list[Json]
    sources: list[str]
    model: Model | None
    thinkingLevel: str
    tokens: int
    compactionId: NotRequired[str]
    leafId: str | None
    problems: list[Problem]


class RetentionFact(TypedDict):
    """A fact that a summary lacked.

    `kind`: which kind of fact.
    `text`: the fact.
    `entryId`: the entry that it comes from.
    """

    kind: str
    text: str
    entryId: NotRequired[str]


class FactsKept(TypedDict):
    """What the summary that stands for an entry says of it. Facts are paths, errors, open calls, requests,
    constraints and what was unfinished.

    `summaryId`: the compaction or branch summary that was asked.
    `asked`: how many facts the entry has.
    `kept`: how many of them the summary names.
    `missing`: the others, at most 20.
    """

    summaryId: str
    asked: int
    kept: int
    missing: list[RetentionFact]


class ExplainedEntry(TypedDict):
    """One entry, or one line that can't be read, and why the model knows it or not.

    `id`: the entry's id; null for a line that can't be read, unless it was asked for by an id that stands on
    it.
    `type`: the entry's kind.
    `role`: the message's role, for messages.
    `inContext`: whether a provider is sent something of it: whether it is among the `sources` of
    `session/context` with `format: "llm"`.
    `reason`: how it is in the context: `asStored`; `edited` (its content is that of `byId`); `summary` (as a
    summary message). Or why it never is, at any leaf: `neverEnters` (its kind makes no message),
    `emptySummary`, `excluded` (output of a command that was kept out), `unknownRole`, `sameIdLater` (a later
    line has its id), `damagedLine`. Or where it lies: `noLeaf` (the leaf is before the first entry),
    `otherBranch` (it left the path at `leftAtId` and begins with `branchId`), `afterLeaf` (the same, below the
    leaf), `orphaned` (the parents end at `rootId`, whose parent `missingId` isn't in the file), `loop` (they
    end in a loop, cut at `rootId`), `pathCut` (the path itself ends so at `rootId`, and the entry isn't below
    it). Or what the path made of it: `compacted` (`compactionId` covers it; an older one, `firstCompactionId`,
    did so first), `olderCompaction` (`compactionId` came after it), `foldedSystem` (a system message, carried
    on by `compactionId`), `droppedSystem` (one that it doesn't carry on), `omitted` (by the edit `byId`),
    `setting` (it sets the model or the level, now), `overridden` (it set something that `byId` set anew),
    `edit` (it changes what `targetId` contributes), `editsNothing` (`targetId` contributes nothing that it
    could change).
    `messageIndex`: the place of its message in `session/context` as an agent holds it; of a compaction that
    carries a system message, which makes two, that of the first.
    `sentIndex`: the same among the messages that a provider is sent.
    `byId`: the entry that edits, omits or overrides it; of what a compaction covers, the edit that omits the
    compaction's summary.
    `compactionId`: the compaction that the context begins with.
    `firstCompactionId`: the one that covered it before.
    `branchId`: the first entry of the branch that it lies on.
    `leftAtId`: the last entry that this branch shares with the path; absent where it has a root of its own.
    `summaryId`: a branch summary in the context that was made of its branch.
    `rootId`: the entry at which a broken chain of parents ends.
    `missingId`: the parent that it names and that isn't there.
    `targetId`: the entry that a context edit is about.
    `line`: the damaged line, counted from 1; of an orphan the one that its ancestors may have stood on.
    `damage`: what is wrong with that line.
    `facts`: what the summary in the context says of it; with `entryId` and `query`.
    `preview`: as in `TreeNode`.
    `foundIn`: with `query`, where: `text`, `thinking`, `arguments`, `result`, `summary`, `command` (and its
    output), `details` (which no model reads), or `other`.
    `snippet`: with `query`, what stands around it, on one line.
    `textInContext`: with `query`, whether what is sent in the entry's place has the text: the entry itself,
    what an edit put there, or the summary that stands for it.
    """

    id: str | None
    type: NotRequired[str]
    role: NotRequired[str]
    inContext: bool
    reason: Literal[
        "afterLeaf",
        "asStored",
        "compacted",
        "damagedLine",
        "droppedSystem",
        "edit",
        "edited",
        "editsNothing",
        "emptySummary",
        "excluded",
        "foldedSystem",
        "loop",
        "neverEnters",
        "noLeaf",
        "olderCompaction",
        "omitted",
        "orphaned",
        "otherBranch",
        "overridden",
        "pathCut",
        "sameIdLater",
        "setting",
        "summary",
        "unknownRole",
    ]
    messageIndex: NotRequired[int]
    sentIndex: NotRequired[int]
    byId: NotRequired[str]
    compactionId: NotRequired[str]
    firstCompactionId: NotRequired[str]
    branchId: NotRequired[str]
    leftAtId: NotRequired[str]
    summaryId: NotRequired[str]
    rootId: NotRequired[str]
    missingId: NotRequired[str]
    targetId: NotRequired[str]
    line: NotRequired[int]
    damage: NotRequired[str]
    facts: NotRequired[FactsKept]
    preview: NotRequired[str]
    foundIn: NotRequired[str]
    snippet: NotRequired[str]
    textInContext: NotRequired[bool]


class ExplainResult(TypedDict):
    """Entries in file order, each with its reason.

    `entries`: one page of them.
    `leafId`: the leaf that the context belongs to.
    `revision`: the revision that this shows.
    `nextCursor`: where there is more.
    """

    entries: list[ExplainedEntry]
    leafId: str | None
    revision: int
    nextCursor: NotRequired[str]


class MoveLeafResult(TypedDict):
    """The leaf was moved.

    `leafId`: where it is.
    `previousLeafId`: where it was.
    `summaryEntryId`: the summary that was appended.
    `editorText`: the text of the message before which the leaf is now.
    `revision`: the session's revision with it.
    `durability`: what the entries survive that were appended; absent without a summary and a label.
    """

    leafId: str | None
    previousLeafId: str | None
    summaryEntryId: NotRequired[str]
    editorText: NotRequired[str]
    revision: int
    durability: NotRequired[Literal["memory", "synced", "written"]]


class ChangeResult(TypedDict):
    """An entry was appended for the change; the leaf is that entry now.

    `entryId`: that entry.
    `revision`: the session's revision with it.
    `durability`: what it survives.
    """

    entryId: str
    revision: int
    durability: Literal["memory", "synced", "written"]


class OpenCall(TypedDict):
    """A tool call without a result, after which nothing but its result may come.

    `entryId`: the answer that makes it.
    `toolCallId`: its id.
    `toolName`: the tool.
    """

    entryId: str
    toolCallId: str
    toolName: str


class SummarizeParams(TypedDict):
    """A summary is wanted.

    `kind`: `first`: of what leaves the context; `update`: of that together with `previousSummary`, which it
    replaces; `split`: of the beginning of a turn whose rest is kept; `branch`: of a branch that was left.
    `systemPrompt`: what to tell the model it is.
    `prompt`: what to ask it for, to be put after the conversation.
    `conversation`: what is to be summarized, as text. It is data: nothing in it is meant for who summarizes.
    `previousSummary`: the summary that this one updates.
    `instructions`: what whoever asked wants looked after; they are in `prompt` already.
    `maxTokens`: what the summary may have at most.
    """

    kind: Literal["branch", "first", "split", "update"]
    systemPrompt: str
    prompt: str
    conversation: str
    previousSummary: NotRequired[str]
    instructions: NotRequired[str]
    maxTokens: int


class CompactionPlanResult(TypedDict):
    """What a compaction would do.

    `leafId`: the leaf that this holds for.
    `firstKeptEntryId`: the first entry that stays in the context.
    `isSplitTurn`: the cut lies within a turn, whose beginning is summarized by itself.
    `tokensBefore`: the context's size now.
    `tokensKept`: an estimate of what stays of it, without the summary.
    `contextWindow`: as it counts; null: unknown.
    `reserveTokens`: as it counts.
    `keepRecentTokens`: as it counts.
    `shouldCompact`: whether it is time to; null while no context window is known.
    `summarizedEntryIds`: the entries of whole turns that would be summarized, oldest first.
    `prefixEntryIds`: those of the turn that the cut splits.
    `previousCompactionId`: the compaction whose summary this one would update.
    `readFiles`: files that were read, and not modified.
    `modifiedFiles`: files that were modified.
    `summarizer`: which summarizer would be asked; null: none is there.
    `openCalls`: tool calls at the leaf that a compaction waits for: without a result, less than an hour old,
    and of an answer that was neither broken off nor edited since.
    `requests`: what a model would be asked, one after the other.
    `revision`: the revision that this shows.
    """

    leafId: str | None
    firstKeptEntryId: str
    isSplitTurn: bool
    tokensBefore: int
    tokensKept: int
    contextWindow: int | None
    reserveTokens: int
    keepRecentTokens: int
    shouldCompact: bool | None
    summarizedEntryIds: list[str]
    prefixEntryIds: list[str]
    previousCompactionId: str | None
    readFiles: list[str]
    modifiedFiles: list[str]
    summarizer: str | None
    openCalls: list[OpenCall]
    requests: NotRequired[list[SummarizeParams]]
    revision: int


class RetentionTally(TypedDict):
    """How a summary did with one kind of fact.

    `kept`: how many of them it held.
    `asked`: how many it was asked for.
    """

    kept: int
    asked: int


class Retention(TypedDict):
    """What a summary kept of the facts that it was asked for.

    `policy`: what was to be done about facts that it lacked.
    `score`: 0 to 1: the share that it held, each kind of fact with its weight.
    `scoreAfter`: the same once what it lacked was added to it, as far as there was room.
    `kinds`: by kind of fact: `request` (the last one), `constraint`, `unfinished`, `superseded` (a rule or a
    step that doesn't hold any more and is still stated; asked about only where one is), `openCall`, `error`
    (that still stands), `modified`, `commit`, `reference`, `overcome` (an error that is none any more), `read`.
    `missing`: facts that it lacked, the most valuable first, at most 20.
    `missingLeftOut`: how many more there were.
    """

    policy: Literal["amend", "refuse", "report"]
    score: float
    scoreAfter: float
    kinds: dict[str, RetentionTally]
    missing: list[RetentionFact]
    missingLeftOut: int


class CompactResult(TypedDict):
    """The compaction was appended.

    `entryId`: its entry.
    `summary`: the summary as it is stored.
    `firstKeptEntryId`: the first entry that stays in the context.
    `tokensBefore`: the context's size before.
    `tokensAfter`: an estimate of its size now.
    `details`: the entry's `details`.
    `retention`: what the summary kept of the facts.
    `summarizer`: who made the summary; `request` where it came with the request.
    `model`: which model was asked, if one was.
    `revision`: the session's revision with it.
    `durability`: what is promised for the entry.
    """

    entryId: str
    summary: str
    firstKeptEntryId: str
    tokensBefore: int
    tokensAfter: int
    details: Json
    retention: Retention
    summarizer: str
    model: NotRequired[str]
    revision: int
    durability: Literal["memory", "synced", "written"]


class CwdReport(TypedDict):
    """The session's directory.

    `path`: as the session has it.
    `state`: what is there.
    `movedTo`: where it is gone: directories that may be the same one, the likeliest first.
    """

    path: str
    state: Literal["gone", "notDirectory", "there", "unreadable"]
    movedTo: list[str]


class DirtyReport(TypedDict):
    """A file that isn't as in HEAD.

    `path`: relative to the cwd where it lies in it.
    `status`: the two letters of `git status`, `??` for what git doesn't know.
    `byPath`: whether a call on the path changed it too.
    """

    path: str
    status: str
    byPath: bool


class GitReport(TypedDict):
    """The work tree that the cwd lies in.

    `root`: its directory.
    `head`: the commit; null: there is none yet.
    `branch`: null: HEAD is detached.
    `dirty`: uncommitted changes, at most 1,000; those within submodules are left out.
    `dirtyCount`: how many there are.
    """

    root: str
    head: str | None
    branch: str | None
    dirty: list[DirtyReport]
    dirtyCount: int


class CallTally(TypedDict):
    """The tool calls of the path. A session doesn't say whether a call without a result was started.

    `called`: all.
    `finished`: those with a result on the path.
    `failed`: those of them whose result is an error.
    `open`: those without a result on the path.
    """

    called: int
    finished: int
    failed: int
    open: int


class FileReport(TypedDict):
    """A file that writes or edits on the path changed and that went well.

    `path`: relative to the cwd where it lies in it.
    `state`: `asWritten`: as the last of them left it, or each text that edits put in is there; `changed` since;
    `gone`; `outside` of the cwd and its repository, and not looked at; `unknown`: can't be told.
    `entryId`: the entry of the last such call.
    `tool`: its tool.
    `changes`: how many such calls there are.
    """

    path: str
    state: Literal["asWritten", "changed", "gone", "outside", "unknown"]
    entryId: str
    tool: str
    changes: int


class ResumeFinding(TypedDict):
    """One thing that may not be as the path has it.

    `kind`: names the situation; there may be more kinds in a later version.
    `severity`: `problem`: what the model takes for granted is not so; `warning`: it may not be so; `info`:
    nothing is wrong, or nothing can be told.
    `message`: what was found.
    `advice`: what to do about it.
    `entryId`: the entry that it is about.
    `path`: the file or directory that it is about, relative to the cwd where it lies in it.
    """

    kind: str
    severity: Literal["info", "problem", "warning"]
    message: str
    advice: str
    entryId: NotRequired[str]
    path: NotRequired[str]


class ResumeReportResult(TypedDict):
    """The path against the world as it is now. Nothing was written.

    `leafId`: where the path ends.
    `revision`: the revision that this shows.
    `cwd`: the session's directory.
    `git`: null: no work tree, or none that could be looked at; a finding says why.
    `toolCalls`: what became of them.
    `files`: what writes and edits changed, the latest last; empty while the cwd isn't there.
    `findings`: the worst first.
    """

    leafId: str | None
    revision: int
    cwd: CwdReport
    git: GitReport | None
    toolCalls: CallTally
    files: list[FileReport]
    findings: list[ResumeFinding]


class Failures(TypedDict):
    """What went wrong.

    `toolResults`: tool results that say they are errors.
    `errors`: answers that ended in an error.
    `aborted`: answers that were aborted.
    """

    toolResults: int
    errors: int
    aborted: int


class TokenTotals(TypedDict):
    """Sums of what was billed.

    `input`: tokens sent.
    `output`: tokens made.
    `cacheRead`: tokens read from the provider's cache.
    `cacheWrite`: tokens written to it.
    `cost`: in the currency that the agent counts in.
    """

    input: float
    output: float
    cacheRead: float
    cacheWrite: float
    cost: float


class RepeatedReplies(TypedDict):
    """What stands in copies of a reply that was counted before: the same `responseId`, or without one the same
    model, time and tokens. It is part of the totals, as pi counts it too; take it away to have each reply once.

    `count`: how many copies there are.
    `tokens`: what they say was billed.
    """

    count: int
    tokens: TokenTotals


class TimeSpan(TypedDict):
    """When a session, or a branch, was worked on.

    `first`: the time of its first entry; null: none has a time.
    `last`: the time of its last one.
    `active`: seconds of work: what lies between each entry and its parent, where that is at most five minutes.
    It adds up over branches.
    """

    first: str | None
    last: str | None
    active: float


class ModelStats(TypedDict):
    """What one model did. Over all rows this adds up to the totals.

    `model`: the model; null for what names none (summaries, tools that were billed).
    `models`: how many models the row stands for: 1, or in the last row all that are not told one by one.
    `answers`: its assistant messages.
    `toolCalls`: how many tools it called.
    `failures`: its answers that failed, and results of its calls.
    `tokens`: what was billed.
    """

    model: Model | None
    models: int
    answers: int
    toolCalls: int
    failures: Failures
    tokens: TokenTotals


class BranchStats(TypedDict):
    """What a branch has to itself. Every entry is in exactly one row, so the rows add up to the totals.

    `tip`: its last entry; null in the row of the rest.
    `leftAt`: the entry under which it hangs, on whichever branch that is; null: it has a root of its own.
    `main`: whether this is the path to the leaf. A stretch that several other branches share counts with the
    newest.
    `branches`: how many branches the row stands for: 1, or in the last row all that are not told one by one.
    Entries whose id was used again are there too.
    `entryCount`: its entries.
    `messageCount`: how many of them are messages.
    `toolCalls`: how many tools were called.
    `failures`: what went wrong.
    `tokens`: what was billed.
    `time`: when it was worked on.
    """

    tip: str | None
    leftAt: str | None
    main: bool
    branches: int
    entryCount: int
    messageCount: int
    toolCalls: int
    failures: Failures
    tokens: TokenTotals
    time: TimeSpan


class StatsResult(TypedDict):
    """What a session amounts to.

    `sessionId`: the session.
    `entryCount`: how many entries it has.
    `messageCount`: how many of them are messages.
    `messagesByRole`: the same by role.
    `toolCalls`: how many tools were called.
    `failures`: what went wrong.
    `tokens`: sums over all branches, as pi has them.
    `repeated`: the part of them that stands in copies of replies.
    `time`: when it was worked on.
    `models`: the same by model, the costliest first.
    `branches`: the same by branch: the path to the leaf, then the others, the newest first.
    `contextTokens`: the size of the context at the leaf.
    `contextWindow`: what the session is set to; null: unknown.
    `contextShare`: `contextTokens` over `contextWindow`; null while that is unknown.
    `contextThreshold`: more tokens than this are too many, and a compaction is due; null while the window is
    unknown.
    `shouldCompact`: whether that is so now; null while the window is unknown.
    `revision`: the revision that this shows.
    """

    sessionId: str
    entryCount: int
    messageCount: int
    messagesByRole: dict[str, int]
    toolCalls: int
    failures: Failures
    tokens: TokenTotals
    repeated: RepeatedReplies
    time: TimeSpan
    models: list[ModelStats]
    branches: list[BranchStats]
    contextTokens: int
    contextWindow: int | None
    contextShare: float | None
    contextThreshold: int | None
    shouldCompact: bool | None
    revision: int


class ExportResult(TypedDict):
    """What was exported: one of the two.

    `path`: the file that was written, readable by its user alone.
    `text`: the text itself.
    """

    path: NotRequired[str]
    text: NotRequired[str]


class CheckResult(TypedDict):
    """What a check found.

    `path`: the file.
    `sessionId`: the id in its header.
    `entryCount`: how many entries can be read.
    `opens`: false where `session/open` would refuse without `recover: "skip"`.
    `damage`: what is wrong.
    """

    path: str
    sessionId: str | None
    entryCount: int
    opens: bool
    damage: list[DamageInfo]


class RepairResult(TypedDict):
    """What a repair did.

    `path`: the file.
    `originalKeptAt`: where the file as it was is kept; null where nothing had to be repaired and nothing was
    written.
    `dropped`: what was left out.
    `rewritten`: what was made readable: a line with several entries was split; in one that isn't UTF-8 U+FFFD
    stands for what isn't, as pi reads it.
    """

    path: str
    originalKeptAt: str | None
    dropped: list[DamageInfo]
    rewritten: list[DamageInfo]


class RequestWriterResult(TypedDict):
    """Who may write now.

    `status`: `held`: this daemon holds the writer; `released`: it has let go of it; `free`: nobody holds it,
    the next append takes it.
    """

    status: Literal["free", "held", "released"]


class SubscribeResult(TypedDict):
    """From here on every revision is told, once and in order.

    `instanceId`: this loading of the session.
    `revision`: the revision as of now.
    `leafId`: the leaf as of now.
    `fresh`: what lies between can't be replayed: read the session anew.
    `events`: the notifications that were missed, `{method, params}`, oldest first.
    """

    instanceId: str
    revision: int
    leafId: str | None
    fresh: bool
    events: NotRequired[list[Json]]


class UnsubscribeResult(TypedDict):
    """What there was to end.

    `status`: `notOpen`: the session isn't even open.
    """

    status: Literal["notOpen", "notSubscribed", "unsubscribed"]


class SearchHit(TypedDict):
    """An entry that says what was looked for.

    `sessionId`: its session.
    `path`: the session's file.
    `name`: the session's name; null without one.
    `cwd`: the directory that its agent works in.
    `entryId`: the entry.
    `type`: the kind of entry.
    `role`: of a message.
    `timestamp`: the entry's.
    `snippet`: one line of its text around what was found, never longer than a preview by much.
    `onPath`: whether it lies on the path to the last entry of the file.
    `tipId`: the last entry of the file that descends from it, so the end of the branch on which it lies; null
    where that can't be told.
    """

    sessionId: str
    path: str
    name: str | None
    cwd: str
    entryId: str
    type: str
    role: NotRequired[str]
    timestamp: str
    snippet: str
    onPath: bool
    tipId: str | None


class SearchResult(TypedDict):
    """What was found.

    `hits`: by relevance among what is about as old, and newer before older. May be empty though there is more.
    `complete`: whether the text of all sessions was searched; false while it is being indexed.
    `indexed`: 0 to 1: the share of the text that was searched.
    `nextCursor`: where there is more.
    """

    hits: list[SearchHit]
    complete: bool
    indexed: float
    nextCursor: NotRequired[str]


class CatalogTotals(TypedDict):
    """Sums over sessions. An answer that a fork has copied is counted once.

    `sessions`: how many sessions there are.
    `messages`: how many messages they have, copies included.
    `replies`: how many answers of models they have.
    `repeated`: how many copies of those there are beside, in forks.
    `tokens`: sums over `replies`.
    """

    sessions: int
    messages: int
    replies: int
    repeated: int
    tokens: TokenTotals


class CatalogStatus(TypedDict):
    """Whether the client hears of session files that come, change and go.

    `subscribed`: whether it does now.
    """

    subscribed: bool


class ClientStatus(TypedDict):
    """One connection.

    `clientId`: its id.
    `name`: what it calls itself.
    `transport`: `stdio`, `unix`, `tcp`, `websocket` or `panel`.
    `requests`: how many are in flight.
    `queued`: messages that the client hasn't taken yet.
    `queuedBytes`: their bytes.
    `resyncs`: how often notifications had to be left out.
    """

    clientId: str
    name: str
    transport: str
    requests: int
    queued: int
    queuedBytes: int
    resyncs: int


class OpenSessionStatus(TypedDict):
    """One open session.

    `sessionId`: its id.
    `path`: its file; null while it has none.
    `revision`: its revision.
    `entryCount`: how many entries it has.
    `subscribers`: how many clients hear of it.
    `queued`: changes that wait for its writer.
    `persisted`: whether it is in a file.
    `compacting`: whether a compaction or a move with a summary is under way.
    """

    sessionId: str
    path: str | None
    revision: int
    entryCount: int
    subscribers: int
    queued: int
    persisted: bool
    compacting: bool


class StatusResult(TypedDict):
    """What the daemon is doing.

    `version`: the daemon's version.
    `protocolVersion`: the version of this protocol.
    `daemonId`: names the process.
    `pid`: its process id.
    `uptime`: in seconds.
    `sessionsDir`: where sessions lie.
    `transports`: where it listens.
    `clients`: who is connected.
    `sessions`: what is open.
    `memory`: resident bytes of the process.
    """

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


class PanelResult(TypedDict):
    """Where the panel is.

    `url`: the address to open in a browser: once, and within a minute. What is behind its `#` is a secret: it
    must not come into a log, or into the arguments of a command.
    """

    url: str


class DoctorFinding(TypedDict):
    """One thing in the sessions directory.

    `kind`: problems: `damaged` (lines that can't be read, or a file that only can be read), `halfWritten` (a
    last line without an end), `empty`, `leftover` (a file of the daemon's own that was never finished),
    `duplicated` (several files with one session id, or one file under several names), `unreadable`; notes:
    `irregular` (orphans, ids used again, second headers: read as well as can be), `linked` (a link to a session
    beside it), `foreign` (no session), `misplaced` (not in the folder of its cwd, or called after another id),
    `outside` (a link that leads out, or nowhere), `notRead` (too large to be read whole), `parentMissing` (the
    session that it was forked from is gone).
    `problem`: false: a note, nothing has to be done.
    `path`: the file or folder; where its name is no UTF-8, with U+FFFD for what isn't.
    `message`: what is wrong, in words.
    `sessionId`: the id in its header, where it has one.
    `others`: the other files concerned.
    `repair`: what `fix` does about it: `repair` the file as `session/repair` does, or move it to the state
    directory (`putAway`); null: nothing, as nothing is ever deleted.
    `damage`: what is wrong with the file, the first of it.
    `damageCount`: how much that is altogether.
    `status`: `found`: nothing was tried; `fixed`; `skipped`: somebody has it open, or wrote to it less than a
    minute ago; `failed`.
    `outcome`: the same in words, where something was tried.
    `keptAt`: where the file as it was is kept.
    """

    kind: str
    problem: bool
    path: str
    message: str
    sessionId: str | None
    others: list[str]
    repair: Literal["putAway", "repair"] | None
    damage: list[DamageInfo]
    damageCount: int
    status: Literal["failed", "fixed", "found", "skipped"]
    outcome: str | None
    keptAt: str | None


class DoctorResult(TypedDict):
    """How the sessions directory is.

    `sessionsDir`: the directory.
    `folders`: how many were looked into.
    `files`: how many session files were looked at.
    `bytes`: their size.
    `problems`: how many problems there are yet.
    `findings`: problems and notes, by path.
    `leftOut`: how many more there are: of either kind 2,000 are told.
    """

    sessionsDir: str
    folders: int
    files: int
    bytes: int
    problems: int
    findings: list[DoctorFinding]
    leftOut: int


class Origin(TypedDict):
    """The client that caused a change.

    `clientId`: the id that the daemon gave the client in `initialize`.
    `name`: what the client calls itself.
    """

    clientId: str
    name: str


class LeafChanged(TypedDict):
    """The leaf is another.

    `sessionId`: the session.
    `instanceId`: this loading of the session.
    `revision`: one change makes one revision; where it makes several notifications, all carry it.
    `origin`: the client that caused it; null where it came from outside.
    `leafId`: where it is.
    `previousLeafId`: where it was.
    `cause`: what moved it.
    """

    sessionId: str
    instanceId: str
    revision: int
    origin: Origin | None
    leafId: str | None
    previousLeafId: str | None
    cause: Literal["append", "compact", "external", "move", "reload"]


class Appended(TypedDict):
    """Entries were appended.

    `sessionId`: the session.
    `instanceId`: this loading of the session.
    `revision`: one change makes one revision; where it makes several notifications, all carry it.
    `origin`: the client that caused it; null where it came from outside.
    `entries`: each as a tree shows it, in file order.
    `cause`: what appended them.
    """

    sessionId: str
    instanceId: str
    revision: int
    origin: Origin | None
    entries: list[TreeNode]
    cause: Literal["append", "compact", "external", "move", "reload"]


class Compacted(TypedDict):
    """A compaction was appended.

    `sessionId`: the session.
    `instanceId`: this loading of the session.
    `revision`: one change makes one revision; where it makes several notifications, all carry it.
    `origin`: the client that caused it; null where it came from outside.
    `entryId`: the compaction.
    `firstKeptEntryId`: the first entry that the context keeps.
    `tokensBefore`: the context's size before.
    `tokensAfter`: an estimate of its size now; null where another process appended the compaction.
    `retention`: what the summary kept of the facts, where the daemon made the compaction: see Retention.
    `cause`: what appended it.
    """

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


class Compaction(TypedDict):
    """A compaction that the daemon makes has begun or ended. All of one carry the same id.

    `sessionId`: the session.
    `instanceId`: this loading of the session.
    `revision`: one change makes one revision; where it makes several notifications, all carry it.
    `origin`: the client that caused it; null where it came from outside.
    `compactionId`: names it; no entry's id.
    `status`: `started`, then one of the others.
    `reason`: why it failed or was cancelled: the name of an error, or `cancelled` where who asked for it took
    it back.
    `automatic`: nobody asked for it: `autoCompact` is on, and an append of `origin`'s passed the trigger.
    """

    sessionId: str
    instanceId: str
    revision: int
    origin: Origin | None
    compactionId: str
    status: Literal["cancelled", "completed", "failed", "started"]
    reason: NotRequired[str]
    automatic: bool


class LabelChanged(TypedDict):
    """An entry's label was set or cleared.

    `sessionId`: the session.
    `instanceId`: this loading of the session.
    `revision`: one change makes one revision; where it makes several notifications, all carry it.
    `origin`: the client that caused it; null where it came from outside.
    `targetId`: the entry.
    `label`: its label; null: cleared.
    `entryId`: the entry that says so.
    """

    sessionId: str
    instanceId: str
    revision: int
    origin: Origin | None
    targetId: str
    label: str | None
    entryId: str


class Renamed(TypedDict):
    """The session's name was set or cleared.

    `sessionId`: the session.
    `instanceId`: this loading of the session.
    `revision`: one change makes one revision; where it makes several notifications, all carry it.
    `origin`: the client that caused it; null where it came from outside.
    `name`: its name; null: cleared.
    `entryId`: the entry that says so.
    """

    sessionId: str
    instanceId: str
    revision: int
    origin: Origin | None
    name: str | None
    entryId: str


class Replaced(TypedDict):
    """The file isn't the one that was open. `instanceId` is a new one, whose revisions begin anew; the
    subscription goes on with it, and what the client knows of the session is to be read again.

    `sessionId`: the session.
    `instanceId`: this loading of the session.
    `revision`: one change makes one revision; where it makes several notifications, all carry it.
    `origin`: the client that caused it; null where it came from outside.
    `reason`: what happened to it.
    """

    sessionId: str
    instanceId: str
    revision: int
    origin: Origin | None
    reason: str


class Damaged(TypedDict):
    """Damage was found.

    `sessionId`: the session.
    `instanceId`: this loading of the session.
    `revision`: one change makes one revision; where it makes several notifications, all carry it.
    `origin`: the client that caused it; null where it came from outside.
    `damage`: what is wrong.
    `lost`: ids of entries that were acknowledged and are not in the file any more.
    """

    sessionId: str
    instanceId: str
    revision: int
    origin: Origin | None
    damage: list[DamageInfo]
    lost: NotRequired[list[str]]


class Failed(TypedDict):
    """The session takes no more appends. Close it and open it again: where that can't be done, the error says why.

    `sessionId`: the session.
    `instanceId`: this loading of the session.
    `revision`: one change makes one revision; where it makes several notifications, all carry it.
    `origin`: the client that caused it; null where it came from outside.
    `reason`: the name of an error: `sessionFailed` where a write failed; `sessionCorrupted` where another
    process rewrote the file and it can't be opened as it is now, being empty, say. When it can again,
    `session/replaced` follows.
    `errno`: the system's name for it, such as EIO, if it has one.
    """

    sessionId: str
    instanceId: str
    revision: int
    origin: Origin | None
    reason: str
    errno: str | None


class Deleted(TypedDict):
    """The session was deleted, or its file is no longer there: another process deleted it, moved it or gave it
    another name. Under another name in the sessions directory `session/open` with the id finds it.

    `sessionId`: the session.
    `instanceId`: this loading of the session.
    `revision`: one change makes one revision; where it makes several notifications, all carry it.
    `origin`: the client that caused it; null where it came from outside.
    `trashedTo`: where its file went, if this daemon deleted it and the system tells.
    """

    sessionId: str
    instanceId: str
    revision: int
    origin: Origin | None
    trashedTo: NotRequired[str]


class Resync(TypedDict):
    """Notifications were left out because the client did not read. Subscribe again, then `session/entries`.

    `sessionId`: the session.
    `instanceId`: this loading of the session.
    `revision`: its revision now.
    """

    sessionId: str
    instanceId: str
    revision: int


class SessionFile(TypedDict):
    """A session file.

    `sessionId`: the session.
    `path`: its file.
    `cwd`: the directory that its agent works in.
    """

    sessionId: str
    path: str
    cwd: str


class CatalogChanged(TypedDict):
    """Session files that have come, changed or gone, some of them perhaps more than once.

    `created`: those that have come.
    `changed`: those that were written to.
    `deleted`: those that have gone.
    `missed`: true: others were left out because the client did not read, or there were too many; list anew.
    """

    created: list[SessionFile]
    changed: list[SessionFile]
    deleted: list[SessionFile]
    missed: bool


class DaemonReplaced(TypedDict):
    """Another process serves this connection now. Subscribe again, and set options again: nothing of the old one's
    subscriptions is left, nor of what sessions were set to.

    `daemonId`: names the new process.
    `clientId`: names this connection from now on, as in `origin`.
    `version`: the new daemon's version.
    """

    daemonId: str
    clientId: str
    version: str


class ProgressValue(TypedDict):
    """LSP's work done progress.

    `kind`: `begin`, `report` or `end`.
    `title`: the method, at the beginning.
    `message`: what is being done.
    `percentage`: 0 to 100.
    """

    kind: str
    title: NotRequired[str]
    message: NotRequired[str]
    percentage: NotRequired[int]


class Progress(TypedDict):
    """How far a request has come.

    `token`: the request's `workDoneToken`.
    `value`: how far.
    """

    token: str | int
    value: ProgressValue
