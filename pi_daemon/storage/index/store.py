"""The catalogue's rows and the answers of models, in the index's tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec
from msgspec import Struct

from pi_daemon.storage.index import blocks
from pi_daemon.storage.index.database import transaction
from pi_daemon.storage.index.replies import Reply, Totals
from pi_daemon.storage.index.rows import Row, decode, encode, sealed, unsealed

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(tuple[bytes, bytes, list[Reply]]).decode


class Source(Protocol):
    """What is known of the files: the catalogue."""

    def rows(self) -> list[tuple[str, Row]]: ...

    def row(self, path: str) -> Row | None: ...

    def replies(self, path: str) -> Sequence[Reply]:
        """Read from the file. Raises OSError."""


class Pending(Struct):
    """`answers` are those between two marks of the file; `fresh`: the first of them begins it."""

    row: Row | None
    answers: list[tuple[bytes, bytes, list[Reply]]]
    fresh: bool


def load_rows(connection: sqlite3.Connection) -> dict[str, Row]:
    """Those that are as they were written."""
    found = {}
    for path, data in connection.execute("SELECT path, row FROM sessions"):
        row = decode(path, data)
        if row is not None:
            found[path] = row
    return found


def store_rows(connection: sqlite3.Connection, pending: Mapping[str, Pending]) -> None:
    """In one transaction."""
    with transaction(connection):
        for path, one in pending.items():
            if one.fresh:
                connection.execute("DELETE FROM replies WHERE path = ?", (path,))
            if one.row is None:
                connection.execute("DELETE FROM sessions WHERE path = ?", (path,))
                blocks.forget(connection, path)
                continue
            connection.execute("INSERT OR REPLACE INTO sessions VALUES (?, ?)", (path, encode(path, one.row)))
            for before, after, replies in one.answers:
                data = sealed(path, _encode((before, after, replies)))
                connection.execute("INSERT INTO replies VALUES (?, ?)", (path, data))


def totals(connection: sqlite3.Connection | None, source: Source, paths: Sequence[str]) -> Totals:
    """Over those files, each answer once. A file of which the index doesn't know all is read."""
    totals, seen = Totals(), set[str]()
    for path in paths:
        row = source.row(path)
        if row is None:
            continue
        replies: Sequence[Reply] | None = None
        if connection is not None:
            replies = _kept_replies(connection, path, row.mark)
        if replies is None:
            try:
                replies = source.replies(path)
            except OSError:
                continue
        totals.add(replies, seen)
    return totals


def _kept_replies(connection: sqlite3.Connection, path: str, end: bytes) -> list[Reply] | None:
    """None unless they go from the beginning of the file to the mark that we know as its end."""
    found: list[Reply] = []
    at = b""
    for (data,) in connection.execute("SELECT data FROM replies WHERE path = ? ORDER BY rowid", (path,)):
        content = unsealed(path, data)
        if content is None:
            return None
        before, after, replies = _decode(content)
        if before != at:
            return None
        at = after
        found += replies
    return found if at == end else None
