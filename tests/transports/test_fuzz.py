"""Bytes of any kind into a connection without a transport.

What has to hold: nothing raises; each request gets exactly one answer, and what is no message exactly one as well,
until the stream or the connection ends; what JSON.parse takes is taken, to the depth limit and with finite numbers, and
comes back byte for byte. `PI_DAEMON_LONG=1` tries forty times as many.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from fake_service import FakeService
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_daemon.rpc import codec, connection
from pi_daemon.rpc.connection import Connection
from pi_daemon.rpc.errors import Refused
from pi_daemon.rpc.framing import Broken, Framer, frame
from pi_daemon.rpc.limits import Limits
from pi_daemon.session import outside, rawjson
from pi_daemon.transports.channel import deliver

EXAMPLES = 20_000 if os.environ.get("PI_DAEMON_LONG") == "1" else 500

fuzz = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
# the limit for one test is meant for short runs
pytestmark = pytest.mark.timeout(60 if EXAMPLES == 500 else 3600)

SMALL = Limits(header_line_bytes=200, header_count=5, body_bytes=2000)
INITIALIZE = b'{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"capabilities":{}}}'
ECHO = b'{"jsonrpc":"2.0","id":7,"method":"test/echo","params":{"value":%b}}'


class Sink:
    """A channel that keeps what it is sent. Nobody waits for a handshake over stdio."""

    name = "stdio"
    backlog = 0

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.closed = False

    def send(self, *messages: bytes) -> None:
        self.sent += messages

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def close(self) -> None:
        self.closed = True


def answers(items: Sequence[bytes | Broken]) -> tuple[list[dict[str, Any]], bool]:
    """What an initialized connection answers to these, and whether it closes. Raises what the connection raises."""

    async def main() -> tuple[list[dict[str, Any]], bool]:
        sink = Sink()
        unhandled: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: unhandled.append(context))
        service = FakeService(SMALL)
        served = service.connect(sink, None)
        served.receive(INITIALIZE)
        for item in items:
            deliver(item, served, sink.close)
        await settled(served)
        served.lost()
        assert unhandled == []
        return [json.loads(message) for message in sink.sent[1:]], sink.closed

    return asyncio.run(main())


async def settled(served: Connection) -> None:
    if served._checking is not None:
        await served._checking
    await served.settled()


# JSON

spaces = st.sampled_from([b"", b"", b" ", b"\t\r\n"])
plain_numbers = ["0", "-0", "1.0", "1E5", "-1e-400", "0e999", "1e308", "9" * 40, "9" * 308, "0." + "1" * 400]
numbers = st.sampled_from([*plain_numbers, "1e-" + "9" * 320, "1" * 4000 + "e-4000"]).map(str.encode)
texts = st.text(st.characters(exclude_categories=()), max_size=6)
strings = st.builds(lambda text, ascii: written(text, ascii), texts, st.booleans()) | st.sampled_from(
    [rb'"\ud83d"', rb'"\\ud83d"', rb'"\\\ude00\/"', b'"[{"', rb'"\"]"', b'"1e999"', rb'"\\"']
)


def written(text: str, ascii: bool) -> bytes:
    try:
        return json.dumps(text, ensure_ascii=ascii).encode()
    except UnicodeEncodeError:
        return json.dumps(text).encode()


def array(items: list[bytes], space: bytes) -> bytes:
    return b"[" + space + (space + b"," + space).join(items) + space + b"]"


def thing(items: list[tuple[bytes, bytes]], space: bytes) -> bytes:
    members = [name + space + b":" + space + value for name, value in items]
    return b"{" + space + (space + b"," + space).join(members) + space + b"}"


def nested(inside: bytes, depth: int) -> bytes:
    return b'[{"a":' * (depth // 2) + inside + b"}]" * (depth // 2)


values = st.recursive(
    st.sampled_from([b"null", b"true", b"false"]) | numbers | strings,
    lambda inner: st.one_of(
        st.builds(array, st.lists(inner, max_size=4), spaces),
        st.builds(thing, st.lists(st.tuples(strings, inner), max_size=4), spaces),
        st.builds(nested, inner, st.sampled_from([2, 40, 400, 490, 500, 1200])),
    ),
    max_leaves=10,
)
edits = st.lists(
    st.tuples(
        st.integers(0, 10_000),
        st.integers(0, 2),
        st.binary(max_size=2) | st.sampled_from([b'"', b"[", b"}", b",", b"\\"]),
    ),
    max_size=2,
)
ways = st.tuples(st.sampled_from([0, 16 * 1024]), st.sampled_from([3, 64 * 1024]), st.sampled_from([0, 256 * 1024]))
"""Below what size a value is built, in pieces of what size it is looked at, and beyond what size in a thread."""


def edited(data: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    for at, length, put in edits:
        at %= len(data) + 1
        data = data[:at] + put + data[at + length :]
    return data


def depth(data: bytes) -> int:
    now = most = 0
    for sign in re.sub(rb'"(?:\\.|[^"\\])*"', b"", data, flags=re.DOTALL):
        now += (sign in b"[{") - (sign in b"]}")
        most = max(most, now)
    return most


def javascript_takes(data: bytes) -> bool:
    """As Python's reader with the rules of JSON.parse does, and only with finite numbers of at most our depth."""

    def number(literal: str) -> float:
        found = float(literal)
        if math.isinf(found):
            raise ValueError
        return found

    def constant(name: str) -> None:
        raise ValueError

    if depth(data) > 500:
        return False
    try:
        json.loads(data.decode(), parse_constant=constant, parse_float=number, parse_int=number)
    except (ValueError, RecursionError):
        return False
    return not data.startswith(b"\xef\xbb\xbf")


