"""The text of session files, cut into blocks of a few KB that the index knows by what occurs in them.

A block is a stretch of whole lines. The index says which blocks may have what somebody looks for; what is said in them
is read from the file then, so the index holds no text. Blocks that lost their file stay in it as numbers that nobody
asks for, until they are too many.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence

from msgspec import Struct

from pi_daemon.storage.index.rows import Row, hashed
from pi_daemon.storage.index.texts import Said, indexed, read_lines
from pi_daemon.storage.lines import whole_lines
from pi_daemon.storage.scan import mark_before
from pi_daemon.storage.system import READ, Files

BLOCK_CHARS = 8_000
"""Of text in a block, at least, where the file has as much. Larger ones make a smaller index and a slower search."""

BLOCK_BYTES = 256 * 1024
"""Of the file in a block, where most of it is no text: that much is read to look into it."""

READ_BYTES = 16 * 1024

MIDDLE = 1 << 40
"""Where the numbers of blocks begin: what is new counts up from here, what is old down, so the order of numbers is
about that of time, the newest first."""


class TextState(Struct):
    """How far the text of a file is in the index: up to `end`, which is `lines` lines; `mark` hashes the bytes
    before. `id` names the file there; 0 where it is new."""

    id: int
    dev: int
    ino: int
    end: int
    lines: int
    mark: bytes


class Block(Struct):
    """A stretch of lines from `start` to `end` in bytes, the first of them being line `line`, counted from 0."""

    start: int
    end: int
    line: int
    text: str


class Part(Struct):
    """What was read of one file. `dropped` are earlier blocks that it replaces, with the text that they went in with;
    `anew`: all of them."""

    path: str
    state: TextState
    blocks: list[Block]
    dropped: list[tuple[int, str]]
    anew: bool
    chars: int = 0


class Tail(Struct):
    """The last block of a file in the index, which grows with the file while it is small."""

    id: int
    start: int
    end: int
    line: int
    chars: int


def text_of(said: Sequence[Said | None]) -> str:
    return indexed([one.searched for one in said if one is not None])


def gather(files: Files, path: str, row: Row, known: TextState | None, tail: Tail | None, most: int) -> Part | None:
    """Read on from what is known, up to about `most` characters of text. None where the file isn't the one that `row`
    speaks of. Raises OSError."""
    fd = files.open(path, READ)
    try:
        state = files.fstat(fd)
        if (state.st_dev, state.st_ino) != row.identity[:2] or state.st_size < row.end:
            return None
        anew = known is None or (known.dev, known.ino) != row.identity[:2] or known.end > row.end
        mark = b"" if known is None or anew else mark_before(files, fd, known.end)
        if known is not None and not anew and hashed(mark) != known.mark:
            anew = True
        newline = 0
        if known is not None and not anew and mark and not mark.endswith(b"\n"):
            # The last line was indexed before it had its newline.
            behind = files.read(fd, 1, known.end) if row.end > known.end else b""
            newline = int(behind == b"\n")
            anew = behind not in (b"", b"\n")
        start, line = (0, 0) if known is None or anew else (known.end, known.lines)
        dropped: list[tuple[int, str]] = []
        if tail is not None and not anew and tail.chars < BLOCK_CHARS // 2 and tail.end == start:
            dropped.append((tail.id, text_of(read_lines(files.read(fd, tail.end - tail.start, tail.start)))))
            start, line = tail.start, tail.line
        else:
            start += newline
        file_id = known.id if known is not None else 0
        part = Part(path, TextState(file_id, state.st_dev, state.st_ino, start, line, b""), [], dropped, anew)
        _read(files, fd, part, row.end, most)
        part.state.mark = hashed(mark_before(files, fd, part.state.end))
        return part
    finally:
        files.close(fd)


def _read(files: Files, fd: int, part: Part, stop: int, most: int) -> None:
    state = part.state
    begin, first = state.end, state.lines
    texts: list[str] = []
    chars = 0
    for data, offset in whole_lines(files, fd, state.end, stop, READ_BYTES):
        said = read_lines(data)
        texts += [one.searched for one in said if one is not None]
        chars = sum(map(len, texts))
        state.end = offset + len(data)
        state.lines += len(said)
        if chars >= BLOCK_CHARS or state.end - begin >= BLOCK_BYTES:
            _cut(part, begin, first, texts)
            begin, first, texts, chars = state.end, state.lines, [], 0
            if part.chars >= most:
                return
    _cut(part, begin, first, texts)


def _cut(part: Part, start: int, line: int, texts: list[str]) -> None:
    if texts:
        text = indexed(texts)
        part.chars += len(text)
        part.blocks.append(Block(start, part.state.end, line, text))


def load_states(connection: sqlite3.Connection) -> dict[str, TextState]:
    rows = connection.execute('SELECT path, id, dev, ino, "end", lines, mark FROM files')
    return {path: TextState(*rest) for path, *rest in rows}


def tail_of(connection: sqlite3.Connection, file_id: int) -> Tail | None:
    row = connection.execute(
        'SELECT id, start, "end", line, chars FROM blocks WHERE file = ? ORDER BY start DESC LIMIT 1', (file_id,)
    ).fetchone()
    return None if row is None else Tail(*row)


def write(connection: sqlite3.Connection, parts: Sequence[Part], *, new: bool) -> None:
    """Put the parts into the index, the newest one first, in the transaction that is open. `new`: they are newer than
    all that is there, not older. Sets each part's `state.id`."""
    count = sum(len(part.blocks) for part in parts)
    number = _numbers(connection, count, new=new)
    for part in reversed(parts):
        state = part.state
        if part.anew and state.id:
            forget(connection, part.path)
            state.id = 0
        for dropped, text in part.dropped:
            connection.execute("DELETE FROM blocks WHERE id = ?", (dropped,))
            connection.execute("INSERT INTO grams (grams, rowid, text) VALUES ('delete', ?, ?)", (dropped, text))
        values = (state.dev, state.ino, state.end, state.lines, state.mark)
        if state.id:
            connection.execute(
                'UPDATE files SET dev = ?, ino = ?, "end" = ?, lines = ?, mark = ? WHERE id = ?', (*values, state.id)
            )
        else:
            made = connection.execute(
                'INSERT INTO files (dev, ino, "end", lines, mark, path) VALUES (?, ?, ?, ?, ?, ?)', (*values, part.path)
            )
            state.id = made.lastrowid or 0
        for block in part.blocks:
            place = (number, state.id, block.start, block.end, block.line, len(block.text))
            connection.execute("INSERT INTO blocks VALUES (?, ?, ?, ?, ?, ?)", place)
            connection.execute("INSERT INTO grams (rowid, text) VALUES (?, ?)", (number, block.text))
            number += 1


