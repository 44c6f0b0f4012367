// The protocol of pi-daemon. Written by `python -m pi_daemon.rpc.generate`: don't edit.

export const PROTOCOL_VERSION = 1;

/** A JSON value that the daemon passes on as it is. */
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

/** Who connects. */
export interface ClientInfo {
  /** shown to other clients beside what this one changed; at most 100 characters of it. */
  name: string;
  /** the client's version. */
  version?: string;
}

/** What a client may say beside LSP's own. */
export interface PiDaemonInitialize {
  /** the version that the client was written for; another than the daemon's is refused. */
  protocolVersion?: number;
  /**
   * the daemon's token. TCP and WebSocket want it, the panel's the code of its address or what that was exchanged
   * for.
   */
  token?: string;
  /** true: the client answers `summarizer/summarize`. */
  summarizer?: boolean;
}

/** LSP's place for what a server wants to know. */
export interface InitializationOptions {
  /** what this daemon wants to know. */
  piDaemon?: PiDaemonInitialize | null;
}

/** LSP's own; the daemon reads these members of it. */
export interface InitializeParams {
  /** the client's process. */
  processId?: number | null;
  /** who connects. */
  clientInfo?: ClientInfo | null;
  /** this daemon's own. */
  initializationOptions?: InitializationOptions | null;
  /** LSP's client capabilities. */
  capabilities?: { [name: string]: Json };
}

/** No members. */
export interface Empty {
}

/** What a session can be set to. A member that is absent is left as it is; null means the default. */
export interface Options {
  /** the model's context window in tokens; the daemon can't know it and asks nobody. */
  contextWindow?: number | null;
  /** what an answered append promises: `written` survives kill −9, `synced` a loss of power. Default: `synced`. */
  durability?: "synced" | "written" | null;
  /**
   * compact when an append passes the trigger, without being asked. Not again before the context has grown, where a
   * compaction failed or could not make it small enough.
   */
  autoCompact?: boolean | null;
  /** `client`, `model` or `extractive`; null: the first of these that is there. */
  summarizer?: string | null;
  /** tokens of the window that are kept free for the answer; null: as pi's settings.json has it. */
  reserveTokens?: number | null;
  /** about how many tokens of the newest messages a compaction keeps; null: as pi's settings.json has it. */
  keepRecentTokens?: number | null;
}

/** A new session. */
export interface CreateParams {
  /** the directory that its agent works in, absolute. */
  cwd: string;
  /** its id; absent: a new one. */
  id?: string;
  /** its name. */
  name?: string;
  /** the file that it comes from. */
  parentSession?: string;
  /**
   * when the file is first written: with the first assistant message, the first user or assistant message, at once,
   * or never.
   */
  persist?: "firstAssistant" | "firstMessage" | "immediate" | "never";
  /** what to set it to. */
  options?: Options;
}

/** A session to open, by exactly one of `sessionId` and `path`. */
export interface OpenParams {
  /** its id. */
  sessionId?: string;
  /** its file. */
  path?: string;
  /**
   * what to do with lines that can't be read: `refuse` the session, or `skip` them. It holds for this client alone,
   * until it closes the session: others are refused as before, with `sessionCorrupted`.
   */
  recover?: "refuse" | "skip";
  /** promise not to append. */
  readOnly?: boolean;
  /** what to set it to. */
  options?: Options;
}

/** A session, and what it is to be set to. A member that is absent is left as it is; null means the default. */
export interface ConfigureParams {
  /** the model's context window in tokens; the daemon can't know it and asks nobody. */
  contextWindow?: number | null;
  /** what an answered append promises: `written` survives kill −9, `synced` a loss of power. Default: `synced`. */
  durability?: "synced" | "written" | null;
  /**
   * compact when an append passes the trigger, without being asked. Not again before the context has grown, where a
   * compaction failed or could not make it small enough.
   */
  autoCompact?: boolean | null;
  /** `client`, `model` or `extractive`; null: the first of these that is there. */
  summarizer?: string | null;
  /** tokens of the window that are kept free for the answer; null: as pi's settings.json has it. */
  reserveTokens?: number | null;
  /** about how many tokens of the newest messages a compaction keeps; null: as pi's settings.json has it. */
  keepRecentTokens?: number | null;
  /** the session. */
  sessionId: string;
}

/** A session. */
export interface SessionParams {
  /** its id. */
  sessionId: string;
}

/** Which sessions. */
export interface ListParams {
  /** those whose agent works there; absent: all. */
  cwd?: string;
  /** `nextCursor` of the page before. */
  cursor?: string;
  /** at most 1,000. */
  limit?: number;
  /** where to report progress. */
  workDoneToken?: string | number;
}

/** Entries to append. Several form a chain, each under the one before. */
export interface AppendParams {
  /** the session. */
  sessionId: string;
  /**
   * drafts, at most `limits.draftsInAppend`. A draft is an entry without `parentId` and `timestamp`. It may bring
   * its `id`: the same id with the same content again is answered as before, so a retry is safe.
   */
  entries: Json[];
  /** the entry to append under; null: as a root; absent: under the leaf. */
  parentId?: string | null;
  /**
   * refuse with `leafMoved` where the leaf is another by now. Entries that don't belong to the conversation (label,
   * session_info, usage, custom) or a compaction in between do no harm.
   */
  expectedLeafId?: string | null;
}

/** Which entries: those of `ids`, those after `since`, or all. */
export interface EntriesParams {
  /** the session. */
  sessionId: string;
  /** the entries wanted; each must be there. */
  ids?: string[];
  /** the entry after which to begin, in file order. */
  since?: string;
  /** at most 10,000, which is also the default. */
  limit?: number;
  /** where to report progress. */
  workDoneToken?: string | number;
}

/** Which nodes. */
export interface TreeParams {
  /** the session. */
  sessionId: string;
  /**
   * which entries, as in pi's own tree: `default` leaves out labels and settings, `noTools` tool results too;
   * `userOnly` shows users' messages, `labeledOnly` what bears a label, `all` everything.
   */
  filter?: "all" | "default" | "labeledOnly" | "noTools" | "userOnly";
  /** join straight stretches into their last entry. */
  fold?: boolean;
  /** `nextCursor` of the page before. */
  cursor?: string;
  /** where to report progress. */
  workDoneToken?: string | number;
}

/** Which path. */
export interface PathOfParams {
  /** the session. */
  sessionId: string;
  /** where it ends; absent: at the session's leaf; null: before the first entry. */
  leafId?: string | null;
}

/** Two entries. */
export interface CompareParams {
  /** the session. */
  sessionId: string;
  /** one entry. */
  a: string;
  /** the other. */
  b: string;
}

/** What to project, and how. */
export interface ContextParams {
  /** the session. */
  sessionId: string;
  /** absent: the session's leaf; null: before the first entry. */
  leafId?: string | null;
  /** `agent`: messages as an agent holds them; `llm`: as a provider is sent them. */
  format?: "agent" | "llm";
  /**
   * `report` names calls without results and results without calls; `repair` leaves the results out and answers the
   * calls as aborted.
   */
  pairing?: "repair" | "report";
}

/** What is to be explained: one entry, the entries in which a text occurs, or all. */
export interface ExplainParams {
  /** the session. */
  sessionId: string;
  /** this entry. */
  entryId?: string;
  /**
   * entries that have this text, in any case of letters: in what was said or thought, in tool calls' arguments, in
   * results, summaries and details; in entries that never enter a context, and on damaged lines, anywhere.
   */
  query?: string;
  /** absent: in the context at the session's leaf; null: before the first entry. */
  leafId?: string | null;
  /** with the text of `TreeNode.preview` where all entries are explained; it has to be read. */
  previews?: boolean;
  /** `nextCursor` of the page before, with the same `query` and `previews`. */
  cursor?: string;
  /** at most 20,000, which is also the default; with `query` at most 1,000, default 100. */
  limit?: number;
  /** where to report progress. */
  workDoneToken?: string | number;
}

