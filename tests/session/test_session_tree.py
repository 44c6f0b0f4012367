"""The tree against a plain list of entries, and the odd files that pi 1.6.0 hangs on."""

from __future__ import annotations

import time
from collections.abc import Iterable

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pi_daemon.session.dates import to_ms
from pi_daemon.session.errors import EntryNotFound
from pi_daemon.session.head import Head, LabelFacts, NameFacts
from pi_daemon.session.tree import SessionTree
from tests.session.entries import TIME, bare


def ids(heads: Iterable[Head]) -> list[str]:
    return [one.id for one in heads]


def tree(*links: tuple[str, str | None]) -> SessionTree:
    return SessionTree(bare(*link) for link in links)


def label(id: str, target: str, text: str | None) -> Head:
    return Head("label", id, None, TIME, -1, 0, LabelFacts(target, text))


def kinds(found: SessionTree) -> list[tuple[str, list[str]]]:
    return [(damage.kind, damage.entry_ids) for damage in found.damage()]


def test_an_empty_tree() -> None:
    empty = SessionTree()
    assert (len(empty), empty.last_id, empty.name, empty.path(None)) == (0, None, None, [])
    assert (empty.children(None), empty.damage(), dict(empty.labels)) == ([], [], {})


def test_paths_and_children() -> None:
    found = tree(("a", None), ("b", "a"), ("c", "b"), ("d", "b"), ("e", None))
    assert ids(found.path("d")) == ["a", "b", "d"]
    assert ids(found.path("e")) == ["e"]
    assert ids(found.children("b")) == ["c", "d"]
    assert ids(found.children(None)) == ["a", "e"]
    assert ids(found.children("c")) == ids(found.children("unknown")) == []
    assert found.last_id == "e" and len(found) == 5 and "b" in found and "z" not in found
    parent = found.parent(found.entries[1])
    assert parent is not None and parent.id == "a"
    assert found.parent(found.entries[0]) is None
    with pytest.raises(EntryNotFound) as refused:
        found.path("z")
    assert refused.value.data == {"entryId": "z"}


def test_compare() -> None:
    found = tree(("a", None), ("b", "a"), ("c", "b"), ("d", "b"), ("e", None))
    assert found.compare("c", "d") == ("b", ["c"], ["d"])
    assert found.compare("b", "d") == ("b", [], ["d"])
    assert found.compare("c", "e") == (None, ["a", "b", "c"], ["e"])
    assert found.compare("c", "c") == ("c", [], [])
    with pytest.raises(EntryNotFound):
        found.compare("c", "z")


def test_children_are_by_time_then_file_order() -> None:
    found = SessionTree(
        [
            bare("r", None, "2026-01-01T00:00:09Z"),
            bare("late", "r", "2026-01-01T00:00:03Z"),
            bare("a", "r", "2026-01-01T00:00:02Z"),
            bare("b", "r", "2026-01-01T02:00:02+02:00"),
            bare("r2", None, "2026-01-01T00:00:01Z"),
        ]
    )
    assert ids(found.children("r")) == ["a", "b", "late"]
    assert ids(found.children(None)) == ["r", "r2"]


def test_a_time_that_is_none_keeps_file_order() -> None:
    found = SessionTree([bare("r", None), bare("b", "r", "?"), bare("a", "r", ""), bare("c", "r", "2026")])
    assert ids(found.children("r")) == ["b", "a", "c"]


def test_labels_hold_for_the_whole_file_in_its_order() -> None:
    found = SessionTree([bare("a", None), label("1", "a", "x"), label("2", "z", "early"), label("3", "a", "y")])
    assert dict(found.labels) == {"a": "y", "z": "early"}
    assert found.label_entries["a"].id == "3"
    found.add(label("4", "a", None))
    found.add(label("5", "nothing", None))
    assert dict(found.labels) == {"z": "early"} and list(found.label_entries) == ["z"]
    found.add(label("6", "a", "again"))
    assert list(found.labels) == ["z", "a"]


def test_the_last_name_counts() -> None:
    found = SessionTree([Head("session_info", "1", None, TIME, -1, 0, NameFacts("first"))])
    assert found.name == "first"
    found.add(Head("session_info", "2", None, TIME, -1, 0, NameFacts(None)))
    assert found.name is None


