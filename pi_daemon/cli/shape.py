"""A tree as lines. The main line of each part stays where it is and its side branches are drawn under the entry they
leave from, one step to the right: a session 10,000 entries deep is flat.

The main line follows the active path, elsewhere the larger part, so the steps grow with the logarithm of the number of
entries alone. Nothing is recursive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pi_daemon_client.types import TreeNode

HEAD = 3
"""Entries that a folded stretch shows of its beginning."""

TAIL = 5
"""And of its end, which is nearer to what goes on."""

WORTH_FOLDING = 4
"""Entries that a fold must hide to be worth its line."""

_LANDMARKS = frozenset({"compaction", "branch_summary"})
"""Kinds of entries that stand for others: never folded, nor is what bears a label."""


@dataclass(slots=True)
class Row:
    """One line: a node, or in its place the nodes that were folded away. `depth` counts the side branches it lies in;
    `side`: it begins one. `root`: it begins a tree."""

    node: TreeNode
    depth: int
    side: bool = False
    root: bool = False
    plain: bool = False
    folded: list[TreeNode] = field(default_factory=list)


def rows(nodes: Sequence[TreeNode], leaf_id: str | None, *, fold: bool = True) -> list[Row]:
    """`nodes` as `session/tree` gives them: parents before their children."""
    children, roots = _children(nodes)
    sizes = _sizes(nodes, children)
    result: list[Row] = []
    stack = [(index, 0, False) for index in reversed(roots)]
    while stack:
        index, depth, side = stack.pop()
        node, kids = nodes[index], children[index]
        root = not side and index in roots
        landmark = "label" in node or node["id"] == leaf_id or node["type"] in _LANDMARKS
        plain = len(kids) == 1 and not side and not root and not landmark
        result.append(Row(node, depth, side, root, plain))
        if kids:
            main = max(kids, key=lambda kid: (nodes[kid]["onPath"], sizes[kid], kid))
            stack.append((main, depth, False))
            stack += [(kid, depth + 1, True) for kid in reversed(kids) if kid != main]
    return _folded(result) if fold else result


def _children(nodes: Sequence[TreeNode]) -> tuple[list[list[int]], dict[int, None]]:
    """Indices of each node's children, and of the roots."""
    children: list[list[int]] = [[] for _ in nodes]
    roots: dict[int, None] = {}
    places: dict[str, int] = {}
    for index, node in enumerate(nodes):
        parent = places.get(node["parentId"]) if node["parentId"] is not None else None
        if parent is None:
            roots[index] = None
        else:
            children[parent].append(index)
        places[node["id"]] = index
    return children, roots


def _sizes(nodes: Sequence[TreeNode], children: list[list[int]]) -> list[int]:
    sizes = [1] * len(nodes)
    for index in range(len(nodes) - 1, -1, -1):
        sizes[index] += sum(sizes[kid] for kid in children[index])
    return sizes


def _folded(shown: list[Row]) -> list[Row]:
    """A plain row is followed by its only child, so straight stretches are runs of plain rows."""
    result: list[Row] = []
    start = 0
    while start < len(shown):
        end = start
        while end < len(shown) and shown[end].plain:
            end += 1
        hidden = shown[start + HEAD : max(end - TAIL, start)]
        if len(hidden) >= WORTH_FOLDING:
            result += shown[start : start + HEAD]
            result.append(Row(hidden[-1].node, hidden[-1].depth, folded=[row.node for row in hidden]))
            result += shown[end - TAIL : end]
        else:
            result += shown[start:end]
        if end < len(shown):
            result.append(shown[end])
        start = end + 1
    return result
