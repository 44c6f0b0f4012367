"""Which files a conversation read and changed, as the calls of the tools read, write and edit say (pi 1.6.0)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from pi_daemon.session.rawjson import loads

_CHANGES = {"read": False, "write": True, "edit": True}


class _Arguments(Struct, gc=False, frozen=True):
    path: str = ""


class _Call(Struct, gc=False):
    type: str = ""
    name: str = ""
    arguments: _Arguments = _Arguments()


class _Answer(Struct, gc=False):
    content: list[_Call] = []


class _AnswerLine(Struct, gc=False):
    message: _Answer


class _Nested(Struct, gc=False):
    calls: list[_Call] = []


class _Result(Struct, gc=False):
    nestedCalls: _Nested


class _ResultLine(Struct, gc=False):
    message: _Result


# Anything of another type fails, and is looked at member by member.
_answer = msgspec.json.Decoder(_AnswerLine).decode
_result = msgspec.json.Decoder(_ResultLine).decode
_hides_letters = re.compile(rb"\\u00[4-7]").search
"""Whether an escape may stand for a letter of the names that are searched for."""


class Files:
    """Gathered message by message."""

    def __init__(self) -> None:
        self._read: set[str] = set()
        self._modified: set[str] = set()

    def see(self, message: dict[str, Any]) -> None:
        """The calls of an answer, and those that a script made and a tool result tells of."""
        role = message.get("role")
        if role == "assistant":
            for block in _list(message.get("content")):
                if isinstance(block, dict) and block.get("type") == "toolCall":
                    self._call(block)
        elif role == "toolResult":
            nested = message.get("nestedCalls")
            for call in _list(nested.get("calls") if isinstance(nested, dict) else None):
                self._call(call)

    def see_line(self, line: bytes, role: str) -> None:
        """The same of the stored line of a message, of which nothing is decoded but the calls and their paths."""
        answer = role == "assistant"
        if b"\\u00" in line and _hides_letters(line):
            self._see_all(line)
        elif (b'"toolCall"' if answer else b'"nestedCalls"') in line:
            try:
                calls = _answer(line).message.content if answer else _result(line).message.nestedCalls.calls
            except (msgspec.DecodeError, RecursionError):
                self._see_all(line)
                return
            for call in calls:
                if call.type == "toolCall" or not answer:
                    self._add(call.name, call.arguments.path)

    def _see_all(self, line: bytes) -> None:
        entry = loads(line)
        message = entry.get("message") if isinstance(entry, dict) else None
        if isinstance(message, dict):
            self.see(message)

    def see_summary(self, entry: dict[str, Any]) -> None:
        """What an earlier summary tells, if it isn't an extension's: nobody knows what that means by its lists."""
        details = entry.get("details")
        if entry.get("fromHook") or not isinstance(details, dict):
            return
        self._read.update(_paths(details.get("readFiles")))
        self._modified.update(_paths(details.get("modifiedFiles")))

    @property
    def read(self) -> list[str]:
        """Those that were read and not modified, sorted as JavaScript sorts."""
        return sorted(self._read - self._modified, key=_in_utf16)

    @property
    def modified(self) -> list[str]:
        return sorted(self._modified, key=_in_utf16)

    def _call(self, call: object) -> None:
        if not isinstance(call, dict):
            return
        name = call.get("name")
        arguments = call.get("arguments")
        path = arguments.get("path") if isinstance(arguments, dict) else None
        if isinstance(name, str) and isinstance(path, str):
            self._add(name, path)

    def _add(self, tool: str, path: str) -> None:
        if path and tool in _CHANGES:
            (self._modified if _CHANGES[tool] else self._read).add(path)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _paths(value: object) -> Iterable[str]:
    return (path for path in _list(value) if isinstance(path, str))


def _in_utf16(path: str) -> bytes:
    return path.encode("utf-16-be", "surrogatepass")
