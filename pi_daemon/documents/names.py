"""Entries in a few words, as outlines, hovers and lenses show them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from pi_daemon.session.glance import Json, glance_at
from pi_daemon.session.head import AssistantFacts, Head
from pi_daemon.session.view import MAX_ARGUMENT, MAX_PREVIEW, TELLING, call_text, one_line, preview_of

NAME = 80
"""Characters of a name: an outline is a narrow window."""

ON_PATH = "● "
LEAF = "◆ "

_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")

_KINDS = {
    "compaction": "compaction",
    "branch_summary": "branch summary",
    "custom_message": "custom message",
    "custom": "custom entry",
    "model_change": "change of the model",
    "thinking_level_change": "change of the thinking level",
    "label": "label",
    "session_info": "name of the session",
    "usage": "usage record",
    "context_edit": "edit of the context",
}
_ROLES = {
    "user": "user's message",
    "assistant": "answer",
    "toolResult": "tool result",
    "bashExecution": "shell command",
    "system": "system message",
    "branchSummary": "branch summary",
    "compactionSummary": "summary of a compaction",
    "custom": "custom message",
}

NAMESPACE, FUNCTION, STRING, EVENT, STRUCT, INTERFACE, OBJECT, KEY, FILE = 3, 12, 15, 24, 23, 11, 19, 20, 1
"""LSP's kinds of symbols, for their icons."""

_SYMBOLS = {
    "user": FUNCTION,
    "assistant": STRING,
    "toolResult": EVENT,
    "bashExecution": KEY,
    "system": FILE,
    "compaction": STRUCT,
    "branch_summary": INTERFACE,
}


class Item(Struct, gc=False):
    """What of a body is shown. `calls`: (id, words) of its tool calls."""

    text: str
    calls: tuple[tuple[str, str], ...] = ()


class _Arguments(Struct, gc=False):
    """Those of `TELLING`."""

    path: Any = None
    file_path: Any = None
    command: Any = None
    pattern: Any = None
    query: Any = None
    url: Any = None
    name: Any = None


class _Block(Struct, gc=False):
    type: str = ""
    text: str = ""
    id: str = ""
    name: str = ""
    arguments: _Arguments | None = None


class _Message(Struct, gc=False):
    content: list[_Block]


class _Line(Struct, gc=False):
    message: _Message


_decode = msgspec.json.Decoder(_Line).decode


def item_of(head: Head, line: bytes) -> Item:
    """Users' messages and answers, which most are, without building the rest of them."""
    if head.facts.__class__ is AssistantFacts or head.role == "user":
        try:
            item = _quickly(_decode(line).message.content, head)
        except (msgspec.DecodeError, RecursionError):
            item = None
        if item is not None:
            return item
    look = glance_at(line)
    return Item(preview_of(head, look), calls_of(look))


def _quickly(blocks: list[_Block], head: Head) -> Item | None:
    """None where there is neither text nor a call."""
    text = "".join([block.text for block in blocks if block.type == "text"])
    found: list[tuple[str, str]] = []
    if head.facts.__class__ is AssistantFacts:
        for block in blocks:
            if block.type == "toolCall":
                values = (getattr(block.arguments, name, None) for name in TELLING)
                about = next((value for value in values if value and isinstance(value, str)), "")
                found.append((block.id, f"{block.name} {one_line(about, MAX_ARGUMENT)}".rstrip()))
    if not text.strip():
        if not found:
            return None
        text = ", ".join([words for _, words in found])
    return Item(one_line(text, MAX_PREVIEW), tuple(found))


def calls_of(look: Json) -> tuple[tuple[str, str], ...]:
    message = look.get("message")
    content = message.get("content") if isinstance(message, dict) and message.get("role") == "assistant" else None
    return tuple(
        (block["id"] if isinstance(block.get("id"), str) else "", call_text(block))
        for block in (content if isinstance(content, list) else ())
        if isinstance(block, dict) and block.get("type") == "toolCall"
    )


def kind_of(head: Head) -> str:
    """What it is: "answer", "tool result", "entry of kind x"."""
    if head.type == "message":
        return _ROLES.get(head.role or "", f"message of role {head.role!r}" if head.role else "message")
    return _KINDS.get(head.type, f"entry of kind {head.type!r}" if head.type else "entry")


def symbol_of(head: Head) -> int:
    """LSP's kind of symbol."""
    return _SYMBOLS.get(head.role or head.type, OBJECT)


def short(text: str, limit: int = NAME) -> str:
    """Its beginning, on one line, without lone surrogates: one of them would make a large answer slow to encode."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    if cut.isprintable():
        return cut
    return _UNFIT.sub(" ", cut).encode(errors="replace").decode()


def name_of(head: Head, text: str, labels: Mapping[str, str]) -> str:
    """Never empty, which LSP wants of a name."""
    label = labels.get(head.id)
    words = short(text) or f"({kind_of(head)})"
    return f"[{short(label, NAME // 2)}] {words}" if label else words
