"""Open documents are opened again with the text that the client sees."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_daemon.daemon.bridge import documents
from pi_daemon.daemon.bridge.documents import OpenDocuments, apply

TEXT = st.text(st.sampled_from("ab\n\r\u00e9\U0001f44d"), max_size=8)


def units(text: str) -> list[bytes]:
    data = text.encode("utf-16-le")
    return [data[place : place + 2] for place in range(0, len(data), 2)]


def text_of(parts: list[bytes]) -> str:
    return b"".join(parts).decode("utf-16-le")


def places(text: str) -> list[tuple[dict[str, int], int]]:
    """Every position that a client may name, and how many code units lie before it: the plain way."""
    found = []
    line = character = count = 0
    previous = ""
    for letter in text:
        if previous == "\r" and letter != "\n":
            line, character = line + 1, 0
        found.append(({"line": line, "character": character}, count))
        size = len(units(letter))
        if letter == "\n":
            if previous == "\r":
                found.pop()  # between the two there is no position
            line, character = line + 1, 0
        elif letter != "\r":
            character += size
        count += size
        previous = letter
    if previous == "\r":
        line, character = line + 1, 0
    found.append(({"line": line, "character": character}, count))
    return found


@given(TEXT, st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99), TEXT), max_size=4))
@settings(max_examples=300, deadline=None)
def test_changes_of_parts(text: str, edits: list[tuple[int, int, str]]) -> None:
    wanted, changes = text, []
    for one, other, new in edits:
        known = places(wanted)
        (start, first), (end, last) = sorted((known[one % len(known)], known[other % len(known)]), key=lambda at: at[1])
        changes.append({"range": {"start": start, "end": end}, "text": new})
        wanted = text_of([*units(wanted)[:first], *units(new), *units(wanted)[last:]])
    assert apply(text, changes) == wanted


def test_positions_beyond_the_end_are_the_end() -> None:
    far = {"line": 9, "character": 9}
    assert apply("a\nb", [{"range": {"start": far, "end": far}, "text": "c"}]) == "a\nbc"
    at = {"line": 0, "character": 99}
    assert apply("a\nb", [{"range": {"start": at, "end": at}, "text": "c"}]) == "ac\nb"


def follow(opened: OpenDocuments, method: str, uri: str = "u", **members: Any) -> None:
    document = {
        "uri": uri,
        **{name: members.pop(name) for name in ("languageId", "version", "text") if name in members},
    }
    opened.follow(f"textDocument/{method}", json.dumps({"textDocument": document, **members}).encode())


def contents(opened: OpenDocuments) -> dict[str, tuple[int, str]]:
    """What a daemon knows after it was sent the messages."""
    known: dict[str, tuple[int, str]] = {}
    for message in map(json.loads, opened.messages()):
        document = message["params"]["textDocument"]
        text = document["text"] if "text" in document else known[document["uri"]][1]
        known[document["uri"]] = document["version"], apply(text, message["params"].get("contentChanges", []))
    return known


def insert(line: int, text: str) -> dict[str, Any]:
    at = {"line": line, "character": 0}
    return {"range": {"start": at, "end": at}, "text": text}


def test_many_changes_are_not_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "KEPT_BYTES", 1000)
    opened = OpenDocuments()
    follow(opened, "didOpen", languageId="jsonl", version=0, text="")
    text = ""
    for version in range(1, 500):
        line = f"{version}\n"
        follow(opened, "didChange", version=version, contentChanges=[insert(0, line)])
        text = line + text
        assert sum(map(len, opened.messages())) < 3 * (1000 + len(text))
        assert version % 50 or contents(opened) == {"u": (version, text)}
    assert b'"languageId":"jsonl"' in opened.messages()[0]


def test_a_whole_text_replaces_what_was_before() -> None:
    opened = OpenDocuments()
    follow(opened, "didOpen", languageId="jsonl", version=1, text="old")
    follow(opened, "didChange", version=2, contentChanges=[insert(0, "x"), {"text": "new \ud83d"}])
    assert len(opened.messages()) == 1
    assert contents(opened) == {"u": (2, "new \ud83d")}
    follow(opened, "didChange", version=3, contentChanges=[{"text": "a"}, insert(0, "b"), insert(0, "c")])
    assert contents(opened) == {"u": (3, "cba")}
    follow(opened, "didClose")
    assert opened.messages() == []


def test_each_document_for_itself() -> None:
    opened = OpenDocuments()
    for uri in ("a", "b", "c"):
        follow(opened, "didOpen", uri, languageId="jsonl", version=1, text=uri)
    follow(opened, "didClose", "b")
    follow(opened, "didChange", "b", version=2, contentChanges=[{"text": "gone"}])
    follow(opened, "didChange", "c", version=7, contentChanges=[{"text": "changed"}])
    assert contents(opened) == {"a": (1, "a"), "c": (7, "changed")}
