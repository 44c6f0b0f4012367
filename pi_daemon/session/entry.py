"""Lines of a session file → heads.

A block of whole lines is decoded in one call into the few members that a head needs; msgspec skips the rest
without building it. Whatever that way can't take (a header, an odd line, a wrong type, a lone surrogate) sends its
block the careful way, line by line.
"""

from __future__ import annotations

import math
from sys import intern
from typing import Literal

import msgspec
from msgspec import Struct

from pi_daemon.session import dates
from pi_daemon.session.facts import KINDS_WITH_FACTS, Json, facts_of
from pi_daemon.session.glued import unglued
from pi_daemon.session.head import Facts, Head, Header
from pi_daemon.session.lines import FACTS_BY_CLASS, decode_lines
from pi_daemon.session.migrate import LegacyIds
from pi_daemon.session.rawjson import JS_SPACE, MAX_DEPTH, BadJson, is_utf8, loads, many_brackets, too_deep

BadLineKind = Literal["notJson", "glued", "notObject", "noId", "tooDeep", "notUtf8"]


class BadLine(Struct, frozen=True):
    """A line that is no entry. `counts`: pi counts it among the lines that parse."""

    kind: BadLineKind
    message: str
    counts: bool = False


class Stray(Struct, frozen=True):
    """A line that isn't an entry: a header or a bad one.

    `line` counts physical lines from 1, `parsed` the lines before it that parse (so 0 is the first one);
    `offset` and `length` are bytes, without the line's end.
    """

    what: Header | BadLine
    line: int
    parsed: int
    offset: int
    length: int


class HeadReader:
    """Turns a session file, block by block, into heads.

    `header` is the first header met. A file of version 1 comes out with derived ids in a chain, one of version 2
    with its roles renamed: as `migrate.migrated_line` will write them. A file without a version whose first entry
    has an id is `unversioned`: its ids are kept.
    """

    def __init__(self) -> None:
        self.header: Header | None = None
        self.unversioned = False
        self.lines = 0
        self.parsed = 0
        self._last_id: str | None = None
        self._legacy: LegacyIds | None = None
        self._entries = 0

    def read_block(self, block: bytes, offset: int) -> tuple[list[Head], list[Stray]]:
        """The entries of whole lines that begin at `offset` in the file, and what else there was, in file order.

        Lines end with `\\n`; the last one of the last block may lack it. Memory beyond the result is a few
        times `block`, so feed some tens of KB at once.
        """
        if self.header is None or self.header.version >= 3 or self.unversioned:
            heads = self._whole(block, offset)
            if heads is not None:
                return heads, []
        return self._by_lines(block, offset)

    def _whole(self, block: bytes, offset: int) -> list[Head] | None:
        """The fast way; None where it doesn't apply.

        decode_lines takes values over two lines and two on a line, so each line must begin with a brace and end
        with one: then no value crosses a line end, and as many values as lines means one a line.
        """
        try:
            values = decode_lines(block)
        except (msgspec.DecodeError, RecursionError):
            return None
        if not is_utf8(block):
            return None
        deep = _may_be_deep(block)
        find = block.find
        heads: list[Head] = []
        append = heads.append
        last = self._last_id
        start = 0
        for value in values:
            end = stop = find(b"\n", start)
            if end > start and block[end - 1] == 0x0D:
                stop -= 1
            if end < start or block[start] != 0x7B or block[stop - 1] != 0x7D:
                return None
            if deep and stop - start > 2 * MAX_DEPTH and too_deep(block[start:stop]):
                return None
            kind = value.type
            message = value.message
            facts: Facts | None
            if message is not None and kind == "message":
                kind = "message"
                facts = FACTS_BY_CLASS[message.__class__](message) or facts_of(loads(block[start:stop]))
            elif kind == "session":
                return None
            else:
                kind = intern(kind)
                facts = facts_of(loads(block[start:stop])) if kind in KINDS_WITH_FACTS else None
            parent = value.parentId
            if parent == last:
                parent = last  # one string object for the two
            last = value.id
            if not last:
                return None
            append(Head(kind, last, parent or None, value.timestamp, offset + start, stop - start, facts))
            start = end + 1
        if start != len(block):
            return None
        self._last_id = last
        self.lines += len(heads)
        self.parsed += len(heads)
        self._entries += len(heads)
        return heads

    def _by_lines(self, block: bytes, offset: int) -> tuple[list[Head], list[Stray]]:
        heads: list[Head] = []
        strays: list[Stray] = []
        lines = block.split(b"\n")
        if not lines[-1]:
            lines.pop()
        for line in lines:
            self.lines += 1
            length = len(line) - line.endswith(b"\r")
            item = self._line(line[:length], offset)
            if isinstance(item, Head):
                heads.append(item)
                self._last_id = item.id
            elif item is not None:
                strays.append(Stray(item, self.lines, self.parsed, offset, length))
                if isinstance(item, Header) and self.header is None:
                    self.header = item
            self.parsed += item is not None and not (isinstance(item, BadLine) and not item.counts)
            offset += len(line) + 1
        return heads, strays

    def _line(self, line: bytes, offset: int) -> Head | Header | BadLine | None:
        value = _value(line)
        if not isinstance(value, dict):
            return value
        header = self.header
        if value.get("type") == "session":
            return _header(value)
        self._entries += 1
        if header is not None and header.version < 2 and self._entries == 1:
            self.unversioned = _id(value) is not None
        if header is None or header.version > 2 or self.unversioned:
            return _head(value, offset, len(line))
        if header.version < 2:
            if self._legacy is None:
                self._legacy = LegacyIds(header.id)
            self._legacy.adopt(value, self.parsed)
        LegacyIds.rename_role(value)
        return _head(value, offset, len(line))