/** Where to go on from. */
export interface MoveLeafParams {
  /** the session. */
  sessionId: string;
  /** the entry to go to; null: before the first. */
  entryId: string | null;
  /**
   * `at` the entry, or `before`: to the parent of a user or custom message, whose text comes back as `editorText`.
   */
  position?: "at" | "before";
  /** have the branch that is left summarized. */
  summarize?: boolean;
  /** for the summarizer. */
  instructions?: string;
  /** a summary of the branch that is left, made by the client; it is appended at the target. */
  summary?: string;
  /** `client`, `model` or `extractive`; absent: as the session is set to, else the first that is there. */
  summarizer?: string;
  /** labels the summary if there is one, else the target. */
  label?: string;
  /** refuse with `leafMoved` where the leaf is another by now. */
  expectedLeafId?: string | null;
  /** where to report progress. */
  workDoneToken?: string | number;
}

/** A new session from a part of another. */
export interface ForkParams {
  /** the session to fork. */
  sessionId: string;
  /** where the path ends; absent: at the leaf. */
  entryId?: string;
  /** `at` the entry, or `before` a user or custom message, whose text comes back as `editorText`. */
  position?: "at" | "before";
  /** `path` copies the path to the entry, `tree` every line. */
  scope?: "path" | "tree";
  /** where the new session's agent works; absent: where the old one's does. */
  cwd?: string;
  /** the new session's id; absent: a new one. */
  id?: string;
}

/** What to call an entry. */
export interface LabelParams {
  /** the session. */
  sessionId: string;
  /** the entry. */
  entryId: string;
  /** its label; null or empty clears it. */
  label: string | null;
}

/** What to call a session. */
export interface RenameParams {
  /** the session. */
  sessionId: string;
  /** its name; empty clears it. */
  name: string;
}

/** What stands for an entry in the context. */
export interface Replacement {
  /** a string, or an array of content parts. */
  content: Json;
}

/** What an entry contributes to the context from here on, on this path. */
export interface EditContextParams {
  /** the session. */
  sessionId: string;
  /** the entry. */
  targetId: string;
  /** what stands for it; null: nothing does. */
  replacement: Replacement | null;
}

/**
 * What a compaction at the leaf would be. Numbers that are absent are as the session, the daemon or pi's
 * settings.json have them.
 */
export interface CompactionPlanParams {
  /** the session. */
  sessionId: string;
  /** tokens of the window that are kept free for the answer. */
  reserveTokens?: number;
  /** about how many tokens of the newest messages stay as they are. */
  keepRecentTokens?: number;
  /** the model's context window in tokens; absent: as the session is set to. */
  contextWindow?: number;
  /** also what a model would be asked. */
  requests?: boolean;
  /** for the summarizer, with `requests`. */
  instructions?: string;
}

/**
 * A compaction to make at the leaf. Numbers that are absent are as the session, the daemon or pi's settings.json
 * have them.
 */
export interface CompactParams {
  /** the session. */
  sessionId: string;
  /** tokens of the window that are kept free for the answer. */
  reserveTokens?: number;
  /** about how many tokens of the newest messages stay as they are. */
  keepRecentTokens?: number;
  /**
   * taken as in `session/compactionPlan`, and checked; what is asked for is done at any size, so it changes nothing.
   */
  contextWindow?: number;
  /** what the summary is to look after. */
  instructions?: string;
  /** the summary itself, made by the client: no summarizer is asked. At most 1,000,000 characters. */
  summary?: string;
  /** `client`, `model` or `extractive`; absent: as the session is set to, else the first that is there. */
  summarizer?: string;
  /** what to do where the summary lacks facts: `report` them, `amend` the summary with them, or `refuse` it. */
  retention?: "amend" | "refuse" | "report";
  /**
   * while a tool call at the leaf has no result, to `wait` for it (an hour at most after the call, then it counts as
   * given up), to `refuse` with `callOpen`, or to `ignore` it, where nobody is left who would answer it.
   */
  openCalls?: "ignore" | "refuse" | "wait";
  /** where to report progress. */
  workDoneToken?: string | number;
}

/** A path to compare with the world, and what the client has to go on with. */
export interface ResumeReportParams {
  /** the session. */
  sessionId: string;
  /** where the path ends; absent: at the session's leaf; null: before the first entry. */
  leafId?: string | null;
  /** the names of all tools that the client has; absent: they are not compared. */
  tools?: string[];
  /**
   * the names of all credentials that the client can use: providers, or environment variables as its tools see them.
   * Names, never values; absent: they are not compared.
   */
  credentials?: string[];
}

/** A session, or a path of it, to be taken elsewhere. */
export interface ExportParams {
  /** the session. */
  sessionId: string;
  /**
   * `jsonl`: a session file of one path, as a fork of it would be; `tree`: every line of the file, byte for byte;
   * `markdown`: a document of one path, to be read.
   */
  format: "jsonl" | "markdown" | "tree";
  /** where the path ends; absent: at the leaf. Not for a `tree`. */
  leafId?: string | null;
  /**
   * the file to write, absolute: one that isn't there yet, in a directory that is, not among the sessions. Absent:
   * the text is the answer.
   */
  path?: string;
  /** for `markdown`: false leaves out what the model thought, which else is folded. */
  thinking?: boolean;
  /** for `markdown`: true cuts no tool results and arguments. */
  full?: boolean;
  /** where to report progress. */
  workDoneToken?: string | number;
}

/** A file. */
export interface PathParams {
  /** the session file, absolute. */
  path: string;
}

/** Whose turn it is to write. */
export interface RequestWriterParams {
  /** the session. */
  sessionId: string;
  /** what one daemon asks another for: hand the writer over, instead of asking for it. */
  release?: boolean;
}

/** What a client knows of a session. */
export interface SubscribeSince {
  /** the loading that it saw. */
  instanceId: string;
  /** the last revision that it saw. */
  revision: number;
}

/** What to hear of. */
export interface SubscribeParams {
  /** the session. */
  sessionId: string;
  /** what the client knows already; what it missed is replayed. */
  since?: SubscribeSince;
}

/** What to look for. */
export interface SearchParams {
  /**
   * words, and "phrases" in quotation marks; an entry has to say all of them. They are found within other words, in
   * names and in paths, upper and lower case alike. Nothing in it is an operator.
   */
  query: string;
  /** in sessions whose agent works there. */
  cwd?: string;
  /** in messages of that role, or in entries of that type. */
  role?: string;
  /** in answers of models whose name has that, as `provider/model` or `model`, in upper or lower case. */
  model?: string;
  /** in entries with that label. */
  label?: string;
  /** in entries of that time or later, ISO 8601. */
  after?: string;
  /** in entries before that time, ISO 8601. */
  before?: string;
  /** `nextCursor` of the page before. */
  cursor?: string;
  /** at most 100. */
  limit?: number;
}

/** Which sessions. */
export interface CatalogParams {
  /** those whose agent works there; absent: all. */
  cwd?: string;
}

/** What the panel is to show. */
export interface PanelParams {
  /** the session to begin with. */
  sessionId?: string;
}

/** What to do. */
export interface DoctorParams {
  /** mend what `repair` names; false changes nothing. */
  fix?: boolean;
  /** where to report progress. */
  workDoneToken?: string | number;
}

/** How to stop. */
export interface StopParams {
  /** let running requests finish, and write sessions that are not written yet. */
  drain?: boolean;
}

/** The summary. */
export interface SummarizeResult {
  /** Markdown. Nothing, a refusal, headings alone, and a line that names nothing count as a failure. */
  summary: string;
  /** what it cost, as entries of pi have it. */
  usage?: Json;
  /** which model made it. */
  model?: string;
}

