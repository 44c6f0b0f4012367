"""The one way in which the bytes of a session file change: replaced by a new file, the old one kept.

A version 1 or 2 file is rewritten as version 3 before its first append. Lines that can't be read are carried over as
they are: nothing is rewritten from what a lenient reading understood.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from pi_daemon.session.errors import StorageFailed
from pi_daemon.session.head import Head
from pi_daemon.session.migrate import migrated_line
from pi_daemon.session.rawjson import BadJson, join, members
from pi_daemon.storage.keep import CHUNK, chunks, keep_copy, same_file
from pi_daemon.storage.lines import read_ranges
from pi_daemon.storage.publish import staging_path, write_all, write_new
from pi_daemon.storage.system import Files

Change = Callable[[bytes], bytes]

Known = tuple[int, int]
"""The size in bytes, and the time of the last change in ns, of the file that was read."""


class Piece(Struct, frozen=True):
    """A stretch of a file that comes out changed. `head` is the entry that it is, if it is one."""

    offset: int
    length: int
    change: Change
    head: Head | None = None


def without(offset: int, length: int) -> Piece:
    """A stretch that doesn't come out at all."""
    return Piece(offset, length, lambda _: b"")


def line_at(files: Files, fd: int, offset: int, length: int) -> tuple[int, int]:
    """The same line with its end. Raises OSError."""
    end = files.read(fd, 2, offset + length)
    return offset, length + (2 if end == b"\r\n" else 1 if end[:1] == b"\n" else 0)


class Migration(Struct):
    """What the rewrite of a version 1 or 2 file takes. `heads` are the ones that the engine holds."""

    version: int
    heads: list[Head]
    header_at: tuple[int, int]
    keep_in: Path


def migrated_header(line: bytes) -> bytes:
    """The header with its version made 3, every other member as it was."""
    return join(members(line) | {"version": b"3"})


def migration_pieces(heads: Sequence[Head], version: int) -> list[Piece]:
    """Every entry of a version 1 or 2 file, in file order."""
    return [
        Piece(head.offset, head.length, lambda line, head=head: migrated_line(head, line, version), head)  # type: ignore[misc]
        for head in heads
    ]


def rewritten(
    files: Files, fd: int, pieces: Sequence[Piece], stop: int, placed: list[tuple[int, int]]
) -> Iterator[bytes]:
    """The file up to `stop` with each piece changed. `placed` receives where each one went: (offset, length).

    `pieces` are in file order. Raises OSError.
    """
    written = position = first = 0
    while first < len(pieces):
        last, start = first, position
        offsets: list[int] = []
        lengths: list[int] = []
        while last < len(pieces) and (last == first or pieces[last].offset - start < CHUNK):
            end = pieces[last].offset + pieces[last].length
            offsets.append(position)
            lengths.append(end - position)
            position = end
            last += 1
        for piece, old in zip(pieces[first:last], read_ranges(files, fd, offsets, lengths), strict=True):
            gap = len(old) - piece.length
            try:
                new = piece.change(old[gap:])
            except BadJson as error:  # it was readable before: another process has written over it
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE)) from error
            placed.append((written + gap, len(new)))
            written += gap + len(new)
            yield old[:gap] + new
        first = last
    yield from chunks(files, fd, position, stop)


def gathered(parts: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes in larger chunks: a write a line would cost more than the lines."""
    waiting: list[bytes] = []
    size = 0
    for part in parts:
        waiting.append(part)
        size += len(part)
        if size >= CHUNK:
            yield b"".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield b"".join(waiting)


def migrate(
    files: Files, path: Path, fd: int, known: Known, migration: Migration
) -> tuple[int, os.stat_result, list[tuple[Head, int, int]]]:
    """Put the file as version 3 in the place of the one behind `fd`: the new one's descriptor, locked, and state, and
    where each entry is in it. Raises as `replace` does."""
    pieces = [Piece(*migration.header_at, migrated_header), *migration_pieces(migration.heads, migration.version)]
    placed: list[tuple[int, int]] = []
    new, state, _ = replace(files, path, fd, rewritten(files, fd, pieces, known[0], placed), known, migration.keep_in)
    entries = [(piece.head, *place) for piece, place in zip(pieces, placed, strict=True) if piece.head is not None]
    return new, state, entries


def replace(
    files: Files, path: Path, fd: int, parts: Iterator[bytes], known: Known, keep_in: Path
) -> tuple[int, os.stat_result, Path]:
    """Put a file with these bytes in the place of the one behind `fd`: its descriptor, its state, and the copy of
    the old one in `keep_in`.

    The caller holds the old one's lock; the new one has its own before it gets the name. Bytes that arrive in the old
    file at the last moment go to the end of the new one. The name is not synced yet. Raises StorageFailed where another
    process writes to the file or has put another in its place, OSError; either leaves the old file as it was.
    """
    original = keep_copy(files, path, keep_in)
    beside = staging_path(path)
    new = write_new(files, beside, lambda: gathered(parts), synced=True)
    try:
        files.lock(new)
        files.chmod(new, stat.S_IMODE(files.fstat(fd).st_mode))
        if not same_file(files, path, fd):
            raise StorageFailed(f"{path.name} was replaced by another process; open it again", errno="ESTALE")
        old = files.fstat(fd)
        if (old.st_size, old.st_mtime_ns) != known:
            raise StorageFailed(f"another process is writing to {path.name}; try again", errno="EBUSY")
        state = files.fstat(new)
        files.rename(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            files.unlink(beside)
        files.close(new)
        raise
    try:
        late = b"".join(chunks(files, fd, known[0], files.fstat(fd).st_size))
        if late:
            write_all(files, new, late)
    except BaseException:
        files.close(new)
        raise
    return new, state, original
