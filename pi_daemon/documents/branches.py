"""A tree of entries as branches, each a straight line, and a branch as turns.

The first branch is the active path and what was said after the leaf; every other one begins where it leaves an earlier
one and goes on with the newest child. No recursion: branches are a flat list, however often they fork.
"""

from __future__ import annotations

from msgspec import Struct

from pi_daemon.session.head import Head
from pi_daemon.session.tree import SessionTree


class Branch(Struct):
    """`heads` from first to last; `origin` is the entry that it leaves, None where it begins at a root. The first
    `active` of its entries are on the path to the leaf."""

    origin: Head | None
    heads: list[Head]
    active: int = 0


class Turn(Struct):
    """What follows a user's message up to the next one. `head` is None for what comes before the first, and for what
    stands for itself (a summary); then `steps` are shown without it."""

    head: Head | None
    steps: list[Head]


def branches(tree: SessionTree, leaf_id: str | None) -> list[Branch]:
    """Every branch, the first one first, the others in the order of their begins. Raises EntryNotFound."""
    found: list[Branch] = []
    path = tree.path(leaf_id)
    roots = tree.children(None)
    waiting: list[tuple[Head | None, Head]] = [(None, root) for root in reversed(roots) if not path or root != path[0]]
    start: tuple[Head | None, Head] | None = (None, path[0]) if path else (waiting.pop() if waiting else None)
    on_path = {head.id for head in path}
    while start is not None:
        origin, head = start
        branch = Branch(origin, [])
        following: Head | None = head
        while following is not None:
            head = following
            branch.heads.append(head)
            children = tree.children(head.id)
            if head.id in on_path:
                branch.active += 1
            if len(children) > 1:
                following = next((child for child in children if child.id in on_path), children[-1])
                waiting += [(head, child) for child in reversed(children) if child is not following]
            else:
                following = children[0] if children else None
        found.append(branch)
        start = waiting.pop() if waiting else None
    return found


HIDDEN = frozenset(
    {"label", "context_edit", "custom", "model_change", "thinking_level_change", "session_info", "usage"}
)
"""Kinds that are bookkeeping, and no part of a conversation."""

ALONE = frozenset({"compaction", "branch_summary"})
"""Kinds that begin something new and belong to no turn."""


def turns(heads: list[Head]) -> list[Turn]:
    """A straight line of entries as turns, bookkeeping left out."""
    found: list[Turn] = []
    for head in heads:
        kind = head.type
        if kind in HIDDEN:
            continue
        if head.role == "user":
            found.append(Turn(head, []))
        elif kind in ALONE:
            found += [Turn(None, [head]), Turn(None, [])]
        else:
            if not found:
                found.append(Turn(None, []))
            found[-1].steps.append(head)
    return [turn for turn in found if turn.head is not None or turn.steps]
