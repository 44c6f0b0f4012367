"""Session files for the commands to show, and a way to run the commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from pi_daemon.cli.typed import app

ESCAPE = "\x1b]0;owned\x07\x1b[31mred\x9b31m\x7f\u202ereverse"
"""What a terminal must never get from a session."""


def line(type: str, id: str, parent: str | None, **members: Any) -> dict[str, Any]:
    return {"type": type, "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:00.000Z", **members}


def message(id: str, parent: str | None, role: str, content: Any, **members: Any) -> dict[str, Any]:
    return line("message", id, parent, message={"role": role, "content": content, "timestamp": 1, **members})


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def write_session(directory: Path, id: str, entries: list[dict[str, Any]], more: bytes = b"") -> Path:
    """A session file as pi names it, by the first entry's time."""
    header = {"type": "session", "version": 3, "id": id, "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/project"}
    path = directory / f"2026-01-01T00-00-00-000Z_{id}.jsonl"
    path.write_bytes(b"".join(json.dumps(one).encode() + b"\n" for one in [header, *entries]) + more)
    return path


def conversation() -> list[dict[str, Any]]:
    """A branch at a1: the one that was left ends in a call without a result, the active one in a label."""
    call = {"type": "toolCall", "id": "call-1", "name": "read", "arguments": {"path": "a.py"}}
    return [
        message("u1", None, "user", "hello\n" + ESCAPE),
        message("a1", "u1", "assistant", [text("hi")], provider="p", model="m"),
        message("u2", "a1", "user", "left \ud83d", big=10**30),
        message(
            "a2", "u2", "assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I read"}, call]
        ),
        message("u3", "a1", "user", "right"),
        line("label", "l1", "u3", targetId="u1", label="start"),
        message("a3", "l1", "assistant", [text("\n".join(map(str, range(40))))], provider="p", model="m", timestamp=2),
    ]


class Commands:
    """Runs commands in this process, against one daemon."""

    def __init__(self, socket: Path, sessions: Path) -> None:
        self.socket = socket
        self.sessions = sessions

    def run(self, *arguments: str, code: int = 0) -> str:
        """stdout; what goes to stderr is in `errors`."""
        result = CliRunner().invoke(app, [*arguments, "--socket", str(self.socket)], catch_exceptions=False)
        self.errors = result.stderr
        assert result.exit_code == code, result.output
        return result.stdout

    def json(self, *arguments: str, code: int = 0) -> Any:
        printed = self.run(*arguments, "--json", code=code)
        assert printed.count("\n") == 1
        return json.loads(printed)
