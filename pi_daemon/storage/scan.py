"""A session file → heads, and what is wrong with it. Reads only.

Lines end at a newline alone. The last one may lack it: a whole JSON object is an entry at once, a fragment isn't there
yet, since another process may be writing it. What else can't be read is damage; whether it keeps a session from being
opened depends on whether entries lost their ancestors with it.
"""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Sequence

from msgspec import Struct, structs

from pi_daemon.session.entry import BadLine, HeadReader, Stray, read_line
from pi_daemon.session.head import Damage, Head, Header
from pi_daemon.storage.lines import whole_lines
from pi_daemon.storage.system import Files

MARK = 512
"""So many bytes before the end of what is known tell a file that grew from one that was rewritten: a short line whole,
of a long one the time at its end."""

HEADER_WITHIN = 20
"""Parsed lines in which a header must be found. pi wants it first; tools beside it have put records before it."""

SCANS = 3
"""Of a file that another process rewrites meanwhile."""

LISTED_IDS = 100
"""Entries that a damage names at most, of those that lost an ancestor."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Found(Struct):
    """Entries and damage, in file order."""

    heads: list[Head] = []
    damage: list[Damage] = []

    def then(self, later: Found) -> Found:
        return Found(self.heads + later.heads, self.damage + later.damage)


class Tail(Struct, frozen=True):
    """How far a file is known, in bytes.

    Up to `end` all lines have been read; `size` and `mtime_ns` are the file's as last seen. `mark` are the bytes
    before `end`. `open`: the last byte is no newline. `fragment`: what lies behind `end` isn't an entry yet.
    """

    end: int = 0
    size: int = 0
    mtime_ns: int = 0
    mark: bytes = b""
    open: bool = False
    fragment: bool = False


def mark_before(files: Files, fd: int, end: int) -> bytes:
    """Raises OSError."""
    start = max(0, end - MARK)
    return files.read(fd, end - start, start) if end else b""


def is_entry(line: bytes) -> bool:
    """Whether a last line without a newline is all there. An entry of version 1 has no id."""
    item = read_line(line, 0)
    return item is not None and (not isinstance(item, BadLine) or item.kind == "noId")


class Reader:
    """Reads one file, from its start and on as it grows.

    `header` is the first header; `header_at` where its line lies, `parsed_before` how many lines that parse come
    before it.
    """

    def __init__(self) -> None:
        self._heads = HeadReader()
        self._torn_at = -1
        self.header_at = (-1, 0)
        self.parsed_before = 0
        self.marked = False

    @classmethod
    def after(cls, header: Header | None, lines: int) -> Reader:
        """For a version 3 file that we have written ourselves, with so many lines."""
        reader = cls()
        reader._heads.header = header
        reader.header_at = (0, 0)
        reader._heads.lines = reader._heads.parsed = lines
        return reader

    @classmethod
    def resumed(cls, header: Header, header_length: int, lines: int, parsed: int) -> Reader:
        """For a sound version 3 file of which so many lines have been read before, the first of them its header."""
        reader = cls.after(header, lines)
        reader.header_at = (0, header_length)
        reader._heads.parsed = parsed
        return reader

    @property
    def header(self) -> Header | None:
        return self._heads.header

    @property
    def parsed(self) -> int:
        return self._heads.parsed

    @property
    def lines(self) -> int:
        return self._heads.lines

    @property
    def unversioned(self) -> bool:
        return self._heads.unversioned

    @property
    def hopeless(self) -> bool:
        """No header among the lines in which one must be found."""
        return self.parsed_before >= HEADER_WITHIN if self.header else self._heads.parsed >= HEADER_WITHIN

    def wrote(self, lines: int) -> None:
        """So many lines have been written by ourselves."""
        self._heads.lines += lines
        self._heads.parsed += lines

    def read_on(
        self, files: Files, fd: int, tail: Tail, state: os.stat_result, stop: int | None = None, most: float = math.inf
    ) -> tuple[Found, Tail]:
        """Read from `tail` to the end of the file, or to `stop`, or until there are more than `most` entries and
        damages. `state` is the file's, from before. Raises OSError."""
        found = Found()
        end = size = tail.end
        # The last line was taken as an entry before it had its newline.
        goes_on = is_open = not tail.mark.endswith(b"\n") and end > 0
        fragment = False
        for block, start in whole_lines(files, fd, end, stop):
            size = start + len(block)
            is_open = not block.endswith(b"\n")
            if goes_on:
                goes_on = is_open
                block = self._bad_end(found, block, start)
            elif is_open and not is_entry(block):
                fragment = bool(block.strip())
                if fragment:
                    self._torn(found, block, start)
                break
            if block:
                self._read(found, block, size - len(block))
            end = size
            if self.hopeless or len(found.heads) + len(found.damage) > most:
                break
        mtime_ns = state.st_mtime_ns if stop is None else -1
        return found, Tail(end, size, mtime_ns, mark_before(files, fd, end), is_open, fragment)

    def read_ended(self, line: bytes, offset: int) -> list[Damage]:
        """What a fragment is once a newline has been put behind it."""
        found = Found()
        self._read(found, line, offset)
        return found.damage

    def _read(self, found: Found, block: bytes, offset: int) -> None:
        if offset == 0 and block.startswith(BYTE_ORDER_MARK):
            self.marked = True
            block, offset = block[3:], 3
        heads, strays = self._heads.read_block(block, offset)
        found.heads += heads
        for stray in strays:
            if isinstance(stray.what, BadLine):
                found.damage.append(_damage(stray.what.kind, stray.what.message, stray))
            elif self.header_at[0] < 0:
                self.header_at = (stray.offset, stray.length)
                self.parsed_before = stray.parsed
            else:
                found.damage.append(_damage("extraHeader", "a second header, which is ignored", stray))

    def _bad_end(self, found: Found, block: bytes, offset: int) -> bytes:
        """Whatever follows on the line of an entry spoils it. Gives the block after that line."""
        line, _, rest = block.partition(b"\n")
        if line.strip():
            message = "something follows the entry on its line, so the line can't be read again"
            found.damage.append(Damage("notJson", message, self._heads.lines, offset, len(line)))
        return rest

    def _torn(self, found: Found, line: bytes, offset: int) -> None:
        if offset != self._torn_at:
            self._torn_at = offset
            message = "the last line has no end; it may still be being written"
            found.damage.append(Damage("tornTail", message, self._heads.lines + 1, offset, len(line)))


