"""Characters of a line ↔ its bytes, and lines ↔ entries: the plain way, compared."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_daemon.documents.lines import LineIndex
from pi_daemon.documents.positions import ENCODINGS, Encoding, byte_at, characters, negotiate, units
from pi_daemon.documents.uris import path_of, uri_of
from pi_daemon.session.head import Head

TEXT = st.text(st.sampled_from("aé€\U0001f44d\U0001f469\u200d"), max_size=12)


def size(text: str, encoding: Encoding) -> int:
    if encoding == "utf-16":
        return len(text.encode("utf-16-le")) // 2
    return len(text.encode()) if encoding == "utf-8" else len(text)


@given(TEXT, st.sampled_from(ENCODINGS))
@settings(max_examples=300, deadline=None)
def test_characters_and_bytes(text: str, encoding: Encoding) -> None:
    line = text.encode()
    places = [len(text[:count].encode()) for count in range(len(text) + 1)]
    wanted = [size(text[:count], encoding) for count in range(len(text) + 1)]
    assert characters(line, places, encoding) == wanted
    assert units(line, encoding) == wanted[-1]
    for place, character in zip(places, wanted, strict=True):
        assert byte_at(line, character, encoding) == place
    assert byte_at(line, wanted[-1] + 9, encoding) == len(line)


def test_a_position_within_a_character_is_its_begin() -> None:
    line = "a\U0001f44db".encode()
    assert [byte_at(line, character, "utf-16") for character in range(5)] == [0, 1, 1, 5, 6]
    assert [byte_at(line, character, "utf-8") for character in range(7)] == [0, 1, 1, 1, 1, 5, 6]
    assert [byte_at(line, character, "utf-32") for character in range(4)] == [0, 1, 5, 6]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_bytes_that_are_no_utf8_count_one_each(encoding: Encoding) -> None:
    line = b'"\xff\xed\xa0\x80" x'
    place = line.index(b"x")
    assert units(line[:place], encoding) == 7
    assert byte_at(line, 7, encoding) == place


@pytest.mark.parametrize(
    ("offered", "taken"),
    [
        (None, "utf-16"),
        ([], "utf-16"),
        (["utf-7"], "utf-16"),
        (["utf-8", "utf-16"], "utf-8"),
        (["utf-16", "utf-8"], "utf-16"),
        (["x", "utf-32"], "utf-32"),
        ("utf-8", "utf-16"),
        ([None, {}], "utf-16"),
    ],
)
def test_the_encoding_is_the_clients_choice(offered: object, taken: str) -> None:
    assert negotiate(offered) == taken


LINES = st.lists(st.tuples(st.booleans(), st.sampled_from((b"\n", b"\r\n"))), max_size=12)
ENTRY = b'{"id":1}'


@given(LINES, st.binary(max_size=0) | st.just(b"\xef\xbb\xbf"), st.booleans(), st.integers(1, 5))
@settings(max_examples=300, deadline=None)
def test_lines_of_entries(lines: list[tuple[bool, bytes]], mark: bytes, ended: bool, step: int) -> None:
    """Entries and other lines (blank, broken) in any order, line ends of both kinds, read in several steps."""
    file, heads, wanted = mark + b'{"type":"session"}\n', [], []
    for number, (entry, end) in enumerate(lines, 1):
        if entry:
            heads.append(Head("custom", f"e{number}", None, "", len(file), len(ENTRY), None))
            wanted.append(number)
        file += (ENTRY if entry else b"" if number % 2 else b"broken") + end
    if not ended:
        file = file.rstrip()
    index = LineIndex()
    for start in range(0, len(heads), step):
        part = heads[start : start + step]
        assert index.holds(heads)
        index.extend(part, [file[offset : offset + length] for offset, length in index.unknown(part)])
    assert list(index.lines) == wanted
    assert [index.line_of(head) for head in heads] == wanted
    for number in range(len(lines) + 3):
        head = index.on_line(number)
        assert (head.id if head is not None else None) == (f"e{number}" if number in wanted else None)
    assert index.between(2, 4) == [(head, line) for head, line in zip(heads, wanted, strict=True) if 2 <= line <= 4]
    for offset in range(len(file)):
        place, line = index.before(offset)
        assert place <= offset and line + file[place:offset].count(b"\n") == file[:offset].count(b"\n")


def test_only_what_lies_between_is_read() -> None:
    heads = [Head("custom", str(place), None, "", 100 + 10 * place, 9, None) for place in range(5)]
    heads.append(Head("custom", "far", None, "", 200, 9, None))
    assert LineIndex().unknown(heads) == [(0, 100), (149, 51)]


def test_entries_that_were_moved_are_noticed() -> None:
    heads = [Head("custom", str(place), None, "", 100 + 10 * place, 9, None) for place in range(3)]
    index = LineIndex()
    index.extend(heads, [b"\n"])
    assert index.holds(heads) and index.holds([*heads, Head("custom", "x", None, "", 130, 9, None)])
    assert not index.holds(heads[:2])
    heads[-1].offset += 5
    assert not index.holds(heads)


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1, max_size=20))
def test_paths_and_uris(name: str) -> None:
    path = f"/s/{name}"
    uri = uri_of(path)
    assert uri.isascii() and path_of(uri) == path
    assert path_of(uri.replace("file://", "file:")) == path_of(uri.replace("file://", "file://localhost")) == path


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("untitled:Untitled-1", None),
        ("http://x/a.jsonl", None),
        ("file://other/a", None),
        ("file:///a%00b", None),
        ("file://[", None),
        ("", None),
        ("file:relative", None),
        ("file:///" + "a/" * 500_000, None),
        ("file:///a%20b#c", "/a b#c"),
        ("FILE:///a", "/a"),
        ("file:///c%C3%A9.jsonl", "/cé.jsonl"),
    ],
)
def test_odd_uris(uri: str, path: str | None) -> None:
    assert path_of(uri) == path
