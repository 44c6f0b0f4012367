"""What a listing shows of a session that need not be open, from one pass over its lines.

The meaning is pi 1.6.0's: every message counts, the last name wins, the activity is that of user and assistant
messages. pi leaves out a file with a message that is odd (no message at all, null content); here it is listed.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from pi_daemon.session.dates import from_ms, to_ms
from pi_daemon.session.head import Header
from pi_daemon.session.rawjson import JS_SPACE, BadJson, loads
from pi_daemon.storage.protocols import SessionRef, SessionSummary

SHOWN = 200
"""Code points of the first message that a listing shows."""


class _Message(Struct, tag_field="role", gc=False):
    timestamp: float | None = None


class _User(_Message, tag="user", gc=False):
    content: Raw = Raw()


class _Assistant(_Message, tag="assistant", gc=False):
    content: Raw = Raw()


class _Other(Struct, tag_field="role", gc=False): ...


class _ToolResult(_Other, tag="toolResult", gc=False): ...


class _System(_Other, tag="system", gc=False): ...


class _Shell(_Other, tag="bashExecution", gc=False): ...


class _Custom(_Other, tag="custom", gc=False): ...


class _Line(Struct, gc=False):
    type: str
    timestamp: str = ""
    name: str | None = None
    message: _User | _Assistant | _ToolResult | _System | _Shell | _Custom | None = None


_decode_lines = msgspec.json.Decoder(_Line).decode_lines


class Summary:
    """Grows with each block of whole lines that it reads. `header` may come from a block too."""

    def __init__(self, header: Header) -> None:
        self.header = header
        self._name: str | None = None
        self._messages = 0
        self._first: str | None = None
        self._active = 0.0

    def read(self, block: bytes) -> None:
        """`block` ends with a newline, but for the last one of a file. What can't be read is passed over."""
        try:
            lines = _decode_lines(block)
        except (msgspec.DecodeError, RecursionError):
            lines = []
        if lines and _one_each(block, len(lines)):
            self._read_lines(lines)
        else:
            for line in block.split(b"\n"):
                self._read_line(line)

    def _read_lines(self, lines: list[_Line]) -> None:
        messages = 0
        for line in lines:
            message = line.message
            if line.type == "message":
                messages += 1
                if isinstance(message, _Other) or message is None or not message.content:
                    continue
                at = message.timestamp
                if at is None:
                    at = to_ms(line.timestamp) or 0.0
                if at > self._active:
                    self._active = at
                if self._first is None and message.__class__ is _User:
                    self._first = _text(_value(bytes(message.content)))
            elif line.type == "session_info":
                self._name = (line.name or "").strip(JS_SPACE) or None
        self._messages += messages

    def _read_line(self, line: bytes) -> None:
        value = _value(line)
        if not isinstance(value, dict):
            return
        if value.get("type") == "session_info":
            name = value.get("name")
            self._name = (name.strip(JS_SPACE) if isinstance(name, str) else None) or None
        elif value.get("type") == "message":
            self._messages += 1
            message = value.get("message")
            if isinstance(message, dict) and message.get("role") in ("user", "assistant") and "content" in message:
                at = message.get("timestamp")
                if not isinstance(at, int | float):
                    at = to_ms(value["timestamp"]) if isinstance(value.get("timestamp"), str) else None
                self._active = max(self._active, at or 0.0)
                if message["role"] == "user" and self._first is None:
                    self._first = _text(message["content"])

    def made(self, ref: SessionRef, size: int, mtime_ms: float) -> SessionSummary:
        """`size` in bytes; `mtime_ms` stands in where the file names no time."""
        header = self.header
        fallback = from_ms(mtime_ms) or ""
        started = to_ms(header.timestamp)
        created = (None if started is None else from_ms(started)) or fallback
        return SessionSummary(
            ref,
            _clean(header.cwd),
            None if self._name is None else _clean(self._name),
            None if header.parent_session is None else _clean(header.parent_session),
            created,
            (from_ms(self._active) if self._active > 0 else None) or created,
            self._messages,
            self._first or "",
            size,
        )


def newest_first(summaries: list[SessionSummary]) -> list[SessionSummary]:
    return sorted(summaries, key=lambda summary: (summary.modified, summary.ref.session_id), reverse=True)


def _one_each(block: bytes, count: int) -> bool:
    """Whether `count` objects lie one on each line. decode_lines takes two on a line and one over two lines, but no
    object crosses the end of a line where each line begins and ends with a brace."""
    start, size = 0, len(block)
    for _ in range(count):
        if start >= size or block[start] != 0x7B:
            return False
        end = block.find(b"\n", start)
        if end < 0:
            end = size
        if block[end - 1] != 0x7D:
            return False
        start = end + 1
    return start >= size


def _value(data: bytes) -> Any:
    """The JSON value, what isn't UTF-8 in it replaced as pi does; None for what is no JSON."""
    try:
        return loads(data)
    except BadJson as bad:
        text = data.decode(errors="replace").encode()
        return _value(text) if bad.kind == "notUtf8" and text != data else None


def _text(content: Any) -> str | None:
    """The start of a message's text on one line; None where it has none."""
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        content = " ".join(text for text in texts if isinstance(text, str))
    if not isinstance(content, str) or not content:
        return None
    # Five times as much as is shown, for the white space that goes.
    return _clean(" ".join(content[: 5 * SHOWN].split())[:SHOWN])


def _clean(text: str) -> str:
    """Without lone surrogates, which no UTF-8 reply can carry."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
