"""Typed decoding and encoding of what msgspec refuses: JSON with a lone surrogate, which JavaScript writes.

`"\\ud83d"` alone is legal in JavaScript's JSON (a tool that cut its output inside an emoji leaves such), so it has
to come through. These two are slow and only used where the fast way failed; what a `Raw` member holds stays as it is.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, inspect, structs

from pi_daemon.session import rawjson


def decode(data: bytes, cls: type[Any]) -> Any:
    """`data` as a `cls`. Raises msgspec.ValidationError as the fast way does, BadJson for what is no JSON."""
    value = _shape(data, inspect.type_info(cls))
    try:
        return msgspec.convert(value, cls)
    except UnicodeEncodeError:
        # msgspec wants to quote a string that should have been something else, and can't.
        return msgspec.convert(_tame(value), cls)


def _tame(value: Any) -> Any:
    """With U+FFFD in the place of lone surrogates."""
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            return {_tame(name): _tame(given) for name, given in value.items()}
        case list():
            return [_tame(given) for given in value]
        case _:
            return value


def encode(value: Any) -> bytes:
    """JSON of structs, containers and plain values; lone surrogates are written as escapes."""
    match value:
        case Raw():
            return bytes(value)
        case Struct():
            members = [
                _member(field.encode_name, given)
                for field in structs.fields(value)
                if (given := getattr(value, field.name)) is not UNSET and not _is_left_out(value, field, given)
            ]
            return b"{" + b",".join(members) + b"}"
        case dict():
            return b"{" + b",".join(_member(name, given) for name, given in value.items()) + b"}"
        case list() | tuple():
            return b"[" + b",".join(map(encode, value)) + b"]"
        case float() if not isfinite(value):
            return b"null"
        case _:
            return rawjson.dumps(value)


def _is_left_out(owner: Struct, field: structs.FieldInfo, value: Any) -> bool:
    if not owner.__struct_config__.omit_defaults:
        return False
    made = field.default_factory
    return bool(value == (field.default if made is msgspec.NODEFAULT else made()))


def _member(name: str, value: Any) -> bytes:
    return rawjson.dumps(name) + b":" + encode(value)


def _shape(data: bytes, info: inspect.Type) -> Any:
    """`data` as plain values, but with a Raw wherever the type wants one."""
    match info:
        case inspect.RawType():
            return Raw(data)
        case inspect.StructType(fields=fields) if data.startswith(b"{"):
            types = {field.encode_name: field.type for field in fields}
            return {name: _shape(raw, types[name]) for name, raw in rawjson.members(data).items() if name in types}
        case inspect.ListType(item_type=item) if data.startswith(b"["):
            return [_shape(raw, item) for raw in rawjson.elements(data)]
        case inspect.UnionType(types=types):
            opening = {b"{": inspect.StructType, b"[": inspect.ListType}.get(data[:1])
            wanted = next((part for part in types if opening and isinstance(part, opening)), inspect.AnyType())
            return _shape(data, wanted)
        case _:
            return rawjson.loads(data)
