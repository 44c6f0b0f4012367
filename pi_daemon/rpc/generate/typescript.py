"""The protocol as TypeScript: an interface for each object, and maps from method to parameters and result."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable
from typing import Any

from msgspec import inspect

from pi_daemon.rpc import table
from pi_daemon.rpc.errors import CODES
from pi_daemon.rpc.generate.model import Object, Protocol
from pi_daemon.rpc.types.lifecycle import PROTOCOL_VERSION

_HEAD = f"""\
// The protocol of pi-daemon. Written by `python -m pi_daemon.rpc.generate`: don't edit.

export const PROTOCOL_VERSION = {PROTOCOL_VERSION};

/** A JSON value that the daemon passes on as it is. */
export type Json = null | boolean | number | string | Json[] | {{ [member: string]: Json }};
"""


def render(protocol: Protocol) -> str:
    methods = (table.LIFECYCLE | table.METHODS).items()
    sections = [
        _HEAD,
        *map(_interface, protocol.objects.values()),
        _map(
            "Requests",
            "Every request by its method.",
            ((name, method.doc, _pair(method.params, method.result)) for name, method in methods),
        ),
        _map(
            "ClientRequests",
            "Every request from the daemon by its method.",
            ((name, item.doc, _pair(item.params, item.result)) for name, item in table.CLIENT_METHODS.items()),
        ),
        _map(
            "Notifications",
            "Every notification from the daemon by its method.",
            ((name, item.doc, item.params.__name__) for name, item in table.NOTIFICATIONS.items()),
        ),
        _errors(),
    ]
    return "\n".join(sections)


def _interface(item: Object) -> str:
    lines = [_comment(item.doc, ""), f"export interface {item.name} {{"]
    for member in item.members:
        if member.doc:
            lines.append(_comment(member.doc, "  "))
        lines.append(f"  {member.name}{'?' if member.optional else ''}: {_type(member.type)};")
    return "\n".join([*lines, "}"]) + "\n"


def _map(name: str, doc: str, rows: Iterable[tuple[str, str, str]]) -> str:
    lines = [_comment(doc, ""), f"export interface {name} {{"]
    for key, meaning, value in rows:
        lines += [_comment(meaning, "  "), f"  {json.dumps(key)}: {value};"]
    return "\n".join([*lines, "}"]) + "\n"


def _pair(params: type[Any], result: type[Any]) -> str:
    given = "null" if result is type(None) else result.__name__
    return f"{{ params: {params.__name__}; result: {given} }}"


def _errors() -> str:
    lines = [_comment("`data.reason` of an error, and its code.", ""), "export const ERROR_CODES = {"]
    lines += [f"  {reason}: {code}," for reason, code in CODES.items()]
    return "\n".join([*lines, "} as const;", "", "export type ErrorReason = keyof typeof ERROR_CODES;"]) + "\n"


def _comment(text: str, indent: str) -> str:
    if len(text) < 108 and "\n" not in text:
        return f"{indent}/** {text} */"
    lines = [f"{indent}/**"]
    for paragraph in text.split("\n"):
        lines += [f"{indent} * {line}".rstrip() for line in textwrap.wrap(paragraph, 112) or [""]]
    return "\n".join([*lines, f"{indent} */"])


def _type(info: inspect.Type) -> str:
    match info:
        case inspect.StrType():
            return "string"
        case inspect.BoolType():
            return "boolean"
        case inspect.IntType() | inspect.FloatType():
            return "number"
        case inspect.NoneType():
            return "null"
        case inspect.RawType() | inspect.AnyType():
            return "Json"
        case inspect.LiteralType(values=values):
            return " | ".join(map(json.dumps, values))
        case inspect.ListType(item_type=item):
            inner = _type(item)
            return f"({inner})[]" if " | " in inner else f"{inner}[]"
        case inspect.DictType(value_type=value):
            return f"{{ [name: string]: {_type(value)} }}"
        case inspect.UnionType(types=types):
            return " | ".join(map(_type, types))
        case inspect.StructType(cls=cls):
            return cls.__name__
        case _:
            raise TypeError(f"no TypeScript type for {info}")
