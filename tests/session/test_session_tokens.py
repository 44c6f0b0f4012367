"""Estimates and the size of a context. The reference agrees on random sessions; here each rule once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_daemon.compaction.tokens import context_tokens, contribution, estimate, measure
from pi_daemon.session.glance import glance_at
from pi_daemon.session.jstext import number_text, stringify_length, utf16_length
from pi_daemon.session.projection import project
from pi_daemon.session.rawjson import dumps
from pi_daemon.session.selection import select
from tests.session.entries import Chain, answer, call, line, text, user


@pytest.mark.parametrize(
    "message, tokens",
    [
        ({"role": "user", "content": ""}, 0),
        ({"role": "user", "content": "a"}, 1),
        ({"role": "user", "content": "abcd"}, 1),
        ({"role": "user", "content": "abcde"}, 2),
        ({"role": "user", "content": "😀é"}, 1),
        ({"role": "user", "content": "😀😀é"}, 2),
        ({"role": "user", "content": "\ud83d" * 5}, 2),
        ({"role": "user", "content": [text("abcd"), {"type": "image", "data": "x" * 999}, {"type": "later"}, 5]}, 1201),
        ({"role": "user", "content": None}, 0),
        ({"role": "toolResult", "content": [text("abcde")], "details": "x" * 99}, 2),
        ({"role": "custom", "content": "abcde"}, 2),
        ({"role": "assistant", "content": "abcde"}, 0),
        ({"role": "assistant", "content": [text("ab"), {"type": "thinking", "thinking": "cd"}]}, 1),
        ({"role": "assistant", "content": [call("c", "read", path="a")]}, 4),
        ({"role": "assistant", "content": [{"type": "toolCall", "name": "read"}, {"type": "image"}]}, 1),
        ({"role": "system", "content": "ab", "sections": {"x": "cd", "y": None}}, 1),
        ({"role": "system", "content": "", "toolsAdded": [{"name": "a"}]}, 4),
        ({"role": "bashExecution", "command": "abc", "output": "de"}, 2),
        ({"role": "branchSummary", "summary": "abcde"}, 2),
        ({"role": "compactionSummary", "summary": "abcde"}, 2),
        ({"role": "laterRole", "content": "abcde"}, 0),
        ({}, 0),
    ],
)
def test_estimate(message: dict[str, Any], tokens: int) -> None:
    assert estimate(message) == estimate(dumps(message)) == tokens


def tokens(chain: Chain, leaf: str) -> int:
    path = chain.tree.path(leaf)
    selection = select(path)
    found = context_tokens(path, project(selection, chain.of(selection.heads())))
    sized = measure(path, selection)
    assert sized.tokens(project(sized.selection, chain.of(sized.selection.heads()))) == found
    return found


def system(id: str, parent: str | None, content: str, sections: dict[str, str]) -> bytes:
    message = {"role": "system", "content": content, "sections": sections, "timestamp": 1}
    return line("message", id, parent, message=message)


def usage(total: int) -> dict[str, int]:
    return {"totalTokens": total}


def test_the_last_valid_usage_and_estimates_of_what_follows() -> None:
    chain = Chain(
        user("a", None, "x" * 400),
        answer("b", "a", usage=usage(50)),
        user("c", "b", "x" * 40),
        answer("d", "c", [text("x" * 8)], usage=usage(99), stopReason="aborted"),
        answer("e", "c", usage=usage(60)),
        line("message", "f", "e", message={"role": "system", "content": "x" * 4}),
        line("message", "g", "f", message={"role": "system", "content": "x" * 4}),
    )
    assert [tokens(chain, leaf) for leaf in "abcdeg"] == [100, 50, 60, 62, 60, 62]


def test_estimates_alone_count_system_messages_once_folded() -> None:
    chain = Chain(
        system("a", None, "x" * 5, {"s": "y" * 100}),
        system("b", "a", "", {"s": "y" * 3}),
        user("c", "b", "z"),
    )
    assert tokens(chain, "c") == 2 + 1


@pytest.mark.parametrize(
    "invalidating",
    [
        line("compaction", "k", "b", summary="x" * 8, firstKeptEntryId="b", tokensBefore=1),
        line("context_edit", "k", "b", targetId="a", replacement={"content": "x" * 8}),
    ],
)
def test_usage_from_before_a_compaction_or_an_edit_does_not_count(invalidating: bytes) -> None:
    chain = Chain(
        user("a", None, "x" * 400),
        answer("b", "a", [text("x" * 4)], usage=usage(5000)),
        invalidating,
        user("c", "k", "x"),
        answer("d", "c", usage=usage(70)),
    )
    assert tokens(chain, "b") == 5000
    assert tokens(chain, "k") == 3
    assert tokens(chain, "c") == 4
    assert tokens(chain, "d") == 70


def test_what_an_entry_adds() -> None:
    assert contribution(glance_at(user("a", None, "x" * 8))) == 2
    for raw in (line("custom", "a", None, data="x" * 99), line("label", "a", None, targetId="a", label="x" * 99)):
        assert contribution(glance_at(raw)) == 0
    assert contribution(glance_at(line("branch_summary", "a", None, fromId="b", summary="x" * 8))) == 2
    assert contribution(glance_at(line("custom_message", "a", None, customType="c", content="x" * 8))) == 2


@pytest.mark.parametrize(
    "value, shown",
    [
        (0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-1.5, "-1.5"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (123456789012345680000, "123456789012345680000"),
        (123456789012345678901234567890, "1.2345678901234568e+29"),
        (2**53 + 1, "9007199254740992"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.25e-7, "1.25e-7"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (0.1, "0.1"),
        (100, "100"),
        (float("inf"), "null"),
        (10**400, "null"),
    ],
)
def test_numbers_as_javascript_writes_them(value: float, shown: str) -> None:
    assert number_text(value) == shown
    assert stringify_length(value) == len(shown)


texts = st.text(st.characters(exclude_categories=()), max_size=8)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@given(values)
@settings(max_examples=200, deadline=None)
def test_the_length_of_what_javascript_would_write(value: Any) -> None:
    """Python writes such values as JavaScript does, so its text has that length."""
    assert stringify_length(value) == utf16_length(dumps(value).decode())


def test_a_deep_value_has_a_length() -> None:
    value: Any = 1
    for _ in range(10_000):
        value = [value]
    assert stringify_length(value) == 20_001
