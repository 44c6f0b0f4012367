"""`pi-daemon list`: the sessions there are."""

from __future__ import annotations

import os
from datetime import datetime

from pi_daemon_client import ABSENT
from pi_daemon_client.types import CatalogTotals, SessionInfo

from pi_daemon.cli import safe, titles
from pi_daemon.cli.output import Output, plural
from pi_daemon.cli.reach import Where, reach

SHORTEST = 8
"""Characters of an id that are shown at least."""

NARROW = 72
"""Columns of a terminal below which the directory and the hour give way to the title."""

LEAST_TITLE = 24
"""Columns that the directory leaves of the titles where the terminal is narrow."""


async def list_sessions(where: Where, output: Output, *, cwd: str | None, limit: int, totals: bool = False) -> None:
    """`limit` 0: all."""
    async with reach(where, output) as client:
        async with output.working("Reading sessions") as progress:
            pages = client.iter_sessions(cwd=cwd if cwd is not None else ABSENT, progress=progress)
            sessions = [session async for session in pages]
            sums = await client.catalog_totals(cwd=cwd if cwd is not None else ABSENT) if totals else None
        directory = client.daemon["sessionsDir"]
    if not sessions:
        where.expect()
    shown = sessions[:limit] if limit else sessions
    if output.as_json:
        more = {"totals": sums} if sums is not None else {}
        output.json({"sessionsDir": directory, "total": len(sessions), "sessions": shown, **more})
    elif not sessions:
        output.print(f"There is no session in {safe.line(directory)}" + (f" for {safe.line(cwd)}." if cwd else "."))
    else:
        draw(output, shown, unique([session["sessionId"] for session in sessions]))
        if len(shown) < len(sessions):
            output.print(f"{len(shown)} of {len(sessions):,} sessions; --limit 0 shows all.")
        if sums is not None:
            output.print(_sums(sums))


def _sums(sums: CatalogTotals) -> str:
    tokens = sums["tokens"]
    copies = f", without {plural(sums['repeated'], 'copy', 'copies')} in forks" if sums["repeated"] else ""
    cached = f"{tokens['cacheRead']:,.0f} read from and {tokens['cacheWrite']:,.0f} written to caches"
    return (
        f"{plural(sums['sessions'], 'session')}, {plural(sums['messages'], 'message')}, "
        f"{plural(sums['replies'], 'answer')}{copies}: "
        f"{tokens['input']:,.0f} tokens in, {tokens['output']:,.0f} out, {cached}; cost {tokens['cost']:,.2f}"
    )


def draw(output: Output, sessions: list[SessionInfo], names: dict[str, str]) -> None:
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    narrow = output.narrow(NARROW)
    mark_open, mark_unwritten = ("●", "○") if output.unicode else ("*", "o")
    damaged = any(session["damaged"] for session in sessions)
    marked = damaged or any(session["open"] or not session["persisted"] for session in sessions)
    rows: list[list[str]] = [["session", *([""] if marked else []), "last message", "messages"]]
    for session in sessions:
        mark = mark_unwritten if not session["persisted"] else mark_open if session["open"] else ""
        mark += "!" if session["damaged"] else ""
        time, count = when(session["modified"], short=narrow), f"{session['messageCount']:,}"
        rows.append([safe.line(names[session["sessionId"]]), *([mark] if marked else []), time, count])
    shown = [titles.of_listed(output, session) for session in sessions]
    directories = [safe.line(home(session["cwd"])) for session in sessions]
    if output.columns is not None:
        taken = sum(1 + max(map(cell_len, cells)) for cells in zip(*rows, strict=True))
        directories = _fitting(output, directories, shown, output.columns - taken - 1)
    table = Table(box=None, pad_edge=False, header_style="bold", collapse_padding=True)
    for at, heading in enumerate(rows[0]):
        style = "cyan" if at == 0 else "green" if not heading else None
        table.add_column(heading, no_wrap=True, style=style, justify="right" if heading == "messages" else "left")
    table.add_column("title")
    if not narrow:
        table.add_column("directory", no_wrap=True, style="dim")
    for session, row, title, directory in zip(sessions, rows[1:], shown, directories, strict=True):
        # The title gives way where the terminal is narrow, and is cut, not folded.
        text = Text(title, "bold" if session["name"] else "", no_wrap=True, overflow="ellipsis")
        table.add_row(*row, text, *([] if narrow else [directory]))
    output.table(table)
    if marked:
        broken = "  ! has lines that can't be read: pi-daemon check" if damaged else ""
        output.print(Text(f"{mark_open} open  {mark_unwritten} open, not on disk{broken}", "dim"))


def _fitting(output: Output, directories: list[str], shown: list[str], room: int) -> list[str]:
    """The ends of the directories, which tell most, in what the titles leave of the room."""
    from rich.cells import cell_len

    wanted = max(map(cell_len, shown), default=0)
    width = room - min(wanted, max(LEAST_TITLE, room * 3 // 5))
    return [end(output, directory, width) for directory in directories]


def end(output: Output, text: str, width: int) -> str:
    """The end of a text in so many columns."""
    from rich.cells import cell_len

    if cell_len(text) <= width:
        return text
    while text and cell_len(text) >= width:
        text = text[1:]
    return output.cut + text


def unique(ids: list[str]) -> dict[str, str]:
    """The shortest beginning of each id that no other id has, at least SHORTEST long."""
    ordered = sorted(set(ids))
    names = {}
    for index, one in enumerate(ordered):
        beside = [ordered[at] for at in (index - 1, index + 1) if 0 <= at < len(ordered)]
        same = max((_common(one, other) for other in beside), default=0)
        names[one] = one[: max(SHORTEST, same + 1)]
    return names


def _common(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def when(timestamp: str, *, short: bool = False) -> str:
    """Local time to the minute, `short` to the day; what is no time as it is."""
    try:
        return datetime.fromisoformat(timestamp).astimezone().strftime("%Y-%m-%d" if short else "%Y-%m-%d %H:%M")
    except (ValueError, OverflowError):
        return safe.line(timestamp)


def home(path: str) -> str:
    mine = os.path.expanduser("~")
    return "~" + path[len(mine) :] if path == mine or path.startswith(mine + os.sep) else path
