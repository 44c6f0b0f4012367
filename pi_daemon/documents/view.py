"""An open session with lines: which entry is where in the file, and who names whom.

Kept up as the session grows, in slices, so that nobody waits for the first look at a large one. What is read of bodies
is kept in a few words.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Iterable, Sequence
from functools import partial

from msgspec import Struct

from pi_daemon.documents.branches import Branch, branches
from pi_daemon.documents.lines import MARK, LineIndex
from pi_daemon.documents.names import Item, item_of
from pi_daemon.documents.positions import Encoding, byte_at, characters
from pi_daemon.engine.live import LiveSession
from pi_daemon.engine.offload import HEAD_BYTES, offload
from pi_daemon.rpc.types.lsp import Position, Range
from pi_daemon.session.errors import StorageFailed
from pi_daemon.session.head import (
    BranchSummaryFacts,
    CompactionFacts,
    EditFacts,
    Head,
    LabelFacts,
    ToolResultFacts,
)

SLICE = 5_000
"""Entries that are taken in before others have their turn: some milliseconds."""

READ_BYTES = 4 * 1024 * 1024
"""Bodies that are read at a time for their names."""


class Line(Struct):
    """A line of the file that somebody asks about: an entry's, or the header's, where `head` is None."""

    number: int
    head: Head | None
    text: bytes


class View:
    """`naming`: target id → the entries that name it (labels, edits, compactions, branch summaries); `results`: tool
    call id → its results. Both in file order. `kept` is the
    last outline, with what it is of; `paths` are those that tool calls name."""

    def __init__(self, session: LiveSession) -> None:
        self._session = weakref.ref(session)
        self._lock = asyncio.Lock()
        self._forget()

    def _forget(self) -> None:
        self.instance_id = self.session.instance_id
        self.index = LineIndex()
        self.naming: dict[str, list[Head]] = {}
        self.results: dict[str, list[Head]] = {}
        self.header: tuple[int, int, int] | None = None
        self.kept: tuple[object, bytes] | None = None
        self.paths: dict[Encoding, dict[Head, list[tuple[Range, str]]]] = {}
        self._items: dict[Head, Item] = {}

    @property
    def session(self) -> LiveSession:
        """Who uses a view holds its session; the view alone doesn't keep it. Raises StorageFailed."""
        session = self._session()
        if session is None:
            raise StorageFailed("the session is closed", errno="EBADF")
        return session

    async def catch_up(self) -> None:
        """Take in what the session has by now. Raises StorageFailed."""
        async with self._lock:
            while True:
                entries = self.session.tree.entries
                if self.instance_id != self.session.instance_id or not self.index.holds(entries):
                    self._forget()
                known = len(self.index.heads)
                heads = entries[known : known + SLICE]
                while heads and heads[-1].offset < 0:
                    heads.pop()  # not in the file yet
                if not heads and (known or self.header):
                    return
                spans = self.index.unknown(heads) if heads else [(0, self.session.log.size)]
                gaps = await self.session.raw(spans)
                if entries is not self.session.tree.entries or not self.index.holds(entries):
                    continue
                if not known and self.header is None:
                    self.header = _header(gaps[0])
                if not heads:
                    return
                self.index.extend(heads, gaps)
                self._note(heads)
                await asyncio.sleep(0)

    def _note(self, heads: Iterable[Head]) -> None:
        for head in heads:
            facts = head.facts
            if isinstance(facts, ToolResultFacts):
                self.results.setdefault(facts.call_id, []).append(head)
                continue
            named = None
            if isinstance(facts, LabelFacts | EditFacts):
                named = facts.target
            elif isinstance(facts, CompactionFacts):
                named = facts.first_kept
            elif isinstance(facts, BranchSummaryFacts):
                named = facts.from_id
            if named is not None:
                self.naming.setdefault(named, []).append(head)

    # -- places

    def range_of(self, head: Head) -> Range | None:
        """Its line. The end is at or beyond the line's end, which is what a client takes it for."""
        line = self.index.line_of(head)
        return None if line is None else Range(Position(line, 0), Position(line, head.length))

    async def line(self, number: int) -> Line | None:
        """The entry or the header on that line, None for any other. Raises StorageFailed."""
        head = self.index.on_line(number)
        if head is not None:
            return Line(number, head, (await self.session.raw([(head.offset, head.length)]))[0])
        if self.header is not None and self.header[0] == number:
            return Line(number, None, (await self.session.raw([self.header[1:]]))[0])
        return None

    async def line_at(self, offset: int) -> int:
        """The line that byte `offset` of the file is on, for what is no entry. Raises StorageFailed."""
        start, line = self.index.before(offset)
        return line + (await self.session.raw([(start, offset - start)]))[0].count(b"\n")

    # -- bodies in a few words

    def item(self, head: Head) -> Item | None:
        """None where nobody has read it."""
        return self._items.get(head)

    async def items(self, heads: Sequence[Head]) -> dict[Head, Item]:
        """Of these entries, read where that is still to be done. Raises StorageFailed."""
        known, instance_id = self._items, self.instance_id
        missing = [head for head in heads if head not in known]
        start = 0
        while start < len(missing):
            end, size = start, 0
            while end < len(missing) and (end == start or size + missing[end].length <= READ_BYTES):
                size += missing[end].length
                end += 1
            part = missing[start:end]
            lines = await self.session.lines(part, of=instance_id)
            made = await offload(size, partial(_items, part, lines))
            known.update(zip(part, made, strict=True))
            start = end
        return known

    async def branches(self) -> list[Branch]:
        """As they are now."""
        tree, leaf_id = self.session.tree.frozen(), self.session.leaf_id
        return await offload(HEAD_BYTES * len(tree), lambda: branches(tree, leaf_id))


def _items(heads: Sequence[Head], lines: Sequence[bytes]) -> list[Item]:
    return [item_of(head, line) for head, line in zip(heads, lines, strict=True)]


def _header(before: bytes) -> tuple[int, int, int] | None:
    """Line, offset and length of the header, which comes before the first entry: the first line that has its type."""
    offset = len(MARK) if before.startswith(MARK) else 0
    for number, line in enumerate(before[offset:].split(b"\n")):
        if b'"session"' in line:
            return number, offset, len(line.rstrip(b"\r"))
        offset += len(line) + 1
    return None


def span(line: Line, start: int, end: int, encoding: Encoding) -> Range:
    """The range of bytes `start` to `end` of a line."""
    first, last = characters(line.text, (start, end), encoding)
    return Range(Position(line.number, first), Position(line.number, last))


def offset_in(line: Line, position: Position, encoding: Encoding) -> int:
    return byte_at(line.text, position.character, encoding)