def _damage(kind: str, message: str, stray: Stray) -> Damage:
    return Damage(kind, message, stray.line, stray.offset, stray.length)


class Scan(Struct):
    """A whole file. `refused` says why it is no session at all; `lost` counts the entries that lost an ancestor."""

    header: Header | None
    heads: list[Head]
    damage: list[Damage]
    state: os.stat_result
    tail: Tail
    reader: Reader
    refused: str | None
    read_only: str | None
    lost: int

    @property
    def migrates(self) -> bool:
        return self.header is not None and self.header.version < 3 and self.read_only is None


def only_grew(files: Files, fd: int, state: os.stat_result, end: int, mark: bytes) -> bool:
    """Whether what lay before `end` when the file had that `state` lies there yet; `mark` are the bytes before it.
    Raises OSError."""
    now = files.fstat(fd)
    if (now.st_size, now.st_mtime_ns) == (state.st_size, state.st_mtime_ns):
        return True
    return now.st_size >= end and mark_before(files, fd, end) == mark


def scan(files: Files, fd: int, most: float = math.inf) -> Scan:
    """Read the file behind `fd`; anew, where it is rewritten meanwhile. No further than until there are more than
    `most` entries and damages. Raises OSError, EBUSY where that has no end."""
    for _ in range(SCANS):
        state = files.fstat(fd)
        mark = mark_before(files, fd, state.st_size)
        reader = Reader()
        found, tail = reader.read_on(files, fd, Tail(), state, most=most)
        if only_grew(files, fd, state, state.st_size, mark):
            return _judged(reader, found, tail, state)
    raise OSError(errno.EBUSY, "another process rewrites it again and again")


