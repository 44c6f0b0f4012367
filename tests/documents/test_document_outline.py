"""Trees as outlines: what is nested, what is named and marked, and that nothing is deeper than three levels."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pi_daemon.documents import outline as made
from pi_daemon.documents.branches import branches, turns
from pi_daemon.documents.folding import folds
from pi_daemon.documents.lines import LineIndex
from pi_daemon.documents.names import item_of
from pi_daemon.documents.outline import Source, flat, outline
from pi_daemon.rpc.types.lsp import DocumentSymbol
from pi_daemon.session.glance import glance_at
from pi_daemon.session.head import Head
from pi_daemon.session.tree import SessionTree
from pi_daemon.session.view import preview_of
from tests.documents.entries import Kept, answer, call, line, result, user


def source(kept: Kept, leaf: str | None) -> Source:
    tree = SessionTree(kept.heads)
    found = branches(tree, leaf)
    parts = [(branch, turns(branch.heads)) for branch in found]
    dropped = made._drop(parts)
    lines = {head: place for place, head in enumerate(kept.heads, 1)}
    items = {head: item_of(head, raw) for head, raw in zip(kept.heads, kept.lines, strict=True)}
    return Source([part for part in parts if part[1]], lines, items, tree.labels, {"c1": 1}, leaf, dropped)


def shown(symbols: Sequence[DocumentSymbol] | None, depth: int = 0) -> list[str]:
    found: list[str] = []
    for symbol in symbols or ():
        found += [f"{'  ' * depth}{symbol.name}", *shown(symbol.children, depth + 1)]
    return found


def test_turns_with_answers_and_calls() -> None:
    kept = Kept(
        line("model_change", "m", None, provider="p", modelId="m"),
        user("u1", "m", "look at \U0001f44d it"),
        answer(
            "a1",
            "u1",
            [{"type": "text", "text": "I look"}, call("c1", path="/x/y"), call("c2", "bash", command="ls -l")],
        ),
        result("r1", "a1", "c1"),
        answer("a2", "r1", [call("c3", "grep", pattern="z")], stopReason="toolUse"),
        user("u2", "a2", "and now"),
    )
    symbols = outline(source(kept, "u2"))
    assert shown(symbols) == [
        "● look at \U0001f44d it",
        "  ● I look",
        "  ● read /x/y",
        "  ● bash ls -l",
        "  ● grep z",
        "◆ and now",
    ]
    details = [child.detail for child in symbols[0].children or ()]
    assert details[1:3] == ["tool call", "tool call without a result"]
    assert (symbols[0].range.start.line, symbols[0].range.end.line, symbols[0].selection_range.end.line) == (2, 5, 2)


def test_branches_have_names_and_labels() -> None:
    kept = Kept(
        user("u1", None, "begin"),
        answer("a1", "u1", [{"type": "text", "text": "one"}]),
        answer("b1", "u1", [{"type": "text", "text": "other"}]),
        user("b2", "b1", "go on"),
        user("c1", "b1", "elsewhere"),
        line("label", "l1", "a1", targetId="b2", label="better"),
        line("label", "l2", "l1", targetId="u1", label="start"),
        line("compaction", "k", "l2", summary="so far", firstKeptEntryId="u1", tokensBefore=5),
    )
    symbols = outline(source(kept, "k"))
    assert shown(symbols) == [
        "● [start] begin",
        "  ● one",
        "⎇ elsewhere",
        "  other",
        "  elsewhere",
        "⎇ better",
        "  [better] go on",
        "◆ so far",
    ]
    assert symbols[1].detail == "branch, 2 entries, from “begin”"
    flattened = flat(symbols, "u")
    assert [one.container_name for one in flattened[1:4]] == ["● [start] begin", None, "⎇ elsewhere"]


def test_without_a_leaf_and_without_entries() -> None:
    assert outline(source(Kept(), None)) == []
    assert shown(outline(source(Kept(user("u", None, "x"), user("v", None, "y")), None))) == ["x", "⎇ y", "  y"]


@st.composite
def trees(draw: st.DrawFn) -> tuple[Kept, str | None]:
    """Anything: orphans, loops, doubled ids."""
    count = draw(st.integers(0, 14))
    names = [f"e{number}" for number in range(count)]
    raws = []
    for number in range(count):
        name = names[number] if draw(st.integers(0, 9)) else draw(st.sampled_from(names))
        before = names[:number] or [None]
        parent = draw(st.sampled_from([*before, *before, *before, None, "missing", *names]))
        kind = draw(st.integers(0, 4))
        if kind == 0:
            raws.append(user(name, parent, draw(st.sampled_from(["hi", "", "\n", "x" * 200]))))
        elif kind == 1:
            raws.append(answer(name, parent, [call(f"c{number}", path="p")]))
        elif kind == 2:
            raws.append(result(name, parent, f"c{number - 1}"))
        elif kind == 3:
            raws.append(line(draw(st.sampled_from(["label", "branch_summary", "custom", "?"])), name, parent))
        else:
            raws.append(answer(name, parent, [{"type": "text", "text": "t"}]))
    leaf = draw(st.sampled_from([*names, None])) if names else None
    kept = Kept(*raws)
    return kept, leaf if leaf is None or any(head.id == leaf for head in kept.heads) else None


@given(trees())
@settings(max_examples=300, deadline=None)
def test_any_tree_is_shown_whole_and_flat(drawn: tuple[Kept, str | None]) -> None:
    kept, leaf = drawn
    tree = SessionTree(kept.heads)
    found = branches(tree, leaf)
    listed = [head.id for branch in found for head in branch.heads]
    assert sorted(listed) == sorted(head.id for head in tree.live())
    path = [head.id for head in tree.path(leaf)]
    if path:
        assert [head.id for head in found[0].heads[: found[0].active]] == path
    assert sum(branch.active for branch in found) == len(path)
    for branch in found:
        for above, head in itertools.pairwise([branch.origin, *branch.heads]):
            assert tree.parent(head) is above
    symbols = outline(source(kept, leaf))
    levels = [symbols]
    while levels[-1]:
        levels.append([child for symbol in levels[-1] for child in symbol.children or ()])
    assert len(levels) <= 4
    for symbol in itertools.chain(*levels):
        assert symbol.name.strip()
        inside = [symbol.selection_range, *(child.range for child in symbol.children or ())]
        assert all(symbol.range.start.line <= one.start.line <= one.end.line <= symbol.range.end.line for one in inside)
    assert len(flat(symbols, "u")) == sum(map(len, levels))


def test_a_deep_tree_is_walked_without_recursion() -> None:
    heads = [
        Head("custom", str(number), str(number - 1) if number else None, "", -1, 0, None) for number in range(50_000)
    ]
    found = branches(SessionTree(heads), "49999")
    assert [len(branch.heads) for branch in found] == [50_000]


def test_steps_beyond_the_limit_are_counted(monkeypatch: Any) -> None:
    monkeypatch.setattr(made, "STEPS", 1)
    kept = Kept(
        user("u1", None, "old"),
        answer("a1", "u1", [{"type": "text", "text": "one"}]),
        user("u2", "a1", "new"),
        answer("a2", "u2", [{"type": "text", "text": "two"}]),
    )
    symbols = outline(source(kept, "a2"))
    assert shown(symbols) == ["● old", "● new", "  ◆ two"]
    assert symbols[0].detail == "1 entries not shown"


def test_folds_are_turns() -> None:
    kept = Kept(
        user("u1", None),
        answer("a1", "u1"),
        answer("a2", "a1"),
        user("u2", "a2"),
        answer("x1", "u1"),
        user("u3", "u2"),
        answer("a3", "u3"),
    )
    index = LineIndex()
    index.extend(kept.heads, [b"\n"])
    assert [(fold.start_line, fold.end_line) for fold in folds(index.heads, index.lines, None)] == [(1, 3), (6, 7)]
    assert [fold.start_line for fold in folds(index.heads, index.lines, 1)] == [6]


BLOCKS = st.lists(
    st.sampled_from(
        [
            {"type": "text", "text": "some \n text"},
            {"type": "text", "text": " "},
            {"type": "text"},
            {"type": "thinking", "thinking": "hm"},
            {"type": "image", "data": "AAAA"},
            {"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "/x", "more": [1]}},
            {"type": "toolCall", "id": "d", "name": "bash", "arguments": {"command": 5, "query": "q" * 90}},
            {"type": "toolCall", "id": 5, "name": None, "arguments": "odd"},
            {"type": "toolCall", "name": "bare"},
            {"type": "text", "text": "\ud83d"},
        ]
    ),
    max_size=4,
)


@given(st.sampled_from([user, answer]), BLOCKS | st.sampled_from(["plain", ""]))
@settings(max_examples=300, deadline=None)
def test_the_quick_way_to_a_name_is_the_same(make: Any, content: Any) -> None:
    raw = make("x", None, content, stopReason="error", errorMessage="it broke")
    kept = Kept(raw)
    head = kept.heads[0]
    assert item_of(head, raw).text == preview_of(head, glance_at(raw))
