"""JSON that comes back as it went: integers of any size, and text with lone surrogates.

msgspec keeps integers beyond 64 bits, which orjson turns into floats. It refuses half a surrogate pair,
which JavaScript writes where it cut a string inside an emoji; such a message goes through `json`, which
is slower and takes it. NaN and the infinities are no JSON: they are refused or written as null.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def dumps(value: Any) -> bytes:
    """Compact JSON. Raises TypeError for what has no JSON form, ValueError for a cycle."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
    except RecursionError:
        raise ValueError("the value is nested too deep, or contains itself") from None


def loads(data: bytes) -> Any:
    """Raises ValueError where `data` is no JSON."""
    try:
        return _decode(data)
    except (msgspec.DecodeError, RecursionError):
        try:
            return json.loads(data, parse_constant=_refuse)
        except RecursionError:
            raise ValueError("the value is nested too deep") from None
