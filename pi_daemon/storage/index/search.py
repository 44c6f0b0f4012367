"""Searching: the index names blocks that may have it, newest first; what is said in them is read from the files.

Some blocks at a time are read and their hits put in order, the best first: how often and how whole the terms occur, who
said it, and how long ago. So the order is by relevance among what is about as old, and the work of one request has an
end however common the words are. A cursor says where to go on.
"""

from __future__ import annotations

import math
import re
import sqlite3
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Protocol

from msgspec import Struct

from pi_daemon.session.errors import InvalidParams
from pi_daemon.session.tree import SessionTree
from pi_daemon.storage.index.blocks import TextState, stat_matches
from pi_daemon.storage.index.query import Query
from pi_daemon.storage.index.rows import Row
from pi_daemon.storage.index.runs import Places
from pi_daemon.storage.index.texts import Said, read_line, sound
from pi_daemon.storage.protocols import SearchHit, SessionRef
from pi_daemon.storage.scan import scan
from pi_daemon.storage.system import READ, Files

WINDOW_BLOCKS = 128
"""Blocks that are read and put in order together: about a megabyte of text, in some 10 ms."""

WINDOW_HITS = 256
"""With as many hits a window has enough to put in order."""

MOST_WINDOWS = 3
"""In one request, where nothing was found in the ones before."""

MOST_PASSED = 20_000
"""Blocks in one request that the index names and a filter leaves out."""

SNIPPET = 160
"""Code points of a snippet."""

_BEFORE = 48
"""Of them before the first term, at most."""

_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

_KEPT_PLACES = 64

_WEIGHTS = {"user": 1.5, "assistant": 1.2, "toolResult": 0.8, "bashExecution": 0.8}

_HALF_LIFE_MS = 30 * 24 * 3600 * 1000
"""A hit this much older than the newest of its window counts as much as one that fits half as well."""


class Filters(Struct, frozen=True):
    """What hits must be beside; `after` and `before` in ms since 1970. `paths`: the files to look into; None: all."""

    paths: frozenset[str] | None = None
    role: str | None = None
    model: str | None = None
    label: str | None = None
    after: float | None = None
    before: float | None = None


class Hit(Struct):
    path: str
    row: Row
    said: Said
    score: float
    at: float
    line: int
    snippet: str = ""
    on_path: bool = True
    tip_id: str | None = None

    def made(self) -> SearchHit:
        said = self.said
        ref = SessionRef(self.row.header.id, self.path)
        role, time = said.role, said.timestamp
        name, cwd = self.row.tally.name, sound(self.row.header.cwd)
        return SearchHit(
            ref,
            said.entry_id,
            said.type,
            role,
            time,
            self.snippet,
            self.on_path,
            self.tip_id,
            None if name is None else sound(name),
            cwd,
        )


class Found(Struct):
    hits: list[SearchHit]
    cursor: str | None


class Source(Protocol):
    def row(self, path: str) -> Row | None: ...


class Cursor(Struct, frozen=True):
    """`top`: the number of the block at which a window begins; `after`: how many of its hits have been given."""

    top: int
    after: int

    @classmethod
    def read(cls, text: str) -> Cursor:
        """Raises InvalidParams."""
        top, _, after = text.partition(".")
        if not (top.isascii() and top.isdigit() and after.isascii() and after.isdigit() and len(text) < 40):
            raise InvalidParams("Give the nextCursor of an earlier reply, or none.", path="cursor")
        return cls(min(int(top), _TOP), int(after))

    def __str__(self) -> str:
        return f"{self.top}.{self.after}"


_TOP = (1 << 63) - 1


