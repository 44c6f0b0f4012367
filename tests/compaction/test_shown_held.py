"""What a file must hold, followed from call to call."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_daemon.compaction.shown.held import EARLIER, PARTS, Held, _overlap, replaced
from pi_daemon.compaction.shown.tools import change, edits_of, look, written


def held(*calls: dict[str, Any]) -> Held:
    made = Held()
    for arguments in calls:
        change(made, arguments)
    return made


def test_after_a_write_the_whole_text_counts() -> None:
    made = held({"path": "a", "content": "one\ntwo\n"})
    assert made.compare("one\ntwo\n") == "same"
    assert made.compare("one\ntwo") == "changed"
    assert made.compare("one\r\ntwo\r\n") == "lineEnds"


def test_write_then_edits() -> None:
    made = held(
        {"content": "one\ntwo\n"}, {"oldText": "one", "newText": "1"}, {"edits": [{"oldText": "two", "newText": "2"}]}
    )
    assert made.compare("1\n2\n") == "same"
    assert made.compare("1\ntwo\n") == "undone"
    assert made.compare("one\ntwo\n") == "undone"
    assert made.compare("1\n2\n3\n") == "changed"


def test_an_edit_of_an_unknown_file_shows_parts_alone() -> None:
    made = held({"oldText": "def a(): pass", "newText": "def a(): return 1"})
    assert not made.complete
    assert made.compare("# whatever\ndef a(): return 1\nmore") == "same"
    assert made.compare("# whatever\ndef a(): return 2\n") == "changed"
    assert made.compare("# whatever\ndef a(): pass\n") == "undone"


def test_edit_after_edit_the_last_state_counts() -> None:
    made = held({"oldText": "a", "newText": "first second"}, {"oldText": "second", "newText": "third"})
    assert made.compare("x first third y") == "same"
    assert made.compare("x first second y") == "undone"


def test_an_edit_over_the_border_of_an_earlier_one() -> None:
    made = held({"oldText": "m", "newText": "abc\ndef\n"}, {"oldText": "def\nghi\n", "newText": "X\n"})
    assert made.compare("abc\nX\n") == "same"
    assert made.compare("X\n") == "changed"


def test_an_edit_that_takes_in_an_earlier_one() -> None:
    made = held({"oldText": "m", "newText": "inner"}, {"oldText": "outer inner outer", "newText": "new"})
    assert made.compare("a new b") == "same"


def test_a_text_taken_out() -> None:
    made = held({"oldText": "debug()\n", "newText": ""})
    assert made.compare("x\n") == "same"
    assert made.compare("x\ndebug()\n") == "undone"


def test_an_edit_that_does_not_fit_what_was_known() -> None:
    made = held({"content": "one\n"}, {"oldText": "formatted", "newText": "better"})
    assert made.compare("one; better") == "same"


def test_a_read_of_everything_is_knowledge() -> None:
    made = held({"content": "a=1\n"})
    assert look(made, {"path": "f"}, "a = 1\n")  # a formatter came between
    assert made.compare("a = 1\n") == "same" == made.compare("a = 1")
    change(made, {"oldText": "1", "newText": "2"})
    assert made.compare("a = 2\n") == "same"


@pytest.mark.parametrize(
    "notice",
    [
        "\n\n[12 more lines in file. Use offset=3 to continue.]",
        "\n\n... (620 more lines not shown. Use offset=7 to continue reading)",
        "\n\n[Showing lines 1-2 of 14 (50KB limit). Use offset=3 to continue.]",
    ],
)
def test_a_read_of_a_part(notice: str) -> None:
    made = Held()
    assert look(made, {"path": "f"}, "one\ntwo" + notice)
    assert made.compare("one\ntwo\nthree\n") == "same"
    assert made.compare("one\nTWO\nthree\n") == "changed"


def test_a_read_that_shows_no_text() -> None:
    made = Held()
    assert not look(made, {}, None)
    assert not look(made, {}, "[Line 1 is 99KB, exceeds 50KB limit. Use bash: sed ...]")
    assert not look(made, {}, "Read image file [image/png]")
    assert made.compare("x") == "unknown"


def test_calls_that_are_not_understood_end_what_is_known() -> None:
    made = held({"content": "one\n"}, {"patch": "@@"})
    assert made.compare("one\n") == "unknown"
    assert edits_of({"edits": "half \ud83d"}) is None
    assert edits_of({"edits": "no json"}) is None and edits_of({"edits": [{"oldText": "a"}]}) is None
    assert edits_of({"edits": '[{"oldText":"a","newText":"b"}]'}) == [("a", "b")]
    assert edits_of({"edits": {"oldText": "a", "newText": "b"}, "oldText": "c", "newText": "d"}) == [
        ("a", "b"),
        ("c", "d"),
    ]
    assert edits_of({"old_string": "a", "new_string": "b"}) == [("a", "b")]
    assert edits_of({"old_string": "a", "new_string": "b", "replace_all": True}) is None
    assert written({"content": "half \ud83d"}) == "half \ufffd"


def test_replacing_is_by_the_text_as_it_was() -> None:
    assert replaced("a b", [("a", "b"), ("b", "a")]) == "b a"
    assert replaced("a a", [("a", "b")]) is None and replaced("a", [("", "b")]) is None
    assert replaced("abc", [("ab", "1"), ("bc", "2")]) is None


def test_what_is_kept_is_bounded() -> None:
    made = Held()
    for number in range(PARTS + 50):
        change(made, {"oldText": f"<{number}>", "newText": f"[{number}]"})
    assert made.compare("".join(f"[{number}]" for number in range(50, PARTS + 50))) == "same"
    change(made, {"content": "0"})
    for number in range(EARLIER + 5):
        change(made, {"oldText": str(number), "newText": str(number + 1)})
    assert made.compare(str(EARLIER + 5)) == "same"
    assert made.compare("3") == "changed" and made.compare("9") == "undone"


texts = st.text(alphabet="ab\n", max_size=12)


@given(texts, st.lists(st.tuples(texts, texts), max_size=8), st.booleans())
def test_edits_that_were_made_are_found(start: str, edits: list[tuple[str, str]], known: bool) -> None:
    """Whatever edits are made, the file that they made is as they left it."""
    made = Held()
    if known:
        made.write(start)
    text = start
    for old, new in edits:
        after = replaced(text, [(old, new)])
        if after is not None and (new.strip() or old not in after):
            made.edit([(old, new)])
            text = after
    if made.known:
        assert made.compare(text) == "same"


@given(st.text("ab", max_size=40), st.text("ab", max_size=40))
def test_where_two_texts_overlap(before: str, after: str) -> None:
    sizes = range(1, min(len(before), len(after)) + 1)
    assert _overlap(before, after) == max((size for size in sizes if before.endswith(after[:size])), default=0)


def test_many_long_edits_of_a_file_that_is_not_known() -> None:
    held = Held()
    for number in range(2_000):
        held.edit([(f"{number}" + "ab" * 1_500, f"{number}" + "cab" * 1_000)])
    assert held.compare("".join(f"{number}" + "cab" * 1_000 for number in range(2_000))) == "same"
