"""Parameters and results of session/resumeReport."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from pi_daemon.rpc.types.base import Wire


class ResumeReportParams(Wire, kw_only=True):
    """A path to compare with the world, and what the client has to go on with.

    `session_id`: the session.
    `leaf_id`: where the path ends; absent: at the session's leaf; null: before the first entry.
    `tools`: the names of all tools that the client has; absent: they are not compared.
    `credentials`: the names of all credentials that the client can use: providers, or environment variables as its
        tools see them. Names, never values; absent: they are not compared.
    """

    session_id: str
    leaf_id: str | UnsetType | None = UNSET
    tools: list[str] | UnsetType = UNSET
    credentials: list[str] | UnsetType = UNSET


class CwdReport(Wire, kw_only=True):
    """The session's directory.

    `path`: as the session has it.
    `state`: what is there.
    `moved_to`: where it is gone: directories that may be the same one, the likeliest first.
    """

    path: str
    state: Literal["there", "gone", "notDirectory", "unreadable"]
    moved_to: list[str]


class DirtyReport(Wire, kw_only=True):
    """A file that isn't as in HEAD.

    `path`: relative to the cwd where it lies in it.
    `status`: the two letters of `git status`, `??` for what git doesn't know.
    `by_path`: whether a call on the path changed it too.
    """

    path: str
    status: str
    by_path: bool


class GitReport(Wire, kw_only=True):
    """The work tree that the cwd lies in.

    `root`: its directory.
    `head`: the commit; null: there is none yet.
    `branch`: null: HEAD is detached.
    `dirty`: uncommitted changes, at most 1,000; those within submodules are left out.
    `dirty_count`: how many there are.
    """

    root: str
    head: str | None
    branch: str | None
    dirty: list[DirtyReport]
    dirty_count: int


class CallTally(Wire, kw_only=True):
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


class FileReport(Wire, kw_only=True):
    """A file that writes or edits on the path changed and that went well.

    `path`: relative to the cwd where it lies in it.
    `state`: `asWritten`: as the last of them left it, or each text that edits put in is there; `changed` since; `gone`;
        `outside` of the cwd and its repository, and not looked at; `unknown`: can't be told.
    `entry_id`: the entry of the last such call.
    `tool`: its tool.
    `changes`: how many such calls there are.
    """

    path: str
    state: Literal["asWritten", "changed", "gone", "outside", "unknown"]
    entry_id: str
    tool: str
    changes: int


class ResumeFinding(Wire, kw_only=True):
    """One thing that may not be as the path has it.

    `kind`: names the situation; there may be more kinds in a later version.
    `severity`: `problem`: what the model takes for granted is not so; `warning`: it may not be so; `info`: nothing is
        wrong, or nothing can be told.
    `message`: what was found.
    `advice`: what to do about it.
    `entry_id`: the entry that it is about.
    `path`: the file or directory that it is about, relative to the cwd where it lies in it.
    """

    kind: str
    severity: Literal["info", "warning", "problem"]
    message: str
    advice: str
    entry_id: str | UnsetType = UNSET
    path: str | UnsetType = UNSET


class ResumeReportResult(Wire, kw_only=True):
    """The path against the world as it is now. Nothing was written.

    `leaf_id`: where the path ends.
    `revision`: the revision that this shows.
    `cwd`: the session's directory.
    `git`: null: no work tree, or none that could be looked at; a finding says why.
    `tool_calls`: what became of them.
    `files`: what writes and edits changed, the latest last; empty while the cwd isn't there.
    `findings`: the worst first.
    """

    leaf_id: str | None
    revision: int
    cwd: CwdReport
    git: GitReport | None
    tool_calls: CallTally
    files: list[FileReport]
    findings: list[ResumeFinding]
