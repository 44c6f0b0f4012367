"""Starting a daemon that outlives whoever starts it, and in which nothing of the starter is left: not its
environment, directory, terminal, process group or descriptors."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

KEPT = (
    *("HOME", "USER", "LOGNAME", "PATH", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR"),
    *("OPENAI_API_KEY", "ANTHROPIC_API_KEY"),
    *("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_DATA_DIRS"),
)
"""What belongs to the user and not to one of the user's terminals, editors or projects. The keys are for summaries by a
model, and come from nowhere else."""

KEPT_BEGINNINGS = ("LC_", "PI_")

DIRECTORIES = ("PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR", "PI_DAEMON_STATE_DIR")
"""Of these a relative one means the starter's directory."""


def command(*arguments: str) -> list[str]:
    """How to run `pi-daemon` with this very code. `-P` keeps the current directory off the import path: commands run
    in directories of strangers."""
    return [sys.executable, "-P", "-m", "pi_daemon.cli", *arguments]


def checkout() -> str | None:
    """Where the code lies, if it isn't installed and must be named to a new interpreter: the package, and the client
    with which one daemon speaks to another."""
    root = Path(__file__).parents[2]
    installed = {"site-packages", "dist-packages"} & set(root.parts)
    return None if installed else os.pathsep.join((str(root), str(root / "clients" / "python")))


def environment(given: Mapping[str, str] | None = None) -> dict[str, str]:
    """A daemon's environment, of its starter's."""
    given = os.environ if given is None else given
    kept = {name: value for name, value in given.items() if name in KEPT or name.startswith(KEPT_BEGINNINGS)}
    for name in DIRECTORIES:
        if kept.get(name) and not kept[name].startswith("~"):
            kept[name] = os.path.abspath(kept[name])
    root = checkout()
    return {**kept, "PYTHONPATH": root} if root is not None else kept


class Report:
    """The daemon's word to whoever waits for it to listen."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def send(self, told: Mapping[str, Any]) -> None:
        """Only the first word counts, and nobody listening is no failure."""
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                os.write(self._descriptor, json.dumps(told).encode())
            os.close(self._descriptor)
            self._descriptor = -1


def detach() -> Report | dict[str, Any]:
    """Go on in another process, the daemon's. There it returns its Report; here it returns, once that was sent, what it
    said, empty if the daemon ended without a word. An environment that isn't clean takes a new start of the program."""
    if environment() != dict(os.environ):
        os.execve(sys.executable, command(*sys.argv[1:]), environment())
    reading, writing = os.pipe()
    if os.fork():
        os.close(writing)
        with open(reading, "rb") as pipe:
            told: dict[str, Any] = json.loads(pipe.read() or b"{}")
        return told
    os.setsid()
    os.chdir("/")
    os.umask(0o077)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    os.dup2(writing, 3)
    for number in open_descriptors():
        if number > 3:
            with contextlib.suppress(OSError):
                os.close(number)
    os.set_inheritable(3, False)
    return Report(3)


def open_descriptors() -> list[int]:
    """Those of this process. Closing all that there might be takes minutes where a process may have a billion."""
    try:
        return [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:
        return list(range(1024))
