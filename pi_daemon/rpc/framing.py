"""LSP's base protocol, without IO: bytes in, messages out.

A header names the body's length; header names come in any case, other headers are ignored, lines may end in LF
alone. Work is linear in the bytes fed, however they are cut.
"""

from __future__ import annotations

import re

from msgspec import Struct

from pi_daemon.rpc.codec import find_id
from pi_daemon.rpc.errors import Refused
from pi_daemon.rpc.limits import Limits

SKIPPABLE_BYTES = 1024 * 1024 * 1024
"""A body over the limit is read past up to this size; for more the connection closes."""

_ID_WITHIN = 1024
"""How much of a body over the limit is looked at for its id, so that the error reaches the request."""

_USUAL = re.compile(rb"Content-Length: ([0-9]{1,9})\r\n\r\n")
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_SIZE = re.compile(rb"[0-9]{1,16}")
_REQUEST_LINE = re.compile(rb"[A-Z]+ ")
_HTTP_STARTS = (b"GET ", b"HEAD", b"POST", b"PUT ", b"DELE", b"CONN", b"OPTI", b"TRAC", b"PATC", b"PRI ", b"HOST")


class Broken(Struct, frozen=True):
    """Bytes that are no message. `fatal`: the stream can't go on. `refused` is None for a peer that speaks HTTP:
    a browser can be made to send one, and gets no answer at all."""

    refused: Refused | None
    fatal: bool


class Framer:
    """Cuts one stream into messages. After something fatal it takes nothing more."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._buffer = bytearray()
        self._scanned = 0
        self._lines = 0
        self._length: int | None = None
        self._body: int | None = None
        self._skip = 0
        self._fresh = True
        self._dead = False

    @property
    def buffered(self) -> int:
        """Bytes kept until the rest of their message comes."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[bytes | Broken]:
        """The messages that `data` completes, and what was wrong between them."""
        found: list[bytes | Broken] = []
        if self._dead:
            return found
        if not self._buffer and not self._lines and self._body is None and not self._skip:
            data = self._feed_usual(data, found)
        if data:
            self._buffer += data
            while not self._dead and self._step(found):
                pass
        return found

    def _feed_usual(self, data: bytes, found: list[bytes | Broken]) -> bytes:
        """Take the whole messages at the start of `data` that have the one usual header; gives the rest."""
        start = 0
        while head := _USUAL.match(data, start):
            end = head.end() + int(head[1])
            if end > len(data) or end - head.end() > self._limits.body_bytes:
                break
            found.append(data[head.end() : end])
            start = end
        self._fresh = self._fresh and not start
        return data[start:]

    def _step(self, found: list[bytes | Broken]) -> bool:
        """Take the next piece out of the buffer; False where it isn't there yet."""
        if self._skip:
            return self._skip_some()
        if self._body is not None:
            return self._take_body(self._body, found)
        end = self._buffer.find(b"\n", self._scanned)
        if end < 0:
            self._scanned = len(self._buffer)
            if self._fresh and self._buffer[:4].upper() in _HTTP_STARTS:
                self._die(found, None)
            elif self._scanned > self._limits.header_line_bytes:
                self._die(found, "A header line is too long.")
            return False
        line = bytes(self._buffer[:end]).removesuffix(b"\r")
        del self._buffer[: end + 1]
        self._scanned = 0
        self._take_line(line, found)
        return True

    def _take_line(self, line: bytes, found: list[bytes | Broken]) -> None:
        name, colon, value = line.partition(b":")
        self._lines += 1
        if not line:
            self._end_header(found)
        elif len(line) > self._limits.header_line_bytes:
            self._die(found, "A header line is too long.")
        elif self._lines > self._limits.header_count:
            self._die(found, "Too many header lines.")
        elif name.lower() == b"host" or (self._fresh and _REQUEST_LINE.match(line)):
            self._die(found, None)
        elif not colon or not _NAME.fullmatch(name):
            self._die(found, "A header line is a name, a colon and a value.")
        elif name.lower() == b"content-length":
            size = value.strip(b" \t")
            if self._length is not None:
                self._die(found, "Content-Length came twice.")
            elif not _SIZE.fullmatch(size):
                self._die(found, "Content-Length is not a size in bytes.")
            else:
                self._length = int(size)

    def _end_header(self, found: list[bytes | Broken]) -> None:
        if self._length is None:
            self._die(found, "A header without Content-Length.")
        elif self._length > SKIPPABLE_BYTES:
            found.append(Broken(self._too_large(), fatal=True))
            self._dead = True
        else:
            self._body, self._length, self._lines, self._fresh = self._length, None, 0, False

    def _take_body(self, size: int, found: list[bytes | Broken]) -> bool:
        over = size > self._limits.body_bytes
        wanted = min(size, _ID_WITHIN) if over else size
        if len(self._buffer) < wanted:
            return False
        self._body = None
        with memoryview(self._buffer) as view:
            body = bytes(view[:wanted])
        del self._buffer[:wanted]
        if over:
            found.append(Broken(self._too_large(find_id(body)), fatal=False))
            self._skip = size - wanted
        else:
            found.append(body)
        return True

    def _skip_some(self) -> bool:
        taken = min(self._skip, len(self._buffer))
        del self._buffer[:taken]
        self._skip -= taken
        return not self._skip

    def _too_large(self, id: bytes = b"null") -> Refused:
        limit = self._limits.body_bytes
        return Refused("tooLarge", f"A message has at most {limit} bytes.", id=id, limit="bodyBytes", bytes=limit)

    def _die(self, found: list[bytes | Broken], words: str | None) -> None:
        refused = None if words is None else Refused("parseError", words)
        found.append(Broken(refused, fatal=True))
        self._dead = True
        self._buffer.clear()


def frame(*messages: bytes) -> bytes:
    """The messages with their headers, as one piece."""
    return b"".join([b"Content-Length: %d\r\n\r\n%b" % (len(message), message) for message in messages])
