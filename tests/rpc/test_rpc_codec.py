"""The codec: what JSON.parse takes comes through as it is; anything else is named, with the id it came with."""

from __future__ import annotations

import json
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET, Raw, UnsetType, field

from pi_daemon.rpc import codec, errors, lenient
from pi_daemon.rpc.errors import Refused
from pi_daemon.rpc.types.base import Wire
from pi_daemon.rpc.types.entries import AppendParams, EditContextParams
from pi_daemon.session import errors as session_errors
from pi_daemon.session import rawjson
from pi_daemon.session.errors import InvalidParams, PiDaemonError


class Inner(Wire, kw_only=True):
    deep_name: str


class Params(Wire, kw_only=True):
    session_id: str
    items: list[Raw] = field(default_factory=list)
    inner: Inner | None = None
    kind: Literal["a", "b"] = "a"
    limit: int | UnsetType = UNSET
    many: dict[str, int] = field(default_factory=dict)


def refusal(message: bytes) -> tuple[int, str, bytes]:
    with pytest.raises(Refused) as caught:
        codec.decode(message)
    error = caught.value.error
    return error.code, error.data["reason"], caught.value.id


ODD_VALUES = [
    rb'"\ud83d"',
    rb'"\ude00 \ud83d\ude00"',
    b"123456789012345678901234567890",
    b"-0",
    b"1.0",
    b"1e-400",
    b'{"jsonrpc":1,"type_name":{"jsonrpc":"3.0"},"method":5}',
    b'{"a":1,"a":2}',
    '"\u2028\U0001f600"'.encode(),
    rb'"\u0000"',
    b"[" * 400 + b"]" * 400,
    b'{ "spaced" :\t[ 1 ,\r\n2 ] }',
    b"null",
    b"1" * 308,
]


@pytest.mark.parametrize("value", ODD_VALUES, ids=lambda value: value[:20].decode())
def test_a_value_comes_back_as_it_went_in(value: bytes) -> None:
    message = b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"sessionId":"s","items":[%b,%b]}}' % (value, value)
    params = codec.reader(Params).read(codec.decode(message).params)
    assert [bytes(item) for item in params.items] == [value, value]
    assert codec.result(b"1", params.items[0]) == b'{"jsonrpc":"2.0","id":1,"result":%b}' % value


@pytest.mark.parametrize(
    ("message", "code", "id"),
    [
        (b"", -32700, b"null"),
        (b"{", -32700, b"null"),
        (b"nonsense", -32700, b"null"),
        (b'{"jsonrpc":"2.0","id":1,"method":"x"', -32700, b"null"),
        (b'{"jsonrpc":"2.0","id":1,"method":"x"}}', -32700, b"null"),
        (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"x"}', -32700, b"null"),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\xff"}}', -32700, b"null"),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\xed\xa0\x80"}}', -32700, b"null"),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":NaN}}', -32700, b"null"),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":01}}', -32700, b"null"),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\n"}}', -32700, b"null"),
        (b"[]", -32600, b"null"),
        (b' [{"jsonrpc":"2.0","id":1,"method":"x"}]', -32600, b"null"),
        (b'"text"', -32600, b"null"),
        (b"null", -32600, b"null"),
        (b'{"id":1,"method":"x"}', -32600, b"1"),
        (b'{"jsonrpc":"1.0","id":"a","method":"x"}', -32600, b'"a"'),
        (b'{"jsonrpc":2.0,"id":1,"method":"x"}', -32600, b"1"),
        (b'{"jsonrpc":"2.0","id":1,"method":5}', -32600, b"1"),
        (b'{"jsonrpc":"2.0","id":{"a":1},"method":5}', -32600, b"null"),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":1e999}}', -32602, b"1"),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":-1%b}}' % (b"0" * 400), -32602, b"1"),
        (b'{"jsonrpc":"2.0","id":1e999,"method":"x"}', -32602, b"null"),
    ],
)
def test_what_is_no_request(message: bytes, code: int, id: bytes) -> None:
    found = refusal(message)
    assert (found[0], found[2]) == (code, id)
    assert errors.CODES[found[1]] == code


