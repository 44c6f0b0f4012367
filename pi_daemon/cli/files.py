"""`pi-daemon check` and `repair`: session files and their damage."""

from __future__ import annotations

from pathlib import Path

from pi_daemon_client.types import DamageInfo

from pi_daemon.cli import safe
from pi_daemon.cli.exits import Exit, Failure
from pi_daemon.cli.naming import LAST, as_path, listed, with_file
from pi_daemon.cli.output import Output
from pi_daemon.cli.reach import Where, reach


async def _path(where: Where, output: Output, name: str) -> Path:
    """The file of a session. A damaged one may be missing from the list: then only its path names it."""
    if (path := as_path(name)) is not None:
        return path
    async with reach(where) as client, output.working("Looking for the session") as progress:
        if name == LAST:
            found = (await client.list_sessions(limit=1, progress=progress))["sessions"]
        else:
            found = [await listed(client, name, progress)]
    if not found:
        raise Failure(Exit.NOT_FOUND, "There is no session.", reason="sessionNotFound")
    if found[0]["path"] is None:
        raise Failure(Exit.FAILED, f"{found[0]['sessionId']} is not on disk yet: there is no file to look at.")
    return Path(found[0]["path"])


async def check(where: Where, output: Output, name: str) -> Exit:
    path = await _path(where, output, name)
    async with output.working("Checking"):
        found = await with_file(where, path, lambda client: client.check(str(path)))
    damage = found["damage"]
    if output.as_json:
        output.json(found)
    elif not damage:
        output.print(f"{safe.line(found['path'])}: {found['entryCount']:,} entries, no damage.")
    else:
        output.print(f"{safe.line(found['path'])}: {found['entryCount']:,} entries, {_count(damage)}:")
        draw(output, damage)
        if found["opens"]:
            output.print("The session opens in spite of it.")
        else:
            output.print("The session opens only with --recover: `pi-daemon repair` mends the file, keeping a copy.")
    return Exit.DAMAGED if damage else Exit.OK


async def repair(where: Where, output: Output, name: str) -> None:
    path = await _path(where, output, name)
    async with output.working("Repairing"):
        found = await with_file(where, path, lambda client: client.repair(str(path)))
    if output.as_json:
        output.json(found)
    elif found["originalKeptAt"] is None:
        output.print(f"{safe.line(found['path'])} needs no repair; nothing was written.")
    else:
        output.print(f"{safe.line(found['path'])} is mended; the original is {safe.line(found['originalKeptAt'])}.")
        if found["dropped"]:
            output.print("Left out:")
            draw(output, found["dropped"])


def _count(damage: list[DamageInfo]) -> str:
    return "one damage" if len(damage) == 1 else f"{len(damage):,} damages"


def draw(output: Output, damage: list[DamageInfo]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("line", justify="right")
    table.add_column("byte", justify="right")
    table.add_column("damage", no_wrap=True, style="red")
    table.add_column("what it means")
    for one in damage:
        lost = one["entryIds"]
        ids = f" ({', '.join(lost[:3])}{f' and {len(lost) - 3} more' if len(lost) > 3 else ''})" if lost else ""
        table.add_row(
            "" if one["line"] is None else f"{one['line']:,}",
            "" if one["offset"] is None else f"{one['offset']:,}",
            safe.line(one["kind"]),
            safe.line(one["message"] + ids),
        )
    output.table(table)
