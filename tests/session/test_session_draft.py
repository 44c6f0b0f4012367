"""What may be appended, what its line looks like, and when a draft is the entry that is there already."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_daemon.session.draft import MAX_ID_LENGTH, Draft, entry_line, parse_draft, same_content
from pi_daemon.session.entry import read_line
from pi_daemon.session.errors import InvalidEntry, TooLarge
from pi_daemon.session.head import Head
from pi_daemon.session.rawjson import MAX_VALUES, dumps, members
from tests.session.entries import TIME

DRAFTS: list[dict[str, Any]] = [
    {"type": "message", "message": {"role": "user", "content": "hi", "timestamp": 1}},
    {"type": "message", "message": {"role": "later"}},
    {"type": "model_change", "provider": "p", "modelId": "m"},
    {"type": "thinking_level_change", "thinkingLevel": "high"},
    {"type": "compaction", "summary": "s", "firstKeptEntryId": "k", "tokensBefore": 1.5, "details": {}},
    {"type": "compaction", "summary": "s", "tokensBefore": 1},
    {"type": "branch_summary", "fromId": "root", "summary": ""},
    {"type": "custom", "customType": "x"},
    {"type": "custom_message", "customType": "x", "content": [], "display": False},
    {"type": "label", "targetId": "t", "label": "L"},
    {"type": "label", "targetId": "t"},
    {"type": "session_info", "name": ""},
    {"type": "session_info"},
    {"type": "usage", "kind": "k", "provider": "p", "model": "m", "usage": {}},
    {"type": "context_edit", "targetId": "t", "replacement": None},
    {"type": "context_edit", "targetId": "t", "replacement": {"content": "x", "more": 1}},
    {"type": "context_edit", "targetId": "t", "replacement": {"content": []}},
    {"type": "later_kind", "anything": [None, {"jsonrpc": "2.0", "type_name": "x"}]},
]


@pytest.mark.parametrize("given_draft", DRAFTS)
def test_drafts_become_entries(given_draft: dict[str, Any]) -> None:
    draft = parse_draft(dumps(given_draft), 0)
    assert draft.id is None
    raw = entry_line(draft, "0000000a", "p", TIME)
    expected = {"type": given_draft["type"], "id": "0000000a", "parentId": "p", "timestamp": TIME} | given_draft
    if draft.type == "compaction":
        expected.setdefault("firstKeptEntryId", "0000000a")
    assert raw == json.dumps(expected, separators=(",", ":")).encode()
    assert isinstance(read_line(raw, 0), Head)
    assert same_content(draft, raw)


@pytest.mark.parametrize(
    "raw, path",
    [
        (b"", ""),
        (b"[]", ""),
        (b'"message"', ""),
        (b'{"type":"custom"', ""),
        (b'{"type":"custom","customType":"x","data":1e999}', ""),
        (b'{"type":"custom","customType":"x","data":NaN}', ""),
        (b'{"type":"custom","customType":"x","data":"\xff"}', ""),
        (b'{"type":"custom","customType":"x","data":' + b"[" * 500 + b"]" * 500 + b"}", ""),
        (b"{}", "type"),
        (b'{"type":5}', "type"),
        (b'{"type":""}', "type"),
        (b'{"type":"session","version":3,"id":"s"}', "type"),
        (b'{"type":"custom","customType":"x","parentId":null}', "parentId"),
        (b'{"type":"custom","customType":"x","timestamp":"now"}', "timestamp"),
        (b'{"type":"custom","customType":"x","id":5}', "id"),
        (b'{"type":"custom","customType":"x","id":null}', "id"),
        (b'{"type":"custom","customType":"x","id":""}', "id"),
        (b'{"type":"custom","customType":"x","id":"../../etc"}', "id"),
        (b'{"type":"custom","customType":"x","id":"a-"}', "id"),
        (b'{"type":"custom","customType":"x","id":"a\\n"}', "id"),
        (b'{"type":"custom","customType":"x","id":"' + b"a" * (MAX_ID_LENGTH + 1) + b'"}', "id"),
        (b'{"type":"message"}', "message.role"),
        (b'{"type":"message","message":"hi"}', "message.role"),
        (b'{"type":"message","message":{"role":5}}', "message.role"),
        (b'{"type":"model_change","provider":"p"}', "modelId"),
        (b'{"type":"thinking_level_change","thinkingLevel":3}', "thinkingLevel"),
        (b'{"type":"compaction","summary":"s"}', "tokensBefore"),
        (b'{"type":"compaction","summary":"s","tokensBefore":true}', "tokensBefore"),
        (b'{"type":"compaction","tokensBefore":1}', "summary"),
        (b'{"type":"compaction","summary":"s","tokensBefore":1,"firstKeptEntryId":null}', "firstKeptEntryId"),
        (b'{"type":"branch_summary","summary":"s"}', "fromId"),
        (b'{"type":"custom","data":1}', "customType"),
        (b'{"type":"custom_message","customType":"x"}', "content"),
        (b'{"type":"custom_message","customType":"x","content":null}', "content"),
        (b'{"type":"label","label":"L"}', "targetId"),
        (b'{"type":"label","targetId":"t","label":null}', "label"),
        (b'{"type":"session_info","name":1}', "name"),
        (b'{"type":"usage","usage":[]}', "usage"),
        (b'{"type":"context_edit","targetId":"t"}', "replacement"),
        (b'{"type":"context_edit","targetId":"t","replacement":"x"}', "replacement"),
        (b'{"type":"context_edit","targetId":"t","replacement":{"content":null}}', "replacement"),
        (b'{"type":"context_edit","targetId":"t","replacement":{}}', "replacement"),
    ],
)
def test_what_is_no_entry(raw: bytes, path: str) -> None:
    with pytest.raises(InvalidEntry) as refused:
        parse_draft(raw, 3)
    assert refused.value.data == {"index": 3, "path": path}


def test_too_many_values() -> None:
    for raw in (b'{"type":"later","x":[' + b"[]," * MAX_VALUES + b"[]]}", b"[" * (MAX_VALUES + 1)):
        with pytest.raises(TooLarge) as refused:
            parse_draft(raw, 0)
        assert refused.value.data == {"limit": "entryValues", "values": MAX_VALUES}
    parse_draft(dumps({"type": "later", "x": "," * (MAX_VALUES + 1)}), 0)


def test_bytes_stay_but_for_white_space() -> None:
    raw = (
        b'{ "type" : "custom", "customType":"x", "id":"mine", '
        b'"data":[1.0, 1E5, -0, "\\u0041\\ud83d", 12345678901234567890123] }'
    )
    draft = parse_draft(raw, 0)
    assert draft == Draft("custom", "mine", {"customType": b'"x"', "data": draft.members["data"]})
    assert draft.members["data"] == b'[1.0,1E5,-0,"\\u0041\\ud83d",12345678901234567890123]'
    assert draft.members["data"] in entry_line(draft, "mine", None, TIME)


def test_of_a_doubled_member_the_later_counts() -> None:
    draft = parse_draft(b'{"type":"session","type":"custom","customType":1,"customType":"x"}', 0)
    assert draft.type == "custom"
    assert entry_line(draft, "a", None, TIME).count(b"customType") == 1


def test_what_the_daemon_adds() -> None:
    draft = parse_draft(dumps({"type": "compaction", "summary": "s", "tokensBefore": 1}), 0)
    raw = entry_line(draft, "a", "p", TIME, {"systemMessage": b'{"role":"system"}'})
    assert list(members(raw))[-2:] == ["systemMessage", "firstKeptEntryId"]
    assert same_content(draft, raw)
    with_own = parse_draft(dumps({"type": "compaction", "summary": "s", "tokensBefore": 1, "systemMessage": {}}), 0)
    assert not same_content(with_own, raw)


@pytest.mark.parametrize(
    "data, same",
    [
        (b'{"b":[true,1],"a":"A\\u00e9"}', True),
        ('{"a":"Aé","b":[true,1]}'.encode(), True),
        (b'{"a":"A\\u00e9","b":[1,1]}', False),
        (b'{"a":"A\\u00e9","b":[true,1.0]}', False),
        (b'{"a":"A\\u00e9","b":[true,1],"c":null}', False),
        (b'{"a":"A\\u00e9"}', False),
    ],
)
def test_same_content(data: bytes, same: bool) -> None:
    draft = parse_draft(b'{"type":"custom","customType":"x","data":{"a":"A\\u00e9","b":[true,1]}}', 0)
    other = parse_draft(b'{"type":"custom","customType":"x","data":%s}' % data, 0)
    assert same_content(draft, entry_line(other, "a", None, TIME)) is same
    assert not same_content(draft, entry_line(Draft("later", None, draft.members), "a", None, TIME))
    assert not same_content(draft, entry_line(Draft("custom", None, {"customType": b'"x"'}), "a", None, TIME))


values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
reserved = {"type", "id", "parentId", "timestamp"}


@given(st.dictionaries(st.text().filter(lambda name: name not in reserved), values, max_size=4))
@settings(max_examples=150, deadline=None)
def test_any_unknown_kind_survives(content: dict[str, Any]) -> None:
    draft = parse_draft(dumps({"type": "later_kind"} | content), 0)
    raw = entry_line(draft, "a", None, TIME)
    assert same_content(draft, raw)
    found = members(raw)
    assert {name: found[name] for name in content} == {name: dumps(value) for name, value in content.items()}


@given(st.binary(max_size=30))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_a_draft_or_refused(raw: bytes) -> None:
    with pytest.raises(InvalidEntry):
        parse_draft(raw, 0)
