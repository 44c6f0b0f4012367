"""JSON as bytes: what passes, what is refused, and that nothing which passes is changed."""

from __future__ import annotations

import json
import math
import re
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_daemon.session import outside
from pi_daemon.session.rawjson import (
    MAX_VALUES,
    BadJson,
    check,
    compact,
    dumps,
    elements,
    is_utf8,
    join,
    loads,
    members,
    too_deep,
    too_many,
)

SURROGATE = b'"\\ud83d"'
LONG = b"123456789012345678901234567890"

strings = st.text(st.characters(exclude_categories=()), max_size=8)
numbers = st.integers(-(10**40), 10**40) | st.floats(allow_nan=False, allow_infinity=False)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | strings,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(strings, inner, max_size=4),
    max_leaves=12,
)

NOT_JSON = (
    b"",
    b" ",
    b"{",
    b"[1,]",
    b'{"a":1,}',
    b"[01]",
    b"[1.]",
    b"[.5]",
    b"[+1]",
    b"[NaN]",
    b"[Infinity]",
    b"[-Infinity]",
    b'["\x01"]',
    b'["\n"]',
    b'["\\x"]',
    b'["\\u12"]',
    b"[1]x",
    b"[1 2]",
    b"{1:2}",
    b"\xef\xbb\xbf[]",
    b"[1]\x00",
    b"[tru]",
    b"[1\x0b]",
    b"['a']",
    b"[--1]",
    b'{"a":"\\ud83d",}',
    b'{"a":"\\ud83d" "b"}',
    b'["\\ud83d",]',
)


@pytest.mark.parametrize("data", NOT_JSON)
def test_what_javascript_refuses_is_refused(data: bytes) -> None:
    for read in (loads, compact, members, elements):
        with pytest.raises(BadJson) as refused:
            read(data)
        assert refused.value.kind == "notJson"


@pytest.mark.parametrize("data", [b'"\xff"', b'"\xed\xa0\x80"', b'{"\xff":1}', b'["\xc3\x28", "\\ud83d"]'])
def test_utf8_is_checked(data: bytes) -> None:
    for read in (loads, compact):
        with pytest.raises(BadJson) as refused:
            read(data)
        assert refused.value.kind == "notUtf8"


@given(
    st.binary(max_size=6), st.integers(24_569, 24_579), st.sampled_from(["", "é", "修", "😀"]), st.binary(max_size=3)
)
@settings(max_examples=300, deadline=None)
def test_utf8_piece_by_piece(before: bytes, length: int, char: str, after: bytes) -> None:
    data = before + b"x" * length + (char * 3000).encode() + after
    try:
        data.decode()
        expected = True
    except UnicodeDecodeError:
        expected = False
    assert is_utf8(data) is expected


@pytest.mark.parametrize("opening, closing", [(b"[", b"]"), (b'{"a":', b"}"), (b'{"a":[', b"]}")])
@pytest.mark.parametrize("inside", [b"1", SURROGATE, b'"' + b"[" * 600 + b'"', b'"\\"[[[\\\\"'])
def test_depth(opening: bytes, closing: bytes, inside: bytes) -> None:
    steps = 500 // opening.count(b"[") if opening == b"[" else 500 // (opening.count(b"{") + opening.count(b"["))
    fits = opening * steps + inside + closing * steps
    assert not too_deep(fits)
    compact(fits)
    loads(fits)
    deeper = b"[" + fits + b"]"
    assert too_deep(deeper)
    for read in (loads, compact):
        with pytest.raises(BadJson) as refused:
            read(deeper)
        assert refused.value.kind == "tooDeep"


@pytest.mark.parametrize("read", [loads, check, compact])
def test_depth_that_a_second_member_of_the_name_hides(read: Any) -> None:
    with pytest.raises(BadJson) as refused:
        read(b'{"a":' + b"[" * 500 + b"]" * 500 + b',"a":null}')
    assert refused.value.kind == "tooDeep"


@pytest.mark.parametrize("depth", [5_000, 1_000_000])
@pytest.mark.parametrize("closed", [True, False])
def test_very_deep_is_no_crash(depth: int, closed: bool) -> None:
    data = b"[" * depth + (b"]" * depth if closed else b"")
    for read in (loads, compact, elements):
        with pytest.raises(BadJson):
            read(data)
    with pytest.raises(BadJson):
        members(b'{"a":' * depth)


