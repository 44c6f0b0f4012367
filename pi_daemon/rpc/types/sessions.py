"""Parameters and results about whole sessions."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from pi_daemon.rpc.types.base import DamageInfo, Model, Options, Persist, Wire


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
