"""What a listing shows of a session that need not be open, from one pass over its lines.

The meaning is pi 1.6.0's: every message counts, the last name wins, the activity is that of user and assistant
messages. pi leaves out a file with a message that is odd (no message at all, null content); here it is listed. The same
pass notes what a search over sessions asks of them: models, labels, and how the entries hang together.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct, field

from pi_daemon.session.dates import from_ms, to_ms
from pi_daemon.session.head import Header
from pi_daemon.session.rawjson import JS_SPACE, BadJson, loads
from pi_daemon.storage.index.replies import Reply, UsageRead, reply_of, reply_of_value
from pi_daemon.storage.index.runs import Known, Runs
from pi_daemon.storage.protocols import SessionRef, SessionSummary

SHOWN = 200
"""Code points of the first message that a listing shows."""


class _Message(Struct, tag_field="role", gc=False):
    timestamp: float | None = None


class _User(_Message, tag="user", gc=False):
    content: Raw = Raw()


class _Assistant(_Message, tag="assistant", gc=False):
    content: Raw = Raw()
    provider: str | None = None
    model: str | None = None
    responseId: str | None = None
    usage: UsageRead | None = None


class _Other(Struct, tag_field="role", gc=False): ...


class _ToolResult(_Other, tag="toolResult", gc=False): ...


class _System(_Other, tag="system", gc=False): ...


class _Shell(_Other, tag="bashExecution", gc=False): ...


class _Custom(_Other, tag="custom", gc=False): ...


class _Line(Struct, gc=False):
    type: str
    id: str = ""
    parentId: str | None = None
    timestamp: str = ""
    name: str | None = None
    targetId: str | None = None
    label: str | None = None
    message: _User | _Assistant | _ToolResult | _System | _Shell | _Custom | None = None


_decode_lines = msgspec.json.Decoder(_Line).decode_lines


class Tally(Struct, array_like=True):
    """What has been counted: `active` in ms since 1970, `lines` so far, `models` as `provider/model`, `labels` by the
    id of their entry, `broken` lines that are no entry; one that nests too deep, say, isn't seen here."""

    name: str | None = None
    messages: int = 0
    first: str | None = None
    active: float = 0.0
    lines: int = 0
    models: dict[str, None] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    runs: Runs = field(default_factory=Runs)
    broken: int = 0


