"""`pi-daemon export`: a session, or a path of it, to be taken elsewhere."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from pi_daemon_client import ABSENT

from pi_daemon.cli import safe
from pi_daemon.cli.exits import Exit, Failure
from pi_daemon.cli.naming import Opened, entry_id, with_session
from pi_daemon.cli.output import Output
from pi_daemon.cli.reach import Where

_FORMATS = {"": "jsonl", ".jsonl": "jsonl", ".md": "markdown", ".markdown": "markdown"}
"""What a file's name says of the format."""

_SUFFIXES = {"jsonl": ".jsonl", "tree": ".jsonl", "markdown": ".md"}
"""Of a file that gets its name here."""


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
    format = _checked(file, format)
    if format == "tree" and leaf is not None:
        raise Failure(Exit.USAGE, "A tree has all leaves: --leaf is for the other formats.")

    async def do(opened: Opened) -> None:
        leaf_id = ABSENT if leaf is None else await entry_id(opened, leaf)
        async with output.working("Exporting") as progress:
            found = await opened.client.export(
                opened.id,
                format,  # type: ignore[arg-type]
                leaf_id=leaf_id,
                path=str(_in_folder(file, opened.id, format)) if file is not None else ABSENT,
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


def _checked(file: Path | None, format: str | None) -> str:
    """The format, once it is known that there is a place for the file. Raises Failure."""
    if file is None or os.path.isdir(file):
        return format or "jsonl"
    format = format or _format_of(file)
    if not os.path.isdir(file.parent):
        what = "is no directory" if os.path.lexists(file.parent) else "does not exist"
        raise Failure(Exit.FAILED, f"The directory {file.parent} {what}.", reason="directoryNotFound")
    return format


def _format_of(file: Path) -> str:
    """Raises Failure where its name says none: what is in the file would be a surprise."""
    if (format := _FORMATS.get(file.suffix.lower())) is None:
        raise Failure(
            Exit.USAGE,
            f"There is no format for {file.suffix}: a FILE.md is a document, a FILE.jsonl a session file.",
            hint="Or give --format jsonl, tree or markdown.",
            reason="invalidParams",
        )
    return format


def _in_folder(file: Path, session_id: str, format: str) -> Path:
    """A file in it, where that is a directory. An id may be anything that a file's header says."""
    if not os.path.isdir(file):
        return file
    return file / (re.sub(r"[^\w-]+", "-", session_id) + _SUFFIXES[format])


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
