"""What stands outside of the strings of some JSON, piece by piece.

A message may be as large as a client likes, and hold as many brackets, quotes and backslashes as it has bytes. So the
work is linear in the bytes whatever they are, no single call takes more than a few milliseconds, and who knows enough
looks no further.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import accumulate

_PIECE = 64 * 1024
"""Bytes looked at in one go."""


def more_than(data: bytes, signs: bytes, limit: int) -> bool:
    """Whether more than `limit` of these characters are in `data`, strings included.

    Taking them out and comparing lengths is three times as fast as bytes.count.
    """
    found = 0
    for start in range(0, len(data), _PIECE):
        piece = rest = data[start : start + _PIECE]
        for sign in signs:
            rest = rest.replace(_SINGLE[sign], b"")
        found += len(piece) - len(rest)
        if found > limit:
            return True
    return False


def outside(data: bytes) -> Iterator[bytes]:
    """The pieces that stand outside of strings, in order. A word or a number may be cut by the end of a piece."""
    inside = 0
    for piece in _without_escapes(data):
        parts = piece.split(b'"')
        yield b"".join(parts[inside::2])
        inside = (inside + len(parts) - 1) % 2


def deeper_than(data: bytes, limit: int) -> bool:
    """Whether `data`, if it is JSON, nests deeper than that. Decided as soon as the first bracket too many is seen."""
    if not more_than(data, b"[{", limit):
        return False
    depth = inside = 0
    for piece in _without_escapes(data):
        # Of strings only their quotes are kept. Where two strings without a bracket between them meet, the quotes
        # between them go too: that makes one string of the two, and no bracket of either comes out.
        marks = piece.translate(_ALIKE, _NOT_MARKS).replace(b'""', b"")
        parts = marks.split(b'"')
        brackets = b"".join(parts[inside::2])
        inside = (inside + len(parts) - 1) % 2
        depth, deepest = _follow(brackets, depth, limit)
        if deepest > limit:
            return True
    return False


def _follow(brackets: bytes, depth: int, limit: int) -> tuple[int, int]:
    """The depth after these brackets, and the greatest there was, or anything up to `limit` where that isn't more."""
    opening = len(brackets) - len(brackets.replace(b"[", b""))
    after = depth + 2 * opening - len(brackets)
    if depth + opening <= limit:
        return after, depth
    # Without the innermost pairs the greatest depth is one less at most.
    rest = brackets
    for removed in range(_ROUNDS):
        rest = rest.replace(b"[]", b"")
        if depth + removed + 1 + len(rest) <= limit:
            return after, depth
    steps = memoryview(brackets.translate(_STEPS)).cast("b")
    return after, max(accumulate(steps, initial=depth))


def infinite(data: bytes) -> bool:
    """Whether a number of some JSON is too large for a double."""
    if not _may_be_infinite(data):
        return False
    return any(math.isinf(float(found[0])) for text in _whole_numbers(data) for found in _LARGE.finditer(text))


def _may_be_infinite(data: bytes) -> bool:
    """Whether there is what looks like a number with an exponent of three digits, or a run of two hundred digits."""
    start = looks = 0
    while start < len(data):
        digits = data[max(0, start - _OVERLAP) : start + _PIECE].translate(_DIGITS)
        if b"0" * 200 in digits:
            return True
        for exponent in (b"0e000", b"0e+000"):
            at = digits.find(exponent)
            while at >= 0:
                looks += 1
                if looks > _LOOKS or _ends_like_number(digits[max(0, at - 400) : at + 1]):
                    return True
                at = digits.find(exponent, at + 1)
        start += _PIECE
    return False


def _whole_numbers(data: bytes) -> Iterator[bytes]:
    """What stands outside of strings, in pieces that cut no number."""
    kept: list[bytes] = []
    for piece in outside(data):
        head = piece.rstrip(b"0123456789.eE+-")
        if head:
            yield b"".join([*kept, head])
            kept = []
        kept.append(piece[len(head) :])
    yield b"".join(kept)


def _without_escapes(data: bytes) -> Iterator[bytes]:
    """`data` in pieces, none of which is cut within an escape, without escaped quotes and backslashes."""
    start = 0
    while start < len(data):
        piece = data[start : start + _PIECE]
        start += len(piece)
        if b"\\" in piece:
            if (len(piece) - len(piece.rstrip(b"\\"))) % 2:
                piece += data[start : start + 1]
                start += 1
            piece = piece.replace(rb"\\", b"").replace(rb"\"", b"")
        yield piece


_SINGLE = [bytes([sign]) for sign in range(256)]
_ROUNDS = 4
"""Rounds of taking out pairs before each bracket is counted."""

_LOOKS = 1000
"""Looks at what may only be text, before every number is looked at."""

_OVERLAP = 600
"""More than the longest thing looked for, and what is looked at before it."""

_ALIKE = bytes.maketrans(b"{}", b"[]")
_NOT_MARKS = bytes(set(range(256)) - set(b'[{]}"'))
_STEPS = bytes.maketrans(b"[]", b"\x01\xff")
_DIGITS = bytes.maketrans(b"123456789E", b"000000000e")
_ends_like_number = re.compile(rb"(?:^|[:,\[\s])-?[0-9.]+\Z").search
_LARGE = re.compile(
    rb"(?<![0-9.+eE])(?<![eE]-)(?:[0-9][0-9.]{299,}+(?:[eE][+-]?[0-9]++)?|[0-9][0-9.]*+[eE]\+?[0-9]{2,}+)"
)
