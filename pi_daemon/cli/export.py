"""`pi-daemon export`: a session, or a path of it, to be taken elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path

from pi_daemon_client import ABSENT

from pi_daemon.cli import safe
from pi_daemon.cli.exits import Exit, Failure
from pi_daemon.cli.naming import Opened, entry_id, with_session
from pi_daemon.cli.output import Output
from pi_daemon.cli.reach import Where

_MARKDOWN = frozenset({".md", ".markdown"})


async def export(
    where: Where,
    output: Output,
    name: str,
    *,
    format: str | None,
    leaf: str | None,
    file: Path | None,
    thinking: bool,
    full: bool,
    recover: bool,
) -> None:
    """Without a `format` the file's name says it. Raises Failure."""
    if format is None:
        format = "markdown" if file is not None and file.suffix.lower() in _MARKDOWN else "jsonl"
    if format == "tree" and leaf is not None:
        raise Failure(Exit.USAGE, "A tree has all leaves: --leaf is for the other formats.")

    async def do(opened: Opened) -> None:
        leaf_id = ABSENT if leaf is None else await entry_id(opened, leaf)
        async with output.working("Exporting") as progress:
            found = await opened.client.export(
                opened.id,
                format,  # type: ignore[arg-type]
                leaf_id=leaf_id,
                path=str(file) if file is not None else ABSENT,
                thinking=thinking,
                full=full,
                progress=progress,
            )
        if output.as_json:
            output.json({"sessionId": opened.id, **found})
        elif "path" in found:
            output.print(f"Written to {safe.line(found['path'])}.")
        else:
            _print(found["text"])

    await with_session(where, name, output, do, recover=recover)


def _print(text: str) -> None:
    """To a program as it is, to a terminal without what that would obey."""
    if sys.stdout.isatty():
        text = safe.block(text)
    if (buffer := getattr(sys.stdout, "buffer", None)) is None:
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    rest = memoryview(text.encode(errors="replace"))
    while rest:  # an unbuffered stdout may take a part
        rest = rest[buffer.write(rest) :]
    buffer.flush()