@fuzz
@given(value=values, way=ways)
def test_what_javascript_takes_comes_back_as_it_went_in(value: bytes, way: tuple[int, int, int]) -> None:
    message = ECHO % value
    with set_to(way):
        found, closed = answers([message])
    assert len(found) == 1 and found[0]["id"] == 7 and not closed
    if javascript_takes(message):
        assert codec.result(b"7", {"value": codec.Raw(value)}) in raw_answers(message)
    else:
        assert found[0]["error"]["code"] in (1018, -32602)


def raw_answers(message: bytes) -> list[bytes]:
    """The same, as bytes."""

    async def main() -> list[bytes]:
        sink = Sink()
        served = FakeService(Limits()).connect(sink, None)
        served.receive(INITIALIZE)
        served.receive(message)
        await settled(served)
        served.lost()
        return sink.sent

    return asyncio.run(main())


@fuzz
@given(value=values, changes=edits, way=ways)
def test_damaged_json_is_taken_or_refused_and_answered_once(
    value: bytes, changes: list[tuple[int, int, bytes]], way: tuple[int, int, int]
) -> None:
    message = edited(ECHO % value, changes)
    with set_to(way):
        try:
            envelope = codec.decode(message)
        except Refused as refused:
            assert refused.error.code in (-32700, -32600, -32602, 1018)
            assert not javascript_takes(message) or refused.error.code == -32600
            wanted = 1
        else:
            assert javascript_takes(message)
            wanted = expected(envelope)
        found, _ = answers([message])
    assert len(found) == wanted


def expected(envelope: codec.Envelope) -> int:
    """How many answers it gets: a request one, a notification and an answer to us none, anything else one."""
    if envelope.method is codec.UNSET:
        return int(envelope.id is codec.UNSET or not (envelope.result or envelope.error))
    return int(envelope.id is not codec.UNSET)


def set_to(way: tuple[int, int, int]) -> Any:
    patch = pytest.MonkeyPatch()
    patch.setattr(rawjson, "_SMALL", way[0])
    patch.setattr(outside, "_PIECE", way[1])
    patch.setattr(connection, "CHECKED_AT_ONCE_BYTES", way[2])
    return Undone(patch)


class Undone:
    """A MonkeyPatch whose changes last as long as the block."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None:
        self._patch.undo()


# Framing


def request(number: int) -> bytes:
    return b'{"jsonrpc":"2.0","id":%d,"method":"test/echo","params":{"value":%d}}' % (number, number)


requests = st.lists(st.integers(0, 10_000), max_size=6, unique=True)
rubbish = st.one_of(
    st.binary(max_size=30),
    st.binary(max_size=30).map(frame),
    st.sampled_from(
        [
            *(b"Content-Length: %b\r\n\r\n" % size for size in (b"-1", b"+5", b"0", b"9" * 400, b"0x10", b"", b"1e3")),
            b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
            b"Content-Length: 3000\r\n\r\n" + b"x" * 3000,
            b"Content-Length: 3000\r\n\r\n" + b'{"id":"large","x":"' + b"x" * 2900,
            *(b"\r\n", b"\r\n\r\n", b"POST / HTTP/1.1\r\n", b"Host: a\r\n", b"X: " + b"a" * 300, b"X: a\r\n" * 7),
            *(frame(b""), frame(b"[]"), frame(b"[" * 1500), frame(b'{"jsonrpc":"2.0","method":"exit"}')),
            frame(b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}'),
        ]
    ),
)


def cut(data: bytes, cuts: list[int]) -> list[bytes]:
    pieces, at, turn = [], 0, 0
    while at < len(data):
        pieces.append(data[at : at + cuts[turn % len(cuts)]])
        at += len(pieces[-1])
        turn += 1
    return pieces


@fuzz
@given(
    numbers=requests,
    between=st.lists(rubbish, max_size=3),
    places=st.lists(st.integers(0, 6), min_size=3, max_size=3),
    cuts=st.lists(st.sampled_from([1, 2, 5, 17, 100, 5000]), min_size=1, max_size=6),
    way=ways,
)
def test_requests_among_rubbish_are_answered_once(
    numbers: list[int], between: list[bytes], places: list[int], cuts: list[int], way: tuple[int, int, int]
) -> None:
    parts = [frame(request(number)) for number in numbers]
    for place, piece in zip(places, between, strict=False):
        parts.insert(place, piece)
    framer = Framer(SMALL)
    items = [item for piece in cut(b"".join(parts), cuts) for item in framer.feed(piece)]
    with set_to(way):
        found, closed = answers(items)
    fatal = [item for item in items if isinstance(item, Broken) and item.fatal]
    assert not fatal or (items[-1] is fatal[0] and closed)
    reached = {item for item in items if isinstance(item, bytes)}
    counted = Counter(answer["id"] for answer in found)
    for number in numbers:
        assert counted[number] <= 1 and (request(number) in reached or not counted[number])
        if request(number) in reached and b'"exit"' not in b"".join(parts):
            assert counted[number] == 1
    if not between:
        assert [answer["result"]["value"] for answer in found] == numbers and not closed