class Watched(bytes):
    """Knows how far it was looked at; what takes all of it at once fails. `seen` is counted in bytes from the start."""

    seen = 0

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        Watched.seen = max(Watched.seen, key.stop if isinstance(key, slice) else key + 1)
        return found

    def _whole(self, *_: Any) -> Any:
        raise AssertionError("all of it was looked at")

    replace = translate = split = count = find = isascii = decode = _whole


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"\\\\":"\\"[[","a":', b'{"":[', b'["[{",'])
def test_too_deep_is_known_from_the_beginning(opening: bytes) -> None:
    """However much follows, no more than the first brackets are looked at."""
    Watched.seen = 0
    with pytest.raises(BadJson) as refused:
        check(Watched(opening * 1_000_000))
    assert refused.value.kind == "tooDeep" and Watched.seen < 200_000


@given(
    st.lists(
        st.sampled_from([b"[", b"]", b"[]", b'{"[":', b"}", b"[" * 30, b"]" * 30, b'"\\\\\\"[",', b'"]]",']),
        max_size=30,
    ),
    st.integers(1, 9),
    st.integers(0, 90),
)
@settings(max_examples=400, deadline=None)
def test_depth_does_not_depend_on_how_it_is_cut(parts: list[bytes], size: int, limit: int) -> None:
    data = b"".join(parts)
    depth = deepest = 0
    for sign in re.sub(rb'"(\\.|[^"\\])*"', b"", data):
        depth += (sign in b"[{") - (sign in b"]}")
        deepest = max(deepest, depth)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outside, "_PIECE", size)
        assert outside.deeper_than(data, limit) is (deepest > limit)


@given(
    st.lists(
        st.sampled_from([b"1", b"1e999", b"1e308", b'"1e999\\\\"', b"9" * 310, b"-0.%s" % (b"1" * 400), b"1e-999"])
    )
)
@settings(max_examples=200, deadline=None)
def test_numbers_do_not_depend_on_how_they_are_cut(values: list[bytes]) -> None:
    expected = any(value in (b"1e999", b"9" * 310) for value in values)
    with pytest.MonkeyPatch.context() as patch:
        for size in (1, 7, 64 * 1024):
            patch.setattr(outside, "_PIECE", size)
            assert outside.infinite(b"[" + b",".join(values) + b"]") is expected


MANY = MAX_VALUES // 2


@pytest.mark.slow
@pytest.mark.parametrize("after", [b"", SURROGATE + b" ,", b'"\\\\\\"[,[" ,'])
def test_very_many_values_are_not_built(after: bytes) -> None:
    """They go another way through the same rules."""
    wide = b"[" + after + b"[],[ ]," * MANY + b"[]]"
    assert not too_deep(wide)
    assert compact(wide) == wide.replace(b" ", b"")
    assert too_many(wide)
    towers = (b"[" * 499 + b"]" * 499 + b",") * 600
    assert not too_deep(b"[" + after + towers + b"[]]")
    assert too_deep(b"[" + after + towers + b"[" * 500 + b"]" * 500 + b"]")
    for wrong, kind in (
        (b"[],]", "notJson"),
        (b'"\xff"]', "notUtf8"),
        (b"1e999]", "notFinite"),
        (b"[" * 501, "tooDeep"),
    ):
        with pytest.raises(BadJson) as refused:
            compact(wide[:-3] + wrong)
        assert refused.value.kind == kind


def test_how_many_are_too_many() -> None:
    assert not too_many(b"[" + b"1," * (MAX_VALUES - 2) + b"1]")
    assert too_many(b"[" + b"1," * (MAX_VALUES - 1) + b"1]")
    assert not too_many(dumps(["," * MAX_VALUES, "[" * MAX_VALUES]))


def test_a_wide_value_is_not_deep() -> None:
    assert not too_deep(b"[" + b"[]," * 10_000 + b"[]]")
    assert not too_deep(b"[" + b'{"a":"\\ud83d"},' * 10_000 + b"[]]")


@given(values)
@settings(max_examples=200, deadline=None)
def test_dumps_and_loads(value: Any) -> None:
    raw = dumps(value)
    assert same(loads(raw), value)
    assert compact(raw) == raw
    raw.decode()


@given(values, st.sampled_from(["", " ", "\t", "\r\n  "]))
@settings(max_examples=200, deadline=None)
def test_compact_takes_white_space_out_and_nothing_else(value: Any, space: str) -> None:
    raw = dumps(value)
    loose = json.dumps(value, indent=space, ensure_ascii=False).encode("utf-8", "backslashreplace")
    assert compact(loose) == raw


@given(st.dictionaries(strings, values, max_size=4))
@settings(max_examples=200, deadline=None)
def test_members(value: dict[str, Any]) -> None:
    raw = dumps(value)
    parts = members(raw)
    assert list(parts) == list(value)
    assert all(same(loads(part), value[name]) for name, part in parts.items())
    assert join(parts) == raw


@given(st.lists(values, max_size=4))
@settings(max_examples=100, deadline=None)
def test_elements(value: list[Any]) -> None:
    parts = elements(dumps(value))
    assert b"[" + b",".join(parts) + b"]" == dumps(value)


@given(st.binary(max_size=12) | st.text('{}[]",:\\u01e.-dD8 ', max_size=12).map(str.encode))
@settings(max_examples=500, deadline=None)
def test_any_bytes_are_read_as_python_reads_them_or_refused(data: bytes) -> None:
    """Python's own reader is as strict but for NaN, Infinity, encodings and integers beyond 4,300 digits."""
    try:
        expected = json.loads(data.decode(), parse_constant=lambda name: 1 / 0)
    except (ValueError, ZeroDivisionError):
        with pytest.raises(BadJson):
            loads(data)
        return
    assert same(loads(data), expected)


@given(st.text('{}[]",:\\\\ud8e.-+109 tru', max_size=14).map(str.encode), st.sampled_from([b"", b',"\\ud83d"']))
@settings(max_examples=500, deadline=None)
def test_compact_refuses_what_loads_refuses(inside: bytes, after: bytes) -> None:
    data = b"[1" + inside + after + b"]"
    try:
        value = loads(data)
    except BadJson as refused:
        with pytest.raises(BadJson) as too:
            compact(data)
        assert too.value.kind == refused.kind
        return
    assert same(loads(compact(data)), value)


def test_literals_stay() -> None:
    raw = b'[1.0,1E5,-0,%s,"\\u0041\\/",{"b":1,"a":2}]' % LONG
    assert compact(raw) == raw
    assert compact(raw.replace(b",", b" , ")) == raw
    with_surrogate = raw[:-1] + b"," + SURROGATE + b"]"
    assert compact(with_surrogate.replace(b",", b" ,\n")) == with_surrogate
    assert elements(with_surrogate)[3] == LONG


def test_integers_keep_their_digits() -> None:
    assert loads(LONG) == int(LONG)
    assert dumps(int(LONG)) == LONG
    assert loads(b"[%s,%s]" % (LONG, SURROGATE)) == [int(LONG), "\ud83d"]
    assert loads(b"9" * 5_000) == math.inf


def test_numbers_that_are_not_finite() -> None:
    infinite = [b"1e999", b"-1E+0999", b"9" * 310, b"9" * 300 + b"e10", b"9" * 308 + b".5e1", b"9" * 5_000]
    finite = [
        b"0." + b"1" * 400,
        b"-0.5e-" + b"9" * 400,
        b"1e308",
        b"0e999",
        b"1e-999",
        b"9" * 308,
        b"9" * 400 + b"e-200",
        b"9" * 300 + b"e5",
        b"1e08",
    ]
    for after in (b"", b"," + SURROGATE, b',"a","b"' * 4000):
        for raw in infinite:
            with pytest.raises(BadJson) as refused:
                compact(b"[%s%s]" % (raw, after))
            assert refused.value.kind == "notFinite"
        for raw in finite:
            assert compact(b"[%s%s]" % (raw, after)) == b"[%s%s]" % (raw, after)
    assert loads(b"[1e999]") == [math.inf]
    assert elements(b"[1e999]") == [b"1e999"]
    for value in (math.nan, math.inf):
        with pytest.raises(ValueError):
            dumps(value)


def test_of_two_members_with_one_name_the_later_counts() -> None:
    for inside in (b"2", SURROGATE):
        assert members(b'{"a":1,"b":3,"a":%s}' % inside) == {"a": inside, "b": b"3"}


@pytest.mark.parametrize("data", [b"[]", b"1", b'"a"', b"null", SURROGATE, b"[%s]" % SURROGATE])
def test_members_of_no_object(data: bytes) -> None:
    with pytest.raises(BadJson):
        members(data)


@pytest.mark.parametrize("data", [b"{}", b"1", b"null", SURROGATE, b'{"a":%s}' % SURROGATE])
def test_elements_of_no_array(data: bytes) -> None:
    with pytest.raises(BadJson):
        elements(data)


def test_a_lone_surrogate_is_written_as_its_escape() -> None:
    assert dumps("x\ud83dé") == "x\\ud83dé".join('""').encode()
    assert loads(dumps("\ud83d\ude00")) == "😀"


def test_a_refusal_names_no_content() -> None:
    with pytest.raises(BadJson) as refused:
        loads(b'{"password":"hunter2"')
    assert "hunter2" not in str(refused.value)


def same(a: Any, b: Any) -> bool:
    """Equal, and of equal types throughout."""
    return repr(a) == repr(b) or repr(a).replace("-0.0", "0.0") == repr(b).replace("-0.0", "0.0")


def test_the_recursion_limit_is_left_alone() -> None:
    assert sys.getrecursionlimit() <= 1_000
