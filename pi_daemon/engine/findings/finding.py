"""What a report is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from pi_daemon.compaction.shown.places import sound
from pi_daemon.compaction.words import clip, one_line

Severity: TypeAlias = Literal["info", "warning", "problem"]
FileState: TypeAlias = Literal["asWritten", "changed", "gone", "outside", "unknown"]
CwdState: TypeAlias = Literal["there", "gone", "notDirectory", "unreadable"]

SEVERITIES: tuple[Severity, ...] = ("problem", "warning", "info")
"""The worst first."""

WORDS = 120
"""Characters of a command that are shown."""

NAMED = 5
"""Things that a finding about several names."""


class Finding(Struct):
    """`problem`: what the model takes for granted is not so; `warning`: may not be so; `info`: nothing is wrong, or
    nothing can be told. `advice`: what to do. `path` is relative to the cwd where it lies in it."""

    kind: str
    severity: Severity
    message: str
    advice: str
    entry_id: str | None = None
    path: str | None = None


class FileStatus(Struct):
    """A file that calls of the path changed. `entry_id`, `tool`: the last of `changes` calls that went well."""

    path: str
    state: FileState
    entry_id: str
    tool: str
    changes: int


class DirtyFile(Struct):
    """`by_path`: a call of the path changed it too."""

    path: str
    status: str
    by_path: bool


class GitState(Struct):
    """`head` is None without commits, `branch` for a detached HEAD. `dirty_count`: how many there are, if `dirty` is
    cut."""

    root: str
    head: str | None
    branch: str | None
    dirty: list[DirtyFile]
    dirty_count: int


class Calls(Struct):
    called: int
    finished: int
    failed: int
    open: int


class Report(Struct):
    """`moved_to`: directories that the cwd may have been moved to, the likeliest first. `git` is None where there is no
    work tree, or none can be looked at."""

    leaf_id: str | None
    revision: int
    cwd: str
    cwd_state: CwdState
    moved_to: list[str]
    git: GitState | None
    calls: Calls
    files: list[FileStatus]
    findings: list[Finding]


def said(text: str) -> str:
    """A command or a path within a message."""
    return clip(one_line(text), WORDS)


def some(names: Sequence[str]) -> str:
    """The first few, and how many more."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(said(sound(name)) for name in names[:NAMED]) + more
