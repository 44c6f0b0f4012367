"""Which files a conversation read and changed, as the calls of the tools read, write and edit say (pi 1.6.0)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pi_daemon.session.rawjson import loads

_CHANGES = {"read": False, "write": True, "edit": True}


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

    def see_raw(self, message: bytes) -> None:
        """The same of a message that needn't be decoded where it tells of no calls."""
        if b'"toolCall"' in message or b'"nestedCalls"' in message or b"\\u00" in message:
            value = loads(message)
            if isinstance(value, dict):
                self.see(value)

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
        if isinstance(name, str) and name in _CHANGES and isinstance(path, str) and path:
            (self._modified if _CHANGES[name] else self._read).add(path)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _paths(value: object) -> Iterable[str]:
    return (path for path in _list(value) if isinstance(path, str))


def _in_utf16(path: str) -> bytes:
    return path.encode("utf-16-be", "surrogatepass")