class Searcher:
    """For one thread at a time."""

    def __init__(self, files: Files, source: Source) -> None:
        self._files = files
        self._source = source
        self._places: OrderedDict[tuple[object, ...], Places | _Tree] = OrderedDict()

    def search(
        self,
        connection: sqlite3.Connection,
        states: Mapping[str, TextState],
        query: Query,
        filters: Filters,
        cursor: Cursor | None,
        limit: int,
    ) -> Found:
        """Raises sqlite3.Error."""
        cursor = cursor or Cursor(_TOP, 0)
        by_id = {state.id: (path, state) for path, state in states.items()}
        reading = _Reading(self._files)
        try:
            for _ in range(MOST_WINDOWS):
                hits, below = self._window(connection, by_id, reading, query, filters, cursor.top)
                page = hits[cursor.after : cursor.after + limit]
                if cursor.after + limit < len(hits):
                    return self._made(reading, query, page, Cursor(cursor.top, cursor.after + limit))
                if page or below is None:
                    return self._made(reading, query, page, None if below is None else Cursor(below, 0))
                cursor = Cursor(below, 0)
            return Found([], str(cursor))
        finally:
            reading.close()

    def _made(self, reading: _Reading, query: Query, hits: list[Hit], cursor: Cursor | None) -> Found:
        for hit in hits:
            self._place(reading, hit)
            hit.snippet = _snippet(hit.said.text, query)
        return Found([hit.made() for hit in hits], None if cursor is None else str(cursor))

    def _window(
        self,
        connection: sqlite3.Connection,
        by_id: Mapping[int, tuple[str, TextState]],
        reading: _Reading,
        query: Query,
        filters: Filters,
        top: int,
    ) -> tuple[list[Hit], int | None]:
        """The hits in the next blocks, the best first, and where the next window begins."""
        hits: list[Hit] = []
        read = passed = 0
        below: int | None = None
        for number, file, start, end, line in _candidates(connection, query, top):
            passed += 1
            if read >= WINDOW_BLOCKS or len(hits) >= WINDOW_HITS or passed > MOST_PASSED:
                below = number
                break
            named = by_id.get(file)
            if named is None:
                continue
            path, state = named
            row = self._source.row(path)
            if row is None or not _may_have(row, path, filters) or not reading.opens(path, state):
                continue
            read += 1
            hits += _hits(reading.lines(path, start, end), line, path, row, query, filters)
        newest = max((hit.at for hit in hits), default=0.0)
        for hit in hits:
            hit.score *= 2.0 ** (-max(0.0, newest - hit.at) / _HALF_LIFE_MS)
        hits.sort(key=lambda hit: (-hit.score, -hit.at, hit.path, hit.line))
        return hits, below

    def _place(self, reading: _Reading, hit: Hit) -> None:
        """Say where the entry lies, and what a file of version 1 calls it."""
        row = hit.row
        runs = row.tally.runs
        key = (hit.path, row.identity, row.end)
        places = self._places.get(key)
        if places is None:
            odd = runs.odd or runs.unknown
            places = _Tree(self._files, reading, hit.path) if odd else runs.places()
            self._places[key] = places
            if len(self._places) > _KEPT_PLACES:
                self._places.popitem(last=False)
        if isinstance(places, _Tree):
            places.place(hit)
        else:
            hit.on_path, hit.tip_id = places.on_path(hit.line), places.tip(hit.line)


class _Tree:
    """The whole tree of a file that is odd."""

    def __init__(self, files: Files, reading: _Reading, path: str) -> None:
        self._ids: dict[int, str] = {}
        self._tips: dict[str, str] = {}
        self._path: set[str] = set()
        fd = reading.fd(path)
        if fd is None:
            return
        try:
            found = scan(files, fd)
            data_lines = _line_starts(files, fd, found.tail.end)
        except OSError:
            return
        tree = SessionTree(found.heads)
        self._ids = {bisect_left(data_lines, head.offset): head.id for head in found.heads}
        self._path = {head.id for head in tree.path(tree.last_id)}
        for head in reversed(tree.entries):
            above = tree.get(head.id)
            seen = 0
            while above is not None and above.id not in self._tips and seen <= len(tree):
                self._tips[above.id] = head.id
                above = tree.parent(above)
                seen += 1

    def place(self, hit: Hit) -> None:
        said = hit.said
        said.entry_id = self._ids.get(hit.line, said.entry_id)
        hit.on_path, hit.tip_id = said.entry_id in self._path, self._tips.get(said.entry_id)


def _line_starts(files: Files, fd: int, end: int) -> list[int]:
    starts = [0]
    at = 0
    while at < end:
        data = files.read(fd, min(1 << 20, end - at), at)
        if not data:
            break
        found = data.find(b"\n")
        while found >= 0:
            starts.append(at + found + 1)
            found = data.find(b"\n", found + 1)
        at += len(data)
    return starts


