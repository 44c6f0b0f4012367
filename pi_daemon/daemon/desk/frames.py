"""What daemon and desk say to each other: frames of eight bytes, which are the length of the rest, and the rest.

All of it is JSON, which may hold what a session may (a lone surrogate, say); a portion is the lines of its entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec
from msgspec import Struct

from pi_daemon.compaction.brief import Brief
from pi_daemon.compaction.material import Use
from pi_daemon.session.rawjson import dumps, loads

LENGTH_BYTES = 8

END = b""
"""Nothing more is given: the brief is wanted."""

MORE, ENOUGH = b"more", b"enough"
"""Whether another portion is wanted."""

_USES: dict[Use, bytes] = {"said": b"s", "previous": b"p", "files": b"f"}
_OF_LETTER = {letter: use for use, letter in _USES.items()}

Value = TypeVar("Value")


class Trouble(Struct):
    """Something that wasn't foreseen. `trace` is the traceback."""

    trace: str


def framed(body: bytes) -> bytes:
    return length_of(body) + body


def length_of(body: bytes) -> bytes:
    return len(body).to_bytes(LENGTH_BYTES, "big")


def portion(use: Use, lines: Sequence[bytes]) -> bytes:
    return _USES[use] + b"\n".join(lines)


def portion_of(frame: bytes) -> tuple[Use, list[bytes]]:
    return _OF_LETTER[frame[:1]], frame[1:].split(b"\n")


def written(value: Struct) -> bytes:
    return dumps(msgspec.to_builtins(value))


def read(frame: bytes, kind: type[Value]) -> Value:
    return msgspec.convert(loads(frame), kind)


def answer(frame: bytes) -> Brief | Trouble:
    value = loads(frame)
    return msgspec.convert(value, Trouble) if "trace" in value else msgspec.convert(value, Brief)
