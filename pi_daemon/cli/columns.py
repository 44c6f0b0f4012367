"""Tables of numbers: where the terminal is too narrow whole columns give way, since a number that is cut is another
one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from pi_daemon.cli.output import Output

GAP = 2
"""Columns of the terminal between two of a table."""

NAME = 24
"""Columns of the terminal that a name may have before numbers give way to it: longer ones are folded."""


class Column(NamedTuple):
    """`gives_way`: the higher, the sooner; 0 never. A `name` stands on the left and may be folded."""

    heading: str
    cells: Sequence[str]
    gives_way: int = 0
    name: bool = False
    style: str | None = None


def draw(output: Output, columns: Sequence[Column]) -> None:
    """The table, and a line that says what has no place in it. The cells are safe already."""
    from rich.table import Table
    from rich.text import Text

    out = left_out(columns, output.columns)
    shown = [column for at, column in enumerate(columns) if at not in out]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in shown:
        if column.name:
            table.add_column(column.heading, overflow="fold", style=column.style)
        else:
            table.add_column(column.heading, justify="right", no_wrap=True, style=column.style)
    for row in zip(*(column.cells for column in shown), strict=True):
        table.add_row(*row)
    output.table(table)
    if out:
        names = ", ".join(columns[at].heading for at in sorted(out))
        output.wrapped(Text(f"Left out: {names}; --json or a wider terminal has them.", "dim"), 4)


def left_out(columns: Sequence[Column], width: int | None) -> Collection[int]:
    """Which of them don't fit, by their places; none where there is no `width`."""
    from rich.cells import cell_len

    if width is None:
        return ()
    widths = {at: max(map(cell_len, (column.heading, *column.cells))) for at, column in enumerate(columns)}
    widths |= {at: min(NAME, widths[at]) for at, column in enumerate(columns) if column.name}
    giving = sorted((at for at, column in enumerate(columns) if column.gives_way), key=lambda at: columns[at].gives_way)
    out: set[int] = set()
    while giving and sum(widths.values()) + GAP * (len(widths) - 1) > width:
        out.add(giving[-1])
        del widths[giving.pop()]
    return out
