"""Whether a text occurs in an entry, and where: the case of letters doesn't matter.

Of a message that is what a model would read, and its details; of entries that never enter a context whatever text
they hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from pi_daemon.session.glance import Json
from pi_daemon.session.head import Head
from pi_daemon.session.rawjson import BadJson, loads

Place: TypeAlias = Literal["text", "thinking", "arguments", "result", "summary", "command", "details", "other"]
"""`details` are what tools, extensions and the daemon note for themselves: no model reads them."""

AROUND = 60
"""Code points of a snippet before and after what was found: a line or two of a terminal."""

MAX_TEXTS = 10_000
"""Strings of one entry that are looked at where they may lie anywhere."""

_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class Found(Struct, frozen=True):
    """Where a text was first found in an entry, and what stands around it, on one line."""

    place: Place
    snippet: str


class Needle:
    """A text to look for."""

    def __init__(self, query: str) -> None:
        self.text = query.lower()
        self._raw = self._as_stored(query)

    def _as_stored(self, query: str) -> bytes | None:
        """The bytes that a line without escapes has if it has the text in any case; None where that can't be said."""
        if re.search(r'["\\\\/\x00-\x1f\x7f\ud800-\udfff]', query):
            return None
        if any(not letter.isascii() and letter.lower() != letter.upper() for letter in query):
            return None
        return self.text.encode()

    def may_be_in(self, line: bytes) -> bool:
        """False only where the line's texts don't have it; told from the bytes, without decoding them."""
        if self._raw is None or b"\\u" in line or any(odd in line for odd in _FOLD_TO_ASCII):
            return True
        return self._raw in line.lower()

    def within(self, text: str) -> bool:
        return self.text in text.lower()

    def in_entry(self, head: Head, line: bytes) -> Found | None:
        """Where the entry has it."""
        if not self.may_be_in(line):
            return None
        for place, text in texts_of(head, loads(line)):
            if self.within(text):
                return Found(place, self.snippet(text))
        return None

    def in_damaged(self, line: bytes) -> Found | None:
        """Where a line has it that is no JSON."""
        text = line.decode(errors="replace")
        return Found("other", self.snippet(text)) if self.within(text) else None

    def snippet(self, text: str) -> str:
        """What stands around the first place where `text` has it."""
        at = text.lower().find(self.text)
        start, end = max(0, at - AROUND), at + len(self.text) + AROUND
        piece = " ".join(_UNFIT.sub(" ", text[start:end]).split())
        return f"{'…' if start else ''}{piece}{'…' if end < len(text) else ''}"


_FOLD_TO_ASCII = ("\u212a".encode(), "\u0130".encode())
"""Letters beyond ASCII whose small ones are within it."""


def texts_of(head: Head, entry: Json) -> Iterator[tuple[Place, str]]:
    """The texts of an entry that can be searched."""
    match head.type:
        case "message" if isinstance(message := entry.get("message"), dict):
            yield from _of_message(message)
        case "custom_message":
            yield from _of_content(entry.get("content"), "text")
            yield from _strings(entry.get("details"), "details")
        case "compaction" | "branch_summary":
            yield from _strings(entry.get("summary"), "summary")
            if isinstance(system := entry.get("systemMessage"), dict):
                yield from _of_message(system)
            yield from _strings(entry.get("details"), "details")
        case "context_edit":
            replacement = entry.get("replacement")
            yield from _of_content(replacement.get("content") if isinstance(replacement, dict) else None, "text")
        case "label" | "session_info":
            yield from _strings(entry.get("label") if head.type == "label" else entry.get("name"), "other")
        case _:
            own = {name: value for name, value in entry.items() if name not in ("type", "id", "parentId", "timestamp")}
            yield from _strings(own, "other")


def _of_message(message: Json) -> Iterator[tuple[Place, str]]:
    match message.get("role"):
        case "bashExecution":
            yield from _strings([message.get("command"), message.get("output")], "command")
        case "branchSummary" | "compactionSummary":
            yield from _strings(message.get("summary"), "summary")
        case "system":
            yield from _of_content(message.get("content"), "text")
            yield from _strings(message.get("sections"), "text")
        case role:
            yield from _of_content(message.get("content"), "result" if role == "toolResult" else "text")
            yield from _strings(message.get("details"), "details")


def _of_content(content: Any, place: Place) -> Iterator[tuple[Place, str]]:
    if isinstance(content, str):
        yield place, content
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            match block.get("type"):
                case "text":
                    yield from _strings(block.get("text"), place)
                case "thinking":
                    yield from _strings(block.get("thinking"), "thinking")
                case "toolCall":
                    yield from _strings([block.get("name"), block.get("arguments")], "arguments")


def _strings(value: Any, place: Place) -> Iterator[tuple[Place, str]]:
    """All strings in a JSON value, and the names of its members; in their order."""
    waiting = [value]
    for _ in range(MAX_TEXTS):
        if not waiting:
            return
        one = waiting.pop()
        if isinstance(one, str):
            yield place, one
        elif isinstance(one, list):
            waiting += reversed(one)
        elif isinstance(one, dict):
            waiting += [part for name, member in reversed(one.items()) for part in (member, name)]
        elif isinstance(one, int | float) and not isinstance(one, bool):
            yield place, str(one)


_ID = re.compile(rb'"id"[ \t]*:[ \t]*("(?:[^"\\]|\\.){0,200}")')


def ids_in(line: bytes) -> list[str]:
    """The ids that a damaged line seems to give entries."""
    found = []
    for raw in _ID.findall(line):
        try:
            found.append(loads(raw))
        except BadJson:
            continue
    return found
