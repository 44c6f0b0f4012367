"""Several entries on one line, of which pi reads none: two writers at once, or a lost newline, make such a line."""

from __future__ import annotations

import json
from typing import Any

from pi_daemon.session.rawjson import loads

_scan = json.JSONDecoder(parse_int=lambda _: 0, parse_float=lambda _: 0.0).raw_decode


def unglued(line: bytes) -> list[bytes]:
    """The objects that make up `line`, each whole and with an id; none where it is anything but two or more of them."""
    if b"}" not in line[:-1] or not line.startswith(b"{"):
        return []
    try:
        text = line.decode()
        found: list[bytes] = []
        start = 0
        while start < len(text):
            _, end = _scan(text, start)
            found.append(text[start:end].encode())
            start = end
            while start < len(text) and text[start] in " \t\r":
                start += 1
        return found if len(found) > 1 and all(map(_is_entry, found)) else []
    except (ValueError, RecursionError):  # BadJson too
        return []


def _is_entry(data: bytes) -> bool:
    value: Any = loads(data)
    if not isinstance(value, dict) or value.get("type") == "session":
        return False
    return isinstance(value.get("id"), str) and value["id"] != ""