/** What the daemon is and can do. */
export interface PiDaemonCapabilities {
  /** the version of this protocol. */
  protocolVersion: number;
  /** names the process; another id is another process, with nothing of the old one's subscriptions. */
  daemonId: string;
  /** names this connection, as in `origin`. */
  clientId: string;
  /** what this daemon can do, by name; absent: it can't. */
  features: { [name: string]: { [name: string]: Json } };
  /** the caps in force, each in the unit of its name. */
  limits: { [name: string]: number };
  /** where sessions lie. */
  sessionsDir: string;
  /** the panel's, in exchange for the code of its address: what to bring in `initialize` from now on. */
  token?: string;
}

/** LSP's place for what isn't LSP's. */
export interface Experimental {
  /** this daemon's own. */
  piDaemon: PiDaemonCapabilities;
}

/** LSP's server capabilities, as far as there are any. */
export interface ServerCapabilities {
  /** what isn't LSP's. */
  experimental: Experimental;
}

/** Who answers. */
export interface ServerInfo {
  /** `pi-daemon`. */
  name: string;
  /** the daemon's version. */
  version: string;
}

/** LSP's own. */
export interface InitializeResult {
  /** what can be asked for. */
  capabilities: ServerCapabilities;
  /** who answers. */
  serverInfo: ServerInfo;
}

/** A model, as a path has selected it. */
export interface Model {
  /** the provider's name in the session file. */
  provider: string;
  /** the model's name there. */
  modelId: string;
}

/** One thing that is wrong with a session file. */
export interface DamageInfo {
  /**
   * a broken line: `notJson`, `glued` (several entries on it), `notObject`, `noId`, `tooDeep`, `notUtf8`; a last
   * line without an end: `tornTail`; the tree: `orphan`, `duplicateId`, `loop`; the file: `lateHeader`,
   * `extraHeader`, `byteOrderMark`, `unversioned`, `newerVersion`, `noHeader`, `empty`; what another process did:
   * `lost`, acknowledged entries are gone from the file.
   */
  kind: string;
  /** the same in words. */
  message: string;
  /** the line, counted from 1. */
  line: number | null;
  /** where the line begins, in bytes. */
  offset: number | null;
  /** the line's length in bytes. */
  length: number | null;
  /** the entries concerned: themselves, or those that lost an ancestor. */
  entryIds: string[];
}

/** An open session as it is now. */
export interface SessionState {
  /** its id. */
  sessionId: string;
  /** its file; null while `persisted` is false. */
  path: string | null;
  /** the directory that its agent works in. */
  cwd: string;
  /** null without one. */
  name: string | null;
  /** the file that it was forked from. */
  parentSession: string | null;
  /** where the next entry is appended; null: before the first. */
  leafId: string | null;
  /** counts the changes of state since it was loaded, moves of the leaf included. */
  revision: number;
  /** names this loading of the session: each load, reload or replacement is a new one. */
  instanceId: string;
  /** how many entries it has. */
  entryCount: number;
  /** the model that the path has selected. */
  model: Model | null;
  /** the level that the path has selected. */
  thinkingLevel: string;
  /** the size of the context; an estimate until the next valid usage. */
  contextTokens: number;
  /** whether it is in a file. */
  persisted: boolean;
  /** why nothing can be appended, or false. */
  readOnly: boolean | string;
  /** what it is set to. */
  options: Options;
  /** what is wrong with its file. */
  damage: DamageInfo[];
  /** the text of the message before which it was forked. */
  editorText?: string;
}

/** A session in a list. Times are ISO 8601 with milliseconds and Z. */
export interface SessionInfo {
  /** its id. */
  sessionId: string;
  /** its file; null while it has none. */
  path: string | null;
  /** the directory that its agent works in. */
  cwd: string;
  /** null without one. */
  name: string | null;
  /** the file that it was forked from. */
  parentSession: string | null;
  /** when it began. */
  created: string;
  /** the time of its last user or assistant message. */
  modified: string;
  /** how many messages it has. */
  messageCount: number;
  /** the text of the first user message. */
  firstMessage: string;
  /** of the file, in bytes. */
  size: number;
  /** whether the daemon has it open. */
  open: boolean;
  /** whether it is in a file. */
  persisted: boolean;
  /** whether a quick look saw lines that can't be read, so that it may not open: `session/check` says more. */
  damaged: boolean;
}

/** Sessions, newest activity first. */
export interface ListResult {
  /** one page of them. */
  sessions: SessionInfo[];
  /** where there is more. */
  nextCursor?: string;
}

/** The session is gone. */
export interface DeleteResult {
  /** where its file went, if the system tells. */
  trashedTo?: string;
}

/** What the daemon gave a draft. */
export interface AppendedEntry {
  /** its id. */
  id: string;
  /** the entry that it hangs under. */
  parentId: string | null;
  /** when it was appended. */
  timestamp: string;
}

/** The entries are in the session. */
export interface AppendResult {
  /** what each draft was given, in their order. */
  entries: AppendedEntry[];
  /** the last of them. */
  leafId: string | null;
  /** the session's revision with them. */
  revision: number;
  /**
   * what is promised for them: `memory` (not on disk yet), `written` (survives kill −9) or `synced` (survives a loss
   * of power).
   */
  durability: "memory" | "synced" | "written";
  /** true where another process had written to the file before them. */
  raced?: boolean;
  /** the size of the context at the leaf; an estimate until the next valid usage. */
  contextTokens: number;
  /** whether it is time to; null while no context window is known. */
  shouldCompact: boolean | null;
}

/** Entries in file order. */
export interface EntriesResult {
  /** each as it is stored, byte for byte. */
  entries: Json[];
  /** the leaf now. */
  leafId: string | null;
  /** the revision that this shows. */
  revision: number;
  /** where there is more: what to give as `since` for it. */
  nextSince?: string;
}

/** One entry as a tree shows it. */
export interface TreeNode {
  /** the entry's id. */
  id: string;
  /** the entry that it hangs under. In a filtered tree that is the nearest one shown. */
  parentId: string | null;
  /** the entry's kind. */
  type: string;
  /** the message's role, for messages. */
  role?: string;
  /** at most 120 characters of text: never images, thinking or whole arguments. */
  preview: string;
  /** the label that the entry bears now. */
  label?: string;
  /** the entry's own, as stored. */
  timestamp: string;
  /** how many of its children are shown. */
  childCount: number;
  /** whether it lies on the path to the leaf. */
  onPath: boolean;
  /** with `fold`, how many entries a straight stretch stands for. */
  run?: number;
}

/** The tree as a flat list. */
export interface TreeResult {
  /**
   * parents before their children, siblings by time. A hidden entry's children hang under its nearest visible
   * ancestor.
   */
  nodes: TreeNode[];
  /** the leaf now. */
  leafId: string | null;
  /** the revision that this shows. */
  revision: number;
  /** where there is more. */
  nextCursor?: string;
}

/** A path. */
export interface PathResult {
  /** root first. */
  entryIds: string[];
  /** where it ends. */
  leafId: string | null;
}

/** Where two paths part. */
export interface CompareResult {
  /** the last entry that both have; null where they have none. */
  ancestorId: string | null;
  /** the entries of the one path after it, root first. */
  a: string[];
  /** those of the other. */
  b: string[];
}

/** Something for which a provider would refuse the request. */
export interface Problem {
  /** a tool result without its call, or a call without its result. */
  kind: "callWithoutResult" | "resultWithoutCall";
  /** the entry that has it. */
  entryId: string;
  /** the call's id. */
  toolCallId: string;
}

/** What the model sees at a leaf. */
export interface ContextResult {
  /** as they are stored, wherever the projection neither makes nor changes them. */
  messages: Json[];
  /** `sources[i]` is the entry that `messages[i]` comes from. */
  sources: string[];
  /** the model that the path has selected. */
  model: Model | null;
  /** the level that the path has selected. */
  thinkingLevel: string;
  /** the context's size; an estimate until the next valid usage. */
  tokens: number;
  /** the compaction that the context begins with. */
  compactionId?: string;
  /** the leaf that it belongs to. */
  leafId: string | null;
  /** what a provider would refuse; with `repair` what was repaired. */
  problems: Problem[];
}

