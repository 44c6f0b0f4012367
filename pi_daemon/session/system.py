"""System messages: a path may hold several, each a change to what those before it said."""

from __future__ import annotations

from collections.abc import Iterable

from pi_daemon.session.rawjson import dumps, elements, join, loads, members


def fold_system(messages: Iterable[bytes], timestamp_ms: int | None = None) -> bytes | None:
    """The one system message that says what all system messages among `messages` say, None where there are none.

    pi-ai 1.6.0: contents are joined by a blank line, sections replaced by name (null takes one away), tools
    added and removed by name; the time is `timestamp_ms`, or that of the first. Sections and tools keep their bytes.
    """
    texts: list[str] = []
    sections: dict[str, bytes] = {}
    tools: dict[bytes, bytes] = {}
    first: bytes | None = None
    for message in messages:
        if b"system" not in message:
            continue
        parts = members(message)
        if loads(parts.get("role", b"null")) != "system":
            continue
        if first is None or first == b"null":
            first = parts.get("timestamp", first)
        if text := _text(loads(parts.get("content", b"null"))):
            texts.append(text)
        for name, value in members(_given(parts, "sections", b"{}")).items():
            if value == b"null":
                sections.pop(name, None)
            else:
                sections[name] = value
        for tool in elements(_given(parts, "toolsRemoved", b"[]")):
            tools.pop(_name(tool), None)
        for tool in elements(_given(parts, "toolsAdded", b"[]")):
            tools[_name(tool)] = tool
    if first is None and not tools:
        return None
    folded = {"role": b'"system"', "content": dumps("\n\n".join(texts))}
    if sections:
        folded["sections"] = join(sections)
    if tools:
        folded["toolsAdded"] = b"[" + b",".join(tools.values()) + b"]"
    if timestamp_ms is not None:
        folded["timestamp"] = dumps(timestamp_ms)
    else:
        folded["timestamp"] = b"0" if first is None or first == b"null" else first
    return join(folded)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))


def _given(parts: dict[str, bytes], name: str, empty: bytes) -> bytes:
    """The member if it is of the kind of `empty`: an odd file must not keep a context from being made."""
    raw = parts.get(name, empty)
    return raw if raw[:1] == empty[:1] else empty


def _name(tool: bytes) -> bytes:
    return members(tool).get("name", b"") if tool.startswith(b"{") else b""
