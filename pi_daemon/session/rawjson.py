"""JSON values as the bytes they are.

What this module accepts is what JavaScript's JSON.parse accepts: lone surrogate escapes and numbers of any
length pass, NaN and a byte order mark don't. Two rules are added: UTF-8 is checked, and values nest at most
`MAX_DEPTH` deep. A value that is only passed on is never decoded and encoded again, so an odd number or a
doubled member survives.
"""

from __future__ import annotations

import json
import re
from codecs import utf_8_decode
from typing import Any, Literal, NoReturn

import msgspec
import orjson
from msgspec import Raw

from pi_daemon.session import outside

MAX_DEPTH = 500
"""Half of what the C decoders in use can take before they give up."""

JS_SPACE = "\t\n\v\f\r \u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000\ufeff"
"""What String.prototype.trim takes away."""

BadKind = Literal["notJson", "tooDeep", "notUtf8", "notFinite"]


class BadJson(ValueError):
    """`kind` says which rule the value breaks; the message carries none of it."""

    def __init__(self, kind: BadKind, message: str) -> None:
        super().__init__(message)
        self.kind: BadKind = kind


MAX_VALUES = 250_000
"""JSON values that `too_many` lets pass. A tool result has some thousands; each takes some 60 bytes and 0.3 µs once
it is decoded, so a client could cost the daemon twenty times what it sends."""


def too_deep(data: bytes) -> bool:
    """Whether `data`, if it is JSON, nests deeper than `MAX_DEPTH`. Looks no further than to the first bracket too
    many."""
    return outside.deeper_than(data, MAX_DEPTH)


def too_many(data: bytes) -> bool:
    """Whether `data`, if it is JSON, holds more than `MAX_VALUES` values. Cheap where it can't."""
    return _may_be_many(data) and sum(map(_openings, outside.outside(data))) >= MAX_VALUES


def _may_be_many(data: bytes) -> bool:
    return len(data) > MAX_VALUES and outside.more_than(data, b",[{", MAX_VALUES - 1)


def _openings(text: bytes) -> int:
    """Each value but the outermost comes first in its container or after a comma."""
    return len(text) - len(text.replace(b",", b"").replace(b"[", b"").replace(b"{", b""))


def many_brackets(data: bytes) -> bool:
    """Whether `data` opens more than `MAX_DEPTH` brackets, those in strings included."""
    return outside.more_than(data, b"{[", MAX_DEPTH)


def _deep() -> BadJson:
    return BadJson("tooDeep", f"JSON nested deeper than {MAX_DEPTH}")


def _not_utf8() -> BadJson:
    return BadJson("notUtf8", "not UTF-8")


def _text(data: bytes) -> str:
    if too_deep(data):
        raise _deep()
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise _not_utf8() from None


_PIECE = 24 * 1024
"""Decoded, an emoji makes four bytes of each one: so much is still less than what malloc maps anew each time."""


def is_utf8(data: bytes) -> bool:
    """Checked piece by piece, without keeping what is decoded."""
    if data.isascii():
        return True
    view = memoryview(data)
    start = 0
    try:
        while start < len(data):
            start += utf_8_decode(view[start : start + _PIECE], "strict", start + _PIECE >= len(data))[1]
    except UnicodeDecodeError:
        return False
    return True


def _constant(name: str) -> NoReturn:
    raise ValueError(name)


def _integer(literal: str) -> int | float:
    """Python won't read an integer of more than 4,300 digits; to JavaScript one of 309 is infinite."""
    return int(literal) if len(literal) <= 4300 else float(literal)


_scan = json.JSONDecoder(parse_constant=_constant, parse_int=_integer)


def loads(data: bytes) -> Any:
    """The value. Integers keep their digits (up to 4,300 of them); 1e999 is infinite, as in JavaScript.

    Raises BadJson (notJson, tooDeep, notUtf8).
    """
    try:
        value = _decode(data)
    except (msgspec.DecodeError, RecursionError):
        return _parse(_text(data))
    if too_deep(data):  # asked of the bytes: of two members with one name, the value has one
        raise _deep()
    return value


_decode = msgspec.json.Decoder().decode


def _parse(text: str) -> Any:
    try:
        return _scan.decode(text)
    except RecursionError:
        raise _deep() from None
    except ValueError:
        raise BadJson("notJson", "not JSON") from None


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")).encode
_SURROGATE = re.compile("[\ud800-\udfff]")


def dumps(value: Any) -> bytes:
    """Compact JSON. A lone surrogate is written as its escape. Raises ValueError for NaN and infinities."""
    text = _encode(value)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode()


