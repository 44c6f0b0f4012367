"""`pi-daemon check` and `repair`: session files and their damage."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pi_daemon_client import AsyncClient, ServerError
from pi_daemon_client.types import CheckResult, DamageInfo

from pi_daemon.cli import safe
from pi_daemon.cli.exits import Exit, Failure, failure_of
from pi_daemon.cli.naming import LAST, as_path, listed, with_file
from pi_daemon.cli.output import Output, plural
from pi_daemon.cli.reach import Where, reach


async def _path(where: Where, output: Output, name: str) -> Path:
    """The file of a session. A damaged one may be missing from the list: then only its path names it."""
    if (path := as_path(name)) is not None:
        return path
    async with reach(where, output) as client, output.working("Looking for the session") as progress:
        if name == LAST:
            found = (await client.list_sessions(limit=1, progress=progress))["sessions"]
        else:
            found = [await listed(client, name, output, progress)]
    if not found:
        raise Failure(Exit.NOT_FOUND, "There is no session.", reason="sessionNotFound")
    if found[0]["path"] is None:
        raise Failure(Exit.FAILED, f"{found[0]['sessionId']} is not on disk yet: there is no file to look at.")
    return Path(found[0]["path"])


@dataclass(frozen=True)
class Checked:
    """What came of one name."""

    name: str
    outcome: CheckResult | Failure

    @property
    def code(self) -> Exit:
        if isinstance(self.outcome, Failure):
            return self.outcome.code
        if not self.outcome["damage"]:
            return Exit.OK
        return Exit.NOT_FOUND if _no_session(self.outcome) else Exit.DAMAGED

    def as_json(self) -> dict[str, Any]:
        if isinstance(self.outcome, Failure):
            return {"path": self.name, **self.outcome.as_json()}
        return {**self.outcome, "exitCode": int(self.code)}


async def check(where: Where, output: Output, names: Sequence[str]) -> Exit:
    """Of one session all that is wrong with it, of several a line each. Returns the highest of their exit codes."""
    async with output.working("Checking"):
        checked = await _check(where, output, names)
    code = max(one.code for one in checked)
    if len(checked) == 1:
        outcome = checked[0].outcome
        if isinstance(outcome, Failure):
            raise outcome
        if output.as_json:
            output.json(outcome)
        else:
            _tell(output, outcome)
    elif output.as_json:
        output.json({"files": [one.as_json() for one in checked], "exitCode": int(code)})
    else:
        _table(output, checked)
    return code


async def _check(where: Where, output: Output, names: Sequence[str]) -> list[Checked]:
    outcomes: dict[int, CheckResult | Failure] = {}
    folders: defaultdict[Path, dict[int, Path]] = defaultdict(dict)
    for number, name in enumerate(names):
        try:
            path = _real(await _path(where, output, name))
        except Failure as failure:
            outcomes[number] = failure
        else:
            folders[path.parent][number] = path
    # By folder: where the running daemon may not read one, the daemon for it is started once.
    for paths in folders.values():
        outcomes |= await _check_folder(where, output, paths)
    return [Checked(name, outcomes[number]) for number, name in enumerate(names)]


async def _check_folder(where: Where, output: Output, paths: dict[int, Path]) -> dict[int, CheckResult | Failure]:
    outcomes: dict[int, CheckResult | Failure] = {}

    async def look(client: AsyncClient) -> None:
        for number, path in paths.items():
            try:
                outcomes[number] = await client.check(str(path))
            except ServerError as error:
                if error.reason == "outsideRoot":
                    raise
                outcomes[number] = failure_of(error)

    try:
        await with_file(where, next(iter(paths.values())), output, look)
    except ServerError as error:
        return dict.fromkeys(paths, failure_of(error))
    return outcomes


def _real(path: Path) -> Path:
    """Where a link leads, as the daemon looks at it."""
    return Path(os.path.realpath(path))


def _no_session(found: CheckResult) -> bool:
    """Nothing in it is a session's. A file that lost its header alone is a damaged one."""
    return bool(found["damage"]) and found["sessionId"] is None and found["entryCount"] == 0


def _tell(output: Output, found: CheckResult) -> None:
    path, damage = safe.line(found["path"]), found["damage"]
    entries = plural(found["entryCount"], "entry", "entries")
    if not damage:
        output.print(f"{path}: {entries}, no damage.")
    elif _no_session(found):
        output.print(f"{path} is no session: {safe.line(damage[0]['message'])}.")
    else:
        output.print(f"{path}: {entries}, {plural(len(damage), 'damage')}:")
        draw(output, damage)
        if found["opens"]:
            output.print("The session opens in spite of it.")
        elif found["sessionId"] is None:
            output.print("Without its header the session can't be opened, nor mended.")
        else:
            output.print("The session opens only with --recover: `pi-daemon repair` mends the file, keeping a copy.")


def _table(output: Output, checked: list[Checked]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("entries", justify="right", no_wrap=True)
    table.add_column("result")
    table.add_column("session", overflow="fold")
    for one in checked:
        outcome = one.outcome
        entries = "" if isinstance(outcome, Failure) or _no_session(outcome) else f"{outcome['entryCount']:,}"
        style = "green" if one.code is Exit.OK else "red"
        table.add_row(entries, Text(safe.line(_in_short(outcome)), style), safe.line(one.name))
    output.table(table)
    bad = sum(one.code is not Exit.OK for one in checked)
    output.print(f"{len(checked):,} checked, {f'something is wrong with {bad:,}' if bad else 'no damage'}.")


def _in_short(outcome: CheckResult | Failure) -> str:
    if isinstance(outcome, Failure):
        return outcome.message.removesuffix(".")
    damage = outcome["damage"]
    if not damage:
        return "no damage"
    if _no_session(outcome):
        return f"no session: {damage[0]['message']}"
    first = damage[0]
    where = "" if first["line"] is None else f"line {first['line']:,}: "
    more = f" (and {len(damage) - 1:,} more)" if len(damage) > 1 else ""
    opens = "" if outcome["opens"] else "; does not open"
    return f"{where}{first['message']}{more}{opens}"


async def repair(where: Where, output: Output, name: str) -> None:
    path = await _path(where, output, name)
    async with output.working("Repairing"):
        found = await with_file(where, path, output, lambda client: client.repair(str(path)))
    if output.as_json:
        output.json(found)
    elif found["originalKeptAt"] is None:
        output.print(f"{safe.line(found['path'])} needs no repair; nothing was written.")
    else:
        output.print(f"{safe.line(found['path'])} is mended; the original is {safe.line(found['originalKeptAt'])}.")
        if found["dropped"]:
            output.print("Left out:")
            draw(output, found["dropped"])
        if found["rewritten"]:
            output.print("Made readable:")
            draw(output, found["rewritten"])


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
