"""`pi-daemon doctor`: a whole sessions directory, and what is wrong in it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

from pi_daemon_client.types import DoctorFinding, DoctorResult

from pi_daemon.cli import safe
from pi_daemon.cli.exits import Exit
from pi_daemon.cli.output import Output, plural, size
from pi_daemon.cli.reach import Where, reach

SHOWN = 20
"""Files of one kind that are shown without --full."""

_TITLES = {
    "damaged": "Damaged",
    "halfWritten": "With a last line that has no end",
    "empty": "Empty files",
    "leftover": "Never finished",
    "duplicated": "There twice",
    "unreadable": "Can't be read",
    "irregular": "Irregular, but readable",
    "misplaced": "In another place, or under another name, than the header says",
    "parentMissing": "Forked from a session that is gone",
    "notRead": "Too large to be read whole",
    "linked": "Links to sessions",
    "outside": "Links that aren't followed",
    "foreign": "No sessions",
}
"""In the order in which they are shown."""

_REPAIRS = {
    "repair": "--fix repairs it, unless it was just written to; the original is kept",
    "putAway": "--fix moves it to the state directory",
}


async def doctor(where: Where, output: Output, *, fix: bool, full: bool) -> Exit:
    async with reach(where, output) as client, output.working("Looking at files") as progress:
        found = await client.doctor(fix=fix, progress=progress)
    if output.as_json:
        output.json(found)
    else:
        draw(output, found, fix=fix, full=full)
    return Exit.DAMAGED if found["problems"] else Exit.OK


def draw(output: Output, found: DoctorResult, *, fix: bool, full: bool) -> None:
    from rich.text import Text

    directory = safe.line(found["sessionsDir"])
    looked = f"{plural(found['files'], 'session file')} in {plural(found['folders'], 'folder')}, {size(found['bytes'])}"
    output.print(Text.assemble((directory, "bold"), f"  {looked}"))
    for kind, title in _TITLES.items():
        rows = [one for one in found["findings"] if one["kind"] == kind]
        if rows:
            style = "bold red" if rows[0]["problem"] else "bold"
            output.print("", Text(f"{title} ({len(rows):,})", style))
            _rows(output, rows, found["sessionsDir"], full=full, fix=fix)
    notes = sum(not one["problem"] for one in found["findings"])
    mendable = sum(one["repair"] is not None and one["status"] == "found" for one in found["findings"])
    said = [plural(found["problems"], "problem") if found["problems"] else "Nothing is wrong", plural(notes, "note")]
    passed = Counter(one["status"] for one in found["findings"])
    said += [f"{passed['fixed']:,} mended"] if passed["fixed"] else []
    said += [f"{passed['skipped']:,} left for later"] if passed["skipped"] else []
    said += [f"{passed['failed']:,} could not be mended"] if passed["failed"] else []
    output.print("", f"{', '.join(said)}." + (f" --fix mends {mendable:,}." if mendable and not fix else ""))
    if passed["skipped"]:
        output.print("What is left for later is in use, or was written to within the last minute: run it again then.")
    if found["leftOut"]:
        output.print(f"{found['leftOut']:,} more were found and are not told.")


def _rows(output: Output, rows: Sequence[DoctorFinding], directory: str, *, full: bool, fix: bool) -> None:
    from rich.text import Text

    shown = rows if full or len(rows) <= SHOWN + 1 else rows[:SHOWN]
    base = os.path.realpath(directory)
    for same in _alike(shown):
        one = same[0]
        for other in same:
            output.print(Text(f"  {_short(other['path'], base)}", "cyan"))
        output.wrapped(Text(f"    {safe.line(one['message'])}"), 4)
        for also in one["others"][:SHOWN]:
            output.print(f"    also {_short(also, base)}")
        if one["status"] != "found":
            style = {"fixed": "green", "failed": "red"}.get(one["status"], "yellow")
            kept = f"; {safe.line(one['keptAt'])} is what was there" if one["keptAt"] else ""
            output.wrapped(Text(f"    {one['status']}: {safe.line(one['outcome'] or '')}{kept}", style), 4)
        elif one["repair"] is not None and not fix:
            output.print(Text(f"    {_REPAIRS[one['repair']]}", "dim"))
    if len(shown) < len(rows):
        output.print(Text(f"  ... {len(rows) - len(shown):,} more (--full shows them)", "dim"))


def _alike(rows: Sequence[DoctorFinding]) -> list[list[DoctorFinding]]:
    """Those of which the same is said, together, at the place of the first."""
    found: dict[object, list[DoctorFinding]] = {}
    for one in rows:
        told = one["message"], one["repair"], one["status"], one["outcome"], one["keptAt"], tuple(one["others"])
        found.setdefault(told, []).append(one)
    return list(found.values())


def _short(path: str, base: str) -> str:
    """From the sessions directory on, where it lies there."""
    return safe.line(path[len(base) + 1 :] if path.startswith(base + os.sep) else path)