class _Reading:
    """The files that a search has open."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._open: dict[str, int | None] = {}

    def opens(self, path: str, state: TextState) -> bool:
        """Whether the file is the one that the index speaks of."""
        if path not in self._open:
            fd = None
            try:
                fd = self._files.open(path, READ)
                if not stat_matches(self._files.fstat(fd), state):
                    self._files.close(fd)
                    fd = None
            except OSError:
                if fd is not None:
                    self._files.close(fd)
                    fd = None
            self._open[path] = fd
        return self._open[path] is not None

    def fd(self, path: str) -> int | None:
        return self._open.get(path)

    def lines(self, path: str, start: int, end: int) -> list[bytes]:
        fd = self._open[path]
        assert fd is not None
        try:
            return self._files.read(fd, end - start, start).split(b"\n")
        except OSError:
            return []

    def close(self) -> None:
        for fd in self._open.values():
            if fd is not None:
                self._files.close(fd)


def _candidates(connection: sqlite3.Connection, query: Query, top: int) -> Iterable[tuple[int, int, int, int, int]]:
    """Blocks that may have it, the newest first: number, file, start, end, first line."""
    columns = 'b.id, b.file, b.start, b."end", b.line'
    expression = query.expression()
    if not expression:
        return connection.execute(f"SELECT {columns} FROM blocks b WHERE b.id <= ? ORDER BY b.id DESC", (top,))
    return connection.execute(
        f"SELECT {columns} FROM grams g CROSS JOIN blocks b ON b.id = g.rowid "
        "WHERE g.grams MATCH ? AND g.rowid <= ? ORDER BY g.rowid DESC",
        (expression, top),
    )


def _may_have(row: Row, path: str, filters: Filters) -> bool:
    """What is known of the whole session."""
    if filters.paths is not None and path not in filters.paths:
        return False
    if filters.model is not None and not any(_is_model(model, filters.model) for model in row.tally.models):
        return False
    return filters.label is None or filters.label in row.tally.labels.values()


def _is_model(model: str, wanted: str) -> bool:
    return model == wanted or model.partition("/")[2] == wanted


def _hits(lines: list[bytes], first: int, path: str, row: Row, query: Query, filters: Filters) -> Iterable[Hit]:
    for number, line in enumerate(lines, first):
        if not line or not query.may_be_in(line):
            continue
        said = read_line(line)
        if said is None or not _passes(said, row, filters):
            continue
        folded = query.found_in(said.raw)
        if folded is not None:
            score = _score(folded, query) * _WEIGHTS.get(said.role or "", 1.0)
            yield Hit(path, row, said, score, said.at or 0.0, number)


def _passes(said: Said, row: Row, filters: Filters) -> bool:
    if filters.role is not None and filters.role not in (said.role, said.type):
        return False
    if filters.model is not None and (said.model is None or not _is_model(said.model, filters.model)):
        return False
    if filters.label is not None and row.tally.labels.get(said.entry_id) != filters.label:
        return False
    if filters.after is not None and (said.at is None or said.at < filters.after):
        return False
    return filters.before is None or (said.at is not None and said.at < filters.before)


def _score(folded: str, query: Query) -> float:
    """More for each term that occurs, for whole words, and for a text that is about little else."""
    score = 0.0
    for term in query.terms:
        score += 1 + math.log(folded.count(term)) / 2
        at = folded.find(term)
        end = at + len(term)
        if (at == 0 or not folded[at - 1].isalnum()) and (end == len(folded) or not folded[end].isalnum()):
            score += 1
    return score / (1 + math.log1p(len(folded) / 500) / 4)


def _snippet(text: str, query: Query) -> str:
    """One line around the term that occurs first."""
    folded = text.casefold()
    at = min(folded.find(term) for term in query.terms)
    if len(folded) != len(text):  # some characters fold to two
        lengths = accumulate(len(character.casefold()) for character in text)
        at = next((place for place, length in enumerate(lengths) if length > at), 0)
    start = max(0, at - _BEFORE)
    if start:
        space = text.find(" ", start, at)
        start = space + 1 if space >= 0 else start
    end = min(len(text), start + SNIPPET)
    shown = _UNFIT.sub(" ", text[start:end])
    return ("…" if start else "") + shown + ("…" if end < len(text) else "")
