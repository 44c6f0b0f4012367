"""What a client lacks that the path used, and what summaries say that nothing backs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pi_daemon.compaction.shown.claims import Claim
from pi_daemon.compaction.shown.elsewhere import Elsewhere
from pi_daemon.compaction.shown.evidence import Evidence
from pi_daemon.compaction.shown.places import resolve, shown
from pi_daemon.engine.findings.finding import Finding, said


def tools(evidence: Evidence, has: Sequence[str]) -> list[Finding]:
    """`has`: the names of the client's tools."""
    there = set(has)
    found: list[Finding] = []
    for name, count in evidence.called.items():
        if name and name not in there:
            often = "once" if count == 1 else f"{count:,} times"
            message = f"This path called {said(name)} {often}; the client has no such tool."
            advice = "Add the tool, or tell the model that it is gone."
            found.append(Finding("toolMissing", "warning", message, advice, evidence.last_call[name]))
    return found


def credentials(evidence: Evidence, provider: tuple[str, str] | None, has: Sequence[str]) -> list[Finding]:
    """`has`: the names of what the client can use. `provider`: of the model that the path goes on with, and the entry
    that says so."""
    there = {name.upper().replace("-", "_") for name in has}
    found: list[Finding] = []
    if provider is not None:
        name, entry = provider
        stem = name.upper().replace("-", "_")
        if not any(one == stem or one.startswith(f"{stem}_") for one in there):
            message = f"The path goes on with a model of {said(name)}; the client names no credential for it."
            found.append(Finding("credentialMissing", "warning", message, "Log in, or choose another model.", entry))
    for name, entry in evidence.variables.items():
        if name not in there:
            message = f"Shell commands of this path use {name}; the client doesn't name it."
            advice = "Set it where the tools run, if those commands are to work again."
            found.append(Finding("credentialMissing", "warning", message, advice, entry))
    return found


def unbacked(
    claimed: Mapping[str, Sequence[Claim]], evidence: Evidence, elsewhere: Elsewhere, cwd: str, home: str
) -> list[Finding]:
    """`claimed`: by the type of the entry, the claims of its summary. Each path is told once, by the last summary."""
    here = {path for path, file in evidence.files.items() if file.changes}
    there = set(elsewhere.files)
    found: dict[str, Finding] = {}
    for kind, claims in claimed.items():
        for claim in claims:
            path = resolve(claim.path, cwd, home)
            if path in here or _ends_so(claim, here):
                continue
            beside = path in there or _ends_so(claim, there)
            if beside and kind == "branch_summary":
                continue  # it tells of that branch
            name = shown(path, cwd)
            words = "is listed as modified" if claim.listed else "is said to have been changed"
            why = "only calls on another branch did so" if beside else "no write or edit that went well backs it"
            shell = " A shell command may have done it." if evidence.shell and not beside else ""
            message = f"In a summary it {words}; {why}.{shell}"
            severity = "warning" if claim.listed or beside else "info"
            advice = "Look at the file before taking it for done."
            found[path] = Finding("summaryClaim", severity, message, advice, claim.entry_id, name)  # type: ignore[arg-type]
    return list(found.values())


def _ends_so(claim: Claim, paths: set[str]) -> bool:
    """Prose names a file by the end of its path."""
    return not claim.listed and any(path.endswith(f"/{claim.path.lstrip('./')}") for path in paths)