_NOT_OPENING = bytes(set(range(256)) - set(b"[{\n"))


def _may_be_deep(block: bytes) -> bool:
    """Whether one of the lines opens more than `MAX_DEPTH` brackets."""
    if not many_brackets(block):
        return False
    return max(map(len, block.translate(None, _NOT_OPENING).split(b"\n"))) > MAX_DEPTH


def read_line(line: bytes, offset: int) -> Head | Header | BadLine | None:
    """One line of a version 3 file, without its end; None for a blank one."""
    value = _value(line)
    if not isinstance(value, dict):
        return value
    if value.get("type") == "session":
        return _header(value)
    return _head(value, offset, len(line))


def _value(line: bytes) -> Json | BadLine | None:
    if not line.strip():
        return None
    try:
        value = loads(line)
    except BadJson as bad:
        if bad.kind == "notJson":
            return None if _blank(line) else _no_json(line)
        if bad.kind == "notUtf8":
            return _not_utf8(line)
        return BadLine("tooDeep", f"the line nests deeper than {MAX_DEPTH}; pi reads it if it is whole", counts=True)
    if not isinstance(value, dict):
        return BadLine("notObject", "the line is JSON but no object", counts=bool(value) or value == [])
    return value


def _no_json(line: bytes) -> BadLine:
    glued = len(unglued(line))
    if glued:
        return BadLine("glued", f"{glued} entries are on one line, so pi reads none of them")
    return BadLine("notJson", "the line is no JSON")


def _not_utf8(line: bytes) -> BadLine:
    """pi reads it with a replacement character for what isn't."""
    inner = _value(replaced(line))
    if isinstance(inner, dict):
        return BadLine("notUtf8", "the line is not UTF-8; pi reads it, with U+FFFD for what isn't", counts=True)
    return inner if inner is not None else BadLine("notJson", "the line is no JSON")


def replaced(line: bytes) -> bytes:
    return line.decode(errors="replace").encode()


def _blank(line: bytes) -> bool:
    """pi takes white space beyond ASCII for a blank line too."""
    try:
        return not line.decode().strip(JS_SPACE)
    except UnicodeDecodeError:
        return False


def _id(value: Json) -> str | None:
    found = value.get("id")
    return found if isinstance(found, str) and found else None


def _string(value: Json, name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def _header(value: Json) -> Header | BadLine:
    name = _id(value)
    if name is None:
        return BadLine("noId", "the header has no id", counts=True)
    version = value.get("version")
    parent = value.get("parentSession")
    return Header(
        name,
        _timestamp(value),
        _string(value, "cwd"),
        int(version) if isinstance(version, int | float) and math.isfinite(version) else 1,
        parent if isinstance(parent, str) else None,
    )


def _timestamp(value: Json) -> str:
    """A number is a time to JavaScript's Date too."""
    found = value.get("timestamp")
    if isinstance(found, int | float) and not isinstance(found, bool) and math.isfinite(found):
        return dates.from_ms(found) or ""
    return found if isinstance(found, str) else ""


def _head(value: Json, offset: int, length: int) -> Head | BadLine:
    name = _id(value)
    if name is None:
        return BadLine("noId", "the entry has no id", counts=True)
    parent = value.get("parentId")
    return Head(
        intern(_string(value, "type")),
        name,
        (parent or None) if isinstance(parent, str) else None,
        _timestamp(value),
        offset,
        length,
        facts_of(value),
    )
