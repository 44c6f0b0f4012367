"""`pi-daemon logs`: what the daemon has said of itself."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pi_daemon.cli import safe
from pi_daemon.cli.exits import Exit, Failure
from pi_daemon.cli.output import Output
from pi_daemon.cli.reach import Where
from pi_daemon.daemon.log import LOG_FILES

_LOOK_AGAIN = 0.2
"""Seconds between two looks for more, with `--follow`."""

_READ_BYTES = 1 << 20


async def logs(where: Where, output: Output, *, count: int, follow: bool, state_dir: Path | None) -> None:
    from pi_daemon.cli.process import versions
    from pi_daemon.daemon.paths import log_path, socket_path
    from pi_daemon.daemon.paths import state_dir as standard

    socket = where.socket or socket_path()
    path = log_path(state_dir or standard(), socket)
    if follow and output.as_json:
        words = f"--json prints one object, and --follow never ends: the file {path} has one object a line."
        raise Failure(Exit.USAGE, words, reason="invalidParams")
    tail = Tail(path)
    records = last(path, count)
    if output.as_json:
        output.json({"path": str(path), "records": [_record(line) for line in records], **versions(socket)})
        return
    if not records and not follow:
        output.print(f"Nothing is in the log {safe.line(str(path))} yet.")
    for line in records:
        output.print(text(line))
    while follow:
        for line in tail.more():
            output.print(text(line))
        await asyncio.sleep(_LOOK_AGAIN)


def last(path: Path, count: int) -> list[bytes]:
    """The last lines, of older files too. Raises Failure."""
    lines: list[bytes] = []
    for file in [path, *(path.with_name(f"{path.name}.{number}") for number in range(1, LOG_FILES + 1))]:
        missing = count - len(lines)
        if missing <= 0:
            break
        try:
            lines = file.read_bytes().splitlines()[-missing:] + lines
        except FileNotFoundError:
            break
        except OSError as error:
            raise Failure(Exit.FAILED, f"{file} can't be read: {error.strerror}.") from error
    return lines


class Tail:
    """What is written to the log from now on, over its rotation."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = self._open()
        self._rest = b""
        if self._file >= 0:
            os.lseek(self._file, 0, os.SEEK_END)

    def more(self) -> Iterator[bytes]:
        """The lines that are whole by now."""
        yield from self._lines()
        if self._replaced():
            yield from self._lines()  # what came between the two looks
            if self._file >= 0:
                os.close(self._file)
            self._file, self._rest = self._open(), b""
            yield from self._lines()

    def _lines(self) -> Iterator[bytes]:
        while self._file >= 0 and (data := os.read(self._file, _READ_BYTES)):
            *lines, self._rest = (self._rest + data).split(b"\n")
            yield from lines

    def _replaced(self) -> bool:
        try:
            return self._file < 0 or not os.path.samestat(os.stat(self._path), os.fstat(self._file))
        except OSError:
            return False

    def _open(self) -> int:
        try:
            return os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return -1


def text(line: bytes) -> str:
    """A record as a person reads it."""
    record = _record(line)
    if "time" not in record:
        return safe.line(str(record["event"]))
    fields = {name: value for name, value in record.items() if name not in ("time", "level", "event", "pid")}
    said = "  ".join(
        f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in fields.items()
    )
    return safe.line(f"{record['time']} {record['level']:<7} {record['event']}  {said}".rstrip())


def _record(line: bytes) -> dict[str, Any]:
    """Not all is ours: an interpreter that dies says so in words of its own."""
    try:
        record = json.loads(line)
    except ValueError:
        record = None
    return record if isinstance(record, dict) and "event" in record else {"event": line.decode(errors="replace")}
