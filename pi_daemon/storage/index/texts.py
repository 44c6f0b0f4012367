"""What is said in the lines of a session file, as a search sees it: one text an entry, with white space and case evened
out."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Raw, Struct

from pi_daemon.session.dates import to_ms
from pi_daemon.session.rawjson import BadJson, loads

MOST_TEXT = 1 << 20
"""Characters of one entry that are searched: what a tool printed beyond that is rarely read by anybody."""


class Said(Struct, gc=False):
    """`role` of a message, `type` of any entry; `raw` is the text as it is; `sent` the message's time."""

    entry_id: str
    type: str
    role: str | None
    timestamp: str
    sent: float | None
    model: str | None
    raw: str

    @property
    def at(self) -> float | None:
        """In ms since 1970."""
        return to_ms(self.timestamp) or self.sent

    @property
    def searched(self) -> str:
        return self.raw if len(self.raw) <= MOST_TEXT else self.raw[:MOST_TEXT]

    @property
    def text(self) -> str:
        """With single spaces, and no longer than what is searched."""
        return even(self.raw)


class _Part(Struct, gc=False):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    name: str | None = None
    arguments: Raw = Raw()


class _Message(Struct, gc=False):
    role: str = ""
    content: str | list[_Part] | None = None
    timestamp: float | None = None
    provider: str | None = None
    model: str | None = None
    toolName: str | None = None
    command: str | None = None
    output: str | None = None
    summary: str | None = None
    errorMessage: str | None = None


class _Line(Struct, gc=False):
    type: str
    id: str = ""
    timestamp: str = ""
    message: _Message | None = None
    content: str | list[_Part] | None = None
    summary: str | None = None
    name: str | None = None
    label: str | None = None


_decode = msgspec.json.Decoder(_Line).decode


def read_lines(data: bytes) -> list[Said | None]:
    """One for each line of `data`; None for those in which nothing is said."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return [read_line(line) for line in lines]


def read_line(line: bytes) -> Said | None:
    try:
        entry = _decode(line)
        texts = _texts(entry)
    except (msgspec.DecodeError, RecursionError):
        return _read_carefully(line)
    if not texts or entry.type == "session":
        return None
    message = entry.message
    role = sent = model = None
    if message is not None and entry.type == "message":
        role, sent = message.role, message.timestamp
        if message.role == "assistant":
            model = f"{message.provider or ''}/{message.model or ''}"
    return Said(entry.id, entry.type, role, entry.timestamp, sent, model, "\n".join(texts))


def _texts(entry: _Line) -> list[str]:
    found: list[str | None] = []
    match entry.type:
        case "message":
            message = entry.message
            if message is not None:
                found = [message.toolName, message.command, message.output, message.summary, message.errorMessage]
                found += _content(message.content)
        case "custom_message":
            found = _content(entry.content)
        case "compaction" | "branch_summary":
            found = [entry.summary]
        case "session_info":
            found = [entry.name]
        case "label":
            found = [entry.label]
    return [text for text in found if text]


def _content(content: str | list[_Part] | None) -> list[str | None]:
    if content is None or isinstance(content, str):
        return [content]
    found: list[str | None] = []
    for part in content:
        if part.type == "toolCall":
            found.append(part.name)
            if part.arguments:
                found += strings(msgspec.json.decode(part.arguments))
        elif part.type == "thinking":
            found.append(part.thinking)
        else:
            found.append(part.text)
    return found


def strings(value: Any) -> list[str | None]:
    """The strings in a JSON value, in order."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list):
        return []
    return [text for inner in value for text in strings(inner)]


def _read_carefully(line: bytes) -> Said | None:
    """An odd line: what is of another type than it should be is not there."""
    try:
        value = loads(line)
    except BadJson:
        return None
    if not isinstance(value, dict) or value.get("type") == "session":
        return None
    message = value.get("message")
    inner = message if isinstance(message, dict) else {}
    entry = _Line(
        _string(value, "type"),
        _string(value, "id"),
        _string(value, "timestamp"),
        content=_odd_content(value.get("content")),
        summary=_string(value, "summary"),
        name=_string(value, "name"),
        label=_string(value, "label"),
    )
    at = inner.get("timestamp")
    names = ("role", "provider", "model", "toolName", "command", "output", "summary", "errorMessage")
    own = {name: _string(inner, name) for name in names}
    entry.message = _Message(content=_odd_content(inner.get("content")), **own)  # type: ignore[arg-type]
    texts = _texts(entry)
    if not texts:
        return None
    is_message = entry.type == "message"
    sent = float(at) if isinstance(at, int | float) and abs(at) < 1e17 else None
    model = f"{own['provider']}/{own['model']}" if is_message and own["role"] == "assistant" else None
    said = Said(
        entry.id, entry.type, own["role"] if is_message else None, entry.timestamp, sent, model, "\n".join(texts)
    )
    said.raw, said.entry_id, said.type = sound(said.raw), sound(said.entry_id), sound(said.type)
    said.timestamp, said.role = sound(said.timestamp), None if said.role is None else sound(said.role)
    return said


def _odd_content(content: Any) -> str | list[_Part] | None:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = []
    for part in content:
        if isinstance(part, dict):
            texts = strings(part.get("arguments")) if part.get("type") == "toolCall" else [_string(part, "thinking")]
            name = _string(part, "name") if part.get("type") == "toolCall" else ""
            words = [name, _string(part, "text"), *texts]
            parts.append(_Part("text", "\n".join(word for word in words if word)))
    return parts


def _string(value: dict[str, Any], name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def even(text: str) -> str:
    """With single spaces, and no longer than what is searched."""
    if "\0" in text:
        text = text.replace("\0", " ")
    return " ".join(text[:MOST_TEXT].split())


def sound(text: str) -> str:
    """Without lone surrogates, which neither a reply nor the index can carry."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


CJK = (
    "\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)
"""Scripts in which two characters make a word."""

_RUNS = re.compile(f"[{CJK}]{{2,}}")
_PAIR = re.compile(f"[{CJK}]{{2}}")

PAIR_MARK = "\x01"
"""The index knows three characters in a row and nothing shorter; a pair of these scripts is made three with it."""


def indexed(texts: list[str]) -> str:
    """What goes into the index for the texts of a block."""
    text = "\n".join(texts).casefold()
    if "\0" in text:
        text = text.replace("\0", " ")  # where the tokenizer would stop
    if text.isascii():
        return text
    pairs = {run[at : at + 2] for run in _RUNS.findall(text) for at in range(len(run) - 1)}
    return text + "\n" + "".join(PAIR_MARK + pair for pair in sorted(pairs)) if pairs else text


def is_pair(text: str) -> bool:
    return _PAIR.fullmatch(text) is not None
