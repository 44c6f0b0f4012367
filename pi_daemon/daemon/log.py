"""What the daemon says of itself: one JSON object a line in a file of the state directory, and text on stderr.

Records have `time`, `level`, `event`, `pid`, and what `extra={"fields": {...}}` gave them: `sessionId`, `clientId`,
`method`, `ms` and the like. They never have what clients send or sessions hold: an exception is told by its class
and where it was raised, since its words may quote an entry.
"""

from __future__ import annotations

import io
import json
import logging
import os
import sys
import time
import traceback
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from pi_daemon.session.errors import PiDaemonError

LOG_BYTES = 4 * 1024 * 1024
"""Some weeks of an ordinary user's; then a new file is begun."""

LOG_FILES = 3
"""Files kept beside the one that is written."""

LEVELS = ("warning", "info", "debug")

_EVENT_CHARACTERS = 300

_FRAMES = 12
"""Of an exception's places, the innermost."""


def start(file: Path | None, level: str, *, stderr: bool) -> None:
    """Send the process's records to the file (None: to none), and to stderr if wished. Raises OSError.

    On stderr there is little, unless `level` asks for all: whoever started us may not read it, and a full pipe would
    stop the daemon."""
    handlers: list[logging.Handler] = []
    if file is not None:
        lines = LogFile(file)
        lines.setFormatter(JsonLines())
        handlers.append(lines)
        if not stderr and lines.stream is not None:
            os.dup2(lines.stream.fileno(), 2)  # for what the interpreter itself says when it dies
    if stderr:
        text = logging.StreamHandler(sys.stderr)
        text.setFormatter(Text("%(asctime)s %(levelname)s %(message)s"))
        handlers.append(text)
        if level != "debug":
            text.addFilter(lambda record: record.levelno >= logging.WARNING or record.name == "pi_daemon")
    logging.basicConfig(level=logging.WARNING, handlers=handlers, force=True)
    logging.getLogger("pi_daemon").setLevel(level.upper() if level in LEVELS else logging.INFO)


class LogFile(RotatingFileHandler):
    """Rotated by size. The file is the user's alone, and a link in its place isn't followed."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8", errors="backslashreplace")

    def _open(self) -> io.TextIOWrapper:
        def private(name: str, flags: int) -> int:
            return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)

        return open(self.baseFilename, "a", encoding=self.encoding, errors=self.errors, opener=private)


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        words = record.getMessage() if record.name.startswith("pi_daemon") else str(record.msg)
        told: dict[str, Any] = {
            "time": _iso(record.created),
            "level": record.levelname.lower(),
            "event": words[:_EVENT_CHARACTERS],
            "pid": record.process,
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            told["exception"] = describe(record.exc_info[1])
        return json.dumps(told, ensure_ascii=True, default=str)


class Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        fields = getattr(record, "fields", {})
        return f"{text}  {' '.join(f'{name}={value}' for name, value in fields.items())}" if fields else text


def describe(error: BaseException) -> dict[str, Any]:
    """An exception without its words, unless these are the system's or our own."""
    told: dict[str, Any] = {"type": type(error).__name__}
    if isinstance(error, OSError | PiDaemonError):
        told["message"] = str(error)
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    told["at"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    return told


def _iso(seconds: float) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1000):03d}Z"
