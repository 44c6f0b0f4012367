"""Framing: the messages that go in come out, however the bytes are cut, and what is no message is named."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_daemon.rpc.framing import SKIPPABLE_BYTES, Broken, Framer, frame
from pi_daemon.rpc.limits import Limits

SMALL = Limits(header_line_bytes=200, header_count=5, body_bytes=2000)


def reason(found: Sequence[bytes | Broken]) -> str | None:
    """What the one thing that was found is refused as."""
    (item,) = found
    assert isinstance(item, Broken)
    return None if item.refused is None else str(item.refused.error.data["reason"])


def in_pieces(framer: Framer, data: bytes, size: int) -> list[bytes | Broken]:
    return [item for at in range(0, len(data), size) for item in framer.feed(data[at : at + size])]


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: 2\r\n\r\n",
        b"content-length:2\r\n\r\n",
        b"CONTENT-LENGTH: \t2 \r\n\r\n",
        b"Content-Length: 002\r\n\r\n",
        b"Content-Length: 2\n\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n",
        b"Content-Length: 2\r\nX-Anything: a:b\r\n\r\n",
    ],
)
@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_forms_of_the_header(header: bytes, size: int) -> None:
    assert in_pieces(Framer(SMALL), (header + b"{}") * 3, size) == [b"{}"] * 3


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: +5\r\n\r\n",
        b"Content-Length: 0x10\r\n\r\n",
        b"Content-Length: 1e3\r\n\r\n",
        b"Content-Length: \r\n\r\n",
        b"Content-Length: " + b"9" * 400 + b"\r\n\r\n",
        b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n",
        b"Content-Length: 2\r\ncontent-length: 3\r\n\r\n",
        b"Content-Type: json\r\n\r\n",
        b"\r\n\r\n",
        b"no colon\r\n\r\n",
        b"Content Length: 2\r\n\r\n",
        b"X: " + b"a" * 1_000_000,
        b"X: " + b"a" * 1_000_000 + b"\r\n\r\n",
        b"".join(b"X-%d: a\r\n" % number for number in range(10_000)) + b"\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n",
        b'{"jsonrpc":"2.0","id":1,"method":"initialize"}\n',
    ],
)
def test_a_header_that_tells_no_length_ends_the_stream(header: bytes) -> None:
    for size in (len(header), 4096) if len(header) > 10_000 else (len(header), 1):
        framer = Framer(SMALL)
        found = in_pieces(framer, header, size)
        assert reason(found) == "parseError"
        assert isinstance(found[0], Broken) and found[0].fatal
        assert framer.feed(frame(b"{}")) == []


@pytest.mark.parametrize(
    "start",
    [
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1:1\r\n",
        b"GET / HTTP/1.1\r\n",
        b"GET",
        b"OPTIONS * HTTP/1.1\r\n",
        b"Host: 127.0.0.1\r\n",
        b"host",
        b"PROPFIND / HTTP/1.1\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"Content-Length: 2\r\nHost: a\r\n",
    ],
)
def test_http_gets_no_answer(start: bytes) -> None:
    for size in (1, len(start)):
        found = in_pieces(Framer(SMALL), start + (b" " if start == b"GET" else b""), size)
        assert reason(found) is None
        assert isinstance(found[0], Broken) and found[0].fatal


def test_an_empty_body_is_a_message() -> None:
    assert Framer(SMALL).feed(frame(b"", b"{}")) == [b"", b"{}"]


@pytest.mark.parametrize("size", [1, 100, 10_000])
def test_a_body_over_the_limit_is_read_past(size: int) -> None:
    large = b'{"jsonrpc":"2.0","id":"seven","params":"' + b"x" * 3000 + b'"}'
    found = in_pieces(Framer(SMALL), frame(b"1", large, b"2"), size)
    assert found[0] == b"1" and found[2] == b"2" and reason(found[1:2]) == "tooLarge"
    broken = found[1]
    assert isinstance(broken, Broken) and broken.refused is not None
    assert not broken.fatal and broken.refused.id == b'"seven"'


def test_a_body_beyond_all_measure_ends_the_stream() -> None:
    found = Framer(SMALL).feed(b"Content-Length: %d\r\n\r\n{" % (SKIPPABLE_BYTES + 1))
    assert reason(found) == "tooLarge"
    assert isinstance(found[0], Broken) and found[0].fatal


def test_a_body_that_never_comes_keeps_nothing_of_its_size() -> None:
    framer = Framer(Limits())
    assert framer.feed(b"Content-Length: 60000000\r\n\r\n{") == []
    assert framer.buffered < 100


@settings(max_examples=60, deadline=None)
@given(
    bodies=st.lists(st.binary(max_size=40), max_size=6),
    cuts=st.lists(st.integers(min_value=1, max_value=30), min_size=1, max_size=20),
    header=st.sampled_from([b"Content-Length: %d\r\n\r\n", b"x: y\r\ncontent-length:%d\n\n"]),
)
def test_any_cut_of_any_messages_gives_the_messages(bodies: list[bytes], cuts: list[int], header: bytes) -> None:
    """The messages do not depend on how their bytes are cut: feed(a) + feed(b) == feed(a + b), for every cut."""
    data = b"".join(header % len(body) + body for body in bodies)
    framer = Framer(SMALL)
    found: list[bytes | Broken] = []
    at = turn = 0
    while at < len(data):
        size = cuts[turn % len(cuts)]
        found += framer.feed(data[at : at + size])
        at, turn = at + size, turn + 1
    assert found == bodies
    assert framer.buffered == 0


@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=200), size=st.integers(min_value=1, max_value=50))
def test_any_bytes_give_the_same_however_they_are_cut(data: bytes, size: int) -> None:
    """Nonsense neither raises nor depends on the cut: the same messages, then the same end."""

    def shape(found: list[bytes | Broken]) -> list[object]:
        return [item if isinstance(item, bytes) else item.fatal for item in found]

    assert shape(in_pieces(Framer(SMALL), data, size)) == shape(Framer(SMALL).feed(data))
