"""Calls of the tools read, write and edit → what they say of a file's text (pi 1.6.0, and its old forms)."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from pi_daemon.compaction.shown.held import Edits, Held

_NOTICE = re.compile(
    r"\n\n(?:\[(?:Showing lines [^\n]*|\d+ more lines in file[^\n]*)\]"
    r"|\.\.\. \(\d+ more lines[^\n]*\))(?:\n\[[^\n]*\])?\s*\Z"
)
_NO_TEXT = re.compile(r"\A\[Line \d+ is [^\n]*\]\s*\Z|\ARead image file \[")
_OLD_NAMES = ("oldText", "old_string", "oldString", "old_str")
_NEW_NAMES = ("newText", "new_string", "newString", "new_str")


def written(arguments: dict[str, Any]) -> str | None:
    """The whole text that a write put into the file, as UTF-8 can have it."""
    content = arguments.get("content")
    if not isinstance(content, str) or edits_of(arguments) is not None:
        return None
    return content.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def edits_of(arguments: dict[str, Any]) -> Edits | None:
    """What is replaced by what; None where the arguments are no edit that is understood."""
    given = arguments.get("edits")
    if isinstance(given, str):  # some models send a list as a string
        try:
            given = msgspec.json.decode(given)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return None
    listed = [given] if isinstance(given, dict) else given if isinstance(given, list) else []
    pairs = [_pair(one) for one in [*listed, arguments] if one is not arguments or _pair(arguments) is not None]
    found = [pair for pair in pairs if pair is not None]
    return found if found and len(found) == len(pairs) else None


def _pair(edit: object) -> tuple[str, str] | None:
    if not isinstance(edit, dict) or edit.get("replace_all") or edit.get("replaceAll"):
        return None
    old = next((value for name in _OLD_NAMES if isinstance(value := edit.get(name), str)), None)
    new = next((value for name in _NEW_NAMES if isinstance(value := edit.get(name), str)), None)
    return (old, new) if old and new is not None else None


def change(held: Held, arguments: dict[str, Any]) -> None:
    """What a call that changed the file and went well did to its text."""
    if (content := written(arguments)) is not None:
        held.write(content)
    elif (edits := edits_of(arguments)) is not None:
        held.edit(edits)
    else:
        held.forget()


def look(held: Held, arguments: dict[str, Any], text: str | None) -> bool:
    """What a read showed of the file. False where it shows no text that could be compared."""
    if text is None or _NO_TEXT.match(text):
        return False
    shown = _NOTICE.sub("", text)
    first = arguments.get("offset")
    whole = shown == text and arguments.get("limit") is None and (first is None or first in (0, 1))
    held.read(shown, all=whole)
    return True
