"""A session file as we read it, without storage: heads, tree and lines; and JSON values compared as JavaScript's."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pi_daemon.compaction.tokens import context_tokens, measure
from pi_daemon.session.entry import HeadReader
from pi_daemon.session.head import Head, Header
from pi_daemon.session.llm import to_llm
from pi_daemon.session.migrate import migrated_line
from pi_daemon.session.projection import project
from pi_daemon.session.rawjson import loads
from pi_daemon.session.selection import select
from pi_daemon.session.tree import SessionTree

Ask = Callable[[Sequence[Path]], list[dict[str, Any]]]
"""What the reference makes of each file."""

AskPlans = Callable[[Sequence[dict[str, Any]]], list[dict[str, Any]]]
"""What the reference would compact and summarize: see plans.mjs."""

Generate = Callable[[Path, Sequence[int]], list[Path]]
"""Sessions that the reference writes into a directory, one for each seed."""


class Session:
    """`block`: how many bytes the reader is fed at once, cut at line ends."""

    def __init__(self, data: bytes, block: int = 1 << 16) -> None:
        reader = HeadReader()
        heads: list[Head] = []
        self.strays = []
        start = 0
        while start < len(data):
            end = data.find(b"\n", start + block) + 1 or len(data)
            found, strays = reader.read_block(data[start:end], start)
            heads += found
            self.strays += strays
            start = end
        assert isinstance(reader.header, Header)
        self.header = reader.header
        self.tree = SessionTree(heads)
        self._data = data

    def line(self, head: Head) -> bytes:
        line = self._data[head.offset : head.offset + head.length]
        return migrated_line(head, line, self.header.version) if self.header.version < 3 else line

    def at(self, leaf_id: str | None) -> dict[str, Any]:
        """What a model sees at a leaf, as decoded values."""
        path = self.tree.path(leaf_id)
        selection = select(path)
        projection = project(selection, [self.line(head) for head in selection.heads()])
        llm = to_llm(projection)
        sized = measure(path, selection)
        tokens = context_tokens(path, projection)
        needed = [self.line(head) for head in sized.selection.heads()]
        assert sized.tokens(project(sized.selection, needed)) == tokens
        return {
            "path": [head.id for head in path],
            "messages": projection.messages,
            "llm": llm.messages,
            "sources": projection.sources,
            "model": selection.model,
            "thinkingLevel": selection.thinking_level,
            "tokens": tokens,
        }


def read(path: Path, block: int = 1 << 16) -> Session:
    return Session(path.read_bytes(), block)


def as_javascript(value: Any) -> Any:
    """A decoded value with each number as the double that JavaScript would make of it."""
    if isinstance(value, dict):
        return {name: as_javascript(member) for name, member in value.items()}
    if isinstance(value, list):
        return [as_javascript(element) for element in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            return None
        return number if math.isfinite(number) else None
    return value


def decoded(raw: bytes) -> Any:
    return as_javascript(loads(raw))
