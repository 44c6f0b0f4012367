"""Which commits and branches the git commands of a path show, by what they printed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from pi_daemon.compaction.shown.places import resolve

_GIT = re.compile(r"(?:^|[\s;&|(`])git\s")
_CD = re.compile(r"\A\s*cd\s+(?:\"([^\"$`]*)\"|'([^']*)'|([^\s;&|\"'$`]+))\s*(?:&&|;|\n)\s*")
_ELSEWHERE = re.compile(
    r"(?:^|[\s;&|(])(?:cd|pushd|popd|ssh|docker|kubectl)\s|\sworktree\s|\s-C\s|--git-dir|--work-tree"
)
_MAKES_COMMITS = re.compile(r"\b(?:commit|cherry-pick|revert|merge|am|rebase|pull)\b")
_GIT_IN = re.compile(r"\bgit\s")
_REWRITES = (
    (_GIT_IN, re.compile(r"\b(?:rebase|filter-branch|filter-repo)")),
    (_GIT_IN, re.compile(r"\breset\b"), re.compile(r"--hard|--soft|--keep|--merge|~|\^|@\{")),
)
_AMENDS = ((_GIT_IN, re.compile(r"\bcommit\b"), re.compile(r"--amend")),)
_SILENT = (
    (_GIT_IN, re.compile(r"\b(?:checkout|switch)\b"), re.compile(r"\s(?:-q|--quiet)")),
    (_GIT_IN, re.compile(r"\bbranch\s+(?:-m|-M|--move)\b")),
)
_MAKES_BRANCH = ((re.compile(r"\b(?:checkout|switch)\s"), re.compile(r"-[bc]\b")),)
_ASKS_BRANCH = re.compile(r"git\s+(?:branch\s+--show-current|rev-parse\s+--abbrev-ref\s+HEAD)\s*\Z")
_ASKS_HEAD = re.compile(r"git\s+rev-parse\s+HEAD\s*\Z")
_PARTS = re.compile(r"[;&|\n]+")
_NAME = re.compile(r"[^\s~^:?*\[\\]{1,250}")
_TOLD = re.compile(
    r"^\[(?P<commit>detached HEAD|[^\s\]]+)(?: \(root-commit\))? (?P<hash>[0-9a-f]{7,64})\] "
    r"|^On branch (?P<on>\S+)$"
    r"|^Switched to (?:a new |and reset )?branch '(?P<to>[^'\n]+)'"
    r"|^Already on '(?P<already>[^'\n]+)'"
    r"|^\* (?P<starred>[^\s(]\S*)$"
    r"|^(?:HEAD detached (?:at|from) |Note: switching to ')(?P<detached>[^\s']+)"
    r"|^HEAD is now at (?P<now>[0-9a-f]{7,64})\b",
    re.MULTILINE,
)


class Commit(Struct, frozen=True):
    """`hash` may be the beginning of one. `entry_id`: whose output shows it; `folder`: where git was run."""

    hash: str
    entry_id: str
    folder: str


class Branch(Struct, frozen=True):
    """`name` is None for a detached HEAD."""

    name: str | None
    entry_id: str
    folder: str


class GitShown:
    """`commits`: those that were made and not taken back by a later command, oldest first. `branches`, `heads`: the
    last that was shown, by the folder where git was run."""

    def __init__(self, cwd: str, home: str) -> None:
        self._cwd = cwd
        self._home = home
        self.commits: list[Commit] = []
        self.branches: dict[str, Branch] = {}
        self.heads: dict[str, Commit] = {}

    @property
    def folders(self) -> list[str]:
        """Where git was run, the latest last."""
        found = [*self.branches, *(commit.folder for commit in self.commits), *self.heads]
        return list(dict.fromkeys(found))

    def see(self, command: str, output: str, entry_id: str) -> None:
        """One shell command and what it printed."""
        if not _GIT.search(command):
            return
        folder = self._cwd
        if cd := _CD.match(command):
            folder = resolve(cd[1] or cd[2] or cd[3] or ".", self._cwd, self._home)
            command = command[cd.end() :]
        if _ELSEWHERE.search(command):
            return  # which of its outputs is of which repository can't be told
        self._forget(command, folder)
        for told in _TOLD.finditer(output):
            self._take(told, command, entry_id, folder)
        said = output.strip()
        if _ASKS_BRANCH.search(command) and _NAME.fullmatch(said):
            self.branches[folder] = Branch(None if said == "HEAD" else said, entry_id, folder)
        elif _ASKS_HEAD.search(command) and re.fullmatch(r"[0-9a-f]{40,64}", said):
            self.heads[folder] = Commit(said, entry_id, folder)

    def _forget(self, command: str, folder: str) -> None:
        """What this command makes untrue by itself."""
        if _has(command, _REWRITES):
            self.commits = [commit for commit in self.commits if commit.folder != folder]
            self.heads.pop(folder, None)
        elif self.commits and _has(command, _AMENDS):
            self.commits.pop()
        if _has(command, _SILENT):
            self.branches.pop(folder, None)

    def _take(self, told: re.Match[str], command: str, entry_id: str, folder: str) -> None:
        if (made := told["commit"]) is not None:
            if _MAKES_COMMITS.search(command):
                commit = Commit(told["hash"], entry_id, folder)
                self.commits.append(commit)
                self.heads[folder] = commit
                self.branches[folder] = Branch(None if made == "detached HEAD" else made, entry_id, folder)
        elif told["now"] is not None:
            self.heads[folder] = Commit(told["now"], entry_id, folder)
        elif told["detached"] is not None:
            self.branches[folder] = Branch(None, entry_id, folder)
        elif told["starred"] is None or re.search(r"\bgit\s+branch\b", command):
            name = told["on"] or told["to"] or told["already"] or told["starred"]
            if told["to"] is not None and not _has(command, _MAKES_BRANCH):
                self.heads.pop(folder, None)  # which commit that one was at isn't shown
            self.branches[folder] = Branch(name, entry_id, folder)


def _has(command: str, rows: Sequence[Sequence[re.Pattern[str]]]) -> bool:
    """Whether a part of a shell command has, one after the other, all that one of `rows` looks for. As one expression
    that would cost the third power of the command's length, and it is a stranger's."""
    return any(_in_order(part, row) for part in _PARTS.split(command) for row in rows)


def _in_order(part: str, row: Sequence[re.Pattern[str]]) -> bool:
    at = 0
    for wanted in row:
        found = wanted.search(part, at)
        if found is None:
            return False
        at = found.end()
    return True