class Summary:
    """Grows with each block of whole lines that it reads. `tally`: what an earlier pass has counted; `replies` are the
    answers that this one has met, for who takes them."""

    def __init__(self, header: Header, tally: Tally | None = None) -> None:
        self.header = header
        self.tally = tally if tally is not None else Tally()
        self.replies: list[Reply] = []
        self._known: Known | None = Known() if tally is None else None
        if header.version < 2:
            self.tally.runs.odd = True  # its entries get their ids from the whole file

    def ended(self) -> None:
        """The pass is over: what only it needs is let go."""
        self._known = None

    def read(self, block: bytes) -> None:
        """`block` ends with a newline, but for the last one of a file. What can't be read is passed over."""
        try:
            lines = _decode_lines(block)
        except (msgspec.DecodeError, RecursionError):
            lines = []
        if lines and _one_each(block, len(lines)):
            self._read_lines(lines)
        else:
            self._read_block(block)

    def _read_lines(self, lines: list[_Line]) -> None:
        tally = self.tally
        messages = 0
        first = tally.lines
        entries = True
        for line in lines:
            message = line.message
            if line.type == "message":
                messages += 1
                if isinstance(message, _Other) or message is None:
                    continue
                if isinstance(message, _Assistant):
                    self._answered(line, message)
                if not message.content:
                    continue
                at = message.timestamp
                if at is None:
                    at = to_ms(line.timestamp) or 0.0
                if at > tally.active:
                    tally.active = at
                if tally.first is None and message.__class__ is _User:
                    tally.first = _text(_value(bytes(message.content)))
            elif line.type == "session_info":
                tally.name = (line.name or "").strip(JS_SPACE) or None
            elif line.type == "label":
                self._labelled(line.targetId, line.label)
            elif line.type == "session":
                entries = False
        tally.messages += messages
        tally.lines += len(lines)
        ids = [line.id for line in lines]
        if entries and all(ids):
            parents = [line.parentId or None for line in lines]
            tally.runs.add(ids, parents, range(first, tally.lines), self._known)
        else:
            places = [n for n, line in enumerate(lines) if line.id and line.type != "session"]
            if self.header.version >= 2:
                tally.broken += sum(not line.id for line in lines)
            parents = [lines[n].parentId or None for n in places]
            tally.runs.add([ids[n] for n in places], parents, [first + n for n in places], self._known)

    def _answered(self, line: _Line, message: _Assistant) -> None:
        model = f"{message.provider or ''}/{message.model or ''}"
        self.tally.models[model] = None
        reply = reply_of(line.id, line.timestamp, message.responseId, model, message.usage)
        if reply is not None:
            self.replies.append(reply)

    def _labelled(self, target: str | None, label: str | None) -> None:
        if target is None:
            return
        if label:
            self.tally.labels[target] = label
        else:
            self.tally.labels.pop(target, None)

    def _read_block(self, block: bytes) -> None:
        lines = block.split(b"\n")
        if not lines[-1]:
            lines.pop()
        tally = self.tally
        for number, line in enumerate(lines, tally.lines):
            entry = self._read_line(line)
            if entry is not None:
                tally.runs.add([entry[0]], [entry[1]], [number], self._known)
        tally.lines += len(lines)

    def _read_line(self, line: bytes) -> tuple[str, str | None] | None:
        """Count one line. Gives the id of an entry and its parent's."""
        value = _value(line)
        if not isinstance(value, dict):
            self.tally.broken += bool(line.decode(errors="replace").strip(JS_SPACE))
            return None
        tally, kind = self.tally, value.get("type")
        if kind == "session_info":
            name = value.get("name")
            tally.name = (name.strip(JS_SPACE) if isinstance(name, str) else None) or None
        elif kind == "label":
            target, label = value.get("targetId"), value.get("label")
            self._labelled(target if isinstance(target, str) else None, label if isinstance(label, str) else None)
        elif kind == "message":
            tally.messages += 1
            message = value.get("message")
            if isinstance(message, dict) and message.get("role") in ("user", "assistant"):
                self._read_message(value, message)
        name, parent = value.get("id"), value.get("parentId")
        if not isinstance(name, str) or not name:
            tally.broken += self.header.version >= 2
            return None
        if kind == "session":
            return None
        return name, (parent or None) if isinstance(parent, str) else None

    def _read_message(self, value: dict[str, Any], message: dict[str, Any]) -> None:
        tally = self.tally
        if message["role"] == "assistant":
            provider, model = message.get("provider"), message.get("model")
            both = f"{provider if isinstance(provider, str) else ''}/{model if isinstance(model, str) else ''}"
            tally.models[_clean(both)] = None
            reply = reply_of_value(value, message, _clean(both))
            if reply is not None:
                self.replies.append(reply)
        if "content" not in message:
            return
        at = message.get("timestamp")
        if not isinstance(at, int | float):
            at = to_ms(value["timestamp"]) if isinstance(value.get("timestamp"), str) else None
        tally.active = max(tally.active, at or 0.0)
        if message["role"] == "user" and tally.first is None:
            tally.first = _text(message["content"])

    def made(self, ref: SessionRef, size: int, mtime_ms: float) -> SessionSummary:
        """`size` in bytes; `mtime_ms` stands in where the file names no time."""
        header, tally = self.header, self.tally
        fallback = from_ms(mtime_ms) or ""
        started = to_ms(header.timestamp)
        created = (None if started is None else from_ms(started)) or fallback
        return SessionSummary(
            ref,
            _clean(header.cwd),
            None if tally.name is None else _clean(tally.name),
            None if header.parent_session is None else _clean(header.parent_session),
            created,
            (from_ms(tally.active) if tally.active > 0 else None) or created,
            tally.messages,
            tally.first or "",
            size,
            tuple(tally.models),
            tally.broken > 0,
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