def resume(files: Files, fd: int, heads: list[Head], reader: Reader, end: int) -> Scan | None:
    """Read on behind `end`, which is the end of a line. None where it is rewritten meanwhile. Raises OSError."""
    state = files.fstat(fd)
    mark = mark_before(files, fd, end)
    whole = mark_before(files, fd, state.st_size)
    found, tail = reader.read_on(files, fd, Tail(end, end, -1, mark), state)
    if not only_grew(files, fd, state, state.st_size, whole):
        return None
    found.heads = heads + found.heads
    return _judged(reader, found, tail, state)


def _judged(reader: Reader, found: Found, tail: Tail, state: os.stat_result) -> Scan:
    header = None if reader.hopeless else reader.header
    refused = read_only = None
    lost = 0
    if header is None:
        kind, refused = ("empty", "the file is empty") if not tail.size else ("noHeader", _NO_HEADER)
        found.damage.insert(0, Damage(kind, refused))
    else:
        reasons = list(_reasons(reader, header))
        read_only = "; ".join(damage.message for damage in reasons) or None
        lost = _find_lost(found)
        found.damage[:0] = reasons
    return Scan(header, found.heads, found.damage, state, tail, reader, refused, read_only, lost)


_NO_HEADER = f"no session header within the first {HEADER_WITHIN} lines that can be read"


def _reasons(reader: Reader, header: Header) -> Sequence[Damage]:
    """Why nothing may be appended: pi would refuse the file, or rewrite it in a way that loses something."""
    offset, length = reader.header_at
    reasons: list[Damage] = []
    if reader.marked:
        reasons.append(Damage("byteOrderMark", "the file begins with a byte order mark, so pi refuses it", 1, 0, 3))
    if reader.parsed_before:
        message = "other lines come before the header, so pi refuses the file"
        reasons.append(Damage("lateHeader", message, None, offset, length))
    if reader.unversioned:
        message = "the header names no version though the entries have ids: pi would give them new ones"
        reasons.append(Damage("unversioned", message, None, offset, length))
    if header.version > 3:
        message = f"the file is of version {header.version}, newer than this daemon knows"
        reasons.append(Damage("newerVersion", message, None, offset, length))
    return reasons


BROKEN = {"notJson", "glued", "notObject", "noId", "tooDeep", "notUtf8"}
"""The kinds of damage that are a line which can't be read."""


def _find_lost(found: Found) -> int:
    """Name, in the damage of each broken line, the entries that lost ancestors with it; how many there are.

    An entry whose parent is nowhere in the file has lost it if a broken line comes before it: a parent is
    written before its children. Without a broken line such an entry is an orphan, which is benign.
    """
    broken = [(damage.offset or 0, place) for place, damage in enumerate(found.damage) if damage.kind in BROKEN]
    if not broken:
        return 0
    known = {head.id for head in found.heads}
    lost: dict[str, int] = {}
    named: dict[int, list[str]] = {}
    passed = -1
    for head in found.heads:
        while passed + 1 < len(broken) and broken[passed + 1][0] < head.offset:
            passed += 1
        parent = head.parent_id
        if passed < 0 or parent is None:
            continue
        culprit = lost.get(parent) if parent in known else broken[passed][1]
        if culprit is not None:
            lost[head.id] = culprit
            named.setdefault(culprit, []).append(head.id)
    for place, ids in named.items():
        damage = found.damage[place]
        count = "1 entry" if len(ids) == 1 else f"{len(ids):,} entries"
        message = f"{damage.message}; {count} lost an ancestor with it"
        found.damage[place] = structs.replace(damage, message=message, entry_ids=ids[:LISTED_IDS])
    return len(lost)
