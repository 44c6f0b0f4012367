"""JSON-RPC messages: bytes to envelope to typed parameters, and answers to bytes.

What JavaScript's JSON.parse takes is taken, to the depth limit and with finite numbers. Every message is checked
once, whole, without building it where it is large: UTF-8, grammar, depth, finite numbers. msgspec then reads the few
members that matter and leaves the rest as raw bytes; where it refuses a lone surrogate, which is legal, `lenient` does.
"""

from __future__ import annotations

import math
import re
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from pi_daemon.rpc import lenient
from pi_daemon.rpc.errors import ErrorObject, Refused
from pi_daemon.session import rawjson
from pi_daemon.session.errors import InvalidParams

_RAW_MEMBERS = ("id", "params", "result", "error")

_MESSAGE_CHARACTERS = 300
"""How much of msgspec's words about a bad value goes into an error: they may quote the value."""

_AT = re.compile(r" - at `\$\.?(.*)`$", re.DOTALL)
_MISSING = re.compile(r"missing required field `(\w+)`")
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_ID_VALUE = re.compile(rb'\s*:\s*("(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*)', re.DOTALL)
_ID_LAST = re.compile(rb'[{,]\s*"id"%b\s*\}\s*\Z' % _ID_VALUE.pattern, re.DOTALL)

_ID_FROM_START = 4096
"""How much of a refused message is looked through for its id: a token costs a microsecond, and a body may have as many
of them as bytes. Others would wait for it."""

_ID_FROM_END = 1024
"""Where an id is looked for that comes after the parameters. The last member of valid JSON is the message's own."""


class Envelope(Struct):
    """A JSON-RPC message. `id`, `params`, `result` and `error` are the bytes that came."""

    jsonrpc: str = ""
    id: Raw | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class _Result(Struct, kw_only=True):
    jsonrpc: str = "2.0"
    id: Raw
    result: Any


class _Failure(Struct, kw_only=True):
    jsonrpc: str = "2.0"
    id: Raw
    error: ErrorObject


class _Notification(Struct, kw_only=True):
    jsonrpc: str = "2.0"
    method: str
    params: Any


class _Request(Struct, kw_only=True):
    jsonrpc: str = "2.0"
    id: int
    method: str
    params: Any


_ENVELOPE = msgspec.json.Decoder(Envelope)
_ENCODER = msgspec.json.Encoder()


def decode(message: bytes) -> Envelope:
    """The envelope of a message that is valid JSON throughout.

    Raises Refused: parseError, invalidRequest (a batch, a wrong member), invalidParams (a number that isn't finite),
    tooLarge (too deep; too many values beside a lone surrogate).
    """
    try:
        rawjson.check(message)
        envelope = _ENVELOPE.decode(message)
    except rawjson.BadJson as bad:
        raise _refusal(bad, message) from None
    except msgspec.DecodeError:
        envelope = _decode_slowly(message)
    if envelope.jsonrpc != "2.0":
        raise Refused("invalidRequest", 'The message lacks "jsonrpc": "2.0".', id=_valid_id(envelope.id))
    return envelope


def id_key(raw: bytes | Raw) -> str | int | float:
    """What two ids have in common that are the same: `1` and `1.0`, `"a"` and `"\\u0061"`.

    Raises ValueError for what is neither a string nor a number.
    """
    data = bytes(raw)
    if data.isdigit():
        return int(data)
    value = rawjson.loads(data)
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value == math.inf or value == -math.inf:
        raise ValueError("an id is a string or a finite number")
    return value


class ParamsReader:
    """Reads the parameters of one method."""

    def __init__(self, cls: type[Any]) -> None:
        self._cls = cls
        self._decoder = msgspec.json.Decoder(cls)

    def read(self, raw: Raw | UnsetType) -> Any:
        """Typed parameters; absent and null mean none. Raises InvalidParams with the path of the first bad member."""
        data = b"{}" if raw is UNSET or bytes(raw) == b"null" else raw
        try:
            return self._decoder.decode(data)
        except msgspec.ValidationError as wrong:
            raise _invalid(str(wrong)) from None
        except msgspec.DecodeError:
            pass
        try:
            return lenient.decode(bytes(data), self._cls)
        except msgspec.ValidationError as wrong:
            raise _invalid(str(wrong)) from None


