"""Where the values of some JSON lie: a walk over its bytes that builds none of them.

For looking at one line of a file with a position in mind. The bytes are taken for JSON; where they aren't, or end too
early, the walk ends. No recursion, and time and memory are linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from pi_daemon.session.rawjson import BadJson, loads

Path: TypeAlias = tuple[str | int, ...]
"""Members by name, elements by number, from the outermost value on."""

What: TypeAlias = Literal["name", "string", "other", "open", "close"]

_TOKEN = re.compile(rb'[ \t\n\r]*+(?:("[^"\\]*+(?:\\.[^"\\]*+)*+")|([\[\]{},:])|([^\[\]{},:" \t\n\r]++))', re.DOTALL)


class Place(Struct, frozen=True):
    """A token and where it stands. `what`: a member's name, a string, another scalar, or what lies between them; then
    `path` is the container's and the token is empty. `end` is behind the last byte."""

    path: Path
    start: int
    end: int
    what: Literal["name", "string", "other", "between"]


def walk(data: bytes) -> Iterator[tuple[What, int, int, list[str | int]]]:
    """Every name, scalar and bracket, with where it lies and the path of the value that it belongs to.

    The path is one list that goes on changing: copy what is to be kept.
    """
    path: list[str | int] = []
    arrays: list[bool] = []
    names = False  # whether a string would be a member's name
    match = _TOKEN.match
    end = 0
    while token := match(data, end):
        group = token.lastindex or 0
        start, end = token.span(group)
        if group == 1 and names:
            names = False
            path[-1] = _text(data[start:end])
            yield "name", start, end, path
        elif group == 2:
            sign = data[start]
            if sign in b"[{":
                yield "open", start, end, path
                arrays.append(sign == 0x5B)
                names = not arrays[-1]
                path.append(0 if arrays[-1] else "")
            elif sign in b"]}":
                if not arrays:
                    return
                arrays.pop()
                path.pop()
                names = False
                yield "close", start, end, path
                if not arrays:
                    return
            elif sign == 0x2C:
                if not arrays:
                    return
                if arrays[-1]:
                    path[-1] = int(path[-1]) + 1
                else:
                    names = True
        else:
            yield "string" if group == 1 else "other", start, end, path
            if not arrays:
                return


def place_at(data: bytes, offset: int) -> Place | None:
    """What stands at that byte. A token reaches to right behind its last byte, where a cursor may stand too."""
    between: Path = ()
    for what, start, end, path in walk(data):
        if start > offset:
            break
        if what in ("open", "close"):
            # Directly inside, or right after, of what is opened or closed here.
            between = tuple(path)
        elif offset <= end:
            return Place(tuple(path), start, end, what)  # type: ignore[arg-type]
        else:
            between = tuple(path[:-1])
    else:
        if offset > len(data):
            return None
    return Place(between, offset, offset, "between")


def find(data: bytes, path: Sequence[str | int]) -> tuple[int, int] | None:
    """Where the value at `path` lies, the first of several with one name. None where it isn't there."""
    wanted = list(path)
    began = -1
    for what, start, end, here in walk(data):
        if len(here) != len(wanted) or what == "name" or here != wanted:
            continue
        if what == "open":
            began = start
        elif what == "close":
            return began, end
        else:
            return start, end
    return None


def _text(raw: bytes) -> str:
    """A string as it reads; one that is no string as its bytes."""
    if b"\\" not in raw and raw.isascii():
        return raw[1:-1].decode()
    try:
        return str(loads(raw))
    except BadJson:
        return raw[1:-1].decode(errors="replace")
