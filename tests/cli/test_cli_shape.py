"""How a tree becomes lines, without a daemon."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pi_daemon_client.types import TreeNode

from pi_daemon.cli.listing import unique
from pi_daemon.cli.shape import HEAD, TAIL, Row, rows
from pi_daemon.cli.tree import ASCII, UNICODE, lines


def nodes(*parents: str | None, path: Iterable[str] = (), **labels: str) -> list[TreeNode]:
    """Node n is called str(n) and hangs under parents[n]."""
    made: list[TreeNode] = []
    children = Counter(parents)
    for number, parent in enumerate(parents):
        node: Any = {
            "id": str(number),
            "parentId": parent,
            "type": "message",
            "role": "user",
            "preview": "",
            "timestamp": "",
            "childCount": children[str(number)],
            "onPath": str(number) in path,
        }
        if f"n{number}" in labels:
            node["label"] = labels[f"n{number}"]
        made.append(node)
    return made


def drawn(shown: list[Row], leaf: str | None = None) -> list[str]:
    return [str(line).rstrip() for line in lines(shown, leaf, ASCII)]


def test_the_active_path_stays_and_branches_step_aside() -> None:
    tree = nodes(None, "0", "1", "2", "1", "4", path="0145")
    assert drawn(rows(tree, "5"), "5") == [
        "* 0        user",
        "* 1        user",
        "|-o 2        user",
        "| o 3        user",
        "* 4        user",
        "# 5        user <leaf>",
    ]


def test_branches_of_branches() -> None:
    tree = nodes(None, "0", "1", "1", "0", path="04")
    assert drawn(rows(tree, None)) == [
        "* 0        user",
        "|-o 1        user",
        "| |-o 2        user",
        "| o 3        user",
        "* 4        user",
    ]


def test_roots_stand_apart() -> None:
    tree = nodes(None, None, "1", path="12")
    assert drawn(rows(tree, "2"), "2") == ["o 0        user", "", "* 1        user", "# 2        user <leaf>"]


def test_a_long_stretch_is_folded_around_what_matters() -> None:
    tree = nodes(None, *(str(number) for number in range(99)), path=map(str, range(100)), n50="here")
    shown = drawn(rows(tree, "99"), "99")
    assert len(shown) == 2 * (HEAD + 1 + TAIL) + 3
    assert shown[HEAD + 1] == f": {49 - HEAD - TAIL} more: {49 - HEAD - TAIL} user"
    assert "* 50       user [here]" in shown
    assert shown[-1].startswith("# 99")
    assert len(rows(tree, "99", fold=False)) == 100


def test_what_stands_for_others_is_never_folded() -> None:
    tree = nodes(None, *(str(number) for number in range(99)), path=map(str, range(100)))
    tree[30]["type"], tree[70]["type"] = "compaction", "branch_summary"
    for node in (tree[30], tree[70]):
        del node["role"]
    shown = drawn(rows(tree, "99"), "99")
    assert any(row.startswith("* 30       compaction") for row in shown)
    assert any(row.startswith("* 70       branch_summary") for row in shown)
    assert sum(" more: " in row for row in shown) == 3


def test_short_stretches_are_not_folded() -> None:
    for count in range(1, HEAD + TAIL + 4):
        tree = nodes(None, *(str(number) for number in range(count)))
        assert all(not row.folded for row in rows(tree, None))


def test_ten_thousand_deep_is_flat() -> None:
    tree = nodes(None, *(str(number) for number in range(10_000)))
    shown = rows(tree, "10000", fold=False)
    assert len(shown) == 10_001 and {row.depth for row in shown} == {0}
    assert len(rows(tree, "10000")) < 20


@st.composite
def trees(draw: st.DrawFn) -> list[TreeNode]:
    count = draw(st.integers(1, 60))
    parents = [draw(st.none() | st.integers(0, number - 1)) if number else None for number in range(count)]
    path: set[str] = set()
    at: int | None = draw(st.none() | st.integers(0, count - 1))
    while at is not None:
        path.add(str(at))
        at = parents[at]
    return nodes(*(None if parent is None else str(parent) for parent in parents), path=path)


@given(trees())
@settings(max_examples=100, deadline=None)
def test_every_entry_is_there_once_and_hardly_indented(tree: list[TreeNode]) -> None:
    shown = rows(tree, None, fold=False)
    assert sorted(row.node["id"] for row in shown) == sorted(node["id"] for node in tree)
    assert max(row.depth for row in shown) <= len(tree).bit_length()
    assert all(row.depth == 0 for row in shown if row.node["onPath"])
    folded = [node["id"] for row in rows(tree, None) for node in row.folded or [row.node]]
    assert folded == [row.node["id"] for row in shown]
    # A line's parent is the nearest line above that is not deeper, but for the first line of a branch.
    last: dict[int, str] = {}
    for row in shown:
        if not row.root:
            assert row.node["parentId"] == last[row.depth - row.side]
        last[row.depth] = row.node["id"]


def test_ids_are_shown_as_short_as_they_are_unique() -> None:
    ids = ["019e3634-aaaa", "019e3634-aabb", "ffff0000-0000", "short"]
    assert unique(ids) == {
        "019e3634-aaaa": "019e3634-aaa",
        "019e3634-aabb": "019e3634-aab",
        "ffff0000-0000": "ffff0000",
        "short": "short",
    }
    assert unique(["abcdefghij", "abcdefghijkl"]) == {"abcdefghij": "abcdefghij", "abcdefghijkl": "abcdefghijk"}


def test_both_sets_of_marks_are_one_column_wide() -> None:
    assert [len(mark) for mark in UNICODE] == [len(mark) for mark in ASCII]
