"""The documents that a client has open, as `textDocument/didOpen`, `didChange` and `didClose` told.

A change that brings the whole text replaces what was known. Changes of parts are kept as they came and applied when
they have become longer than the text itself, so that what is kept is bounded by the documents' size.
"""

from __future__ import annotations

import re
from typing import Any

from pi_daemon.session import rawjson

KEPT_BYTES = 64 * 1024
"""Changes of a small document may be longer than its text: up to here they wait."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)")


class OpenDocuments:
    """Follows notifications whose parameters are raw JSON. What makes no sense is ignored: the daemon says so, if
    anybody."""

    def __init__(self) -> None:
        self._documents: dict[str, _Document] = {}

    def follow(self, method: str, params: bytes) -> None:
        try:
            given = rawjson.loads(params)
            document = given["textDocument"]
            uri = document["uri"]
            if method == "textDocument/didOpen":
                self._documents[uri] = _Document(document, len(params))
            elif method == "textDocument/didClose":
                self._documents.pop(uri, None)
            elif method == "textDocument/didChange" and uri in self._documents:
                self._documents[uri].change(document.get("version"), given["contentChanges"], len(params))
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            return

    def messages(self) -> list[bytes]:
        """The notifications that open them again as they are now."""
        return [message for document in self._documents.values() for message in document.messages()]


class _Document:
    """`item`: LSP's TextDocumentItem; `pending`: the changes of parts since then."""

    def __init__(self, item: dict[str, Any], size: int) -> None:
        self.item = {**item, "text": str(item["text"])}
        self.version = item.get("version")
        self.size = size
        self.pending: list[dict[str, Any]] = []
        self.pending_size = 0

    def change(self, version: Any, changes: list[dict[str, Any]], size: int) -> None:
        whole = max((index for index, change in enumerate(changes) if "range" not in change), default=-1)
        if whole >= 0:
            self.item["text"], self.size = str(changes[whole]["text"]), size
            self.pending, self.pending_size = [], 0
        parts = changes[whole + 1 :]
        if parts:
            self.pending += parts
            self.pending_size += size
        else:
            self.item["version"] = version
        self.version = version
        if self.pending_size > max(KEPT_BYTES, self.size):
            self.item.update(text=apply(self.item["text"], self.pending), version=version)
            self.size = len(self.item["text"])
            self.pending, self.pending_size = [], 0

    def messages(self) -> list[bytes]:
        messages = [_notification("textDocument/didOpen", {"textDocument": self.item})]
        if self.pending:
            document = {"uri": self.item["uri"], "version": self.version}
            changed = {"textDocument": document, "contentChanges": self.pending}
            messages.append(_notification("textDocument/didChange", changed))
        return messages


def apply(text: str, changes: list[dict[str, Any]]) -> str:
    """The text after changes of parts, each applied to what the one before left. Characters count as UTF-16 code
    units, as LSP has it where nothing else was agreed."""
    lines = _split(text)
    for change in changes:
        start, end = change["range"]["start"], change["range"]["end"]
        first, last = min(start["line"], len(lines) - 1), min(end["line"], len(lines) - 1)
        before = lines[first][: _index(lines, start)]
        after = lines[last][_index(lines, end) :]
        if first and lines[first - 1].endswith("\r"):  # a newline that comes next to it makes one line end of two
            first -= 1
            before = lines[first] + before
        lines[first : last + 1] = _split(before + str(change["text"]) + after, whole=last + 1 == len(lines))
    return "".join(lines)


def _split(text: str, *, whole: bool = True) -> list[str]:
    """Lines with their ends. After the last end another line begins, unless more follow anyway (`whole` is false)."""
    lines: list[str] = _LINE.findall(text)
    rest = text[sum(map(len, lines)) :]
    return [*lines, rest] if whole or rest else lines


def _index(lines: list[str], position: dict[str, int]) -> int:
    """Where in its line a position is; one beyond the end is the end, before the line's end characters."""
    if position["line"] >= len(lines):
        return len(lines[-1])
    line = lines[position["line"]]
    content = line.rstrip("\r\n")
    wanted = position["character"]
    if content.isascii():
        return min(wanted, len(content))
    units = content.encode("utf-16-le", "surrogatepass")[: 2 * wanted]
    return len(units.decode("utf-16-le", "surrogatepass"))


def _notification(method: str, params: dict[str, Any]) -> bytes:
    return rawjson.dumps({"jsonrpc": "2.0", "method": method, "params": params})
