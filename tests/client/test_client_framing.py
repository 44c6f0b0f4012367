"""The client's framing and JSON by themselves."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pi_daemon_client import dumps, loads
from pi_daemon_client._framing import MAX_HEADER, FrameReader, FramingError, frame

BODIES = [b"{}", b"", b"\r\n\r\n", "ü\u2028".encode(), b"x" * 70_000]


@pytest.mark.parametrize("step", [1, 3, 1000, 1 << 20])
def test_bodies_come_out_whatever_the_pieces(step: int) -> None:
    stream = b"".join(map(frame, BODIES[: 4 if step < 10 else 5]))
    reader = FrameReader()
    bodies = [body for at in range(0, len(stream), step) for body in reader.feed(stream[at : at + step])]
    assert bodies == BODIES[: len(bodies)] and len(bodies) >= 4


def test_header_names_in_any_case_and_others_beside() -> None:
    stream = b"content-type: x\r\nCONTENT-LENGTH:  2 \r\n\r\n{}"
    assert list(FrameReader().feed(stream)) == [b"{}"]


@pytest.mark.parametrize(
    "stream",
    [
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: +5\r\n\r\n",
        b"Content-Length: 0x5\r\n\r\n",
        b"Content-Length: " + b"9" * 400 + b"\r\n\r\n",
        b"Content-Type: x\r\n\r\n",
        b"\r\n\r\n",
        b"y" * (MAX_HEADER + 1),
    ],
)
def test_what_is_no_frame_is_refused(stream: bytes) -> None:
    with pytest.raises(FramingError):
        list(FrameReader().feed(stream))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(10**40), max_value=10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=()), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
@settings(max_examples=60, deadline=None)
def test_json_comes_back_as_it_went(value: Any) -> None:
    assert loads(dumps(value)) == value


def test_json_of_great_depth() -> None:
    value: Any = 0
    for _ in range(500):
        value = [value]
    assert loads(dumps(value)) == value


@pytest.mark.parametrize("data", [b"{", b"NaN", b'"\xff"', b"[" * 100_000])
def test_what_is_no_json_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):
        loads(data)


def test_a_value_that_contains_itself() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(ValueError):
        dumps(value)
