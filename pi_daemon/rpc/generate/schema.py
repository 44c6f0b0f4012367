"""The protocol as JSON Schema: every object under `$defs`, and which of them each method takes and gives."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from msgspec import inspect

from pi_daemon.rpc import table
from pi_daemon.rpc.errors import CODES
from pi_daemon.rpc.generate.model import Object, Protocol
from pi_daemon.rpc.types.lifecycle import PROTOCOL_VERSION


def render(protocol: Protocol) -> str:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"The protocol of pi-daemon, version {PROTOCOL_VERSION}",
        "$comment": "Written by `python -m pi_daemon.rpc.generate`: don't edit.",
        "$defs": {name: _object(item) for name, item in protocol.objects.items()},
        "x-methods": {
            name: {
                "description": method.doc,
                "params": _reference(method.params),
                "result": _reference(method.result),
                "errors": list(method.errors),
            }
            for name, method in (table.LIFECYCLE | table.METHODS).items()
        },
        "x-client-methods": {
            name: {"description": item.doc, "params": _reference(item.params), "result": _reference(item.result)}
            for name, item in table.CLIENT_METHODS.items()
        },
        "x-notifications": {
            name: {"description": item.doc, "params": _reference(item.params)}
            for name, item in table.NOTIFICATIONS.items()
        },
        "x-errors": CODES,
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _reference(cls: type[Any]) -> dict[str, Any]:
    return {"type": "null"} if cls is type(None) else {"$ref": f"#/$defs/{cls.__name__}"}


def _object(item: Object) -> dict[str, Any]:
    properties = {}
    for member in item.members:
        found = _type(member.type)
        if member.doc:
            found["description"] = member.doc
        if member.optional and member.default is not msgspec.NODEFAULT:
            found["default"] = member.default
        properties[member.name] = found
    return {
        "type": "object",
        "description": item.doc,
        "properties": properties,
        "required": [member.name for member in item.members if not member.optional],
    }


def _type(info: inspect.Type) -> dict[str, Any]:
    match info:
        case inspect.StrType():
            return {"type": "string"}
        case inspect.BoolType():
            return {"type": "boolean"}
        case inspect.IntType():
            return {"type": "integer"}
        case inspect.FloatType():
            return {"type": "number"}
        case inspect.NoneType():
            return {"type": "null"}
        case inspect.RawType() | inspect.AnyType():
            return {}
        case inspect.LiteralType(values=values):
            return {"enum": list(values)}
        case inspect.ListType(item_type=item):
            return {"type": "array", "items": _type(item)}
        case inspect.DictType(value_type=value):
            return {"type": "object", "additionalProperties": _type(value)}
        case inspect.UnionType(types=types):
            return {"anyOf": list(map(_type, types))}
        case inspect.StructType(cls=cls):
            return _reference(cls)
        case _:
            raise TypeError(f"no schema for {info}")
