"""JSON values as the bytes they are.

What this module accepts is what JavaScript's JSON.parse accepts: lone surrogate escapes and numbers of any
length pass, NaN and a byte order mark don't. Two rules are added: UTF-8 is checked, and values nest at most
`MAX_DEPTH` deep. A value that is only passed on is never decoded and encoded again, so an odd number or a
doubled member survives.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from itertools import accumulate
from typing import Any, Literal, NoReturn, cast

import msgspec
import orjson
from msgspec import Raw

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


_DELTA = [{0x5B: 1, 0x7B: 1, 0x5D: -1, 0x7D: -1}.get(byte, 0) for byte in range(256)]
_BRACKETS = b"[{]}"
_NOT_BRACKETS = bytes(byte for byte in range(256) if byte not in _BRACKETS)


def too_deep(data: bytes) -> bool:
    """Whether `data`, if it is JSON, nests deeper than `MAX_DEPTH`. Two byte counts where it has few brackets."""
    if not many_brackets(data):
        return False
    try:
        return _depth_passes(orjson.loads(data))
    except ValueError:
        return _brackets_pass(data)


def many_brackets(data: bytes) -> bool:
    """Whether `data` opens more than `MAX_DEPTH` brackets, those in strings included.

    Taking them out and comparing lengths is three times as fast as bytes.count.
    """
    return len(data) - len(data.replace(b"{", b"").replace(b"[", b"")) > MAX_DEPTH


def _depth_passes(value: Any) -> bool:
    """By levels, so that only containers cost anything."""
    level: list[Any] = [[value]]
    for _ in range(MAX_DEPTH + 1):
        level = [child for box in level for child in _children(box) if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def _children(box: Any) -> Iterable[Any]:
    return cast(Iterable[Any], box.values() if isinstance(box, dict) else box)


def _brackets_pass(data: bytes) -> bool:
    """For what orjson can't read: the brackets outside of strings, counted up and down."""
    outside = data.replace(rb"\\", b"").replace(rb"\"", b"").split(b'"')[::2]
    brackets = b"".join(outside).translate(None, _NOT_BRACKETS)
    return many_brackets(brackets) and max(accumulate(map(_DELTA.__getitem__, brackets))) > MAX_DEPTH


def _deep() -> BadJson:
    return BadJson("tooDeep", f"JSON nested deeper than {MAX_DEPTH}")


def _text(data: bytes) -> str:
    if too_deep(data):
        raise _deep()
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise BadJson("notUtf8", "not UTF-8") from None


def _constant(name: str) -> NoReturn:
    raise ValueError(name)


def _integer(literal: str) -> int | float:
    """Python won't read an integer of more than 4,300 digits; to JavaScript one of 309 is infinite."""
    return int(literal) if len(literal) <= 4300 else float(literal)


def _finite_float(literal: str) -> float:
    value = float(literal)
    if math.isinf(value):
        raise BadJson("notFinite", "a number too large for a double")
    return value


def _finite_integer(literal: str) -> float:
    return _finite_float(literal)


_scan = json.JSONDecoder(parse_constant=_constant, parse_int=_integer)
_scan_finite = json.JSONDecoder(parse_constant=_constant, parse_int=_finite_integer, parse_float=_finite_float)


def loads(data: bytes) -> Any:
    """The value. Integers keep their digits (up to 4,300 of them); 1e999 is infinite, as in JavaScript.

    Raises BadJson (notJson, tooDeep, notUtf8).
    """
    try:
        value = _decode(data)
    except (msgspec.DecodeError, RecursionError):
        return _parse(_scan, _text(data))
    if many_brackets(data) and _depth_passes(value):
        raise _deep()
    return value


_decode = msgspec.json.Decoder().decode


def _parse(scanner: json.JSONDecoder, text: str) -> Any:
    try:
        return scanner.decode(text)
    except BadJson:
        raise
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
    """`data` without white space outside of strings; all literals stay as they are.

    Raises BadJson as `loads` does, and for a number that isn't finite to JavaScript (notFinite).
    """
    try:
        value = orjson.loads(data)
        if many_brackets(data) and _depth_passes(value):
            raise _deep()
        return msgspec.json.format(data, indent=-1)
    except BadJson:
        raise
    except (ValueError, RecursionError):
        # Lone surrogates, integers beyond 64 bits: orjson or msgspec refuse some JSON.
        text = _text(data)
        _parse(_scan_finite, text)
        return _WHITE.sub(lambda found: found[1] or "", text).encode()


_WHITE = re.compile(r'("(?:[^"\\]|\\.)*")|[ \t\n\r]+')

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
