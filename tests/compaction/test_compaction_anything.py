"""Summaries of whatever there may be in a session file."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_daemon.compaction.answers import cleaned, unusable
from pi_daemon.compaction.form import parse, render
from pi_daemon.compaction.material import Material, Said
from pi_daemon.compaction.questions import draw
from pi_daemon.compaction.retention import amend, check
from pi_daemon.compaction.words import tokens_of
from tests.compaction.talk import extract

SAYINGS = [
    "You must never use chalk.",
    "不要修改数据库结构，必须写测试。",
    "never mind that",
    "continue",
    "## Goal\n- x\n\n## Next Steps\n1. [ ] y",
    "- [x] Port the selectors to the theme\n```\n# code",
    "I'll use JSON instead of YAML. Done: the selector is fixed. Next: release. Shall I?",
    "error TS2739: Type 'X' in src/a.ts at http://localhost:8080/x, 3f30550, v1.2.3, #12",
    "<read-files>\na\n</read-files>\n---\n## How the Current Turn Began\n- z",
    "\ud800 lone \udfff \x1b[31mred\x1b[0m \x00",
    "npm test 2>&1 | tail -3",
    "src/a.ts",
]
text = st.one_of(
    st.sampled_from(SAYINGS), st.text(max_size=60), st.lists(st.sampled_from(SAYINGS), max_size=4).map("\n".join)
)
odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
name = st.sampled_from(["read", "edit", "write", "bash", "weird"]) | odd
call_id = st.sampled_from(["c1", "c2", "c3"]) | odd
arguments = st.one_of(
    odd,
    st.fixed_dictionaries({}, optional={"path": text | odd, "command": text | odd, "newText": text | odd}),
)
block = st.one_of(
    odd,
    st.fixed_dictionaries({"type": st.just("text"), "text": text | odd}),
    st.fixed_dictionaries(
        {"type": st.just("toolCall")}, optional={"id": call_id, "name": name, "arguments": arguments}
    ),
)
roles = ["user", "assistant", "toolResult", "bashExecution", "custom", "branchSummary", "compactionSummary", "new"]
message = st.fixed_dictionaries(
    {},
    optional={
        "content": text | odd | st.lists(block, max_size=4),
        "toolCallId": call_id,
        "toolName": name,
        "isError": st.booleans() | odd,
        "stopReason": st.sampled_from(["stop", "aborted", "toolUse"]) | odd,
        "command": text | odd,
        "output": text | odd,
        "exitCode": st.integers() | odd,
        "summary": text | odd,
    },
)
said = st.builds(Said, st.text(max_size=4), st.sampled_from(roles), message)
materials = st.builds(
    Material,
    history=st.lists(said, max_size=8),
    prefix=st.lists(said, max_size=4),
    previous=st.none() | text,
    read_files=st.lists(text, max_size=3),
    modified_files=st.lists(text, max_size=3),
)
kinds = st.sampled_from(["compaction", "branch"])


@settings(max_examples=60, deadline=None)
@given(materials, st.integers(-1, 2000), st.none() | text, kinds)
def test_it_fits_its_budget_is_the_same_each_time_and_can_be_written(material, budget, instructions, kind) -> None:
    found = extract(material, budget, instructions, kind)
    assert tokens_of(found) <= max(budget, 0)
    assert found == extract(material, budget, instructions, kind)
    found.encode()
    json.dumps(found)
    assert not re.search(r"[\x00-\x08\x0b-\x1f]", found)


@settings(max_examples=60, deadline=None)
@given(materials, text, st.integers(0, 400))
def test_amending_never_loses_anything_and_stays_within_its_bound(material, summary, limit) -> None:
    questions = draw(material)
    assert questions == draw(material)
    before = check(summary, questions)
    after = amend(summary, before, limit)
    assert tokens_of(after) <= tokens_of(summary) + limit
    again = check(after, questions)
    assert again.score >= before.score
    assert set(before.kept) <= set(again.kept)
    json.dumps(again.bounded())


@settings(max_examples=60, deadline=None)
@given(materials)
def test_what_stands_there_word_for_word_is_kept(material) -> None:
    questions = draw(material)
    summary = "\n".join(f"- {question.text}" for question in questions)
    assert check(summary, questions).missing == ()
    for question in questions:
        assert check(f"Before it.\n\n{question.text}\n\nAfter it.", [question]).score == 1.0


@settings(max_examples=60, deadline=None)
@given(materials)
def test_with_room_enough_all_facts_are_in_the_extract(material) -> None:
    found = check(extract(material, 20_000), draw(material))
    assert {question.kind for question in found.missing} <= {"unfinished", "request", "constraint"}


@settings(max_examples=60, deadline=None)
@given(materials)
def test_updating_again_and_again_with_the_same_does_not_grow(material) -> None:
    sizes = []
    summary = material.previous
    for _ in range(5):
        summary = extract(Material(material.history, material.prefix, summary, material.read_files, ()), 4000)
        sizes.append(tokens_of(summary))
        assert parse(render(parse(summary))) == parse(summary)
    assert sizes[4] <= sizes[2] + 50


@pytest.mark.parametrize(
    "shape",
    [
        "```\n" + "\n" * 60_000 + "x",
        "# a" + " " * 60_000 + "b",
        "<read-files>\n" * 20_000,
        "</read-files>\n" + "<modified-files>\n" * 20_000,
        "a/" * 30_000,
        "[a (" * 15_000,
        "[a (\n" * 15_000,
        "- [" * 20_000,
        "- [ ] do\n" * 20_000,
        "## Done\n- " + "[ ] " * 400_000,
        "\n".join(f"- [ ] item {number} of the plan is done" for number in range(5_000)),
        "```\n" * 20_000,
        "must " * 12_000,
        "http://" * 9_000,
        "Error: " * 9_000,
        " \t" * 30_000 + "x",
        "**a" * 20_000,
        "不" * 60_000,
        "可以" * 60_000,
        "0f3a" * 60_000,
        "touch src/old.py " + "a" * 400_000,
        "never " + "what " * 30_000,
        "never " + "I think " * 30_000,
        "\n".join(" " * 380 + "x" for _ in range(2_000)),
        "`" * 20_000 + "\n" + "`" * 20_000 + "x",
        "```\n" + " " * 200_000 + "x",
        "~" * 20_000 + "\n" + "~" * 20_000 + "x",
        "a-" * 60_000,
        "_a" * 60_000,
        "<think>" * 20_000,
        " " * 200_000 + "x",
    ],
    ids=lambda shape: repr(shape[:12]),
)
def test_no_shape_of_text_takes_long(shape: str) -> None:
    """What grows with the square of the length runs into the timeout of a test."""
    call = {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": shape, "path": shape[:9]}}
    said = [
        Said("0", "user", {"content": "Never touch src/old.py, and keep the tests"}),
        Said("1", "user", {"content": shape}),
        Said("2", "assistant", {"content": [{"type": "text", "text": shape}, call]}),
        Said("3", "toolResult", {"toolCallId": "c", "content": [{"type": "text", "text": shape}], "isError": True}),
        Said("4", "assistant", {"content": [{"type": "text", "text": shape}]}),
    ]
    material = Material(said, (), shape, [shape], [shape])
    assert tokens_of(extract(material, 2000, shape)) <= 2000
    questions = draw(material)
    amend(shape, check(shape, questions))
    unusable(cleaned(shape))
    unusable(cleaned(f"# A\n\n{shape}"))
    assert parse(render(parse(shape))) == parse(shape)
