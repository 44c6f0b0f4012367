"""Lines as a file holds them, and their heads."""

from __future__ import annotations

import json
from typing import Any

from pi_daemon.session.entry import read_line
from pi_daemon.session.head import Head

TIME = "2026-01-01T00:00:00.000Z"


def line(type: str, id: str, parent: str | None, **members: Any) -> bytes:
    entry = {"type": type, "id": id, "parentId": parent, "timestamp": TIME, **members}
    return json.dumps(entry, separators=(",", ":"), ensure_ascii=True).encode()


def header(id: str = "s1", cwd: str = "/project", **members: Any) -> bytes:
    value = {"type": "session", "version": 3, "id": id, "timestamp": TIME, "cwd": cwd, **members}
    return json.dumps(value, separators=(",", ":")).encode()


def user(id: str, parent: str | None, content: Any = "hello", **members: Any) -> bytes:
    return line("message", id, parent, message={"role": "user", "content": content, **members})


def answer(id: str, parent: str | None, content: Any = (), **members: Any) -> bytes:
    content = content if isinstance(content, str) else list(content)
    message = {"role": "assistant", "content": content, "provider": "p", "model": "m", **members}
    return line("message", id, parent, message=message)


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def call(id: str, name: str = "read", **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": id, "name": name, "arguments": arguments}


def result(id: str, parent: str | None, call_id: str, words: str = "out") -> bytes:
    message = {"role": "toolResult", "toolCallId": call_id, "toolName": "t", "content": [text(words)]}
    return line("message", id, parent, message=message)


class Kept:
    """Lines with their heads, one after the other in a file."""

    def __init__(self, *lines: bytes) -> None:
        self.lines = list(lines)
        self.heads: list[Head] = []
        offset = 100
        for raw in lines:
            head = read_line(raw, offset)
            assert isinstance(head, Head)
            self.heads.append(head)
            offset += len(raw) + 1
