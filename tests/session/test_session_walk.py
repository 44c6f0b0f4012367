"""Where values lie in JSON: against json itself."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pi_daemon.session.walk import Place, find, place_at, walk

strings = st.text(st.sampled_from('ab"\\/{}[],:\n\u00e9\U0001f44d\ud83d '), max_size=6)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | strings,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(strings, inner, max_size=4),
    max_leaves=12,
)


def paths(value: Any) -> list[tuple[tuple[str | int, ...], Any]]:
    """Every value with its path, the plain way."""
    found, waiting = [], [((), value)]
    while waiting:
        path, one = waiting.pop()
        found.append((path, one))
        inner = one.items() if isinstance(one, dict) else enumerate(one) if isinstance(one, list) else ()
        waiting += [((*path, name), below) for name, below in inner]
    return found


def encoded(value: Any, spaced: bool, ascii: bool) -> bytes:
    text = json.dumps(value, ensure_ascii=ascii, indent=1 if spaced else None)
    return text.encode(errors="surrogatepass")


@given(values, st.booleans(), st.booleans())
@settings(max_examples=300, deadline=None)
def test_every_value_is_found_where_it_lies(value: Any, spaced: bool, ascii: bool) -> None:
    data = encoded(value, spaced, ascii)
    for path, one in paths(value):
        if ascii or not any("\ud83d" in part for part in path if isinstance(part, str)):
            where = find(data, path)
            assert where is not None
            assert json.loads(data[where[0] : where[1]].decode(errors="surrogatepass")) == one


@given(values, st.booleans())
@settings(max_examples=300, deadline=None)
def test_every_byte_has_a_place(value: Any, spaced: bool) -> None:
    data = encoded(value, spaced, True)
    known = dict(paths(value))
    for offset in range(len(data) + 1):
        place = place_at(data, offset)
        assert place is not None and place.path in known
        if place.what == "name":
            assert json.loads(data[place.start : place.end]) == place.path[-1]
        elif place.what != "between":
            assert place.start <= offset <= place.end
            assert json.loads(data[place.start : place.end]) == known[place.path]
        else:
            assert isinstance(known[place.path], dict | list)


@given(values, st.data())
@settings(max_examples=200, deadline=None)
def test_a_beginning_gives_the_same_as_far_as_it_goes(value: Any, data: st.DataObject) -> None:
    whole = encoded(value, False, True)
    cut = data.draw(st.integers(0, len(whole)))
    tokens = [(what, start, end) for what, start, end, _ in walk(whole)]
    partial = [(what, start, end) for what, start, end, _ in walk(whole[:cut])]
    assert [token for token in partial if token[2] < cut] == [token for token in tokens if token[2] < cut]


@given(st.binary(max_size=30))
@example(b"]")
@example(b"{]")
@example(b'{"a":}')
@example(b"[,,1]")
@example(b'"a" "b"')
@settings(max_examples=500, deadline=None)
def test_anything_ends(data: bytes) -> None:
    assert all(0 <= start <= end <= len(data) for _, start, end, _ in walk(data))
    for offset in (0, len(data) // 2, len(data)):
        place_at(data, offset)


def test_deep_and_long() -> None:
    depth = 50_000
    data = b"[" * depth + b"1" + b"]" * depth
    place = place_at(data, depth)
    assert place is not None and place.path == (0,) * depth
    text = b'{"a":"' + b"\\u0061" * 1_000_000 + b'","id":"x"}'
    assert find(text, ("id",)) == (len(text) - 4, len(text) - 1)


LINE = b'{"id":"u1","m":[1,{}]}'


@pytest.mark.parametrize(
    ("offset", "place"),
    [
        (0, Place((), 0, 0, "between")),
        (1, Place(("id",), 1, 5, "name")),
        (5, Place(("id",), 1, 5, "name")),
        (8, Place(("id",), 6, 10, "string")),
        (10, Place(("id",), 6, 10, "string")),
        (15, Place(("m",), 15, 15, "between")),
        (16, Place(("m", 0), 16, 17, "other")),
        (17, Place(("m", 0), 16, 17, "other")),
        (19, Place(("m", 1), 19, 19, "between")),
        (99, None),
    ],
)
def test_places(offset: int, place: Place | None) -> None:
    assert place_at(LINE, offset) == place
