"""Positions in a line: bytes of the file ↔ characters as a client counts them.

LSP counts UTF-16 code units, or UTF-8 bytes or code points where both sides agree on that. A byte that is no UTF-8
counts as one character; so editors show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, cast

Encoding: TypeAlias = Literal["utf-8", "utf-16", "utf-32"]

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")


def negotiate(offered: object) -> Encoding:
    """The first of the client's own list that we know. Without a list it is UTF-16, as LSP has it."""
    for name in offered if isinstance(offered, list) else []:
        if name in ENCODINGS:
            return cast(Encoding, name)
    return "utf-16"


def units(data: bytes, encoding: Encoding) -> int:
    """How many characters these bytes are, which don't end within one."""
    if encoding == "utf-8" or data.isascii():
        return len(data)
    text = data.decode(errors="surrogateescape")
    return len(text) if encoding == "utf-32" else len(text.encode("utf-16-le", "surrogatepass")) // 2


def byte_at(line: bytes, character: int, encoding: Encoding) -> int:
    """Which byte of the line stands at that character; beyond its end it is the end. Within a character (UTF-8, or the
    second half of a pair) it is the character's begin."""
    if line.isascii():
        return min(character, len(line))
    if encoding == "utf-8":
        place = min(character, len(line))
        while 0 < place < len(line) and line[place] & 0xC0 == 0x80:
            place -= 1
        return place
    text = line.decode(errors="surrogateescape")
    if encoding == "utf-16":
        half = text.encode("utf-16-le", "surrogatepass")[: 2 * character]
        if len(half) >= 2 and 0xD8 <= half[-1] <= 0xDB:
            half = half[:-2]
        text = half.decode("utf-16-le", "surrogatepass")
    else:
        text = text[:character]
    return len(text.encode(errors="surrogateescape"))


def characters(line: bytes, places: Sequence[int], encoding: Encoding) -> list[int]:
    """The characters of several bytes of a line, in the order of the line."""
    if encoding == "utf-8" or line.isascii():
        return list(places)
    found: list[int] = []
    place = character = 0
    for wanted in places:
        character += units(line[place:wanted], encoding)
        place = wanted
        found.append(character)
    return found