/** A fact that a summary lacked. */
export interface RetentionFact {
  /** which kind of fact. */
  kind: string;
  /** the fact. */
  text: string;
  /** the entry that it comes from. */
  entryId?: string;
}

/**
 * What the summary that stands for an entry says of it. Facts are paths, errors, open calls, requests, constraints
 * and what was unfinished.
 */
export interface FactsKept {
  /** the compaction or branch summary that was asked. */
  summaryId: string;
  /** how many facts the entry has. */
  asked: number;
  /** how many of them the summary names. */
  kept: number;
  /** the others, at most 20. */
  missing: RetentionFact[];
}

/** One entry, or one line that can't be read, and why the model knows it or not. */
export interface ExplainedEntry {
  /** the entry's id; null for a line that can't be read, unless it was asked for by an id that stands on it. */
  id: string | null;
  /** the entry's kind. */
  type?: string;
  /** the message's role, for messages. */
  role?: string;
  /**
   * whether a provider is sent something of it: whether it is among the `sources` of `session/context` with `format:
   * "llm"`.
   */
  inContext: boolean;
  /**
   * how it is in the context: `asStored`; `edited` (its content is that of `byId`); `summary` (as a summary
   * message). Or why it never is, at any leaf: `neverEnters` (its kind makes no message), `emptySummary`, `excluded`
   * (output of a command that was kept out), `unknownRole`, `sameIdLater` (a later line has its id), `damagedLine`.
   * Or where it lies: `noLeaf` (the leaf is before the first entry), `otherBranch` (it left the path at `leftAtId`
   * and begins with `branchId`), `afterLeaf` (the same, below the leaf), `orphaned` (the parents end at `rootId`,
   * whose parent `missingId` isn't in the file), `loop` (they end in a loop, cut at `rootId`), `pathCut` (the path
   * itself ends so at `rootId`, and the entry isn't below it). Or what the path made of it: `compacted`
   * (`compactionId` covers it; an older one, `firstCompactionId`, did so first), `olderCompaction` (`compactionId`
   * came after it), `foldedSystem` (a system message, carried on by `compactionId`), `droppedSystem` (one that it
   * doesn't carry on), `omitted` (by the edit `byId`), `setting` (it sets the model or the level, now), `overridden`
   * (it set something that `byId` set anew), `edit` (it changes what `targetId` contributes), `editsNothing`
   * (`targetId` contributes nothing that it could change).
   */
  reason: "afterLeaf" | "asStored" | "compacted" | "damagedLine" | "droppedSystem" | "edit" | "edited" | "editsNothing" | "emptySummary" | "excluded" | "foldedSystem" | "loop" | "neverEnters" | "noLeaf" | "olderCompaction" | "omitted" | "orphaned" | "otherBranch" | "overridden" | "pathCut" | "sameIdLater" | "setting" | "summary" | "unknownRole";
  /**
   * the place of its message in `session/context` as an agent holds it; of a compaction that carries a system
   * message, which makes two, that of the first.
   */
  messageIndex?: number;
  /** the same among the messages that a provider is sent. */
  sentIndex?: number;
  /**
   * the entry that edits, omits or overrides it; of what a compaction covers, the edit that omits the compaction's
   * summary.
   */
  byId?: string;
  /** the compaction that the context begins with. */
  compactionId?: string;
  /** the one that covered it before. */
  firstCompactionId?: string;
  /** the first entry of the branch that it lies on. */
  branchId?: string;
  /** the last entry that this branch shares with the path; absent where it has a root of its own. */
  leftAtId?: string;
  /** a branch summary in the context that was made of its branch. */
  summaryId?: string;
  /** the entry at which a broken chain of parents ends. */
  rootId?: string;
  /** the parent that it names and that isn't there. */
  missingId?: string;
  /** the entry that a context edit is about. */
  targetId?: string;
  /** the damaged line, counted from 1; of an orphan the one that its ancestors may have stood on. */
  line?: number;
  /** what is wrong with that line. */
  damage?: string;
  /** what the summary in the context says of it; with `entryId` and `query`. */
  facts?: FactsKept;
  /** as in `TreeNode`. */
  preview?: string;
  /**
   * with `query`, where: `text`, `thinking`, `arguments`, `result`, `summary`, `command` (and its output), `details`
   * (which no model reads), or `other`.
   */
  foundIn?: string;
  /** with `query`, what stands around it, on one line. */
  snippet?: string;
  /**
   * with `query`, whether what is sent in the entry's place has the text: the entry itself, what an edit put there,
   * or the summary that stands for it.
   */
  textInContext?: boolean;
}

/** Entries in file order, each with its reason. */
export interface ExplainResult {
  /** one page of them. */
  entries: ExplainedEntry[];
  /** the leaf that the context belongs to. */
  leafId: string | null;
  /** the revision that this shows. */
  revision: number;
  /** where there is more. */
  nextCursor?: string;
}

/** The leaf was moved. */
export interface MoveLeafResult {
  /** where it is. */
  leafId: string | null;
  /** where it was. */
  previousLeafId: string | null;
  /** the summary that was appended. */
  summaryEntryId?: string;
  /** the text of the message before which the leaf is now. */
  editorText?: string;
  /** the session's revision with it. */
  revision: number;
  /** what the entries survive that were appended; absent without a summary and a label. */
  durability?: "memory" | "synced" | "written";
}

/** An entry was appended for the change; the leaf is that entry now. */
export interface ChangeResult {
  /** that entry. */
  entryId: string;
  /** the session's revision with it. */
  revision: number;
  /** what it survives. */
  durability: "memory" | "synced" | "written";
}

/** A tool call without a result, after which nothing but its result may come. */
export interface OpenCall {
  /** the answer that makes it. */
  entryId: string;
  /** its id. */
  toolCallId: string;
  /** the tool. */
  toolName: string;
}

/** A summary is wanted. */
export interface SummarizeParams {
  /**
   * `first`: of what leaves the context; `update`: of that together with `previousSummary`, which it replaces;
   * `split`: of the beginning of a turn whose rest is kept; `branch`: of a branch that was left.
   */
  kind: "branch" | "first" | "split" | "update";
  /** what to tell the model it is. */
  systemPrompt: string;
  /** what to ask it for, to be put after the conversation. */
  prompt: string;
  /** what is to be summarized, as text. It is data: nothing in it is meant for who summarizes. */
  conversation: string;
  /** the summary that this one updates. */
  previousSummary?: string;
  /** what whoever asked wants looked after; they are in `prompt` already. */
  instructions?: string;
  /** what the summary may have at most. */
  maxTokens: number;
}

/** What a compaction would do. */
export interface CompactionPlanResult {
  /** the leaf that this holds for. */
  leafId: string | null;
  /** the first entry that stays in the context. */
  firstKeptEntryId: string;
  /** the cut lies within a turn, whose beginning is summarized by itself. */
  isSplitTurn: boolean;
  /** the context's size now. */
  tokensBefore: number;
  /** an estimate of what stays of it, without the summary. */
  tokensKept: number;
  /** as it counts; null: unknown. */
  contextWindow: number | null;
  /** as it counts. */
  reserveTokens: number;
  /** as it counts. */
  keepRecentTokens: number;
  /** whether it is time to; null while no context window is known. */
  shouldCompact: boolean | null;
  /** the entries of whole turns that would be summarized, oldest first. */
  summarizedEntryIds: string[];
  /** those of the turn that the cut splits. */
  prefixEntryIds: string[];
  /** the compaction whose summary this one would update. */
  previousCompactionId: string | null;
  /** files that were read, and not modified. */
  readFiles: string[];
  /** files that were modified. */
  modifiedFiles: string[];
  /** which summarizer would be asked; null: none is there. */
  summarizer: string | null;
  /**
   * tool calls at the leaf that a compaction waits for: without a result, less than an hour old, and of an answer
   * that was neither broken off nor edited since.
   */
  openCalls: OpenCall[];
  /** what a model would be asked, one after the other. */
  requests?: SummarizeParams[];
  /** the revision that this shows. */
  revision: number;
}

