"""The branches of a session: every entry in exactly one of them, so that sums over branches are sums over the file."""

from __future__ import annotations

from msgspec import Struct

from pi_daemon.session.head import Head
from pi_daemon.session.tree import SessionTree

TRUNK = 0
"""The number of the path to the leaf."""


class Branch(Struct, frozen=True):
    """What a path has to itself: `count` entries from below `left_at` (None: it has a root of its own) to `tip`."""

    tip: Head
    left_at: str | None
    count: int


class Branches(Struct):
    """`rows` are the branches beside the trunk, the newest tip first; `numbers` tells of each entry id which one it
    lies on: TRUNK, or the place in `rows` plus 1. `trunk` is the path to the leaf."""

    trunk: list[Head]
    rows: list[Branch]
    numbers: dict[str, int]


def split(tree: SessionTree, leaf_id: str | None) -> Branches:
    """The path to the leaf is the trunk. Of what is left, the newest tip takes its whole way back to an entry that is
    taken, then the next one: a stretch that several share belongs to the newest. Raises EntryNotFound.

    Each entry is walked over once."""
    trunk = tree.path(leaf_id)
    numbers = dict.fromkeys((head.id for head in trunk), TRUNK)
    heads = list(tree.live())
    inner = {parent.id for head in heads if (parent := tree.parent(head)) is not None}
    rows: list[Branch] = []
    for tip in reversed(heads):
        if tip.id in inner or tip.id in numbers:
            continue
        number, count = len(rows) + 1, 0
        head: Head | None = tip
        while head is not None and head.id not in numbers:
            numbers[head.id] = number
            count += 1
            head = tree.parent(head)
        rows.append(Branch(tip, None if head is None else head.id, count))
    return Branches(trunk, rows, numbers)
