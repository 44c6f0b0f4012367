"""`pi-daemon resume`: what may not be any more as a session has it, the worst first."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pi_daemon_client import ABSENT
from pi_daemon_client.types import GitReport, ResumeFinding, ResumeReportResult

from pi_daemon.cli import safe
from pi_daemon.cli.naming import Opened, entry_id, with_session
from pi_daemon.cli.output import Output, plural
from pi_daemon.cli.reach import Where

if TYPE_CHECKING:
    from rich.text import Text

SHOWN = 10
"""Findings of one kind that are shown without --full."""

_TITLES = {
    "problem": ("Not as the session has it", "bold red"),
    "warning": ("Look before you go on", "bold yellow"),
    "info": ("Good to know", "bold blue"),
}

_STATES = {"asWritten": "as written", "changed": "changed since", "gone": "gone", "outside": "outside"}
_CWD = {"there": "", "gone": " (gone)", "notDirectory": " (no directory)", "unreadable": " (can't be read)"}


@dataclass(frozen=True)
class Asked:
    """As typed."""

    leaf: str | None
    tools: list[str] | None
    credentials: list[str] | None


async def resume(where: Where, output: Output, name: str, asked: Asked, *, full: bool, recover: bool) -> None:
    async def show(opened: Opened) -> None:
        leaf_id = ABSENT if asked.leaf is None else await entry_id(opened, asked.leaf)
        async with output.working("Comparing"):
            found = await opened.client.resume_report(
                opened.id,
                leaf_id=leaf_id,
                tools=ABSENT if asked.tools is None else asked.tools,
                credentials=ABSENT if asked.credentials is None else asked.credentials,
            )
        if output.as_json:
            output.json({"sessionId": opened.id, **found})
        else:
            draw(output, found, full=full)

    await with_session(where, name, output, show, recover=recover)


def draw(output: Output, found: ResumeReportResult, *, full: bool = False) -> None:
    from rich.text import Text

    cwd = found["cwd"]
    output.print(Text(f"{safe.line(cwd['path'])}{_CWD.get(cwd['state'], '')}", "bold"))
    if found["git"] is not None:
        output.print(f"    git    {_git(found['git'])}")
    calls = found["toolCalls"]
    if calls["called"]:
        parts = [plural(calls["called"], "tool call"), f"{calls['failed']:,} failed"]
        output.print(f"    calls  {', '.join([*parts, '{:,} without a result'.format(calls['open'])])}")
    if found["files"]:
        states = Counter(file["state"] for file in found["files"])
        told = [f"{number:,} {_STATES.get(state, 'not to be told')}" for state, number in states.most_common()]
        output.print(f"    files  {plural(len(found['files']), 'file')} written or edited: {', '.join(told)}")
    for severity, (title, style) in _TITLES.items():
        those = [finding for finding in found["findings"] if finding["severity"] == severity]
        if those:
            output.print("", Text(f"{title} ({len(those)})", style))
            _group(output, those, style, full)
    if not found["findings"]:
        output.print("", Text("Nothing that is otherwise was found.", "green"))
    if full and (written := [file for file in found["files"] if file["state"] == "asWritten"]):
        output.print("", Text(f"As written ({len(written)})", "bold green"))
        for file in written:
            output.print(Text.assemble(f"    {safe.line(file['path'])}", (f"  {safe.line(file['entryId'])}", "dim")))


def _git(git: GitReport) -> str:
    branch = f"branch {safe.line(git['branch'])}" if git["branch"] is not None else "no branch (detached HEAD)"
    head = f"at {git['head'][:12]}" if git["head"] is not None else "without commits"
    changes = f"{plural(git['dirtyCount'], 'change')} not committed" if git["dirtyCount"] else "nothing uncommitted"
    return f"{branch} {head}, {changes}"


def _group(output: Output, findings: list[ResumeFinding], style: str, full: bool) -> None:
    """Findings of one kind together; what is to be done is said once where it is the same."""
    from rich.text import Text

    kinds: dict[str, list[ResumeFinding]] = {}
    for finding in findings:
        kinds.setdefault(finding["kind"], []).append(finding)
    for kind in kinds.values():
        shown = kind if full or len(kind) <= SHOWN + 1 else kind[:SHOWN]
        for at, finding in enumerate(shown):
            output.wrapped(_line(finding, style), 6)
            following = shown[at + 1]["advice"] if at + 1 < len(shown) else None
            if finding["advice"] != following:
                output.wrapped(Text(f"      -> {safe.line(finding['advice'])}", "italic"), 9)
        if len(shown) < len(kind):
            output.print(Text(f"    ... {len(kind) - len(shown):,} more like these (--full shows them)", "dim"))


def _line(finding: ResumeFinding, style: str) -> Text:
    from rich.text import Text

    text = Text("    ")
    if "path" in finding:
        text.append(f"{safe.line(finding['path'])}: ", style.removeprefix("bold "))
    text.append(safe.line(finding["message"]))
    if "entryId" in finding:
        text.append(f"  {safe.line(finding['entryId'])}", "dim")
    return text