/** How a summary did with one kind of fact. */
export interface RetentionTally {
  /** how many of them it held. */
  kept: number;
  /** how many it was asked for. */
  asked: number;
}

/** What a summary kept of the facts that it was asked for. */
export interface Retention {
  /** what was to be done about facts that it lacked. */
  policy: "amend" | "refuse" | "report";
  /** 0 to 1: the share that it held, each kind of fact with its weight. */
  score: number;
  /** the same once what it lacked was added to it, as far as there was room. */
  scoreAfter: number;
  /**
   * by kind of fact: `request` (the last one), `constraint`, `unfinished`, `superseded` (a rule or a step that
   * doesn't hold any more and is still stated; asked about only where one is), `openCall`, `error` (that still
   * stands), `modified`, `commit`, `reference`, `overcome` (an error that is none any more), `read`.
   */
  kinds: { [name: string]: RetentionTally };
  /** facts that it lacked, the most valuable first, at most 20. */
  missing: RetentionFact[];
  /** how many more there were. */
  missingLeftOut: number;
}

/** The compaction was appended. */
export interface CompactResult {
  /** its entry. */
  entryId: string;
  /** the summary as it is stored. */
  summary: string;
  /** the first entry that stays in the context. */
  firstKeptEntryId: string;
  /** the context's size before. */
  tokensBefore: number;
  /** an estimate of its size now. */
  tokensAfter: number;
  /** the entry's `details`. */
  details: Json;
  /** what the summary kept of the facts. */
  retention: Retention;
  /** who made the summary; `request` where it came with the request. */
  summarizer: string;
  /** which model was asked, if one was. */
  model?: string;
  /** the session's revision with it. */
  revision: number;
  /** what is promised for the entry. */
  durability: "memory" | "synced" | "written";
}

/** The session's directory. */
export interface CwdReport {
  /** as the session has it. */
  path: string;
  /** what is there. */
  state: "gone" | "notDirectory" | "there" | "unreadable";
  /** where it is gone: directories that may be the same one, the likeliest first. */
  movedTo: string[];
}

/** A file that isn't as in HEAD. */
export interface DirtyReport {
  /** relative to the cwd where it lies in it. */
  path: string;
  /** the two letters of `git status`, `??` for what git doesn't know. */
  status: string;
  /** whether a call on the path changed it too. */
  byPath: boolean;
}

/** The work tree that the cwd lies in. */
export interface GitReport {
  /** its directory. */
  root: string;
  /** the commit; null: there is none yet. */
  head: string | null;
  /** null: HEAD is detached. */
  branch: string | null;
  /** uncommitted changes, at most 1,000; those within submodules are left out. */
  dirty: DirtyReport[];
  /** how many there are. */
  dirtyCount: number;
}

/** The tool calls of the path. A session doesn't say whether a call without a result was started. */
export interface CallTally {
  /** all. */
  called: number;
  /** those with a result on the path. */
  finished: number;
  /** those of them whose result is an error. */
  failed: number;
  /** those without a result on the path. */
  open: number;
}

/** A file that writes or edits on the path changed and that went well. */
export interface FileReport {
  /** relative to the cwd where it lies in it. */
  path: string;
  /**
   * `asWritten`: as the last of them left it, or each text that edits put in is there; `changed` since; `gone`;
   * `outside` of the cwd and its repository, and not looked at; `unknown`: can't be told.
   */
  state: "asWritten" | "changed" | "gone" | "outside" | "unknown";
  /** the entry of the last such call. */
  entryId: string;
  /** its tool. */
  tool: string;
  /** how many such calls there are. */
  changes: number;
}

/** One thing that may not be as the path has it. */
export interface ResumeFinding {
  /** names the situation; there may be more kinds in a later version. */
  kind: string;
  /**
   * `problem`: what the model takes for granted is not so; `warning`: it may not be so; `info`: nothing is wrong, or
   * nothing can be told.
   */
  severity: "info" | "problem" | "warning";
  /** what was found. */
  message: string;
  /** what to do about it. */
  advice: string;
  /** the entry that it is about. */
  entryId?: string;
  /** the file or directory that it is about, relative to the cwd where it lies in it. */
  path?: string;
}

/** The path against the world as it is now. Nothing was written. */
export interface ResumeReportResult {
  /** where the path ends. */
  leafId: string | null;
  /** the revision that this shows. */
  revision: number;
  /** the session's directory. */
  cwd: CwdReport;
  /** null: no work tree, or none that could be looked at; a finding says why. */
  git: GitReport | null;
  /** what became of them. */
  toolCalls: CallTally;
  /** what writes and edits changed, the latest last; empty while the cwd isn't there. */
  files: FileReport[];
  /** the worst first. */
  findings: ResumeFinding[];
}

/** What went wrong. */
export interface Failures {
  /** tool results that say they are errors. */
  toolResults: number;
  /** answers that ended in an error. */
  errors: number;
  /** answers that were aborted. */
  aborted: number;
}

/** Sums of what was billed. */
export interface TokenTotals {
  /** tokens sent. */
  input: number;
  /** tokens made. */
  output: number;
  /** tokens read from the provider's cache. */
  cacheRead: number;
  /** tokens written to it. */
  cacheWrite: number;
  /** in the currency that the agent counts in. */
  cost: number;
}

/**
 * What stands in copies of a reply that was counted before: the same `responseId`, or without one the same model,
 * time and tokens. It is part of the totals, as pi counts it too; take it away to have each reply once.
 */
export interface RepeatedReplies {
  /** how many copies there are. */
  count: number;
  /** what they say was billed. */
  tokens: TokenTotals;
}

/** When a session, or a branch, was worked on. */
export interface TimeSpan {
  /** the time of its first entry; null: none has a time. */
  first: string | null;
  /** the time of its last one. */
  last: string | null;
  /**
   * seconds of work: what lies between each entry and its parent, where that is at most five minutes. It adds up
   * over branches.
   */
  active: number;
}

/** What one model did. Over all rows this adds up to the totals. */
export interface ModelStats {
  /** the model; null for what names none (summaries, tools that were billed). */
  model: Model | null;
  /** how many models the row stands for: 1, or in the last row all that are not told one by one. */
  models: number;
  /** its assistant messages. */
  answers: number;
  /** how many tools it called. */
  toolCalls: number;
  /** its answers that failed, and results of its calls. */
  failures: Failures;
  /** what was billed. */
  tokens: TokenTotals;
}

/** What a branch has to itself. Every entry is in exactly one row, so the rows add up to the totals. */
export interface BranchStats {
  /** its last entry; null in the row of the rest. */
  tip: string | null;
  /** the entry under which it hangs, on whichever branch that is; null: it has a root of its own. */
  leftAt: string | null;
  /** whether this is the path to the leaf. A stretch that several other branches share counts with the newest. */
  main: boolean;
  /**
   * how many branches the row stands for: 1, or in the last row all that are not told one by one. Entries whose id
   * was used again are there too.
   */
  branches: number;
  /** its entries. */
  entryCount: number;
  /** how many of them are messages. */
  messageCount: number;
  /** how many tools were called. */
  toolCalls: number;
  /** what went wrong. */
  failures: Failures;
  /** what was billed. */
  tokens: TokenTotals;
  /** when it was worked on. */
  time: TimeSpan;
}

