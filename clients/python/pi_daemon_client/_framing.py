"""Content-Length framing as the Language Server Protocol has it, without a socket: bytes in, bodies out."""

from __future__ import annotations

from collections.abc import Iterator

MAX_HEADER = 8 * 1024
"""Bytes. A daemon's header takes some thirty; more is another protocol speaking."""

MAX_BODY = 1 << 30
"""Bytes. Far above the daemon's own bound on a reply; keeps a corrupted length from filling the memory."""


class FramingError(ValueError):
    """The stream is not this protocol; nothing after it can be read."""


def frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class FrameReader:
    """Collects bytes and gives each body once it is whole."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._searched = 0
        self._length: int | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Raises FramingError. The iterator must be run to its end before the next call."""
        buffer = self._buffer
        buffer += data
        while True:
            if self._length is None:
                end = buffer.find(b"\r\n\r\n", self._searched)
                if end < 0:
                    self._searched = max(0, len(buffer) - 3)
                    if len(buffer) > MAX_HEADER:
                        raise FramingError("the header has no end")
                    return
                self._length = _content_length(bytes(buffer[:end]))
                self._searched = 0
                del buffer[: end + 4]
            if len(buffer) < self._length:
                return
            body = bytes(memoryview(buffer)[: self._length])
            del buffer[: self._length]
            self._length = None
            yield body


def _content_length(header: bytes) -> int:
    for line in header.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            value = value.strip()
            if not value.isdigit() or len(value) > 12 or int(value) > MAX_BODY:
                raise FramingError("the Content-Length is no usable number")
            return int(value)
    raise FramingError("a header without Content-Length")