def compact(data: bytes) -> bytes:
    """`data` without white space outside of strings; all literals stay as they are. Raises BadJson as `check` does."""
    check(data)
    return squeeze(data)


def squeeze(data: bytes) -> bytes:
    """The same for what is known to be all right."""
    try:
        return msgspec.json.format(data, indent=-1)
    except msgspec.DecodeError:
        return _WHITE.sub(rb"\1", data)


def check(data: bytes) -> None:
    """Raise BadJson as `loads` does, and for a number that isn't finite to JavaScript (notFinite).

    Nothing is built of what is large: that takes ten times as long where it is large in values. Depth is looked at
    before anything else is, so that what is too deep costs no more than its beginning.
    """
    if too_deep(data):
        raise _deep()
    if len(data) <= _SMALL or (_is_sparse(data) and not _may_be_many(data)):
        try:
            orjson.loads(data)
        except ValueError:
            pass
        else:
            return
    if not is_utf8(data):
        raise _not_utf8()
    try:
        _skip_value(data)
    except (msgspec.DecodeError, RecursionError):
        _check_tame(data)
    if outside.infinite(data):
        raise BadJson("notFinite", "a number too large for a double")


_SMALL = 16 * 1024
"""Up to here building the value costs less than looking at the bytes several times."""


def _is_sparse(data: bytes) -> bool:
    """Whether most of it seems to be long strings, from a look into the middle: those are built quickly."""
    middle = len(data) // 2
    sample = data[middle : middle + _SMALL]
    return sample.count(b',"') + sample.count(b'{"') < _SMALL // 256


def _check_tame(data: bytes) -> None:
    """msgspec refuses lone surrogates, which are legal: it sees other characters in the place of each surrogate, and of
    each escaped backslash, which might look like the beginning of one."""
    tame = _SURROGATES.sub(b"AAAAAA", data.replace(rb"\\", b"AA"))
    try:
        _skip_value(tame)
    except (msgspec.DecodeError, RecursionError):
        raise BadJson("notJson", "not JSON") from None


_WHITE = re.compile(rb'("(?:[^"\\]|\\.)*")|[ \t\n\r]+')
_SURROGATES = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_skip_value = msgspec.json.Decoder(Raw).decode


_members = msgspec.json.Decoder(dict[str, Raw]).decode
_elements = msgspec.json.Decoder(list[Raw]).decode


def members(data: bytes) -> dict[str, bytes]:
    """An object's members as raw JSON, in order; of two with one name the later value counts, as in JavaScript.

    The values are not looked into beyond their syntax. Raises BadJson where `data` is no object.
    """
    try:
        return {name: bytes(value) for name, value in _members(data).items()}
    except (msgspec.DecodeError, RecursionError):
        text = _text(data)
        return dict(_walk(text, "{", "}"))


def elements(data: bytes) -> list[bytes]:
    """An array's elements as raw JSON. Raises BadJson where `data` is no array."""
    try:
        return [bytes(value) for value in _elements(data)]
    except (msgspec.DecodeError, RecursionError):
        text = _text(data)
        return [value for _, value in _walk(text, "[", "]")]


def join(parts: dict[str, bytes]) -> bytes:
    """The object with these raw members."""
    return b"{" + b",".join([dumps(name) + b":" + value for name, value in parts.items()]) + b"}"


_skip = re.compile(r"[ \t\n\r]*").match


def _space(text: str, pos: int) -> int:
    found = _skip(text, pos)
    return found.end() if found else pos


def _walk(text: str, opening: str, closing: str) -> list[tuple[str, bytes]]:
    """The direct members of the object (or, without names, elements of the array) that `text` is."""
    found: list[tuple[str, bytes]] = []
    try:
        pos = _space(text, 0)
        if text[pos] != opening:
            raise BadJson("notJson", "not an object" if opening == "{" else "not an array")
        pos = _space(text, pos + 1)
        done = text[pos] == closing
        while not done:
            name = ""
            if opening == "{":
                if text[pos] != '"':
                    raise ValueError
                name, pos = _scan.raw_decode(text, pos)
                pos = _space(text, pos)
                if text[pos] != ":":
                    raise ValueError
                pos = _space(text, pos + 1)
            start = pos
            _, pos = _scan.raw_decode(text, pos)
            found.append((name, text[start:pos].encode()))
            pos = _space(text, pos)
            done = text[pos] == closing
            if not done:
                if text[pos] != ",":
                    raise ValueError
                pos = _space(text, pos + 1)
        if _space(text, pos + 1) != len(text):
            raise ValueError
    except BadJson:
        raise
    except RecursionError:
        raise _deep() from None
    except (ValueError, IndexError):
        raise BadJson("notJson", "not JSON") from None
    return found
