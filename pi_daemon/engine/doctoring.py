"""Going over the sessions directory, and mending in it what can be mended without losing anything."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Literal, TypeVar

from msgspec import Struct

from pi_daemon.engine.hub import Hub
from pi_daemon.session.errors import Busy, PiDaemonError, WriterBusy
from pi_daemon.storage.protocols import Examined, Finding, Progress

Status = Literal["found", "fixed", "skipped", "failed"]
Result = TypeVar("Result")


class Treated(Struct):
    """What became of a finding. `outcome` says it in words, `kept_at` where what was there before is kept."""

    finding: Finding
    status: Status = "found"
    outcome: str | None = None
    kept_at: str | None = None


class Rounds(Struct):
    examined: Examined
    findings: list[Treated]


async def doctor(hub: Hub, fix: bool, looking: Progress, fixing: Callable[[int, int], None]) -> Rounds:
    """Without `fix` nothing is changed; with it nothing is deleted. Cancelled, it ends after the file it is at."""
    examined = await hub.files.examine(looking)
    treated = [Treated(finding) for finding in examined.findings]
    todo = [one for one in treated if one.finding.repair is not None] if fix else []
    for done, one in enumerate(todo):
        fixing(done, len(todo))
        await _whole(_treat(hub, one))
    return Rounds(examined, treated)


async def _treat(hub: Hub, one: Treated) -> None:
    finding = one.finding
    if not finding.settled:
        one.status, one.outcome = "skipped", "it was written to less than a minute ago, perhaps by a running agent"
        return
    try:
        if finding.repair == "putAway":
            one.kept_at = await hub.files.put_away(finding.path)
            one.outcome = "put away"
        else:
            report = await hub.repair(finding.path)
            one.kept_at = report.original_kept_at
            dropped, rewritten = len(report.dropped), len(report.rewritten)
            said = [f"{_lines(rewritten)} made readable"] if rewritten else []
            said += [f"{_lines(dropped)} left out, which could not be read"] if dropped else []
            one.outcome = ", ".join(said)
        one.status = "fixed"
    except (Busy, WriterBusy) as error:
        one.status, one.outcome = "skipped", error.message
    except PiDaemonError as error:
        one.status, one.outcome = "failed", error.message


def _lines(count: int) -> str:
    return "1 line was" if count == 1 else f"{count:,} lines were"


async def _whole(work: Coroutine[Any, Any, Result]) -> Result:
    """A cancellation comes after it, not in the middle."""
    task = asyncio.get_running_loop().create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
