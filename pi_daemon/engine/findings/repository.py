"""HEAD, branch and uncommitted changes, against what the git commands of a path printed."""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec import Struct

from pi_daemon.compaction.shown.evidence import Evidence
from pi_daemon.compaction.shown.places import shown, sound
from pi_daemon.compaction.shown.repository import Branch, Commit
from pi_daemon.engine.findings.finding import DirtyFile, Finding, GitState, said, some
from pi_daemon.storage import git
from pi_daemon.storage.git import GitTrouble
from pi_daemon.storage.world import World

FOLDERS = 8
"""Directories in which the path ran git that are looked up, the latest; each costs one command."""

COMMITS = 200
"""Commits of the path that are looked for, the latest."""

DIRTY = 1_000
"""Uncommitted changes that are told one by one."""

_TROUBLE = {
    "noGit": ("The program git isn't on the daemon's PATH: HEAD, branch and changes could not be compared.", "info"),
    "refused": ("git refuses to look at a repository of another owner (safe.directory).", "warning"),
    "timeout": ("git took too long: HEAD, branch and changes could not be compared.", "warning"),
    "failed": ("git failed: HEAD, branch and changes could not be compared.", "warning"),
}


class Compared(Struct):
    """`root`: of the work tree, if there is one."""

    state: GitState | None
    findings: list[Finding]
    root: str | None = None


async def compare(world: World, evidence: Evidence, cwd: str) -> Compared:
    """`cwd` is there."""
    try:
        roots = await git.roots(cwd)
        if roots.work_tree is None:
            message = "The directory is a bare repository, or lies in a .git: there is no work tree to compare."
            return Compared(None, [Finding("bareRepository", "info", message, "Nothing, if that was so before.")])
        status = await git.status(roots.work_tree)
        shown_here = await _shown_in(evidence, cwd, roots.work_tree)
        findings = await _history(status, shown_here)
    except GitTrouble as trouble:
        return Compared(None, _trouble(trouble, evidence))
    if roots.superproject is not None:
        message = f"It is a submodule of {said(sound(roots.superproject))}; that one is not compared."
        findings.append(Finding("submodule", "info", message, "Look there too, if this path changed the submodule."))
    if shown_here.others:
        message = f"git was run in other repositories as well, which are not compared: {some(shown_here.others)}."
        findings.append(Finding("otherRepositories", "info", message, "Look there yourself."))
    state = await world.looking(lambda: _state(status, evidence, cwd))
    findings += _uncommitted(state, status.complete)
    return Compared(state, findings, roots.work_tree)


def _trouble(trouble: GitTrouble, evidence: Evidence) -> list[Finding]:
    if trouble.kind == "noRepository":
        folders = evidence.git.folders
        if not folders:
            return []
        message = "The directory is in no git repository, although git was run on this path."
        entry = _last_entry(evidence)
        return [Finding("noRepository", "warning", message, "Look whether it is the right directory.", entry)]
    message, severity = _TROUBLE[trouble.kind]
    return [Finding("noGit" if trouble.kind == "noGit" else "gitFailed", severity, message, "Look with git status.")]  # type: ignore[arg-type]


def _last_entry(evidence: Evidence) -> str | None:
    if evidence.git.commits:
        return evidence.git.commits[-1].entry_id
    return next((branch.entry_id for branch in reversed(evidence.git.branches.values())), None)


class _Shown(Struct):
    """What of the path's git commands is of one repository. `others`: roots of other ones."""

    commits: list[Commit]
    head: Commit | None
    branch: Branch | None
    others: list[str]


async def _shown_in(evidence: Evidence, cwd: str, root: str) -> _Shown:
    ours: set[str] = set()
    others: dict[str, None] = {}
    for folder in evidence.git.folders[-FOLDERS:]:
        if folder == cwd:
            ours.add(folder)
            continue
        try:
            other = (await git.roots(folder)).work_tree
        except GitTrouble:
            continue  # a directory that is gone, or no repository any more
        if other == root:
            ours.add(folder)
        elif other is not None:
            others[other] = None
    commits = [commit for commit in evidence.git.commits if commit.folder in ours]
    heads = [head for folder, head in evidence.git.heads.items() if folder in ours]
    branches = [branch for folder, branch in evidence.git.branches.items() if folder in ours]
    # With several folders of one repository the last one that was told counts: a dict keeps the order of first
    # mention, so this is exact for one folder and near enough for more.
    return _Shown(commits, heads[-1] if heads else None, branches[-1] if branches else None, list(others))


