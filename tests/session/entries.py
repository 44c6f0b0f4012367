"""Heads and lines for tests, made the way a file would hold them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from pi_daemon.session.entry import HeadReader, Stray, read_line
from pi_daemon.session.head import Head
from pi_daemon.session.stats import Sums
from pi_daemon.session.tree import SessionTree

TIME = "2026-01-01T00:00:00.000Z"
TIME_MS = 1767225600000


def line(type: str, id: str, parent: str | None, **members: Any) -> bytes:
    entry = {"type": type, "id": id, "parentId": parent, "timestamp": TIME, **members}
    return json.dumps(entry, separators=(",", ":"), ensure_ascii=True).encode()


def user(id: str, parent: str | None, content: Any = "hello", **members: Any) -> bytes:
    return line("message", id, parent, message={"role": "user", "content": content, **members})


def answer(id: str, parent: str | None, content: Any = (), **members: Any) -> bytes:
    message = {"role": "assistant", "content": list(content), "provider": "p", "model": "m", **members}
    return line("message", id, parent, message=message)


def call(id: str, name: str = "read", **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": id, "name": name, "arguments": arguments}


def result(id: str, parent: str | None, call_id: str, text: str = "out") -> bytes:
    content = [{"type": "text", "text": text}]
    return line(
        "message",
        id,
        parent,
        message={"role": "toolResult", "toolCallId": call_id, "toolName": "t", "content": content},
    )


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def head(raw: bytes, offset: int = 0) -> Head:
    found = read_line(raw, offset)
    assert isinstance(found, Head), found
    return found


def bare(id: str, parent: str | None, timestamp: str = TIME) -> Head:
    """A head of a kind without facts."""
    return Head("custom", id, parent, timestamp, -1, 0, None)


class Chain:
    """Lines as a tree, and what they are by id."""

    def __init__(self, *lines: bytes) -> None:
        heads = [head(raw) for raw in lines]
        self.tree = SessionTree(heads)
        self.lines = {one.id: raw for one, raw in zip(heads, lines, strict=True)}

    def of(self, heads: list[Head]) -> list[bytes]:
        return [self.lines[one.id] for one in heads]


def read(data: bytes, block: int = 1 << 16) -> tuple[list[Head], list[Stray], HeadReader]:
    """All of a file, in blocks of about so many bytes that end with a line."""
    reader = HeadReader()
    heads: list[Head] = []
    strays: list[Stray] = []
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + block - 1) + 1 or len(data)
        more_heads, more_strays = reader.read_block(data[start:end], start)
        heads += more_heads
        strays += more_strays
        start = end
    return heads, strays, reader


def summed(heads: Iterable[Head], lines: Iterable[bytes]) -> Sums:
    """Of the entries of `heads`, whose lines are `lines`."""
    found = Sums()
    for one, raw in zip(heads, lines, strict=True):
        found.add(one, raw)
    return found