/** What a session amounts to. */
export interface StatsResult {
  /** the session. */
  sessionId: string;
  /** how many entries it has. */
  entryCount: number;
  /** how many of them are messages. */
  messageCount: number;
  /** the same by role. */
  messagesByRole: { [name: string]: number };
  /** how many tools were called. */
  toolCalls: number;
  /** what went wrong. */
  failures: Failures;
  /** sums over all branches, as pi has them. */
  tokens: TokenTotals;
  /** the part of them that stands in copies of replies. */
  repeated: RepeatedReplies;
  /** when it was worked on. */
  time: TimeSpan;
  /** the same by model, the costliest first. */
  models: ModelStats[];
  /** the same by branch: the path to the leaf, then the others, the newest first. */
  branches: BranchStats[];
  /** the size of the context at the leaf. */
  contextTokens: number;
  /** what the session is set to; null: unknown. */
  contextWindow: number | null;
  /** `contextTokens` over `contextWindow`; null while that is unknown. */
  contextShare: number | null;
  /** more tokens than this are too many, and a compaction is due; null while the window is unknown. */
  contextThreshold: number | null;
  /** whether that is so now; null while the window is unknown. */
  shouldCompact: boolean | null;
  /** the revision that this shows. */
  revision: number;
}

/** What was exported: one of the two. */
export interface ExportResult {
  /** the file that was written, readable by its user alone. */
  path?: string;
  /** the text itself. */
  text?: string;
}

/** What a check found. */
export interface CheckResult {
  /** the file. */
  path: string;
  /** the id in its header. */
  sessionId: string | null;
  /** how many entries can be read. */
  entryCount: number;
  /** false where `session/open` would refuse without `recover: "skip"`. */
  opens: boolean;
  /** what is wrong. */
  damage: DamageInfo[];
}

/** What a repair did. */
export interface RepairResult {
  /** the file. */
  path: string;
  /** where the file as it was is kept; null where nothing had to be repaired and nothing was written. */
  originalKeptAt: string | null;
  /** what was left out. */
  dropped: DamageInfo[];
  /**
   * what was made readable: a line with several entries was split; in one that isn't UTF-8 U+FFFD stands for what
   * isn't, as pi reads it.
   */
  rewritten: DamageInfo[];
}

/** Who may write now. */
export interface RequestWriterResult {
  /**
   * `held`: this daemon holds the writer; `released`: it has let go of it; `free`: nobody holds it, the next append
   * takes it.
   */
  status: "free" | "held" | "released";
}

/** From here on every revision is told, once and in order. */
export interface SubscribeResult {
  /** this loading of the session. */
  instanceId: string;
  /** the revision as of now. */
  revision: number;
  /** the leaf as of now. */
  leafId: string | null;
  /** what lies between can't be replayed: read the session anew. */
  fresh: boolean;
  /** the notifications that were missed, `{method, params}`, oldest first. */
  events?: Json[];
}

/** What there was to end. */
export interface UnsubscribeResult {
  /** `notOpen`: the session isn't even open. */
  status: "notOpen" | "notSubscribed" | "unsubscribed";
}

/** An entry that says what was looked for. */
export interface SearchHit {
  /** its session. */
  sessionId: string;
  /** the session's file. */
  path: string;
  /** the session's name; null without one. */
  name: string | null;
  /** the directory that its agent works in. */
  cwd: string;
  /** the entry. */
  entryId: string;
  /** the kind of entry. */
  type: string;
  /** of a message. */
  role?: string;
  /** the entry's. */
  timestamp: string;
  /** one line of its text around what was found, never longer than a preview by much. */
  snippet: string;
  /** whether it lies on the path to the last entry of the file. */
  onPath: boolean;
  /**
   * the last entry of the file that descends from it, so the end of the branch on which it lies; null where that
   * can't be told.
   */
  tipId: string | null;
}

/** What was found. */
export interface SearchResult {
  /** by relevance among what is about as old, and newer before older. May be empty though there is more. */
  hits: SearchHit[];
  /** whether the text of all sessions was searched; false while it is being indexed. */
  complete: boolean;
  /** 0 to 1: the share of the text that was searched. */
  indexed: number;
  /** where there is more. */
  nextCursor?: string;
}

/** Sums over sessions. An answer that a fork has copied is counted once. */
export interface CatalogTotals {
  /** how many sessions there are. */
  sessions: number;
  /** how many messages they have, copies included. */
  messages: number;
  /** how many answers of models they have. */
  replies: number;
  /** how many copies of those there are beside, in forks. */
  repeated: number;
  /** sums over `replies`. */
  tokens: TokenTotals;
}

/** Whether the client hears of session files that come, change and go. */
export interface CatalogStatus {
  /** whether it does now. */
  subscribed: boolean;
}

/** One connection. */
export interface ClientStatus {
  /** its id. */
  clientId: string;
  /** what it calls itself. */
  name: string;
  /** `stdio`, `unix`, `tcp`, `websocket` or `panel`. */
  transport: string;
  /** how many are in flight. */
  requests: number;
  /** messages that the client hasn't taken yet. */
  queued: number;
  /** their bytes. */
  queuedBytes: number;
  /** how often notifications had to be left out. */
  resyncs: number;
}

/** One open session. */
export interface OpenSessionStatus {
  /** its id. */
  sessionId: string;
  /** its file; null while it has none. */
  path: string | null;
  /** its revision. */
  revision: number;
  /** how many entries it has. */
  entryCount: number;
  /** how many clients hear of it. */
  subscribers: number;
  /** changes that wait for its writer. */
  queued: number;
  /** whether it is in a file. */
  persisted: boolean;
  /** whether a compaction or a move with a summary is under way. */
  compacting: boolean;
}

/** What the daemon is doing. */
export interface StatusResult {
  /** the daemon's version. */
  version: string;
  /** the version of this protocol. */
  protocolVersion: number;
  /** names the process. */
  daemonId: string;
  /** its process id. */
  pid: number;
  /** in seconds. */
  uptime: number;
  /** where sessions lie. */
  sessionsDir: string;
  /** where it listens. */
  transports: string[];
  /** who is connected. */
  clients: ClientStatus[];
  /** what is open. */
  sessions: OpenSessionStatus[];
  /** resident bytes of the process. */
  memory: number;
}

/** Where the panel is. */
export interface PanelResult {
  /**
   * the address to open in a browser: once, and within a minute. What is behind its `#` is a secret: it must not
   * come into a log, or into the arguments of a command.
   */
  url: string;
}

/** One thing in the sessions directory. */
export interface DoctorFinding {
  /**
   * problems: `damaged` (lines that can't be read, or a file that only can be read), `halfWritten` (a last line
   * without an end), `empty`, `leftover` (a file of the daemon's own that was never finished), `duplicated` (several
   * files with one session id, or one file under several names), `unreadable`; notes: `irregular` (orphans, ids used
   * again, second headers: read as well as can be), `linked` (a link to a session beside it), `foreign` (no
   * session), `misplaced` (not in the folder of its cwd, or called after another id), `outside` (a link that leads
   * out, or nowhere), `notRead` (too large to be read whole), `parentMissing` (the session that it was forked from
   * is gone).
   */
  kind: string;
  /** false: a note, nothing has to be done. */
  problem: boolean;
  /** the file or folder; where its name is no UTF-8, with U+FFFD for what isn't. */
  path: string;
  /** what is wrong, in words. */
  message: string;
  /** the id in its header, where it has one. */
  sessionId: string | null;
  /** the other files concerned. */
  others: string[];
  /**
   * what `fix` does about it: `repair` the file as `session/repair` does, or move it to the state directory
   * (`putAway`); null: nothing, as nothing is ever deleted.
   */
  repair: "putAway" | "repair" | null;
  /** what is wrong with the file, the first of it. */
  damage: DamageInfo[];
  /** how much that is altogether. */
  damageCount: number;
  /**
   * `found`: nothing was tried; `fixed`; `skipped`: somebody has it open, or wrote to it less than a minute ago;
   * `failed`.
   */
  status: "failed" | "fixed" | "found" | "skipped";
  /** the same in words, where something was tried. */
  outcome: string | null;
  /** where the file as it was is kept. */
  keptAt: string | null;
}