async def _history(status: git.Status, path: _Shown) -> list[Finding]:
    findings: list[Finding] = []
    commits = list({commit.hash: commit for commit in path.commits[-COMMITS:]}.values())
    known = {commit.hash: commit for commit in [*commits, *([path.head] if path.head is not None else [])]}
    missing = await git.missing(status.root, list(known))
    if known and len(missing) == len(known):
        count = "The commit" if len(known) == 1 else f"None of the {len(known)} commits"
        verb = "isn't" if len(known) == 1 else "is"
        message = f"{count} that this path made or saw {verb} in the repository here ({some(list(known))})."
        message += " It is another repository, or another clone, or its history was rewritten."
        entry = known[list(known)[-1]].entry_id
        advice = "Look whether it is the right directory; then read anew what the path relies on."
        findings.append(Finding("otherRepository", "problem", message, advice, entry))
    elif missing:
        gone = [commit for commit in commits if commit.hash in missing]
        if gone:
            message = f"Commits of this path that the repository hasn't any more: {some([one.hash for one in gone])}."
            advice = "They were amended, rebased away or never fetched: look at the log before relying on them."
            findings.append(Finding("commitGone", "warning", message, advice, gone[-1].entry_id))
    if path.head is not None and path.head.hash not in missing:
        findings += await _head(status, path.head)
    if path.branch is not None:
        findings += _branch(status, path.branch)
    return findings


async def _head(status: git.Status, head: Commit) -> list[Finding]:
    if status.head is None or status.head.startswith(head.hash):
        return []
    since, lost = await git.ahead(status.root, head.hash)
    if not lost:
        count = "1 commit was" if since == 1 else f"{since:,} commits were"
        message = f"{count} added after {head.hash[:12]}, the last one that this path shows."
        advice = f"git log {head.hash[:12]}.. shows them; the model doesn't know them."
        return [Finding("headMoved", "warning", message, advice, head.entry_id)]
    on = await git.branches_with(status.root, head.hash)
    where = f"it is on {some(on)}" if on else "it is on no local branch"
    message = f"HEAD ({status.head[:12]}) hasn't the commit {head.hash[:12]}, which was HEAD on this path; {where}."
    advice = "Check that branch out, or tell the model that its work isn't in this work tree."
    return [Finding("headMoved", "problem", message, advice, head.entry_id)]


def _branch(status: git.Status, branch: Branch) -> list[Finding]:
    if status.branch == branch.name:
        return []
    was = f"on branch {said(branch.name)}" if branch.name is not None else "on no branch (detached HEAD)"
    now = f"on {said(sound(status.branch))}" if status.branch is not None else "on none (detached HEAD)"
    message = f"This path was last seen {was}; the work tree is {now} now."
    return [Finding("branchChanged", "warning", message, "Switch back, or tell the model.", branch.entry_id)]


def _state(status: git.Status, evidence: Evidence, cwd: str) -> GitState:
    changed = {_real(path) for path, file in evidence.files.items() if file.changes}
    dirty = [DirtyFile(shown(one.path, cwd), one.status, one.path in changed) for one in status.dirty[:DIRTY]]
    branch = sound(status.branch) if status.branch is not None else None
    return GitState(sound(status.root), status.head, branch, dirty, len(status.dirty))


def _real(path: str) -> str:
    """Without links, as git names files."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path


def _uncommitted(state: GitState, complete: bool) -> list[Finding]:
    findings: list[Finding] = []
    own = [one.path for one in state.dirty if one.by_path]
    others = [one.path for one in state.dirty if not one.by_path]
    least = "" if complete and state.dirty_count == len(state.dirty) else "at least "
    if own:
        message = f"Changed on this path and not committed: {_files(own, '')}."
        gone = [one.path for one in state.dirty if one.by_path and "D" in one.status]
        advice = "Commit it when it is done." if len(gone) < len(own) else "Restore it, or commit that it is gone."
        if gone and len(gone) < len(own):
            advice = f"Restore what is gone ({some(gone)}), or commit that too."
        findings.append(Finding("uncommitted", "info", message, advice))
    if others:
        message = f"Not committed, and not changed by a write or edit of this path: {_files(others, least)}."
        advice = "Somebody else's work, or a shell command's: don't overwrite it unseen."
        findings.append(Finding("uncommittedByOthers", "warning", message, advice))
    return findings


def _files(names: Sequence[str], least: str) -> str:
    return f"{least}{len(names):,} {'file' if len(names) == 1 else 'files'} ({some(names)})"
