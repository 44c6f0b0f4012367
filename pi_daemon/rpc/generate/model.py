"""What `table` and the types say, read once and language-free.

A class's docstring is its meaning, then one paragraph in which a line that starts with a member's name in
backticks and a colon is that member's meaning:

    An open session as it is now.

    `path`: null while `persisted` is false.
    `revision`: counts the session's changes.

Names are written in Python's form in docstrings and in the wire's form in everything that is generated.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator
from inspect import getsource
from typing import Any

import msgspec
from msgspec import Struct, inspect

from pi_daemon.rpc import limits as limits_module
from pi_daemon.rpc import table
from pi_daemon.rpc.errors import CODES, MEANINGS
from pi_daemon.rpc.types.base import wire_name
from pi_daemon.session import errors as session_errors

_MEMBER = re.compile(r"^`(\w+)`: ")
_SNAKE = re.compile(r"`([a-z]+(?:_[a-z]+)+)`")


class Member(Struct, frozen=True):
    """`default` is NODEFAULT where there is none; `optional` where the wire may lack it."""

    name: str
    type: inspect.Type
    optional: bool
    default: Any
    doc: str


class Object(Struct, frozen=True):
    name: str
    doc: str
    members: tuple[Member, ...]


class Protocol(Struct, frozen=True):
    """Every object of the protocol, each after the ones that it is made of."""

    objects: dict[str, Object]


def wire_text(text: str) -> str:
    """The names in backticks, and None, as the wire has them."""
    return _SNAKE.sub(lambda found: f"`{wire_name(found[1])}`", text).replace(" None", " null")


def read() -> Protocol:
    """The protocol as the tables have it."""
    taken = [method.params for method in (table.LIFECYCLE | table.METHODS).values()]
    given = [method.result for method in (table.LIFECYCLE | table.METHODS).values()]
    given += [notification.params for notification in table.NOTIFICATIONS.values()]
    given += [item.params for item in table.CLIENT_METHODS.values()]
    taken += [item.result for item in table.CLIENT_METHODS.values()]
    inputs = set(_classes(taken))
    return Protocol({cls.__name__: describe(cls, cls in inputs) for cls in _classes([*taken, *given])})


def _classes(roots: Iterable[type[Any]]) -> list[type[Any]]:
    """The struct classes under `roots`, each once and after those it needs."""
    found: dict[type[Any], None] = {}

    def visit(info: inspect.Type) -> None:
        if isinstance(info, inspect.StructType):
            for field in info.fields:
                visit(field.type)
            found.setdefault(info.cls)
        for inner in parts(info):
            visit(inner)

    for root in roots:
        visit(inspect.type_info(root))
    return list(found)


def parts(info: inspect.Type) -> Iterator[inspect.Type]:
    """The types that a container or a union is made of."""
    if isinstance(info, inspect.ListType):
        yield info.item_type
    elif isinstance(info, inspect.DictType):
        yield info.value_type
    elif isinstance(info, inspect.UnionType):
        yield from info.types


def describe(cls: type[Any], is_input: bool) -> Object:
    """One class. Members with a default may be left out by whom it is an input of. Raises ValueError for a docstring
    that names a member which isn't there."""
    doc, member_docs = _docs(cls)
    info = inspect.type_info(cls)
    assert isinstance(info, inspect.StructType)
    leaves_out = is_input or cls.__struct_config__.omit_defaults
    members = []
    for field in info.fields:
        unset = not field.required and _no_default(field)
        default = field.default_factory() if callable(field.default_factory) else field.default
        members.append(
            Member(
                name=field.encode_name,
                type=field.type,
                optional=unset or (not field.required and leaves_out),
                default=default,
                doc=member_docs.pop(field.name, ""),
            )
        )
    if member_docs:
        raise ValueError(f"{cls.__name__}: the docstring names members that it lacks: {', '.join(member_docs)}")
    return Object(cls.__name__, doc, tuple(members))


def _no_default(field: inspect.Field) -> bool:
    """Of a field that isn't required: its default is UNSET."""
    return field.default is msgspec.NODEFAULT and field.default_factory is msgspec.NODEFAULT


def _docs(cls: type[Any]) -> tuple[str, dict[str, str]]:
    """A class's own docstring: its meaning, and that of each member it speaks of (bases included)."""
    members: dict[str, str] = {}
    meaning: list[str] = []
    for source in reversed(cls.__mro__):
        text = source.__dict__.get("__doc__") if source.__module__.startswith("pi_daemon.rpc.types.") else None
        if not text or source.__name__ == "Wire":
            continue
        meaning, name = [], ""
        for line in map(str.strip, text.splitlines()):
            if found := _MEMBER.match(line):
                name = found[1]
                members[name] = line[found.end() :]
            elif not line:
                name = ""
                meaning.append("\n")
            elif name:
                members[name] += " " + line
            else:
                meaning.append(line)
    joined = "\n\n".join(part.strip() for part in " ".join(meaning).split("\n") if part.strip())
    return wire_text(joined), {name: wire_text(text) for name, text in members.items()}


_SITUATION = re.compile(r"[├└]── (\w+) +(.+)")


def errors() -> list[tuple[int, str, str]]:
    """Code, reason and meaning of every error, the project's own first."""
    words = {**MEANINGS}
    for name, meaning in _SITUATION.findall(session_errors.__doc__ or ""):
        cls = getattr(session_errors, name)
        data = f" {cls.__doc__}" if cls.__doc__ else ""
        words[cls.reason] = f"{meaning}.{wire_text(' '.join(data.split(chr(10))))}"
    return [(code, f"`{reason}`", " ".join(words[reason].split())) for reason, code in CODES.items()]


def limits() -> list[tuple[str, int, str]]:
    """Name on the wire, default and reason of every limit, from the constants and what is written under them."""
    reasons: dict[str, str] = {}
    body = ast.parse(getsource(limits_module)).body
    for constant, words in itertools.pairwise(body):
        if isinstance(constant, ast.Assign) and isinstance(words, ast.Expr) and isinstance(words.value, ast.Constant):
            target = constant.targets[0]
            assert isinstance(target, ast.Name)
            reasons[wire_name(target.id.lower())] = " ".join(str(words.value.value).split())
    return [(name, value, reasons[name]) for name, value in limits_module.Limits().report().items()]
