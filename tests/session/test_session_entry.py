"""Lines → heads. The invariant: whatever the blocks, the same heads as line by line, and no input raises."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_daemon.session.entry import BadLine, HeadReader, read_line
from pi_daemon.session.head import (
    AssistantFacts,
    BranchSummaryFacts,
    CompactionFacts,
    EditFacts,
    Facts,
    Head,
    Header,
    LabelFacts,
    MessageFacts,
    ModelFacts,
    NameFacts,
    ShellFacts,
    ThinkingFacts,
    ToolResultFacts,
)
from pi_daemon.session.rawjson import JS_SPACE, dumps
from tests.session.entries import TIME, answer, call, head, line, read, result, text, user

HEADER = b'{"type":"session","version":3,"id":"s","timestamp":"%s","cwd":"/p"}\n' % TIME.encode()


def usage(total: Any = 30, **parts: Any) -> dict[str, Any]:
    return {"input": 10, "output": 5, "cacheRead": 1, "cacheWrite": 2, "totalTokens": total, **parts}


FACTS: list[tuple[bytes, Facts | None]] = [
    (user("a", None), MessageFacts("user")),
    (user("a", None, None), MessageFacts("user", True)),
    (user("a", None, []), MessageFacts("user")),
    (line("message", "a", None, message={"role": "user"}), MessageFacts("user", True)),
    (line("message", "a", None, message={"role": "laterRole", "content": 1}), MessageFacts("laterRole")),
    (line("message", "a", None, message={"role": 5}), MessageFacts("", True)),
    (line("message", "a", None, message={}), MessageFacts("", True)),
    (line("message", "a", None, message=None), None),
    (line("message", "a", None, message="text"), None),
    (line("message", "a", None), None),
    (line("message", "a", None, message={"role": "system", "content": ""}), MessageFacts("system")),
    (line("message", "a", None, message={"role": "custom", "content": "x"}), MessageFacts("custom")),
    (line("message", "a", None, message={"role": "branchSummary", "summary": ""}), MessageFacts("branchSummary", True)),
    (
        line("message", "a", None, message={"role": "bashExecution", "command": "ls", "excludeFromContext": True}),
        ShellFacts(True, True),
    ),
    (line("message", "a", None, message={"role": "bashExecution", "excludeFromContext": 1}), ShellFacts(True, True)),
    (line("message", "a", None, message={"role": "bashExecution"}), ShellFacts(False, True)),
    (result("a", None, "call_1"), ToolResultFacts("call_1")),
    (line("message", "a", None, message={"role": "toolResult", "toolCallId": 7, "content": []}), ToolResultFacts("")),
    (answer("a", None), AssistantFacts("p", "m", None, 0)),
    (answer("a", None, [text("hi")], stopReason="stop"), AssistantFacts("p", "m", "stop", 0, has_text=True)),
    (answer("a", None, [text(" \n"), call("c"), text("é")]), AssistantFacts("p", "m", None, 0, has_text=True)),
    (answer("a", None, [text(" \n\u3000"), call("c")]), AssistantFacts("p", "m", None, 0)),
    (answer("a", None, [text(""), call("c", content=[text("no")])]), AssistantFacts("p", "m", None, 0)),
    (answer("a", None, [{"type": "text"}, {"type": "text", "text": 5}, 7, None]), AssistantFacts("p", "m", None, 0)),
    (line("message", "a", None, message={"role": "assistant"}), AssistantFacts(None, None, None, 0, True)),
    (
        line("message", "a", None, message={"role": "assistant", "content": "text"}),
        AssistantFacts(None, None, None, 0, False, True),
    ),
    (answer("a", None, usage=usage()), AssistantFacts("p", "m", None, 30)),
    (answer("a", None, usage=usage(0)), AssistantFacts("p", "m", None, 18)),
    (answer("a", None, usage=usage(-3)), AssistantFacts("p", "m", None, 0)),
    (answer("a", None, usage=usage(0, output=-20)), AssistantFacts("p", "m", None, 0)),
    (answer("a", None, usage=usage(0, cacheRead=None)), AssistantFacts("p", "m", None, 0)),
    (answer("a", None, usage={"totalTokens": 7}), AssistantFacts("p", "m", None, 7)),
    (answer("a", None, usage={"input": 7}), AssistantFacts("p", "m", None, 0)),
    (answer("a", None, usage=usage(10**300)), AssistantFacts("p", "m", None, 0)),
    (answer("a", None, usage="much"), AssistantFacts("p", "m", None, 0)),
    (answer("a", None, usage=usage(), stopReason="aborted"), AssistantFacts("p", "m", "aborted", 0)),
    (answer("a", None, usage=usage(), stopReason="error"), AssistantFacts("p", "m", "error", 0)),
    (answer("a", None, provider=None, model=5), AssistantFacts(None, None, None, 0)),
    (line("model_change", "a", None, provider="p", modelId="m"), ModelFacts("p", "m")),
    (line("model_change", "a", None), ModelFacts("", "")),
    (line("thinking_level_change", "a", None, thinkingLevel="high"), ThinkingFacts("high")),
    (line("thinking_level_change", "a", None), None),
    (line("compaction", "a", None, summary="s", firstKeptEntryId="k"), CompactionFacts("k", False)),
    (line("compaction", "a", None, summary="s", systemMessage={"role": "system"}), CompactionFacts(None, True)),
    (line("compaction", "a", None, firstKeptEntryId=5, systemMessage=None), CompactionFacts(None, False)),
    (line("branch_summary", "a", None, fromId="f", summary="s"), BranchSummaryFacts("f", False)),
    (line("branch_summary", "a", None, summary=""), BranchSummaryFacts(None, True)),
    (line("label", "a", None, targetId="t", label="L"), LabelFacts("t", "L")),
    (line("label", "a", None, targetId="t", label=""), LabelFacts("t", None)),
    (line("label", "a", None, targetId="t"), LabelFacts("t", None)),
    (line("label", "a", None, label="L"), None),
    (line("session_info", "a", None, name=" \ufeffname\u2028"), NameFacts("name")),
    (line("session_info", "a", None, name="  "), NameFacts(None)),
    (line("session_info", "a", None), NameFacts(None)),
    (line("context_edit", "a", None, targetId="t", replacement=None), EditFacts("t", True)),
    (line("context_edit", "a", None, targetId="t", replacement={"content": ""}), EditFacts("t", False)),
    (line("context_edit", "a", None, targetId="t"), None),
    (line("custom", "a", None, customType="x", data={"targetId": "t"}), None),
    (line("custom_message", "a", None, customType="x", content="c"), None),
    (line("usage", "a", None, usage=usage()), None),
    (line("later_kind", "a", None, message={"role": "user"}, label=5), None),
]


@pytest.mark.parametrize("raw, facts", FACTS)
def test_facts(raw: bytes, facts: Facts | None) -> None:
    """Alone, and in a block that goes the fast way as far as it can."""
    assert head(raw).facts == facts
    heads, strays, _ = read(raw + b"\n")
    assert [found.facts for found in heads] == [facts] and strays == []


@pytest.mark.parametrize(
    "beginning", [*JS_SPACE, *'a"\\\x7f\x85é\u1681\u2003\u200b\u2060\u3001あ字\ufefe😀', "\ud83d", ""]
)
def test_what_an_answer_begins_with(beginning: str) -> None:
    """White space alone is no text, whatever it is made of and however it is written."""
    for escaped in (False, True):
        for rest in ("", "text"):
            entry = {
                "type": "message",
                "id": "a",
                "message": {"role": "assistant", "content": [text(beginning + rest)]},
            }
            raw = json.dumps(entry).encode() if escaped else dumps(entry)
            heads, _, _ = read(raw + b"\n")
            shows = bool((beginning + rest).strip(JS_SPACE))
            assert [found.facts for found in heads] == [AssistantFacts(None, None, None, 0, has_text=shows)]


def test_members_of_a_head() -> None:
    raw = user("b", "a", "é😀")
    found = head(raw, 70)
    assert (found.type, found.id, found.parent_id, found.timestamp) == ("message", "b", "a", TIME)
    assert (found.offset, found.length, found.role) == (70, len(raw), "user")


@pytest.mark.parametrize(
    "members, expected",
    [
        ({"parentId": ""}, ("message", None, TIME)),
        ({"parentId": 5}, ("message", None, TIME)),
        ({"timestamp": 1767225600000}, ("message", "p", TIME)),
        ({"timestamp": None}, ("message", "p", "")),
        ({"timestamp": 1e300}, ("message", "p", "")),
        ({"type": 5}, ("", "p", TIME)),
    ],
)
def test_odd_members_of_an_entry(members: dict[str, Any], expected: tuple[str, str | None, str]) -> None:
    entry = {"type": "message", "id": "a", "parentId": "p", "timestamp": TIME, **members}
    found = head(dumps(entry))
    assert (found.type, found.parent_id, found.timestamp) == expected


def test_counts_that_no_double_holds() -> None:
    raw = answer("a", None, usage={"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4, "totalTokens": 0})
    facts = head(
        raw.replace(b'"input":1,', b'"input":1e999,').replace(b'"output":2,', b'"output":%s,' % (b"9" * 400))
    ).facts
    assert isinstance(facts, AssistantFacts) and facts.usage_tokens == 0


def test_an_entry_of_an_id_alone() -> None:
    found = head(b'{"id":"a"}')
    assert (found.type, found.id, found.parent_id, found.timestamp, found.facts) == ("", "a", None, "", None)


@pytest.mark.parametrize(
    "raw, kind, counts",
    [
        (b"no", "notJson", False),
        (b'{"type":"custom","id":"a"', "notJson", False),
        (b'{"id":"a"}{"id":"b"}', "glued", False),
        (b'{"id":"a"} {"type":"custom"}', "notJson", False),
        (b'{"id":"a"}{"type":"session","id":"b"}', "notJson", False),
        (b'{"id":"a"},{"id":"b"}', "notJson", False),
        (b'{"id":"a"', "notJson", False),
        (b'{"id":"\xff"', "notJson", False),
        (b"\x00\x00\x00", "notJson", False),
        (b'{"id":"a","n":NaN}', "notJson", False),
        (b'\xef\xbb\xbf{"id":"a"}', "notJson", False),
        (b"42", "notObject", True),
        (b'"text"', "notObject", True),
        (b"[]", "notObject", True),
        (b"true", "notObject", True),
        (b"null", "notObject", False),
        (b"0", "notObject", False),
        (b'""', "notObject", False),
        (b'{"type":"custom"}', "noId", True),
        (b'{"type":"custom","id":5}', "noId", True),
        (b'{"type":"custom","id":""}', "noId", True),
        (b'{"type":"session"}', "noId", True),
        (b'{"id":"a","x":"\xff"}', "notUtf8", True),
        (b'{"id":"a","x":' + b"[" * 500 + b"]" * 500 + b"}", "tooDeep", True),
        (b'{"id":"a","x":' + b"[" * 5_000 + b"]" * 5_000 + b"}", "tooDeep", True),
    ],
)
def test_bad_lines(raw: bytes, kind: str, counts: bool) -> None:
    found = read_line(raw, 0)
    assert isinstance(found, BadLine)
    assert (found.kind, found.counts) == (kind, counts)
    good = [user("a", None), user("b", "a")]
    heads, strays, _ = read(b"\n".join([good[0], raw, good[1]]) + b"\n")
    assert [one.id for one in heads] == ["a", "b"]
    assert [(one.what, one.line, one.parsed, one.offset, one.length) for one in strays] == [
        (found, 2, 1, len(good[0]) + 1, len(raw))
    ]


def test_a_depth_of_500_is_read() -> None:
    raw = b'{"type":"custom","id":"a","x":' + b"[" * 499 + b"]" * 499 + b"}"
    assert isinstance(read_line(raw, 0), Head)
    heads, strays, _ = read((raw + b"\n") * 2)
    assert len(heads) == 2 and not strays


@pytest.mark.parametrize("blank", [b"", b"  \t", b"\r", "\u2028\ufeff\u00a0".encode()])
def test_blank_lines_count_as_lines_alone(blank: bytes) -> None:
    assert read_line(blank, 0) is None
    data = HEADER + blank + b"\n" + user("a", None) + b"\n" + blank + b"\nx\n"
    heads, strays, reader = read(data)
    assert [one.id for one in heads] == ["a"]
    assert [(stray.line, stray.parsed) for stray in strays] == [(1, 0), (5, 2)]
    assert (reader.lines, reader.parsed) == (5, 2)


def test_lines_end_at_a_newline_alone() -> None:
    raw = '{"type":"custom","id":"a","data":"\u2028\u2029\u0085\\n"}'.encode()
    heads, strays, _ = read(raw + b"\n" + raw.replace(b'"a"', b'"b"') + b"\n")
    assert [one.length for one in heads] == [len(raw)] * 2 and not strays


@pytest.mark.parametrize("block", [1, 1 << 16])
def test_carriage_returns_belong_to_no_line(block: int) -> None:
    lines = [user("a", None), user("b", "a", "x\r\ny"), b"no"]
    data = b"\r\n".join(lines) + b"\r\n"
    heads, strays, _ = read(data, block)
    assert [data[one.offset : one.offset + one.length] for one in heads] == lines[:2]
    assert (strays[0].offset, strays[0].length) == (data.index(b"no"), 2)


@pytest.mark.parametrize(
    "data",
    [
        b'{"id":"a","type":"custom"} {"id":"b","type":"custom"}\n',
        b'{"id":"a","type":"custom"}{"id":"b","type":"custom"}\n',
        b'{"id":"a",\n"type":"custom"}\n',
        b'{"id":"a","type":"custom","x":\n{}}\n{"id":"b","type":"custom"} {"id":"c","type":"custom"}\n',
        b'{"id":"a","type":"custom","x":{}\n}\n{"id":"b","type":"custom"}{"id":"c","type":"custom"}\n',
        b'{"id":"a","type":"custom","x":[{}\n,{}]}\n{"id":"b","type":"custom"}\n{"id":"c","type":"custom"}\n',
    ],
)
def test_a_value_is_on_one_line_and_a_line_holds_one(data: bytes) -> None:
    heads, strays, _ = read(data)
    by_line = [read_line(raw, 0) for raw in data.splitlines()]
    assert len(heads) == sum(isinstance(one, Head) for one in by_line)
    assert len(strays) == sum(isinstance(one, BadLine) for one in by_line)


def test_the_last_line_needs_no_end() -> None:
    heads, _, _ = read(HEADER + user("a", None) + b"\n" + user("b", "a"))
    assert [one.id for one in heads] == ["a", "b"]


def test_headers() -> None:
    data = HEADER + b'{"type":"session","id":"t","timestamp":5,"cwd":[],"version":"3","parentSession":"/o"}\n'
    _, strays, reader = read(data)
    first, second = (stray.what for stray in strays)
    assert first == Header("s", TIME, "/p", 3, None) == reader.header
    assert second == Header("t", "1970-01-01T00:00:00.005Z", "", 1, "/o")


def test_strings_that_come_again_are_one_object() -> None:
    heads, _, _ = read(b"".join(answer(f"id-{n}", f"id-{n - 1}") + b"\n" for n in range(5)))
    for before, after in pairwise(heads):
        assert after.parent_id is before.id
        assert after.type is before.type
        assert isinstance(before.facts, AssistantFacts) and isinstance(after.facts, AssistantFacts)
        assert after.facts.model is before.facts.model


# Entries as a careless writer might put them: each member there or not, of the right type or not.

odd: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1.5, "", "a", "text", [], {}, [{"type": "text", "text": "t"}], "\ud800", 10**30]
)
contents = odd | st.lists(
    st.fixed_dictionaries({}, optional={"type": st.sampled_from(["text", "toolCall", 5]), "text": odd}), max_size=2
)
usages = odd | st.fixed_dictionaries({}, optional=dict.fromkeys(["totalTokens", "input", "output", "cacheRead"], odd))
roles = ["user", "assistant", "toolResult", "bashExecution", "system", "custom", "hookMessage", "later", 5]
messages = odd | st.fixed_dictionaries(
    {"role": st.sampled_from(roles)},
    optional={
        "content": contents,
        "usage": usages,
        **dict.fromkeys(["provider", "model", "stopReason", "toolCallId", "excludeFromContext"], odd),
    },
)
KINDS = ["message", "compaction", "label", "session_info", "context_edit", "branch_summary", "custom", "later"]
entries = st.fixed_dictionaries(
    {"type": st.sampled_from(KINDS) | odd, "id": st.sampled_from(["a", "b", "c"]) | odd},
    optional={
        "message": messages,
        **dict.fromkeys(["parentId", "timestamp", "targetId", "label", "name", "replacement", "systemMessage"], odd),
    },
)
lines = entries.map(dumps) | st.sampled_from(
    [b"", b"no", b"[]", b'{"id":"\xff"}', user("u", None), answer("v", "u", [text("x")], usage=usage()), user("w", "v")]
)


@given(st.lists(lines, max_size=6), st.sampled_from([b"\n", b"\r\n"]), st.integers(1, 400))
@settings(max_examples=400, deadline=None)
def test_whatever_the_blocks_the_same_heads_as_line_by_line(raws: list[bytes], end: bytes, block: int) -> None:
    data = b"".join(raw + end for raw in raws)
    expected = []
    offset = 0
    for raw in raws:
        expected.append(read_line(raw, offset))
        offset += len(raw) + len(end)
    for size in (block, 1 << 16):
        heads, strays, reader = read(data, size)
        assert list(map(shown, heads)) == [shown(one) for one in expected if isinstance(one, Head)]
        assert [stray.what for stray in strays] == [one for one in expected if isinstance(one, BadLine | Header)]
        assert reader.lines == len(raws)


def shown(one: Head) -> tuple[Any, ...]:
    return (one.type, one.id, one.parent_id, one.timestamp, one.offset, one.length, one.facts)


@given(st.binary(max_size=40))
@settings(max_examples=300, deadline=None)
def test_no_bytes_raise(data: bytes) -> None:
    HeadReader().read_block(data, 0)
    read_line(data.replace(b"\n", b""), 0)
