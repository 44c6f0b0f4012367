"""What the catalogue keeps of a file, as it goes into the index and comes back."""

from __future__ import annotations

import os
from hashlib import blake2b

import msgspec
from msgspec import Struct

from pi_daemon.session.head import Header
from pi_daemon.storage.summary import Tally

Identity = tuple[int, int, int, int]
"""Device, inode, size, and time of the last change in ns."""

_SUM_BYTES = 8


class Row(Struct, array_like=True):
    """`tally` is of the file up to `end`; `mark` is a hash of the bytes before it."""

    identity: Identity
    header: Header
    tally: Tally
    end: int
    mark: bytes


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Row)


def identity(state: os.stat_result) -> Identity:
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns


def hashed(mark: bytes) -> bytes:
    return blake2b(mark, digest_size=16).digest()


def encode(path: str, row: Row) -> bytes:
    return sealed(path, _encoder.encode(row))


def decode(path: str, data: bytes) -> Row | None:
    """None for what isn't what `encode` made for that path."""
    try:
        opened = unsealed(path, data)
        return None if opened is None else _decoder.decode(opened)
    except (msgspec.MsgspecError, RecursionError):
        return None


def sealed(path: str, data: bytes) -> bytes:
    """With a checksum, since a database notices few of the bits that turn over in it."""
    return blake2b(path.encode() + data, digest_size=_SUM_BYTES).digest() + data


def unsealed(path: str, data: object) -> bytes | None:
    if not isinstance(data, bytes):
        return None
    content = data[_SUM_BYTES:]
    return content if sealed(path, content) == data else None
