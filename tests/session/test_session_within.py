"""Looking for a text in entries."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_daemon.session.rawjson import loads
from pi_daemon.session.within import Found, Needle, ids_in, texts_of
from tests.session.entries import answer, call, head, line, result, user


def found(query: str, raw: bytes) -> Found | None:
    return Needle(query).in_entry(head(raw), raw)


def message(role: str, **members: Any) -> bytes:
    return line("message", "m", None, message={"role": role, **members})


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        (user("a", None, "the Needle here"), "text"),
        (user("a", None, [{"type": "image"}, {"type": "text", "text": "nEEdle"}, 7]), "text"),
        (answer("a", None, [{"type": "thinking", "thinking": "a needle"}]), "thinking"),
        (answer("a", None, [call("1", "bash", deep=[{"command": "needle"}])]), "arguments"),
        (answer("a", None, [call("1", "needle")]), "arguments"),
        (result("a", None, "1", "a needle"), "result"),
        (message("bashExecution", command="find", output="a needle"), "command"),
        (message("branchSummary", summary="a needle"), "summary"),
        (message("system", content="", sections={"needle": None}), "text"),
        (line("custom_message", "a", None, customType="x", content="needle"), "text"),
        (line("compaction", "a", None, summary="needle"), "summary"),
        (line("compaction", "a", None, summary="", systemMessage={"role": "system", "content": "needle"}), "text"),
        (line("context_edit", "a", None, targetId="x", replacement={"content": "needle"}), "text"),
        (line("message", "a", None, message={"role": "toolResult", "content": [], "details": ["needle"]}), "details"),
        (line("compaction", "a", None, summary="", details={"readFiles": ["needle"]}), "details"),
        (line("custom_message", "a", None, customType="x", content="", details={"needle": 1}), "details"),
        (line("message", "a", None, message=["needle"]), "other"),
        (line("label", "a", None, targetId="x", label="needle"), "other"),
        (line("session_info", "a", None, name="needle"), "other"),
        (line("custom", "a", None, customType="x", data={"k": [1, "needle"]}), "other"),
        (line("later_kind", "a", None, anything={"needle": 1}), "other"),
    ],
)
def test_where_a_text_is_found(raw: bytes, place: str) -> None:
    what = found("needle", raw)
    assert what is not None and what.place == place
    assert found("haystack", raw) is None


@pytest.mark.parametrize(
    "raw",
    [
        result("needle", "needle", "needle"),
        answer("a", None, provider="needle"),
        line("custom", "needle", "needle"),
        line("label", "a", None, targetId="needle", label=7),
    ],
)
def test_what_no_model_reads_is_not_searched(raw: bytes) -> None:
    assert found("needle", raw) is None


LETTERS = st.text(st.sampled_from('aKk\u212aiI\u0130ß修İ"\\/\n\t é\ud83d😀'), max_size=6)


@given(LETTERS.filter(bool), LETTERS, st.booleans())
def test_the_look_at_the_bytes_misses_nothing(query: str, text: str, escaped: bool) -> None:
    import json

    entry = {"type": "message", "id": "a", "message": {"role": "user", "content": text}}
    try:
        raw = json.dumps(entry, ensure_ascii=escaped).encode()
    except UnicodeEncodeError:
        return
    assert (found(query, raw) is not None) == (query.lower() in text.lower())


def test_a_snippet_is_one_line_around_the_place() -> None:
    what = found("needle", user("a", None, f"{'x' * 500}\n\x1b[31m NEEDLE \ud83d\t{'y ' * 500}"))
    assert what is not None
    assert what.snippet.startswith("…x") and what.snippet.endswith("…") and len(what.snippet) < 140
    assert " [31m NEEDLE y" in what.snippet


def test_damaged_lines() -> None:
    raw = b'{"type":"message","id":"a4","parentId":"u3","message":{"role":"user","content":"Needle \xff'
    what = Needle("needle").in_damaged(raw)
    assert what is not None and what.place == "other" and "Needle \ufffd" in what.snippet
    assert Needle("other").in_damaged(raw) is None
    assert ids_in(raw) == ["a4"]
    assert ids_in(b'"id" : "\\u0061" "id":7 "id":"\xff"') == ["a"]


def test_a_value_of_any_size_is_looked_at_within_bounds() -> None:
    raw = line("custom", "a", None, data=[[n] for n in range(50_000)] + ["needle"])
    assert len(list(texts_of(head(raw), loads(raw)))) < 10_000