def forget(connection: sqlite3.Connection, path: str) -> None:
    """The file is gone; its blocks stay as numbers."""
    row = connection.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
    if row is not None:
        gone = connection.execute("DELETE FROM blocks WHERE file = ?", row).rowcount
        connection.execute("DELETE FROM files WHERE id = ?", row)
        _add(connection, "gone", gone, 0)


def littered(connection: sqlite3.Connection) -> bool:
    """Whether most of what is in the index is of files that are gone."""
    gone = connection.execute("SELECT value FROM counters WHERE name = 'gone'").fetchone()
    if gone is None or gone[0] < 1_000:
        return False
    there: int = connection.execute("SELECT count(*) FROM blocks").fetchone()[0]
    return bool(gone[0] > there)


def clear(connection: sqlite3.Connection) -> None:
    """Of all text, to index it anew."""
    connection.execute("INSERT INTO grams (grams) VALUES ('delete-all')")
    for table in ("blocks", "files", "counters"):
        connection.execute(f"DELETE FROM {table}")


def _numbers(connection: sqlite3.Connection, count: int, *, new: bool) -> int:
    """The first of so many numbers that follow each other and were never used."""
    after = _add(connection, "high", count, MIDDLE) if new else _add(connection, "low", -count, MIDDLE)
    return after - count if new else after


def _add(connection: sqlite3.Connection, name: str, amount: int, first: int) -> int:
    row = connection.execute(
        "INSERT INTO counters VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + ? RETURNING value",
        (name, first + amount, amount),
    ).fetchone()
    return int(row[0])


def stat_matches(state: os.stat_result, known: TextState) -> bool:
    """Whether the index speaks of that file."""
    return (state.st_dev, state.st_ino) == (known.dev, known.ino) and state.st_size >= known.end