/** How the sessions directory is. */
export interface DoctorResult {
  /** the directory. */
  sessionsDir: string;
  /** how many were looked into. */
  folders: number;
  /** how many session files were looked at. */
  files: number;
  /** their size. */
  bytes: number;
  /** how many problems there are yet. */
  problems: number;
  /** problems and notes, by path. */
  findings: DoctorFinding[];
  /** how many more there are: of either kind 2,000 are told. */
  leftOut: number;
}

/** The client that caused a change. */
export interface Origin {
  /** the id that the daemon gave the client in `initialize`. */
  clientId: string;
  /** what the client calls itself. */
  name: string;
}

/** The leaf is another. */
export interface LeafChanged {
  /** the session. */
  sessionId: string;
  /** this loading of the session. */
  instanceId: string;
  /** one change makes one revision; where it makes several notifications, all carry it. */
  revision: number;
  /** the client that caused it; null where it came from outside. */
  origin: Origin | null;
  /** where it is. */
  leafId: string | null;
  /** where it was. */
  previousLeafId: string | null;
  /** what moved it. */
  cause: "append" | "compact" | "external" | "move" | "reload";
}

/** Entries were appended. */
export interface Appended {
  /** the session. */
  sessionId: string;
  /** this loading of the session. */
  instanceId: string;
  /** one change makes one revision; where it makes several notifications, all carry it. */
  revision: number;
  /** the client that caused it; null where it came from outside. */
  origin: Origin | null;
  /** each as a tree shows it, in file order. */
  entries: TreeNode[];
  /** what appended them. */
  cause: "append" | "compact" | "external" | "move" | "reload";
}

/** A compaction was appended. */
export interface Compacted {
  /** the session. */
  sessionId: string;
  /** this loading of the session. */
  instanceId: string;
  /** one change makes one revision; where it makes several notifications, all carry it. */
  revision: number;
  /** the client that caused it; null where it came from outside. */
  origin: Origin | null;
  /** the compaction. */
  entryId: string;
  /** the first entry that the context keeps. */
  firstKeptEntryId: string | null;
  /** the context's size before. */
  tokensBefore: number;
  /** an estimate of its size now; null where another process appended the compaction. */
  tokensAfter: number | null;
  /** what the summary kept of the facts, where the daemon made the compaction: see Retention. */
  retention?: Json;
  /** what appended it. */
  cause: "append" | "compact" | "external" | "move" | "reload";
}

/** A compaction that the daemon makes has begun or ended. All of one carry the same id. */
export interface Compaction {
  /** the session. */
  sessionId: string;
  /** this loading of the session. */
  instanceId: string;
  /** one change makes one revision; where it makes several notifications, all carry it. */
  revision: number;
  /** the client that caused it; null where it came from outside. */
  origin: Origin | null;
  /** names it; no entry's id. */
  compactionId: string;
  /** `started`, then one of the others. */
  status: "cancelled" | "completed" | "failed" | "started";
  /** why it failed or was cancelled: the name of an error, or `cancelled` where who asked for it took it back. */
  reason?: string;
  /** nobody asked for it: `autoCompact` is on, and an append of `origin`'s passed the trigger. */
  automatic: boolean;
}

/** An entry's label was set or cleared. */
export interface LabelChanged {
  /** the session. */
  sessionId: string;
  /** this loading of the session. */
  instanceId: string;
  /** one change makes one revision; where it makes several notifications, all carry it. */
  revision: number;
  /** the client that caused it; null where it came from outside. */
  origin: Origin | null;
  /** the entry. */
  targetId: string;
  /** its label; null: cleared. */
  label: string | null;
  /** the entry that says so. */
  entryId: string;
}

/** The session's name was set or cleared. */
export interface Renamed {
  /** the session. */
  sessionId: string;
  /** this loading of the session. */
  instanceId: string;
  /** one change makes one revision; where it makes several notifications, all carry it. */
  revision: number;
  /** the client that caused it; null where it came from outside. */
  origin: Origin | null;
  /** its name; null: cleared. */
  name: string | null;
  /** the entry that says so. */
  entryId: string;
}

/**
 * The file isn't the one that was open. `instanceId` is a new one, whose revisions begin anew; the subscription
 * goes on with it, and what the client knows of the session is to be read again.
 */
export interface Replaced {
  /** the session. */
  sessionId: string;
  /** this loading of the session. */
  instanceId: string;
  /** one change makes one revision; where it makes several notifications, all carry it. */
  revision: number;
  /** the client that caused it; null where it came from outside. */
  origin: Origin | null;
  /** what happened to it. */
  reason: string;
}

/** Damage was found. */
export interface Damaged {
  /** the session. */
  sessionId: string;
  /** this loading of the session. */
  instanceId: string;
  /** one change makes one revision; where it makes several notifications, all carry it. */
  revision: number;
  /** the client that caused it; null where it came from outside. */
  origin: Origin | null;
  /** what is wrong. */
  damage: DamageInfo[];
  /** ids of entries that were acknowledged and are not in the file any more. */
  lost?: string[];
}

/**
 * The session takes no more appends. Close it and open it again: where that can't be done, the error says why.
 */
export interface Failed {
  /** the session. */
  sessionId: string;
  /** this loading of the session. */
  instanceId: string;
  /** one change makes one revision; where it makes several notifications, all carry it. */
  revision: number;
  /** the client that caused it; null where it came from outside. */
  origin: Origin | null;
  /**
   * the name of an error: `sessionFailed` where a write failed; `sessionCorrupted` where another process rewrote the
   * file and it can't be opened as it is now, being empty, say. When it can again, `session/replaced` follows.
   */
  reason: string;
  /** the system's name for it, such as EIO, if it has one. */
  errno: string | null;
}

/**
 * The session was deleted, or its file is no longer there: another process deleted it, moved it or gave it another
 * name. Under another name in the sessions directory `session/open` with the id finds it.
 */
export interface Deleted {
  /** the session. */
  sessionId: string;
  /** this loading of the session. */
  instanceId: string;
  /** one change makes one revision; where it makes several notifications, all carry it. */
  revision: number;
  /** the client that caused it; null where it came from outside. */
  origin: Origin | null;
  /** where its file went, if this daemon deleted it and the system tells. */
  trashedTo?: string;
}

/** Notifications were left out because the client did not read. Subscribe again, then `session/entries`. */
export interface Resync {
  /** the session. */
  sessionId: string;
  /** this loading of the session. */
  instanceId: string;
  /** its revision now. */
  revision: number;
}

/** A session file. */
export interface SessionFile {
  /** the session. */
  sessionId: string;
  /** its file. */
  path: string;
  /** the directory that its agent works in. */
  cwd: string;
}

/** Session files that have come, changed or gone, some of them perhaps more than once. */
export interface CatalogChanged {
  /** those that have come. */
  created: SessionFile[];
  /** those that were written to. */
  changed: SessionFile[];
  /** those that have gone. */
  deleted: SessionFile[];
  /** true: others were left out because the client did not read, or there were too many; list anew. */
  missed: boolean;
}

/**
 * Another process serves this connection now. Subscribe again, and set options again: nothing of the old one's
 * subscriptions is left, nor of what sessions were set to.
 */
export interface DaemonReplaced {
  /** names the new process. */
  daemonId: string;
  /** names this connection from now on, as in `origin`. */
  clientId: string;
  /** the new daemon's version. */
  version: string;
}

/** LSP's work done progress. */
export interface ProgressValue {
  /** `begin`, `report` or `end`. */
  kind: string;
  /** the method, at the beginning. */
  title?: string;
  /** what is being done. */
  message?: string;
  /** 0 to 100. */
  percentage?: number;
}

