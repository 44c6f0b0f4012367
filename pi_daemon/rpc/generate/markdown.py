"""protocol.md: the base rules (base.md), then everything that the tables and types say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import inspect

from pi_daemon.rpc import table
from pi_daemon.rpc.generate import model
from pi_daemon.rpc.generate.model import Object, Protocol
from pi_daemon.rpc.limits import JSON_DEPTH
from pi_daemon.rpc.types.lifecycle import PROTOCOL_VERSION

_BASE = Path(__file__).with_name("base.md")


def render(protocol: Protocol) -> str:
    base = _BASE.read_text(encoding="utf-8").format(version=PROTOCOL_VERSION, depth=JSON_DEPTH)
    page = _Page(protocol)
    sections = [
        base.rstrip(),
        "## Requests",
        _index(table.LIFECYCLE | table.METHODS),
        *[page.method(name, method) for name, method in (table.LIFECYCLE | table.METHODS).items()],
        "## Notifications from the daemon",
        *[page.notification(name, item) for name, item in table.NOTIFICATIONS.items()],
        "## Requests from the daemon",
        *[page.method(name, method) for name, method in table.CLIENT_METHODS.items()],
        "## Objects",
        *page.objects(),
        "## Errors",
        "`data.reason` is the stable name; the message says what to do. `data` may have more, as given here. No error "
        "carries a traceback or a file's content. Those of JSON-RPC and LSP, `overloaded`, `tooLarge` and "
        "`shuttingDown` may come from any request; what else may come is said with each.",
        _rows(("code", "reason", "meaning"), model.errors()),
        "## Limits",
        "As they are by default; `initialize` reports those in force.",
        _rows(("limit", "default", "why"), ((f"`{name}`", value, why) for name, value, why in model.limits())),
    ]
    return "\n\n".join(sections) + "\n"


class _Page:
    """Objects that one method alone uses are shown with it, the others under Objects."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        methods = table.LIFECYCLE | table.METHODS | table.CLIENT_METHODS
        roots = [cls for method in methods.values() for cls in (method.params, method.result)]
        roots += [item.params for item in table.NOTIFICATIONS.values()]
        uses = Counter(cls.__name__ for cls in roots)
        uses.update(
            cls.__name__ for item in protocol.objects.values() for member in item.members for cls in _named(member.type)
        )
        direct = {cls.__name__ for cls in roots}
        self._shared = [name for name in protocol.objects if name not in direct or uses[name] > 1]
        self._shared.remove("Empty")

    def method(self, name: str, method: table.Method) -> str:
        errors = ", ".join(f"`{reason}`" for reason in method.errors)
        return "\n\n".join(
            part
            for part in (
                f"### {name}",
                method.doc,
                self._side("Parameters", method.params),
                self._side("Result", method.result),
                f"Errors of its own: {errors}." if errors else "",
            )
            if part
        )

    def notification(self, name: str, item: table.Notification) -> str:
        return "\n\n".join((f"### {name}", item.doc, self._side("Parameters", item.params)))

    def objects(self) -> Iterable[str]:
        for name in self._shared:
            item = self._protocol.objects[name]
            yield f"### {name}\n\n{item.doc}\n\n{self._members(item)}"

    def _side(self, title: str, cls: type[Any]) -> str:
        if cls is type(None):
            return f"**{title}**: null."
        if cls.__name__ == "Empty":
            return f"**{title}**: none." if title == "Parameters" else f"**{title}**: `{{}}`."
        if cls.__name__ in self._shared:
            return f"**{title}**: {_link(cls.__name__)}."
        item = self._protocol.objects[cls.__name__]
        return f"**{title}**: {item.doc}\n\n{self._members(item)}"

    def _members(self, item: Object) -> str:
        rows = []
        for member in item.members:
            known = member.default is not msgspec.NODEFAULT and member.default not in (None, [])
            default = f" Default: `{_literal(member.default)}`." if known and member.optional else ""
            rows.append((f"`{member.name}`{'?' if member.optional else ''}", _type(member.type), member.doc + default))
        return _rows(("member", "type", "meaning"), rows)


def _index(methods: dict[str, table.Method]) -> str:
    return _rows(
        ("method", "what it does"),
        ((f"[{name}](#{name.lower().replace('/', '')})", method.doc) for name, method in methods.items()),
    )


def _rows(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("\n", " ") for cell in line) + " |" for line in lines)


def _named(info: inspect.Type) -> Iterable[type[Any]]:
    if isinstance(info, inspect.StructType):
        yield info.cls
    for part in model.parts(info):
        yield from _named(part)


def _link(name: str) -> str:
    return f"[{name}](#{name.lower()})"


def _literal(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _type(info: inspect.Type) -> str:
    match info:
        case inspect.StrType():
            return "string"
        case inspect.BoolType():
            return "boolean"
        case inspect.IntType():
            return "integer"
        case inspect.FloatType():
            return "number"
        case inspect.NoneType():
            return "null"
        case inspect.RawType() | inspect.AnyType():
            return "any"
        case inspect.LiteralType(values=values):
            return ", ".join(f"`{value}`" for value in values)
        case inspect.ListType(item_type=item):
            return f"array of {_type(item)}"
        case inspect.DictType(value_type=value):
            return f"object of {_type(value)}"
        case inspect.UnionType(types=types):
            return " or ".join(map(_type, types))
        case inspect.StructType(cls=cls):
            return _link(cls.__name__)
        case _:
            raise TypeError(f"no words for {info}")
