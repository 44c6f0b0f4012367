"""Stored lines → what of them tells of tools. Details of results, which may be megabytes, are not decoded."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct, structs

from pi_daemon.session.rawjson import loads


class _Message(Struct, gc=False):
    role: str = ""
    content: Any = None
    toolCallId: Any = None
    toolName: Any = None
    isError: Any = None
    command: Any = None
    output: Any = None
    exitCode: Any = None
    cancelled: Any = None
    nestedCalls: Any = None


class _Line(Struct, gc=False):
    message: _Message


_decode = msgspec.json.Decoder(_Line).decode


def message_of(line: bytes) -> dict[str, Any]:
    """The message of an entry, empty where it has none."""
    try:
        return structs.asdict(_decode(line).message)
    except (msgspec.DecodeError, RecursionError):
        entry = loads(line)
        message = entry.get("message") if isinstance(entry, dict) else None
        return message if isinstance(message, dict) else {}


def may_call(line: bytes) -> bool:
    """Whether the line of an answer may call tools."""
    return b"toolCall" in line or b"\\u00" in line


def raw_text(message: dict[str, Any]) -> str | None:
    """All text of a result; None where it shows an image."""
    content = message.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    if any(block.get("type") == "image" for block in blocks):
        return None
    if isinstance(content, str):
        return content
    return "\n".join(text for block in blocks if isinstance(text := block.get("text"), str))