def test_an_orphan_is_a_root() -> None:
    found = tree(("a", None), ("b", "gone"), ("c", "b"))
    assert ids(found.children(None)) == ["a", "b"]
    assert ids(found.path("c")) == ["b", "c"]
    assert kinds(found) == [("orphan", ["b"])]


def test_a_parent_may_come_later() -> None:
    found = tree(("b", "a"), ("c", "b"), ("a", None))
    assert ids(found.path("c")) == ["a", "b", "c"]
    assert ids(found.children(None)) == ["a"]
    assert found.damage() == []


def test_an_orphan_finds_its_parent_in_a_later_addition() -> None:
    found = tree(("b", "a"))
    assert ids(found.children(None)) == ["b"]
    found.add(bare("a", None))
    assert ids(found.children(None)) == ["a"]
    assert ids(found.children("a")) == ["b"]
    assert found.damage() == []


@pytest.mark.parametrize(
    "links, roots, loop",
    [
        ([("a", "a")], ["a"], ["a"]),
        ([("a", "b"), ("b", "a")], ["a"], ["a", "b"]),
        ([("r", None), ("a", "c"), ("b", "a"), ("c", "b"), ("d", "c")], ["r", "a"], ["a", "c", "b"]),
        ([("d", "c"), ("c", "b"), ("b", "c")], ["c"], ["c", "b"]),
    ],
)
def test_a_loop_is_cut_at_its_first_entry(
    links: list[tuple[str, str | None]], roots: list[str], loop: list[str]
) -> None:
    """pi 1.6.0 opens such a file and never comes back from its first look at the path."""
    found = tree(*links)
    assert ids(found.children(None)) == roots
    assert kinds(found) == [("loop", loop)]
    for head in found.live():
        path = found.path(head.id)
        assert path[0].id in roots and path[-1] is head
        assert found.parent(path[0]) is None
    assert sum(len(found.children(head.id)) for head in found.live()) == len(links) - len(roots)


def test_of_doubled_ids_the_later_counts() -> None:
    found = tree(("a", None), ("x", None), ("b", "a"), ("a", "x"), ("c", "a"))
    assert len(found) == 5
    assert ids(found.path("b")) == ["x", "a", "b"]
    assert ids(found.children("x")) == ["a"]
    assert ids(found.children(None)) == ["x"]
    assert kinds(found) == [("duplicateId", ["a"])]


def test_a_doubled_id_can_close_a_loop() -> None:
    found = tree(("a", None), ("b", "a"), ("c", "b"), ("a", "c"))
    assert kinds(found) == [("duplicateId", ["a"]), ("loop", ["b", "a", "c"])]
    assert ids(found.path("a")) == ["b", "c", "a"]


def test_damage_says_where() -> None:
    found = SessionTree([Head("custom", "a", "gone", TIME, 90, 40, None)])
    (orphan,) = found.damage()
    assert (orphan.offset, orphan.length) == (90, 40)


def test_twenty_doubled_lines_in_a_chain_are_twenty_steps() -> None:
    """pi 1.6.0 walks 2^20 edges here."""
    links = [(f"{n}", f"{n - 1}" if n else None) for n in range(20)]
    found = tree(*(link for link in links for _ in range(2)))
    assert ids(found.path("19")) == [name for name, _ in links]
    seen: list[str] = []
    waiting = ids(found.children(None))
    while waiting:
        seen.append(waiting.pop())
        waiting += ids(found.children(seen[-1]))
    assert seen == [name for name, _ in links]


@pytest.mark.slow
@pytest.mark.parametrize(
    "links",
    [
        [(f"{n}", f"{n - 1}" if n else None) for n in range(100_000)],
        [(f"{n}", f"{n + 1}") for n in range(100_000)],
        [(f"{n}", f"{(n + 1) % 100_000}") for n in range(100_000)],
        [(f"{n}", f"{n ^ 1}") for n in range(100_000)],
    ],
    ids=["chain", "backwards", "one loop", "many loops"],
)
def test_a_hundred_thousand_entries(links: list[tuple[str, str | None]]) -> None:
    """Deep, and no slower for being odd: the bound is generous, quadratic time would pass it a thousandfold."""
    start = time.process_time()
    found = tree(*links)
    found.path("99999")
    found.path("0")
    found.damage()
    found.children(None)
    assert time.process_time() - start < 5


