"""`pi-daemon connect`, and how it starts the daemon, without the parser of command lines: that takes longer than all
the rest of it."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NoReturn

IDLE_MINUTES = 10.0
"""Of a daemon that `connect` starts again when it is needed."""

_OPTIONS = ("--socket", "--sessions-dir", "--idle")


def main(arguments: Sequence[str]) -> None:
    """Run the command and end the process, if it is one of the two and its options are well-formed. Comes back
    otherwise, and does nothing: the parser then says what is wrong, or helps."""
    if arguments[:1] == ["connect"]:
        given = _options(arguments[1:])
        if given is not None:
            connect(_path(given.get("--socket")), _path(given.get("--sessions-dir")), _idle(given))
    elif arguments[:3] == ["serve", "--detach", "--json"]:
        given = _options(arguments[3:])
        if given is not None and "--socket" in given:
            _serve(Path(given["--socket"]), _path(given.get("--sessions-dir")), _idle(given))


def connect(socket: Path | None, sessions_dir: Path | None, idle: float | None) -> NoReturn:
    """`idle` in minutes."""
    from pi_daemon.daemon.bridge.connect import connect
    from pi_daemon.daemon.bridge.join import Goal
    from pi_daemon.daemon.paths import socket_path

    sys.exit(connect(Goal(socket=socket or socket_path(), sessions_dir=sessions_dir, idle=idle)))


def _serve(socket: Path, sessions_dir: Path | None, idle: float | None) -> NoReturn:
    from pi_daemon.cli.serving import Serving, serve

    minutes = IDLE_MINUTES if idle is None else idle
    sys.exit(serve(Serving(socket=socket, sessions_dir=sessions_dir, idle=60 * minutes), detached=True, as_json=True))


def _options(arguments: Sequence[str], known: Collection[str] = _OPTIONS) -> dict[str, str] | None:
    """Each with its value; None for what isn't well-formed."""
    given: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if not equals and rest:
            value = rest.pop(0)
        if name not in known or name in given or not value or value.startswith("-"):
            return None
        given[name] = value
    try:
        idle = float(given.get("--idle", "0"))
    except ValueError:
        return None
    return given if 0 <= idle < float("inf") else None


def _idle(given: dict[str, str]) -> float | None:
    return float(given["--idle"]) if "--idle" in given else None


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text).absolute()
