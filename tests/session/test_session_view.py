"""Rows and previews. Which rows a filter shows is compared with the reference in tests/conformance."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_daemon.session.entry import read_line
from pi_daemon.session.errors import EntryNotFound
from pi_daemon.session.head import Head
from pi_daemon.session.rawjson import dumps
from pi_daemon.session.tree import SessionTree
from pi_daemon.session.view import MAX_PREVIEW, message_text, preview, tree_rows
from tests.session.entries import Chain, answer, bare, call, head, line, result, text, user

CHAIN = Chain(
    line("model_change", "m", None, provider="p", modelId="x"),
    user("u", "m"),
    answer("a", "u", [call("1")], stopReason="toolUse"),
    result("r", "a", "1"),
    answer("b", "r", [text("done")]),
    line("label", "l", "b", targetId="r", label="here"),
    user("v", "l"),
    answer("failed", "v", [call("2")], stopReason="error"),
    user("w", "b"),
    line("usage", "g", "w", usage={}),
    answer("c", "g", [call("3")]),
)


def rows(filter: str, leaf: str | None = "c", fold: bool = False) -> list[tuple[str, str | None]]:
    return [(row.head.id, row.parent_id) for row in tree_rows(CHAIN.tree, leaf, filter, fold)]


def test_filters() -> None:
    assert rows("default") == [
        ("u", None),
        ("r", "u"),
        ("b", "r"),
        ("v", "b"),
        ("failed", "v"),
        ("w", "b"),
        ("c", "w"),
    ]
    assert rows("noTools") == [("u", None), ("b", "u"), ("v", "b"), ("failed", "v"), ("w", "b"), ("c", "w")]
    assert rows("userOnly") == [("u", None), ("v", "u"), ("w", "u")]
    assert rows("labeledOnly") == [("r", None)]
    assert [name for name, _ in rows("all", "w")] == ["m", "u", "r", "b", "l", "v", "failed", "w"]


def test_rows_know_their_children_and_the_path() -> None:
    found = {row.head.id: row for row in tree_rows(CHAIN.tree, "w")}
    assert [found[name].child_count for name in ("u", "b", "v", "w")] == [1, 2, 1, 0]
    assert [name for name, row in found.items() if row.on_path] == ["u", "r", "b", "w"]
    assert not any(row.on_path for row in tree_rows(CHAIN.tree, None))


def test_fold_joins_straight_stretches() -> None:
    found = tree_rows(CHAIN.tree, "c", "default", fold=True)
    assert [(row.head.id, row.parent_id, row.run) for row in found] == [
        ("r", None, 2),  # it has a label
        ("b", "r", 1),
        ("failed", "b", 2),
        ("c", "b", 2),
    ]


def test_the_leaf_and_the_end_of_the_path_end_a_stretch() -> None:
    tree = SessionTree(bare(str(n), str(n - 1) if n else None) for n in range(6))
    found = tree_rows(tree, "2", "all", fold=True)
    assert [(row.head.id, row.parent_id, row.run, row.on_path) for row in found] == [
        ("2", None, 3, True),
        ("5", "2", 3, False),
    ]
    assert sum(row.run for row in found) == 6


def test_an_unknown_leaf() -> None:
    with pytest.raises(EntryNotFound):
        tree_rows(CHAIN.tree, "nowhere")


@pytest.mark.slow
@pytest.mark.parametrize("fold", [False, True])
def test_a_hundred_thousand_deep(fold: bool) -> None:
    tree = SessionTree(bare(f"{n}", f"{n - 1}" if n else None) for n in range(100_000))
    start = time.process_time()
    found = tree_rows(tree, "99999", "all", fold)
    assert time.process_time() - start < 3
    assert sum(row.run for row in found) == 100_000


@pytest.mark.parametrize(
    "raw, expected",
    [
        (user("a", None, "  two\n\n words\t"), "two words"),
        (user("a", None, [text("a"), {"type": "image", "data": "SECRET"}, text("b")]), "ab"),
        (user("a", None, [{"type": "image", "data": "SECRET"}]), "[image]"),
        (user("a", None, "\x1b[31mred\x07\u2028x\x7f"), "[31mred x"),
        (user("a", None, "a\ud83db"), "a\ufffdb"),
        (answer("a", None, [{"type": "thinking", "thinking": "SECRET"}, text("said"), call("1")]), "said"),
        (answer("a", None, [call("1", "read", path="src/a.py", content="SECRET")]), "read src/a.py"),
        (answer("a", None, [call("1", "bash", command="ls\n-l"), call("2", "odd", x="SECRET")]), "bash ls -l, odd"),
        (answer("a", None, [], stopReason="aborted"), "(aborted)"),
        (answer("a", None, [], stopReason="error", errorMessage="overloaded"), "overloaded"),
        (result("a", None, "1", "line 1\nline 2"), "t: line 1 line 2"),
        (line("message", "a", None, message={"role": "bashExecution", "command": "make", "output": "x"}), "$ make"),
        (
            line("message", "a", None, message={"role": "system", "content": "", "sections": {"a": "x", "b": "y"}}),
            "a, b",
        ),
        (line("message", "a", None, message={"role": "branchSummary", "summary": "s"}), "s"),
        (line("message", "a", None, message="text"), ""),
        (line("custom_message", "a", None, customType="ext", content="c"), "ext: c"),
        (line("compaction", "a", None, summary="## Goal\nx"), "## Goal x"),
        (line("model_change", "a", None, provider="p", modelId="m"), "p/m"),
        (line("thinking_level_change", "a", None, thinkingLevel="high"), "high"),
        (line("label", "a", None, targetId="t", label="L"), "L"),
        (line("label", "a", None, targetId="t"), "(cleared)"),
        (line("session_info", "a", None, name=""), "(cleared)"),
        (line("context_edit", "a", None, targetId="t", replacement=None), "omits t"),
        (line("context_edit", "a", None, targetId="t", replacement={"content": "SECRET"}), "replaces t"),
        (line("custom", "a", None, customType="ext", data="SECRET"), "ext"),
        (line("later_kind", "a", None, content="SECRET"), ""),
    ],
)
def test_previews(raw: bytes, expected: str) -> None:
    assert preview(head(raw), raw) == expected


def test_a_preview_is_cut_at_code_points() -> None:
    long = user("a", None, "😀" * 500)
    assert preview(head(long), long) == "😀" * (MAX_PREVIEW - 1) + "…"
    fits = user("a", None, "é" * MAX_PREVIEW)
    assert preview(head(fits), fits) == "é" * MAX_PREVIEW
    arguments = answer("a", None, [call("1", "bash", command="x" * 900)])
    assert len(preview(head(arguments), arguments)) < 70


odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=()), max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "name", "arguments", "path", "content"]), inner, max_size=3)
    ),
    max_leaves=6,
)
KINDS = ["message", "custom_message", "compaction", "label", "session_info", "context_edit", "usage", "custom", "later"]
MEMBERS = ["content", "summary", "label", "name", "customType", "targetId", "errorMessage", "command", "toolName"]


@given(
    st.sampled_from(KINDS), st.dictionaries(st.sampled_from(MEMBERS), odd), st.sampled_from([None, "user", "assistant"])
)
@settings(max_examples=300, deadline=None)
def test_any_entry_has_a_preview_that_fits(kind: str, members: dict[str, Any], role: str | None) -> None:
    entry = {"type": kind, "id": "a", **members, "message": {"role": role, **members} if role else members}
    raw = dumps(entry)
    found = read_line(raw, 0)
    assert isinstance(found, Head)
    shown = preview(found, raw)
    assert len(shown) <= MAX_PREVIEW
    assert shown.isprintable() or not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in shown)
    shown.encode()


def test_the_text_for_editing_anew() -> None:
    for raw, expected in (
        (user("a", None, [text("a\n"), {"type": "image"}, text("b")]), "a\nb"),
        (user("a", None, "plain"), "plain"),
        (user("a", None, None), ""),
        (line("custom_message", "a", None, customType="x", content=[text("c")]), "c"),
        (answer("a", None, [text("no")]), ""),
        (line("label", "a", None, targetId="t", label="no"), ""),
    ):
        assert message_text(head(raw), raw) == expected