NAMES = ["a", "b", "c", "d", "e", "f"]
TIMES = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "2025-12-31T00:00:00.5Z"]


class TreeMachine(RuleBasedStateMachine):
    """Additions in any order, questions between them, and a list that is searched anew each time."""

    def __init__(self) -> None:
        super().__init__()
        self.tree = SessionTree()
        self.model: list[Head] = []
        self.frozen: list[tuple[SessionTree, list[Head]]] = []

    @rule(name=st.sampled_from(NAMES), parent=st.sampled_from([None, *NAMES]), timestamp=st.sampled_from(TIMES))
    def add(self, name: str, parent: str | None, timestamp: str) -> None:
        head = bare(name, parent, timestamp)
        self.tree.add(head)
        self.model.append(head)

    @rule(name=st.sampled_from(NAMES), labelled=st.sampled_from(NAMES), text=st.sampled_from([None, "x", "y"]))
    def label(self, name: str, labelled: str, text: str | None) -> None:
        head = label(name, labelled, text)
        self.tree.add(head)
        self.model.append(head)

    @rule()
    def freeze(self) -> None:
        """What is frozen stays as it was, and goes on by itself where it is added to."""
        self.frozen.append((self.tree.frozen(), list(self.model)))

    @precondition(lambda self: self.frozen)
    @rule(name=st.sampled_from(NAMES), parent=st.sampled_from([None, *NAMES]))
    def add_to_a_frozen_one(self, name: str, parent: str | None) -> None:
        tree, model = self.frozen[-1]
        head = bare(name, parent)
        tree.add(head)
        model.append(head)

    @invariant()
    def agrees(self) -> None:
        for tree, model in [(self.tree, self.model), *self.frozen]:
            agree(tree, model)


def agree(tree: SessionTree, model: list[Head]) -> None:
    meant = {head.id: head for head in model}
    order = {head.id: place for place, head in enumerate(model)}
    assert list(map(id, tree.entries)) == list(map(id, model))
    parents: dict[str, str | None] = {}
    for head in meant.values():
        parents[head.id] = head.parent_id if head.parent_id in meant else None
    cut: set[str] = set()
    for name in sorted(meant, key=order.__getitem__):
        walk = [name]
        while (up := parents[walk[-1]]) is not None and up not in walk:
            walk.append(up)
        if up == name:  # the first of its loop in the file, for the others are cut by then
            cut.add(name)
            parents[name] = None
    for name, head in meant.items():
        assert tree.get(name) is head
        expected = [name]
        while (above := parents[expected[0]]) is not None:
            expected.insert(0, above)
        assert ids(tree.path(name)) == expected
        kids = [child for child in meant if parents[child] == name]
        kids.sort(key=lambda child: (to_ms(meant[child].timestamp) or 0, order[child]))
        assert ids(tree.children(name)) == kids
    roots = sorted((name for name in meant if parents[name] is None), key=order.__getitem__)
    assert ids(tree.children(None)) == roots
    labels: dict[str, str] = {}
    for head in model:
        if isinstance(head.facts, LabelFacts):
            labels.pop(head.facts.target, None)
            if head.facts.label is not None:
                labels[head.facts.target] = head.facts.label
    assert dict(tree.labels) == labels
    found = [(damage.kind, damage.entry_ids[0]) for damage in tree.damage()]
    assert {name for kind, name in found if kind == "loop"} == cut
    assert sum(kind == "duplicateId" for kind, _ in found) == len(model) - len(meant)
    orphans = {name for name, head in meant.items() if head.parent_id is not None and head.parent_id not in meant}
    assert {name for kind, name in found if kind == "orphan"} == orphans


TreeMachine.TestCase.settings = settings(max_examples=150, stateful_step_count=15, deadline=None)
test_against_a_list = TreeMachine.TestCase
