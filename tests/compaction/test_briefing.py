"""What is made of a material: the same, however its portions came, and nothing that nobody ordered."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_daemon.compaction.branch import branch_portions, branch_sources
from pi_daemon.compaction.brief import Brief, Order
from pi_daemon.compaction.briefing import Briefing
from pi_daemon.compaction.gather import portions
from pi_daemon.compaction.material import Portion, selected
from pi_daemon.compaction.summarizers.extractive import extracted
from pi_daemon.session.selection import Source, select
from tests.compaction.planning import Reader, compaction, edit, plan, result, summary
from tests.session.entries import Chain, answer, call, line, text, user

LONE = "half of a pair: \ud83d"

TALK = [
    user("u", None, "Never touch src/old.py. Build src/new.py"),
    answer("a", "u", [text("I'll write it"), call("c", "write", path="src/new.py")]),
    result("r", "a", "Error: no such directory src", toolCallId="c", isError=True),
    compaction("k", "r", "u", details={"readFiles": ["src/old.py"], "modifiedFiles": []}),
    user("v", "k", LONE),
    edit("e", "v", "v", "Go on with src/new.py"),
    answer("b", "e", [text("Done")]),
    user("w", "b", "And now test it"),
]


def brief(order: Order, chain: Chain, some: list[Portion]) -> Brief:
    made = Briefing(order)
    for portion in some:
        if not made.give(portion.use, chain.of(portion.heads())):
            break
    return made.brief()


@pytest.mark.parametrize("form", ["questions", "requests", "summary"])
def test_a_brief_has_what_was_ordered(form: Any) -> None:
    chain = Chain(*TALK)
    made = Reader(chain).plan(0)
    found = brief(Order("compaction", form, 1_000, "Mind it", len(made.history)), chain, list(portions(made)))
    assert found.previous == "before" and found.said == len(made.covered)
    assert (found.read_files, found.modified_files) == (["src/old.py"], ["src/new.py"])
    assert bool(found.requests) == (form == "requests")
    assert (found.summary is not None) == (form == "summary")
    material = Reader(chain).material(made)
    assert (form != "summary") or (found.summary, found.questions) == extracted(material, 1_000, "Mind it")
    assert found.questions


def test_a_branch_without_anything_said_has_no_summary() -> None:
    chain = Chain(user("u", None), summary("s", "u", details={"readFiles": ["x"], "modifiedFiles": []}))
    some = [one for one in branch_portions(branch_sources(chain.tree, "s", None)) if one.use == "files"]
    found = brief(Order("branch", "summary", 1_000), chain, some)
    assert (found.said, found.summary, found.questions, found.read_files) == (0, None, [], ["x"])


def test_a_branch_is_read_no_further_than_its_budget_reaches() -> None:
    chain = Chain(*[user(str(n), str(n - 1) if n else None, "word " * 4_000) for n in range(40)])
    some = list(branch_portions(branch_sources(chain.tree, "39", None)))
    made = Briefing(Order("branch", "questions", 1_000, budget=6_000))
    wanted = list(itertools.takewhile(lambda one: made.give(one.use, chain.of(one.heads())), some))
    assert len(wanted) < len(some) - 1
    assert made.brief().said == 1


@pytest.mark.parametrize("size", [1, 2, 63, 64, 65, 200])
def test_sources_are_found_again_in_their_lines(size: int) -> None:
    lines = [user("0", None, LONE)]
    for number in range(1, size):
        kind = number % 4
        parent = str(number - 1)
        lines.append(
            user(str(number), parent, [text(f"say {number}")], more=LONE if number % 7 == 0 else "")
            if kind == 0
            else edit(str(number), parent, str(number - 1), "anew")
            if kind == 1
            else line("custom_message", str(number), parent, customType="t", content="note")
            if kind == 2
            else summary(str(number), parent)
        )
    chain = Chain(*lines)
    wanted = select(chain.tree.path(str(size - 1)))
    assert wanted.sources
    found = selected(chain.of(Portion("said", wanted.sources).heads()))
    assert [_told(one) for one in found.sources] == [_told(one) for one in wanted.sources]


def _told(source: Source) -> Any:
    return [(head.id, head.type, head.timestamp, head.facts) for head in (source.head, source.edit) if head]


@given(cuts=st.lists(st.integers(0, 8), max_size=4), keep=st.sampled_from([0, 5, 20]))
def test_how_it_is_cut_into_portions_makes_no_difference(cuts: list[int], keep: int) -> None:
    chain = Chain(*TALK[:3], *[user(str(n), "r" if n == 0 else str(n - 1), f"Use file{n}.py") for n in range(6)])
    made = Reader(chain).plan(keep)
    order = Order("compaction", "summary", 1_000, history=len(made.history))
    sources = [*made.history, *made.prefix]
    edges = sorted({0, len(sources), *(cut for cut in cuts if cut <= len(sources))})
    pieces = [Portion("said", sources[start:end]) for start, end in itertools.pairwise(edges)]
    assert brief(order, chain, pieces) == brief(order, chain, list(portions(made)))


def test_a_plan_without_a_compaction_has_no_previous_portion() -> None:
    assert [portion.use for portion in portions(plan(0, user("u", None), user("v", "u")))] == ["said"]
