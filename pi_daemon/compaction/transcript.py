"""A conversation as text that a model is to read about and not to take part in.

One line of JSON a message. A text of the conversation can't end its line, so whatever it says stands inside a string
of a record, and no line of it can be mistaken for one that is ours. Who puts lines around the transcript takes a
`fence` for them: it occurs nowhere between them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from pi_daemon.compaction.material import Said
from pi_daemon.session.jstext import utf16_length
from pi_daemon.session.llm import user_content
from pi_daemon.session.rawjson import dumps, loads
from pi_daemon.session.view import content_text

MAX_RESULT = 2000
"""UTF-16 code units of a tool result that are shown (pi 1.6.0)."""

_AS_THEY_ARE = frozenset({"user", "assistant", "toolResult"})
_BREAKS = re.compile("[\x7f-\x9f\u2028\u2029]")
"""What JSON leaves as it is, and one reader or another takes for the end of a line."""


def transcript(messages: Iterable[Said]) -> str:
    """Each line is an object with `from` (user, assistant or toolResult) and what there is of: `text`; `images`, how
    many there were; `calls`, each with `name` and `arguments`; of a tool result `tool`, `failed`, and `missing`, how
    many UTF-16 code units of its text are left out at its end.

    Without thinking, system messages, commands that are kept from the context, and what says nothing.
    """
    return "\n".join(filter(None, map(transcript_line, messages)))


def transcript_line(said: Said) -> str:
    """One message, without a line end; "" where there is nothing to tell."""
    role, content = said.role, said.message.get("content")
    if role not in _AS_THEY_ARE:
        sent = user_content(role, _dumps(said.message))
        if sent is None:
            return ""
        role, content = "user", loads(sent) if sent else None
    record: dict[str, Any] = {"from": role}
    text = content_text(content, "\n" if role == "assistant" else "")
    if role == "toolResult":
        if "toolName" in said.message:
            record["tool"] = said.message["toolName"]
        if said.message.get("isError") is True:
            record["failed"] = True
        whole = text
        text = _beginning(whole)
        if text != whole:
            record["missing"] = utf16_length(whole) - utf16_length(text)
    if text:
        record["text"] = text
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    if images := sum(block.get("type") == "image" for block in blocks):
        record["images"] = images
    if role == "assistant":
        calls = [block for block in blocks if block.get("type") == "toolCall"]
        if calls:
            record["calls"] = [{"name": call.get("name"), "arguments": call.get("arguments")} for call in calls]
    if record.keys() <= {"from", "tool"}:
        return ""
    return _BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}", _dumps(record).decode())


def fence(text: str, name: str = "transcript") -> str:
    """A delimiter that does not occur in `text`, and that nobody who writes a part of it can foresee."""
    mark = sha256(text.encode(errors="surrogatepass")).hexdigest()
    length = 12
    while f"{name}-{mark[:length]}" in text and length < len(mark):
        length += 4
    return f"{name}-{mark[:length]}"


def _beginning(text: str) -> str:
    """At most `MAX_RESULT` code units of it; no pair of surrogates is split."""
    if text.isascii():
        return text[:MAX_RESULT]
    units = text[: MAX_RESULT + 1].encode("utf-16-le", "surrogatepass")
    end = 2 * MAX_RESULT
    if len(units) > end and units[end - 1] & 0xFC == 0xD8 and units[end + 1] & 0xFC == 0xDC:
        end -= 2
    return units[:end].decode("utf-16-le", "surrogatepass")


def _dumps(value: Any) -> bytes:
    """An infinite number is null, as JavaScript writes it."""
    try:
        return dumps(value)
    except ValueError:
        return dumps(json.loads(json.dumps(value), parse_constant=lambda name: None))
