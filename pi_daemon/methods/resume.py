"""session/resumeReport."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from pi_daemon.engine import resuming
from pi_daemon.engine.findings.finding import Finding
from pi_daemon.methods.shared import Shared
from pi_daemon.rpc.call import Call
from pi_daemon.rpc.types import resume as r
from pi_daemon.session.errors import InvalidParams

NAMES = 10_000
"""Names of one kind that a client may give: more than any agent has tools."""

_NAME = re.compile(r"[^\s=\x00-\x1f\x7f]{1,200}")


async def resume_report(shared: Shared, call: Call, params: r.ResumeReportParams) -> r.ResumeReportResult:
    has = resuming.Has(_names(params.tools, "tools"), _names(params.credentials, "credentials"))
    async with shared.use(call, params.session_id) as session:
        await session.look()
        leaf_id = session.leaf_id if params.leaf_id is UNSET else params.leaf_id
        made = await resuming.report(session, leaf_id, shared.hub.world, has)
        return r.ResumeReportResult(
            leaf_id=made.leaf_id,
            revision=made.revision,
            cwd=r.CwdReport(path=made.cwd, state=made.cwd_state, moved_to=made.moved_to),
            git=_git(made),
            tool_calls=r.CallTally(
                called=made.calls.called,
                finished=made.calls.finished,
                failed=made.calls.failed,
                open=made.calls.open,
            ),
            files=[
                r.FileReport(
                    path=file.path, state=file.state, entry_id=file.entry_id, tool=file.tool, changes=file.changes
                )
                for file in made.files
            ],
            findings=[_finding(finding) for finding in made.findings],
        )


def _names(given: list[str] | UnsetType, parameter: str) -> Sequence[str] | None:
    """Raises InvalidParams for what can't be a name; it may be a secret, so it isn't repeated."""
    if given is UNSET:
        return None
    if len(given) > NAMES or not all(map(_NAME.fullmatch, given)):
        raise InvalidParams("Give names, and no values: without spaces and =, at most 200 characters.", path=parameter)
    return given


def _git(made: resuming.Report) -> r.GitReport | None:
    git = made.git
    if git is None:
        return None
    return r.GitReport(
        root=git.root,
        head=git.head,
        branch=git.branch,
        dirty=[r.DirtyReport(path=one.path, status=one.status, by_path=one.by_path) for one in git.dirty],
        dirty_count=git.dirty_count,
    )


def _finding(finding: Finding) -> r.ResumeFinding:
    return r.ResumeFinding(
        kind=finding.kind,
        severity=finding.severity,
        message=finding.message,
        advice=finding.advice,
        entry_id=finding.entry_id if finding.entry_id is not None else UNSET,
        path=finding.path if finding.path is not None else UNSET,
    )