_READERS: dict[type[Any], ParamsReader] = {}


def reader(cls: type[Any]) -> ParamsReader:
    """The reader of a class of parameters, made once."""
    found = _READERS.get(cls)
    if found is None:
        found = _READERS[cls] = ParamsReader(cls)
    return found


def result(id: bytes, value: Any) -> bytes:
    """The answer that a request succeeded."""
    return encode(_Result(id=Raw(id), result=value))


def failure(id: bytes, error: ErrorObject) -> bytes:
    """The answer that a request failed."""
    return encode(_Failure(id=Raw(id), error=error))


def notification(method: str, params: Any) -> bytes:
    return encode(_Notification(method=method, params=params))


def request(id: int, method: str, params: Any) -> bytes:
    return encode(_Request(id=id, method=method, params=params))


def encode(message: Any) -> bytes:
    """A value of the protocol as JSON; a lone surrogate as its escape."""
    try:
        return _ENCODER.encode(message)
    except UnicodeEncodeError:
        return lenient.encode(message)


def _refusal(bad: rawjson.BadJson, message: bytes) -> Refused:
    if bad.kind == "tooDeep":
        words = f"JSON nested deeper than {rawjson.MAX_DEPTH}."
        return Refused("tooLarge", words, id=_either_id(message), limit="jsonDepth")
    if bad.kind == "notFinite":
        return Refused("invalidParams", "A number is too large for a double.", id=_either_id(message), path="")
    return Refused("parseError", "The message is not JSON in UTF-8.")


def _decode_slowly(message: bytes) -> Envelope:
    """For a message with a lone surrogate, or whose envelope is wrong.

    Values are built here and in `lenient`, on the loop: of as many as a message has room for, for many seconds."""
    if rawjson.too_many(message):
        words = f"A message with a lone surrogate holds at most {rawjson.MAX_VALUES} JSON values."
        raise Refused("tooLarge", words, id=_either_id(message), limit="entryValues", values=rawjson.MAX_VALUES)
    try:
        members = rawjson.members(message)
    except rawjson.BadJson:
        batch = message.lstrip().startswith(b"[")
        words = "Batches are not served: send one message at a time." if batch else "A message is a JSON object."
        raise Refused("invalidRequest", words) from None
    id = _valid_id(members.get("id", b"null"))
    texts = {name: rawjson.loads(members[name]) for name in ("jsonrpc", "method") if name in members}
    if not all(isinstance(text, str) for text in texts.values()):
        raise Refused("invalidRequest", "`jsonrpc` and `method` are strings.", id=id)
    values: dict[str, Any] = {name: Raw(value) for name, value in members.items() if name in _RAW_MEMBERS}
    return Envelope(**texts, **values)


def _valid_id(raw: bytes | Raw | UnsetType) -> bytes:
    """`raw` where it may be an id, else null."""
    data = b"null" if isinstance(raw, UnsetType) else bytes(raw)
    try:
        id_key(data)
    except ValueError:
        return b"null"
    return data


def _either_id(message: bytes) -> bytes:
    """The id of a whole message, before the large members or after them; else null."""
    found = find_id(message)
    if found == b"null" and (last := _ID_LAST.search(message, max(0, len(message) - _ID_FROM_END))):
        return _valid_id(last[1])
    return found


def find_id(message: bytes) -> bytes:
    """The id of a message that is too deep for a parser or cut off, where it comes early; else null."""
    depth = 0
    for token in _TOKEN.finditer(message, 0, _ID_FROM_START):
        text = token[0]
        if text in b"[{":
            depth += 1
        elif text in b"]}":
            depth -= 1
        elif depth == 1 and text == b'"id"' and (found := _ID_VALUE.match(message, token.end())):
            return _valid_id(found[1])
    return b"null"


def _invalid(words: str) -> InvalidParams:
    """msgspec's "Expected `str`, got `int` - at `$.entries[0]`" as a refusal that names `entries[0]`."""
    at = _AT.search(words)
    path = at[1] if at else ""
    words = words[: at.start()] if at else words
    if missing := _MISSING.search(words):
        path = f"{path}.{missing[1]}" if path else missing[1]
        words = "is missing"
    message = f"`{path}`: {words}" if path else f"The parameters: {words}"
    return InvalidParams(message[:_MESSAGE_CHARACTERS], path=path)
