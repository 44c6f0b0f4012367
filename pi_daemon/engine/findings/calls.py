"""Tool calls without a result, what runs on after a command, and what shell commands leave in the dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from pi_daemon.compaction.shown.elsewhere import Elsewhere
from pi_daemon.compaction.shown.evidence import Evidence, Open
from pi_daemon.compaction.shown.held import Held
from pi_daemon.compaction.shown.places import resolve, shown
from pi_daemon.compaction.shown.tools import change
from pi_daemon.engine.findings.files import Found
from pi_daemon.engine.findings.finding import Calls, Finding, said, some

_HARMLESS = frozenset({"read", "ls", "grep", "find", "glob", "view", "read_file"})


def tally(evidence: Evidence) -> Calls:
    called = sum(evidence.called.values())
    return Calls(called, evidence.finished, evidence.failed, len(evidence.open))


def open_calls(
    evidence: Evidence,
    elsewhere: Elsewhere,
    below: Set[str],
    found: Mapping[str, Found],
    cwd: str,
    home: str,
    holder: str,
) -> list[Finding]:
    """`below`: the entries that come after the path. `found`: files that were looked at. `holder`: who has the session
    open for writing, if another process does."""
    findings: list[Finding] = []
    passed: list[Open] = []
    cut_off: list[Open] = []
    for one in evidence.open:
        act = one.act
        path = shown(resolve(act.path, cwd, home), cwd) if act.path is not None else None
        if act.call_id in elsewhere.results:
            entry = elsewhere.results[act.call_id]
            where = "comes after the end of this path" if entry in below else "lies on another branch"
            message = f"{_what(one)}: its result {where} ({entry}), so the path doesn't know it."
            advice = "Go on from there, or call it again here."
            findings.append(Finding("callWithoutResult", "warning", message, advice, act.entry_id, path))
        elif one.cut_off:
            cut_off.append(one)
        elif one.went_on:
            passed.append(one)
        else:
            findings.append(_waiting(one, path, found, cwd, home, holder))
    if passed:
        calls = "1 call has" if len(passed) == 1 else f"{len(passed)} calls have"
        message = f"{calls} no result, although the conversation went on: {_names(passed)}."
        advice = "Whether it did anything isn't recorded: look at what it was about."
        findings.append(Finding("callWithoutResult", "warning", message, advice, passed[-1].act.entry_id))
    if cut_off:
        calls = "1 call was" if len(cut_off) == 1 else f"{len(cut_off)} calls were"
        message = f"{calls} never run, as pi runs none of an answer that is cut off: {_names(cut_off)}."
        advice = "Ask for it again if it is still wanted."
        findings.append(Finding("callNotRun", "info", message, advice, cut_off[-1].act.entry_id))
    return findings


def _what(one: Open) -> str:
    """The path of a call is told beside it."""
    act = one.act
    return act.name if act.path is not None else f"{act.name} {said(act.subject)}".strip()


def _names(calls: Sequence[Open]) -> str:
    """The latest first, each once."""
    names = [f"{one.act.name} {one.act.subject}".strip() for one in reversed(calls)]
    return some(list(dict.fromkeys(names)))


def _waiting(one: Open, path: str | None, found: Mapping[str, Found], cwd: str, home: str, holder: str) -> Finding:
    """The path ends in a call."""
    act, what = one.act, _what(one)
    if holder:
        message = f"{what}: no result yet. {holder} has the session open for writing and may be running it."
        return Finding("callWithoutResult", "warning", message, "Wait for it, or have it stopped.", act.entry_id, path)
    message = f"{what}: called, and no result. Whether it was started isn't recorded; nothing waits for it any more."
    advice = "Look how far it came, then call it again or tell the model."
    if act.name.lower() in _HARMLESS:
        return Finding("callWithoutResult", "warning", message, "Call it again.", act.entry_id, path)
    if act.changes_file and act.path is not None:
        there = found.get(resolve(act.path, cwd, home))
        wanted = Held()
        change(wanted, act.arguments)
        if there is not None and there.text is not None and wanted.known:
            if wanted.compare(there.text) == "same":
                message += " The file holds what it was to put there."
                advice = "It seems to be done: tell the model so."
            else:
                message += " The file doesn't hold what it was to put there."
                advice = "It seems not to be done: call it again."
    return Finding("callWithoutResult", "problem", message, advice, act.entry_id, path)


def shell(evidence: Evidence) -> list[Finding]:
    findings: list[Finding] = []
    if evidence.background:
        last = evidence.background[-1]
        names = some(list(dict.fromkeys(one.command for one in reversed(evidence.background))))
        message = f"Commands that left something running: {names}. Whether it still runs can't be told."
        advice = "Look whether it runs, and start it again where it is needed."
        findings.append(Finding("background", "warning", message, advice, last.entry_id))
    if evidence.shell:
        count = len(evidence.shell)
        message = f"{'1 shell command' if count == 1 else f'{count:,} shell commands'} ran on this path."
        message += " What they changed, on disk or elsewhere, isn't recorded and can't be compared."
        advice = "Where it matters (installed packages, databases, generated files), look."
        findings.append(Finding("shellChanges", "info", message, advice, evidence.shell[-1].entry_id))
    return findings
