"""File URIs ↔ paths."""

from __future__ import annotations

import os
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

from pi_daemon.storage.system import PATH_BYTES

_SAFE = "/-._~!$&'()*+,;=:@"
"""What a path in a URI may hold as it is (RFC 3986)."""


def path_of(uri: str) -> str | None:
    """The absolute path of a file URI; None for any other URI, and for one of another host."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    try:
        # What follows a bare `?` or `#` belongs to the path, where a client has not escaped it.
        raw = uri.partition(":")[2]
        named = unquote_to_bytes(raw[2:].removeprefix(parts.netloc) if raw.startswith("//") else raw)
    except UnicodeEncodeError:
        return None
    fits = named.startswith(b"/") and b"\0" not in named and len(named) < PATH_BYTES
    return os.fsdecode(named) if fits else None


def uri_of(path: str) -> str:
    """Raises UnicodeEncodeError for what can't name a file."""
    return "file://" + quote_from_bytes(os.fsencode(path), safe=_SAFE)
