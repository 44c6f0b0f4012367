"""An entry as far as its facts, its preview and its estimate look into it.

Tool results carry details of megabytes, custom entries any data: what nobody looks at is not decoded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from pi_daemon.session.rawjson import BadJson, loads, members

Json = dict[str, Any]

_ENTRY = frozenset(
    {"type", "customType", "content", "summary", "provider", "modelId", "thinkingLevel", "label", "targetId", "name"}
    | {"kind", "model", "fromId", "firstKeptEntryId", "tokensBefore", "replacement", "usage"}
)
_MESSAGE = frozenset(
    {"role", "content", "toolName", "toolCallId", "command", "output", "summary", "sections", "stopReason"}
    | {"errorMessage", "provider", "model", "usage", "excludeFromContext", "toolsAdded"}
)

_decode = msgspec.json.Decoder().decode


def glance(parts: Mapping[str, bytes]) -> Json:
    """The members of an entry that matter, `message` with those of its own that do; `parts` are all, raw and valid."""
    entry = _those(parts, _ENTRY)
    message = parts.get("message")
    if message is not None:
        try:
            entry["message"] = _those(members(message), _MESSAGE)
        except BadJson:
            entry["message"] = loads(message)
    return entry


def glance_at(line: bytes) -> Json:
    """The same of a stored line."""
    return glance(members(line))


def _those(parts: Mapping[str, bytes], names: frozenset[str]) -> Json:
    return {name: _value(raw) for name, raw in parts.items() if name in names}


def _value(raw: bytes) -> Any:
    try:
        return _decode(raw)
    except msgspec.DecodeError:
        return loads(raw)
