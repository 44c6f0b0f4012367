"""Searching: the index names blocks that may have it, newest first; what is said in them is read from the files.

Some blocks at a time are read and their hits put in order, the best first: how often and how whole the terms occur, who
said it, and how long ago. So the order is by relevance among what is about as old, and the work of one request has an
end however common the words are. A cursor says where to go on.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Protocol

from msgspec import Struct

from pi_daemon.session.errors import InvalidParams
from pi_daemon.storage.index.blocks import TextState
from pi_daemon.storage.index.hits import Hit
from pi_daemon.storage.index.query import Query
from pi_daemon.storage.index.reading import OddTree, Reading
from pi_daemon.storage.index.rows import Row
from pi_daemon.storage.index.runs import Places
from pi_daemon.storage.index.scoring import score, snippet, weight
from pi_daemon.storage.index.texts import Said, read_line
from pi_daemon.storage.protocols import SearchHit
from pi_daemon.storage.system import Files

WINDOW_BLOCKS = 128
"""Blocks that are read and put in order together: about a megabyte of text, in some 10 ms."""

WINDOW_HITS = 256
"""With as many hits a window has enough to put in order."""

MOST_WINDOWS = 3
"""In one request, where nothing was found in the ones before."""

MOST_PASSED = 20_000
"""Blocks in one request that the index names and a filter leaves out."""

_KEPT_PLACES = 64

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
        self._places: OrderedDict[tuple[object, ...], Places | OddTree] = OrderedDict()

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
        if cursor is None:  # what comes from now on is for the next search
            (newest,) = connection.execute("SELECT max(id) FROM blocks").fetchone()
            cursor = Cursor(newest or 0, 0)
        by_id = {state.id: (path, state) for path, state in states.items()}
        reading = Reading(self._files)
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

    def _made(self, reading: Reading, query: Query, hits: list[Hit], cursor: Cursor | None) -> Found:
        for hit in hits:
            self._place(reading, hit)
            hit.snippet = snippet(hit.said.text, query)
        return Found([hit.made() for hit in hits], None if cursor is None else str(cursor))

    def _window(
        self,
        connection: sqlite3.Connection,
        by_id: Mapping[int, tuple[str, TextState]],
        reading: Reading,
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

    def _place(self, reading: Reading, hit: Hit) -> None:
        """Say where the entry lies, and what a file of version 1 calls it."""
        row = hit.row
        runs = row.tally.runs
        key = (hit.path, row.identity, row.end)
        places = self._places.get(key)
        if places is None:
            odd = runs.odd or runs.unknown
            places = OddTree(self._files, reading, hit.path) if odd else runs.places()
            self._places[key] = places
            if len(self._places) > _KEPT_PLACES:
                self._places.popitem(last=False)
        if isinstance(places, OddTree):
            places.place(hit)
        else:
            hit.on_path, hit.tip_id = places.on_path(hit.line), places.tip(hit.line)


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
    """`wanted` is a part of the model's name, with a slash one of `provider/model`; upper and lower case alike."""
    name = model if "/" in wanted else model.partition("/")[2]
    return wanted.casefold() in name.casefold()


def _hits(lines: list[bytes], first: int, path: str, row: Row, query: Query, filters: Filters) -> Iterable[Hit]:
    for number, line in enumerate(lines, first):
        if not line or not query.may_be_in(line):
            continue
        said = read_line(line)
        if said is None or not _passes(said, row, filters):
            continue
        folded = query.found_in(said.raw)
        if folded is not None:
            fits = score(folded, query) * weight(said.role)
            yield Hit(path, row, said, fits, said.at or 0.0, number)


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