@pytest.mark.parametrize("depth", [600, 1000, 5000, 100_000])
@pytest.mark.parametrize("lone", [b"", rb',"t":"\ud83d"'])
def test_too_deep_is_told_to_the_one_who_asked(depth: int, lone: bytes) -> None:
    deep = b'{"a":' * depth + b"1" + b"}" * depth
    message = b'{"jsonrpc":"2.0"%b,"params":{"id":7,"text":"\\"id\\":6","x":%b},"id" : "me"}' % (lone, deep)
    assert refusal(message) == (1018, "tooLarge", b'"me"')


@pytest.mark.parametrize("bad", [b"[" * 50_000 + b"]" * 50_000, b"[1e999" + b",[]" * 50_000 + b"]"])
def test_the_id_of_a_large_refused_message_is_found_before_and_after_its_parameters(bad: bytes) -> None:
    inner = b'{"id":7,"text":"\\"id\\":6","x":%b,"id":8}' % bad
    assert refusal(b'{"jsonrpc":"2.0","id":"me","params":%b}' % inner)[2] == b'"me"'
    assert refusal(b'{"jsonrpc":"2.0","params":%b,"id" : "me" }\n' % inner)[2] == b'"me"'
    assert refusal(b'{"jsonrpc":"2.0","params":%b,"id":5,"method":"m"}' % inner)[2] == b"null"


@pytest.mark.slow
@pytest.mark.timeout(10)
def test_a_large_refused_message_is_not_looked_through_for_its_id() -> None:
    assert refusal(b"[" * 16_000_000) == (1018, "tooLarge", b"null")


def test_very_many_values_beside_a_lone_surrogate_are_refused() -> None:
    """They would be built one by one, which holds up everybody."""
    many = b'{"jsonrpc":"2.0","id":"me","method":"x","params":[%b' + b"1," * rawjson.MAX_VALUES + b"1]}"
    assert codec.decode(many % b'"x",').method == "x"
    assert refusal(many % rb'"\ud83d",') == (1018, "tooLarge", b'"me"')


def test_brackets_in_strings_are_not_depth() -> None:
    text = json.dumps('[{"' * 5000).encode()
    message = b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"sessionId":%b}}' % text
    assert codec.decode(message).method == "x"


def test_the_depth_limit_itself_is_taken() -> None:
    room = 500 - 2
    value = b"[" * room + b"]" * room
    message = b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"sessionId":%b}}' % value
    assert codec.decode(message).method == "x"
    assert refusal(message.replace(value, b"[%b]" % value))[0] == 1018


LONE = rb'"lone":"\ud83d"'


@pytest.mark.parametrize("lone", [b"", LONE], ids=["fast", "lenient"])
@pytest.mark.parametrize(
    ("params", "path"),
    [
        (b"{%b}", "sessionId"),
        (b'{"sessionId":5,%b}', "sessionId"),
        (b'{"sessionId":null,%b}', "sessionId"),
        (b'{"sessionId":"s","items":{},%b}', "items"),
        (b'{"sessionId":"s","inner":{"deepName":1},%b}', "inner.deepName"),
        (b'{"sessionId":"s","inner":{},%b}', "inner.deepName"),
        (b'{"sessionId":"s","inner":7,%b}', "inner"),
        (b'{"sessionId":"s","kind":"c",%b}', "kind"),
        (b'{"sessionId":"s","limit":1.5,%b}', "limit"),
        (b'{"sessionId":"s","limit":null,%b}', "limit"),
        (b'{"sessionId":"s","many":{"a":"b"},%b}', "many[...]"),
        (b"[1,{%b}]", ""),
        (b'"text"', ""),
    ],
)
def test_a_bad_parameter_is_named(params: bytes, path: str, lone: bytes) -> None:
    filled = params % (lone or b'"other":1') if b"%b" in params else params
    with pytest.raises(InvalidParams) as caught:
        codec.reader(Params).read(Raw(filled))
    assert caught.value.data == {"path": path}
    assert len(caught.value.message) <= 300