/** How far a request has come. */
export interface Progress {
  /** the request's `workDoneToken`. */
  token: string | number;
  /** how far. */
  value: ProgressValue;
}

/** Every request by its method. */
export interface Requests {
  /** LSP's own; the first request of a connection. */
  "initialize": { params: InitializeParams; result: InitializeResult };
  /** Ends the connection, never a shared daemon. */
  "shutdown": { params: Empty; result: null };
  /** Make a session, open it and subscribe to it. */
  "session/create": { params: CreateParams; result: SessionState };
  /** Open a session and subscribe to it. */
  "session/open": { params: OpenParams; result: SessionState };
  /** Change what a session is set to. */
  "session/configure": { params: ConfigureParams; result: SessionState };
  /** Unsubscribe, and free the writer when nobody else is there. */
  "session/close": { params: SessionParams; result: Empty };
  /** The sessions there are, newest activity first. */
  "session/list": { params: ListParams; result: ListResult };
  /** Move a session to the trash; refused while another client has it open. */
  "session/delete": { params: SessionParams; result: DeleteResult };
  /** Append entries; the leaf moves to the last one. */
  "session/append": { params: AppendParams; result: AppendResult };
  /** Entries as they are stored, in file order. */
  "session/entries": { params: EntriesParams; result: EntriesResult };
  /** The tree as a flat list of nodes. */
  "session/tree": { params: TreeParams; result: TreeResult };
  /** The entries from the root to a leaf. */
  "session/path": { params: PathOfParams; result: PathResult };
  /** Where two entries' paths part. */
  "session/compare": { params: CompareParams; result: CompareResult };
  /** What the model is sent at a leaf. */
  "session/context": { params: ContextParams; result: ContextResult };
  /** Why entries are in the context at a leaf, or why they aren't: one, those with a text, or all. */
  "session/explain": { params: ExplainParams; result: ExplainResult };
  /** Move the leaf: the next append goes there. No file changes without a summary or a label. */
  "session/moveLeaf": { params: MoveLeafParams; result: MoveLeafResult };
  /** A new session from a path or the whole tree of this one. */
  "session/fork": { params: ForkParams; result: SessionState };
  /** Label an entry, or clear its label. */
  "session/label": { params: LabelParams; result: ChangeResult };
  /** Name the session. */
  "session/rename": { params: RenameParams; result: ChangeResult };
  /** Replace or omit what an entry contributes to the context. */
  "session/editContext": { params: EditContextParams; result: ChangeResult };
  /** What `session/compact` would cut, keep and say to a model; writes nothing. */
  "session/compactionPlan": { params: CompactionPlanParams; result: CompactionPlanResult };
  /**
   * Summarize the older part of the context, and append a compaction that stands for it. Others go on meanwhile.
   */
  "session/compact": { params: CompactParams; result: CompactResult };
  /**
   * What a resumed session can no longer take for granted: a path against the files, git and the client's tools.
   */
  "session/resumeReport": { params: ResumeReportParams; result: ResumeReportResult };
  /** What a session amounts to: messages, tool calls, failures, tokens, cost, time; by model and by branch too. */
  "session/stats": { params: SessionParams; result: StatsResult };
  /**
   * A session or a path of it as a session file, or as Markdown. With `path` the daemon writes it there: never over
   * anything, whole or not at all.
   */
  "session/export": { params: ExportParams; result: ExportResult };
  /** The damage of a file that need not be open. */
  "session/check": { params: PathParams; result: CheckResult };
  /** Rewrite a damaged file without what can't be read; the original is kept. */
  "session/repair": { params: PathParams; result: RepairResult };
  /** Have the daemon that holds a session for writing hand it over. */
  "session/requestWriter": { params: RequestWriterParams; result: RequestWriterResult };
  /** Hear of every change from now on, and catch up with what was missed. */
  "session/subscribe": { params: SubscribeParams; result: SubscribeResult };
  /** Hear no more of a session. */
  "session/unsubscribe": { params: SessionParams; result: UnsubscribeResult };
  /** Entries of all sessions that say something, at once from what is indexed. */
  "session/search": { params: SearchParams; result: SearchResult };
  /** Tokens and cost of all sessions; what a fork has copied is counted once. */
  "catalog/totals": { params: CatalogParams; result: CatalogTotals };
  /** Hear of session files that come, change and go. */
  "catalog/subscribe": { params: CatalogParams; result: CatalogStatus };
  /** Hear no more of them: of one directory's, or of all. */
  "catalog/unsubscribe": { params: CatalogParams; result: CatalogStatus };
  /** What the daemon is doing. */
  "daemon/status": { params: Empty; result: StatusResult };
  /** Serve the panel to a browser of this machine. Only for clients of the Unix socket and of stdio. */
  "daemon/panel": { params: PanelParams; result: PanelResult };
  /**
   * Go over the whole sessions directory: what is damaged, half written, duplicated or foreign, and what a repair
   * would do. Changes nothing without `fix`, and deletes nothing.
   */
  "daemon/doctor": { params: DoctorParams; result: DoctorResult };
  /** Stop the daemon for everybody. */
  "daemon/stop": { params: StopParams; result: Empty };
}

/** Every request from the daemon by its method. */
export interface ClientRequests {
  /**
   * Make a summary. Asked of clients that said `summarizer: true`, taken back by `$/cancelRequest`. After an error,
   * or without an answer within `limits.summarizerSeconds`, another such client is asked.
   */
  "summarizer/summarize": { params: SummarizeParams; result: SummarizeResult };
}

/** Every notification from the daemon by its method. */
export interface Notifications {
  /** The leaf is another. */
  "session/leafChanged": LeafChanged;
  /** Entries were appended. */
  "session/appended": Appended;
  /** A compaction was appended. */
  "session/compacted": Compacted;
  /** A compaction that the daemon makes has begun or ended. */
  "session/compaction": Compaction;
  /** An entry's label was set or cleared. */
  "session/labelChanged": LabelChanged;
  /** The session's name was set or cleared. */
  "session/renamed": Renamed;
  /** The file was rewritten or replaced, and loaded anew. */
  "session/replaced": Replaced;
  /** Damage was found, or acknowledged entries are gone from the file. */
  "session/damaged": Damaged;
  /** A write failed for good, or the file can't be opened as it is now. */
  "session/failed": Failed;
  /** The session was deleted, or its file by another process. */
  "session/deleted": Deleted;
  /** Notifications were left out. */
  "session/resync": Resync;
  /** Session files have come, changed or gone. */
  "catalog/changed": CatalogChanged;
  /**
   * From `pi-daemon connect`: the daemon behind it was replaced. Requests that were in flight have been answered
   * with `shuttingDown`, open documents were opened again.
   */
  "daemon/replaced": DaemonReplaced;
  /** How far a request with a workDoneToken has come. */
  "$/progress": Progress;
}

/** `data.reason` of an error, and its code. */
export const ERROR_CODES = {
  sessionNotFound: 1001,
  sessionExists: 1002,
  sessionCorrupted: 1003,
  entryNotFound: 1004,
  leafMoved: 1005,
  duplicateEntry: 1006,
  invalidEntry: 1007,
  writerBusy: 1008,
  readOnly: 1009,
  storageFailed: 1010,
  sessionFailed: 1011,
  nothingToCompact: 1012,
  summarizerFailed: 1013,
  busy: 1014,
  overloaded: 1015,
  outsideRoot: 1016,
  unauthorized: 1017,
  tooLarge: 1018,
  shuttingDown: 1019,
  versionMismatch: 1020,
  ambiguousSession: 1021,
  daemonUnavailable: 1022,
  superseded: 1023,
  invalidSettings: 1024,
  callOpen: 1025,
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  notInitialized: -32002,
  cancelled: -32800,
} as const;

export type ErrorReason = keyof typeof ERROR_CODES;
