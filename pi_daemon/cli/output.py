"""Where commands print: one JSON object for machines, or rich text as wide and as coloured as the terminal allows."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any

from pi_daemon_client import dumps

from pi_daemon.cli import safe
from pi_daemon.cli.exits import Failure

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

UNLIMITED = 100_000
"""Columns where there is no terminal: a program that reads the lines wants them whole."""

PATIENCE = 1.0
"""Seconds since the beginning of a command after which a person wants to see that something is going on."""


def plural(number: int, one: str, many: str | None = None) -> str:
    """`1 entry`, `2,000 entries`. `many` where that is not `one` with an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(of: float) -> str:
    """`1 byte`, `12 KB`: so many bytes, in a unit in which a person thinks of them."""
    if of < 1000:
        return plural(int(of), "byte")
    for unit in ("KB", "MB"):
        of /= 1000
        if of < 999.5:
            return f"{of:,.0f} {unit}"
    return f"{of / 1000:,.1f} GB"


def _console(stream: IO[str]) -> Console:
    from rich.console import Console

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            """rich would end the process here, with another exit code than ours."""
            raise BrokenPipeError

    terminal = stream.isatty()
    plain = not terminal or bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return Terminal(
        file=stream,
        width=None if terminal else UNLIMITED,
        color_system=None if plain else "auto",
        force_terminal=terminal,
        markup=False,
        emoji=False,
        highlight=False,
    )


class Output:
    """One for a command. `as_json`: what is printed is one JSON object, and nothing else on stdout."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self._since = time.monotonic()
        self._report: Callable[[dict[str, Any]], None] | None = None
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")

    @cached_property
    def console(self) -> Console:
        return _console(sys.stdout)

    @cached_property
    def errors(self) -> Console:
        return _console(sys.stderr)

    @cached_property
    def plain(self) -> bool:
        """Whether no colours are wanted: a long text then goes out without rich, which takes its time."""
        return self.console.color_system is None

    @property
    def unicode(self) -> bool:
        """Whether lines and bullets can be drawn."""
        return (sys.stdout.encoding or "").lower().replace("-", "") in ("utf8", "utf16", "utf32")

    @property
    def cut(self) -> str:
        """What stands for the part of a text that isn't shown."""
        return "…" if self.unicode else "~"

    @property
    def columns(self) -> int | None:
        """How wide the terminal is; None where there is none, and nothing needs to be cut."""
        return self.console.width if sys.stdout.isatty() else None

    def narrow(self, columns: int) -> bool:
        """Whether the terminal has fewer columns than that."""
        return self.columns is not None and self.columns < columns

    def json(self, value: Any) -> None:
        data = safe.json_bytes(dumps(value)) + b"\n"
        if (buffer := getattr(sys.stdout, "buffer", None)) is not None:
            sys.stdout.flush()
            rest = memoryview(data)
            while rest:  # an unbuffered stdout (PYTHONUNBUFFERED) may take a part
                rest = rest[buffer.write(rest) :]
            buffer.flush()
        else:
            sys.stdout.write(data.decode())

    def print(self, *texts: Text | str) -> None:
        """Lines that are safe already. Never cut, folded only by a terminal."""
        if self.plain:
            for text in texts or ("",):
                sys.stdout.write(f"{text}\n")
        else:
            from rich.text import Text

            self.console.print(
                Text("\n").join(Text(text) if isinstance(text, str) else text for text in texts), soft_wrap=True
            )

    def line(self, text: Text) -> None:
        """One line, cut with an ellipsis where the terminal ends."""
        if self.plain and not sys.stdout.isatty():
            sys.stdout.write(f"{text}\n")
        else:
            self.console.print(text, no_wrap=True, overflow="ellipsis", crop=True)

    def wrapped(self, text: Text, indent: int) -> None:
        """One line, folded between words where the terminal ends; what follows is indented."""
        if self.columns is None:
            self.print(text)
            return
        from rich.text import Text

        first, *rest = text.wrap(self.console, max(self.columns - indent, 20))
        for line in (first, *rest):
            line.rstrip()
        self.print(first, *(Text.assemble(" " * indent, line) for line in rest))

    def table(self, table: Table) -> None:
        """As wide as the terminal; without one as wide as it gets, and no spaces at the ends of lines."""
        if sys.stdout.isatty():
            self.console.print(table)
            return
        with self.console.capture() as capture:
            self.console.print(table)
        self.print(*(row.rstrip() for row in capture.get().splitlines()))

    def warn(self, text: str) -> None:
        """On stderr: what went well but not as one may think. The text is safe already."""
        from rich.text import Text

        self.errors.print(Text(text, "yellow"), soft_wrap=True)

    def fail(self, failure: Failure) -> None:
        if self.as_json:
            self.json(failure.as_json())
        from rich.text import Text

        message = Text.assemble(("pi-daemon: ", "bold red"), safe.block(failure.message))
        self.errors.print(message, soft_wrap=True)
        if failure.hint:
            self.errors.print(Text(safe.block(failure.hint)), soft_wrap=True)

    @asynccontextmanager
    async def working(self, what: str) -> AsyncIterator[Callable[[dict[str, Any]], None]]:
        """Shows on a terminal's stderr that something takes its time, and how far it is. Yields what a request takes
        as `progress`. Within another it has no line of its own."""
        import asyncio

        if not sys.stderr.isatty():
            yield lambda value: None
            return
        if self._report is not None:
            yield self._report
            return
        status = self.errors.status(what)

        def report(value: dict[str, Any]) -> None:
            percentage = value.get("percentage")
            message = value.get("message") or value.get("title") or what
            status.update(safe.line(str(message)) + (f" ({percentage} %)" if percentage is not None else ""))

        self._report = report
        waited = time.monotonic() - self._since
        timer = asyncio.get_running_loop().call_later(max(0.0, PATIENCE - waited), status.start)
        try:
            yield report
        finally:
            self._report = None
            timer.cancel()
            status.stop()
