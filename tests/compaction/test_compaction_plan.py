"""Where a compaction cuts, each rule once. The reference agrees on random sessions (tests/conformance)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_daemon.compaction import portions
from pi_daemon.compaction.cut import role_of
from pi_daemon.compaction.plan import Plan, Planner
from pi_daemon.compaction.settings import CompactionSettings
from pi_daemon.session.errors import NothingToCompact
from pi_daemon.session.selection import select
from tests.compaction.planning import Reader, compaction, edit, ids, plan, result, summary
from tests.session.entries import Chain, answer, call, line, text, user

TEN = "x" * 40
"""Ten tokens."""

USAGE = {"totalTokens": 1_000}


def two_turns() -> list[bytes]:
    return [
        user("u1", None, TEN),
        answer("a1", "u1", [text(TEN)]),
        user("u2", "a1", TEN),
        answer("a2", "u2", [text(TEN)], usage=USAGE),
    ]


@pytest.mark.parametrize(
    "keep, first, history, prefix",
    [
        (0, "a2", ["u1", "a1"], ["u2"]),
        (10, "a2", ["u1", "a1"], ["u2"]),
        (11, "u2", ["u1", "a1"], []),
        (20, "u2", ["u1", "a1"], []),
        (21, "a1", [], ["u1"]),
    ],
)
def test_the_cut_comes_where_enough_is_kept(keep: int, first: str, history: list[str], prefix: list[str]) -> None:
    found = plan(keep, *two_turns())
    assert (found.first_kept_id, ids(found.history), ids(found.prefix)) == (first, history, prefix)
    assert found.is_split_turn == bool(prefix)
    assert (found.leaf_id, found.compaction, found.tokens_before) == ("a2", None, 1_000)


@pytest.mark.parametrize("keep", [31, 40, 41, 10**9])
def test_nothing_to_compact_where_all_is_kept(keep: int) -> None:
    with pytest.raises(NothingToCompact, match="and nothing before them can be cut"):
        plan(keep, *two_turns())


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [line("label", "l", None, targetId="x", label="y"), line("model_change", "m", "l", provider="p", modelId="m")],
        [user("u", None, TEN), user("v", "u", TEN), compaction("c", "v", "v")],
        [line("message", "s", None, message={"role": "system", "content": TEN}), user("u", "s", TEN)],
        [result("r", None, TEN)],
    ],
)
def test_nothing_to_compact(lines: list[bytes]) -> None:
    with pytest.raises(NothingToCompact):
        plan(0, *lines)


def test_a_tool_result_is_never_first() -> None:
    """Larger than what is to be kept, it keeps the answer that called for it; between answers, the next is first."""
    lines = [user("u", None, TEN), answer("a", "u", [call("c")]), result("r", "a", TEN * 9)]
    assert plan(20, *lines).first_kept_id == "a"
    assert plan(20, *lines, answer("b", "r", [text(TEN)])).first_kept_id == "b"


def test_what_shows_nowhere_stays_with_what_follows_it() -> None:
    lines = [
        user("u", None, TEN),
        answer("a", "u", [text(TEN)]),
        line("model_change", "m", "a", provider="p", modelId="m"),
        line("label", "l", "m", targetId="u", label="L"),
        answer("b", "l", [text(TEN)]),
    ]
    assert plan(5, *lines).first_kept_id == "m"


def test_a_turn_that_begins_behind_such_an_entry_counts_as_split() -> None:
    """pi 1.6.0 looks at the entry that is kept first, which then begins no turn."""
    lines = [*two_turns()[:2], line("label", "l", "a1", targetId="u1", label="L"), user("u2", "l", TEN)]
    found = plan(5, *lines)
    assert (found.first_kept_id, found.is_split_turn, ids(found.prefix)) == ("l", True, ["u1", "a1"])


@pytest.mark.parametrize(
    "beginning",
    [
        line("message", "t", "u", message={"role": "bashExecution", "command": TEN, "output": ""}),
        line("message", "t", "u", message={"role": "custom", "content": TEN}),
        line("custom_message", "t", "u", customType="x", content=TEN, display=True),
        summary("t", "u", TEN),
    ],
)
def test_what_begins_a_turn(beginning: bytes) -> None:
    found = plan(5, user("u", None, TEN), beginning, answer("a", "t", [text(TEN)]))
    assert (ids(found.history), ids(found.prefix), found.first_kept_id) == (["u"], ["t"], "a")
    assert plan(15, user("u", None, TEN), beginning, answer("a", "t", [text(TEN)])).first_kept_id == "t"


def test_system_messages_are_not_summarized() -> None:
    system = line("message", "s", "u", message={"role": "system", "content": TEN})
    found = plan(5, user("u", None, TEN), system, answer("a", "s", [text(TEN)]), user("v", "a", TEN))
    assert ids(found.history) == ["u", "a"]


def test_edits_count_as_the_model_sees_them() -> None:
    """What is edited away is not summarized, is no cut and weighs nothing; a replacement weighs what it says."""
    lines = [*two_turns(), edit("e", "a2", "a1"), edit("f", "e", "u2", TEN * 5)]
    found = plan(45, *lines)
    assert (found.first_kept_id, ids(found.prefix), found.tokens_before) == ("a1", ["u1"], 70)
    material = Reader(Chain(*two_turns(), edit("e", "a2", "u1", "other"), user("u3", "e", TEN)))
    assert material.material(material.plan(5)).history[0].message["content"] == "other"


class TestAttemptsGivenUp:
    """An answer that was tried and edited away, with nothing visible after it: then the input goes too."""

    start = (user("u", None, TEN), answer("a", "u", [text(TEN)]), user("v", "a", TEN), answer("b", "v", [text("no")]))

    def test_the_cut_moves_past_the_input(self) -> None:
        found = plan(10, *self.start, edit("e", "b", "b"))
        assert (found.first_kept_id, ids(found.history), ids(found.prefix)) == ("b", ["u", "a"], ["v"])

    def test_not_where_all_is_less_than_what_is_kept(self) -> None:
        with pytest.raises(NothingToCompact):
            plan(31, *self.start, edit("e", "b", "b"))

    def test_not_for_other_entries_alone(self) -> None:
        assert plan(10, *self.start[:3], line("label", "l", "v", targetId="u", label="L")).first_kept_id == "v"

    def test_not_where_something_visible_is_replaced(self) -> None:
        lines = [*self.start, edit("e", "b", "b"), edit("f", "e", "u", TEN)]
        assert plan(10, *lines).first_kept_id == "v"

    def test_not_across_an_older_compaction(self) -> None:
        older = [*self.start, compaction("c", "b", "v"), compaction("d", "c", "u"), edit("e", "d", "b")]
        assert plan(10, *older).first_kept_id == "v"


class TestAfterACompaction:
    lines = (*two_turns(), compaction("c", "a2", "u2"), user("u3", "c", TEN), answer("a3", "u3", [text(TEN)]))

    def test_only_what_it_kept_and_what_came_after_counts(self) -> None:
        found = plan(20, *self.lines)
        assert found.compaction is not None and found.compaction.id == "c"
        assert (ids(found.history), found.first_kept_id) == (["u2", "a2"], "u3")

    def test_nothing_is_left_but_the_summary(self) -> None:
        with pytest.raises(NothingToCompact):
            plan(0, *two_turns(), compaction("c", "a2", "gone"), user("u3", "c", TEN))

    def test_one_that_is_edited_away_has_no_summary(self) -> None:
        found = plan(5, *self.lines, edit("e", "a3", "c"))
        assert found.compaction is None
        assert (ids(found.history), ids(found.prefix)) == (["u2", "a2"], ["u3"])

    def test_two_in_a_row(self) -> None:
        lines = [*two_turns(), compaction("c", "a2", "u2"), compaction("d", "c", "u2"), user("u3", "d", TEN)]
        found = plan(10, *lines)
        assert found.compaction is not None and found.compaction.id == "d"
        assert (ids(found.history), found.first_kept_id) == (["u2", "a2"], "u3")


def long_path(count: int, *more: bytes) -> Reader:
    lines = [user("0", None, TEN * 10)]
    for number in range(1, count):
        lines.append(answer(str(number), str(number - 1), [text(TEN * 10)], usage=USAGE))
    return Reader(Chain(*lines, *more))


def test_a_plan_reads_the_newest_alone() -> None:
    reader = long_path(2_000)
    assert reader.plan(1_000).first_kept_id == "1990"
    size = sum(len(reader.chain.lines[name]) for name in reader.read)
    assert size <= portions.FIRST_PORTION
    assert set(reader.read) == {str(number) for number in range(2_000 - len(reader.read), 2_000)}


def test_the_size_is_read_of_all_where_no_usage_counts_and_it_is_not_known() -> None:
    reader = long_path(2_000, edit("e", "1999", "7", TEN))
    assert reader.plan(1_000).tokens_before == 100 * 2_000 - 90
    assert len(reader.read) == 2_001
    reader.read.clear()
    assert reader.plan(1_000, tokens=5).tokens_before == 5
    assert len(reader.read) < 500


def test_what_becomes_of_the_path_while_lines_are_read_changes_nothing() -> None:
    lines = [line("label", "l", None, targetId="u1", label="L"), user("u1", "l", TEN), *two_turns()[1:]]
    chain = Chain(*lines)
    path = chain.tree.path("a2")
    planner = Planner(path, select(path), CompactionSettings(0, 10))
    while wanted := planner.wanted():
        path.clear()
        planner.give(chain.of(wanted))
    assert (planner.plan.leaf_id, planner.plan.first_kept_id) == ("a2", "a2")
    assert ids(planner.plan.history) == ["u1", "a1"]


KINDS: dict[str, Any] = {
    "user": lambda at, up, size: user(at, up, "x" * size),
    "answer": lambda at, up, size: answer(at, up, [text("x" * size)], usage={"totalTokens": size}),
    "failed": lambda at, up, size: answer(at, up, [text("x" * size)]),
    "result": lambda at, up, size: result(at, up, "x" * size),
    "system": lambda at, up, size: line("message", at, up, message={"role": "system", "content": "x" * size}),
    "label": lambda at, up, size: line("label", at, up, targetId="0", label="L"),
    "note": lambda at, up, size: line("custom_message", at, up, customType="n", content="x" * size, display=True),
    "summary": lambda at, up, size: summary(at, up, "x" * size),
    "compaction": lambda at, up, size: compaction(at, up, str(size % (int(at) + 1))),
    "omitted": lambda at, up, size: edit(at, up, str(size % (int(at) + 1))),
    "replaced": lambda at, up, size: edit(at, up, str(size % (int(at) + 1)), "y" * (size // 2)),
}
steps = st.lists(st.tuples(st.sampled_from(sorted(KINDS)), st.integers(0, 200)), max_size=25)


def chain(made: list[tuple[str, int]]) -> Chain:
    return Chain(*(KINDS[kind](str(at), str(at - 1) if at else None, size) for at, (kind, size) in enumerate(made)))


def attempt(reader: Reader, keep: int, tokens: int | None = None) -> Plan | None:
    try:
        return reader.plan(keep, tokens=tokens)
    except NothingToCompact:
        return None


@given(steps, st.integers(0, 300))
def test_what_goes_and_what_stays_is_the_context(made: list[tuple[str, int]], keep: int) -> None:
    reader = Reader(chain(made))
    found = attempt(reader, keep)
    if found is None:
        return
    path = reader.chain.tree.path(reader.chain.tree.last_id)
    context = [source for source in select(path).sources if source.head is not found.compaction]
    shown = [source for source in context if source.head.role != "system"]
    gone = [*found.history, *found.prefix]
    kept = shown[len(gone) :]
    assert gone and ids(gone) == ids(shown[: len(gone)])
    assert bool(found.prefix) == found.is_split_turn
    assert not kept or role_of(kept[0].head) != "toolResult"
    first = int(found.first_kept_id)
    assert all(int(name) < first for name in ids(gone)) and all(int(name) >= first for name in ids(kept))


@settings(max_examples=50)
@given(steps, st.integers(0, 300))
def test_what_is_read_at_a_time_changes_nothing(made: list[tuple[str, int]], keep: int) -> None:
    whole = attempt(Reader(chain(made)), keep)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(portions, "FIRST_PORTION", 1)
        patch.setattr(portions, "PORTION", 300)
        bit_by_bit = attempt(Reader(chain(made)), keep)
    assert _facts(whole) == _facts(bit_by_bit)


@given(steps, st.integers(0, 300), st.integers(0, 300))
def test_who_keeps_more_summarizes_less(made: list[tuple[str, int]], one: int, other: int) -> None:
    less, more = (attempt(Reader(chain(made)), keep, tokens=0) for keep in sorted((one, other)))
    gone = [0 if found is None else len(found.history) + len(found.prefix) for found in (less, more)]
    assert gone[0] >= gone[1]


def _facts(found: Plan | None) -> object:
    if found is None:
        return None
    return ids(found.history), ids(found.prefix), found.first_kept_id, found.is_split_turn, found.tokens_before
