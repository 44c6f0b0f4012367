"""The protocol's objects as TypedDicts, for the Python client."""

from __future__ import annotations

import json
import textwrap

from msgspec import inspect

from pi_daemon.rpc.generate.model import Object, Protocol

_HEAD = '''"""The objects of the protocol on the wire. Written by `python -m pi_daemon.rpc.generate`: don't edit.

A member that is NotRequired may be absent, which is not the same as null.
"""

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

Json: TypeAlias = Any
"""A JSON value that the daemon passes on as it is."""
'''


LINE = 120
"""Characters of a line, as the project has them."""


def render(protocol: Protocol) -> str:
    return "\n\n".join([_HEAD, *map(_class, protocol.objects.values())]).rstrip() + "\n"


def _class(item: Object) -> str:
    paragraphs = [item.doc] if item.doc else []
    paragraphs += ["\n".join(_wrap(f"`{m.name}`: {m.doc}") for m in item.members if m.doc)]
    text = "\n\n".join("\n".join(map(_wrap, p.split("\n"))) for p in paragraphs if p)
    lines = [f"class {item.name}(TypedDict):"]
    if text:
        closing = "" if "\n" not in text else "\n"
        lines.append(textwrap.indent(f'"""{text}{closing}"""', "    "))
        if item.members:
            lines.append("")
    for member in item.members:
        type_ = _type(member.type)
        line = f"    {member.name}: {f'NotRequired[{type_}]' if member.optional else type_}"
        lines.append(line if len(line) <= LINE else _broken(line))
    return "\n".join(lines) + "\n"


def _broken(line: str) -> str:
    """A long choice with one value a line, as ruff writes it."""
    head, _, values = line.partition("Literal[")
    inner = [f"        {value}," for value in values.rstrip("]").split(", ")]
    return "\n".join([f"{head}Literal[", *inner, "    ]" + "]" * (values.count("]") - 1)])


def _wrap(text: str) -> str:
    return textwrap.fill(text, 108, break_long_words=False, break_on_hyphens=False)


def _type(info: inspect.Type) -> str:
    match info:
        case inspect.StrType():
            return "str"
        case inspect.BoolType():
            return "bool"
        case inspect.IntType():
            return "int"
        case inspect.FloatType():
            return "float"
        case inspect.NoneType():
            return "None"
        case inspect.RawType() | inspect.AnyType():
            return "Json"
        case inspect.LiteralType(values=values):
            return f"Literal[{', '.join(map(json.dumps, values))}]"
        case inspect.ListType(item_type=item):
            return f"list[{_type(item)}]"
        case inspect.DictType(value_type=value):
            return f"dict[str, {_type(value)}]"
        case inspect.UnionType(types=types):
            return " | ".join(map(_type, types))
        case inspect.StructType(cls=cls):
            return cls.__name__
        case _:
            raise TypeError(f"no Python type for {info}")
