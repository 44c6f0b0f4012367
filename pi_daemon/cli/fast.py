"""`pi-daemon connect` without the parser of command lines, which takes longer than all the rest of it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

_OPTIONS = ("--socket", "--sessions-dir", "--idle")


def connect(arguments: Sequence[str]) -> None:
    """Run the command and end the process, if the options are well-formed. Comes back otherwise, and does nothing:
    the parser then says what is wrong, or helps."""
    given: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if not equals and rest:
            value = rest.pop(0)
        if name not in _OPTIONS or name in given or not value or value.startswith("-"):
            return
        given[name] = value
    try:
        idle = float(given["--idle"]) if "--idle" in given else None
    except ValueError:
        return
    if idle is None or 0 <= idle < float("inf"):
        run(_path(given.get("--socket")), _path(given.get("--sessions-dir")), idle)


def run(socket: Path | None, sessions_dir: Path | None, idle: float | None) -> NoReturn:
    """`idle` in minutes."""
    from pi_daemon.daemon.bridge.connect import connect
    from pi_daemon.daemon.bridge.join import Goal
    from pi_daemon.daemon.paths import socket_path

    sys.exit(
        connect(
            Goal(
                socket=socket.absolute() if socket is not None else socket_path(),
                sessions_dir=sessions_dir.absolute() if sessions_dir is not None else None,
                idle=idle,
            )
        )
    )


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)