def test_a_list_item_is_named_by_its_index() -> None:
    class Listing(Wire):
        ids: list[str]

    with pytest.raises(InvalidParams) as caught:
        codec.reader(Listing).read(Raw(b'{"ids":["a",2]}'))
    assert caught.value.data["path"] in ("ids[1]", "ids[...]")


@pytest.mark.parametrize("raw", [UNSET, Raw(b"null"), Raw(b"{}"), Raw(rb'{"a":"\ud83d"}')])
def test_absent_parameters_are_none(raw: Raw | UnsetType) -> None:
    class Nothing(Wire):
        a_thing: int = 3

    assert codec.reader(Nothing).read(raw).a_thing == 3


def test_raw_members_survive_the_lenient_way() -> None:
    draft = rb'{"type" : "message", "text":"\ud83d","n":1.50}'
    read = codec.reader(AppendParams).read(Raw(b'{"sessionId":"\\ude00","parentId":null,"entries":[%b]}' % draft))
    assert (read.session_id, read.parent_id, read.expected_leaf_id) == ("\ude00", None, UNSET)
    assert bytes(read.entries[0]) == draft
    edit = codec.reader(EditContextParams).read(
        Raw(rb'{"sessionId":"s","targetId":"t","replacement":{"content":"\ud83d"}}')
    )
    assert bytes(edit.replacement.content) == rb'"\ud83d"'
    none = codec.reader(EditContextParams).read(Raw(rb'{"sessionId":"\ud83d","targetId":"t","replacement":null}'))
    assert none.replacement is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (b"1", b"1.0", True),
        (b'"a"', rb'"\u0061"', True),
        (b'"1"', b"1", False),
        (b"10000000000000000000000000001", b"10000000000000000000000000002", False),
        (rb'"\ud83d"', rb'"\ud83d"', True),
    ],
)
def test_when_ids_are_the_same(one: bytes, other: bytes, same: bool) -> None:
    assert (codec.id_key(one) == codec.id_key(other)) is same


@pytest.mark.parametrize("raw", [b"null", b"true", b"[]", b"{}", b"1e999"])
def test_what_is_no_id(raw: bytes) -> None:
    with pytest.raises(ValueError):
        codec.id_key(raw)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


class Answer(Wire, kw_only=True, omit_defaults=True):
    some_text: str
    json_value: Raw
    left_out: int | UnsetType = UNSET
    by_default: int = 5
    items: list[Inner] = field(default_factory=list)


@settings(max_examples=60, deadline=None)
@given(value=json_values, text=st.text(), count=st.integers(min_value=0, max_value=2))
def test_the_lenient_encoding_says_the_same(value: object, text: str, count: int) -> None:
    """For every value that the fast encoder takes, the lenient one gives JSON of the same value."""
    answer = Answer(some_text=text, json_value=Raw(json.dumps(value).encode()), items=[Inner(deep_name=text)] * count)
    assert json.loads(lenient.encode(answer)) == json.loads(codec.result(b"1", answer))["result"]


def test_lone_surrogates_are_answered_as_escapes() -> None:
    answer = Answer(some_text="a\ud83d", json_value=Raw(rb'"\ude00"'))
    assert codec.result(b"1", answer) == (
        rb'{"jsonrpc":"2.0","id":1,"result":{"someText":"a\ud83d","jsonValue":"\ude00"}}'
    )


def test_every_refusal_has_a_code() -> None:
    def below(cls: type[PiDaemonError]) -> list[type[PiDaemonError]]:
        return [cls, *(found for sub in cls.__subclasses__() for found in below(sub))]

    ours = [cls for cls in below(PiDaemonError) if cls.__module__ == session_errors.__name__]
    assert {cls.reason for cls in ours} <= set(errors.CODES)
    assert len(set(errors.CODES.values())) == len(errors.CODES)
