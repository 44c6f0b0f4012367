"""Calls of an edit → what they replace by what, as a person reads it (pi 1.6.0, and its old forms)."""

from __future__ import annotations

from pi_daemon.session.facts import Json
from pi_daemon.session.rawjson import BadJson, loads

_OLD_NAMES = ("oldText", "old_string", "oldString", "old_str")
_NEW_NAMES = ("newText", "new_string", "newString", "new_str")


def take_edits(arguments: Json) -> list[tuple[str, str]]:
    """The texts before and after, which leave `arguments`. Where anything about them isn't understood, or there are
    none: nothing, and `arguments` are as they were."""
    given = arguments.get("edits")
    if isinstance(given, str):  # some models send a list as a string
        try:
            given = loads(given.encode(errors="replace"))
        except BadJson:
            return []
    listed = [given] if isinstance(given, dict) else given if isinstance(given, list) else []
    own = {name: arguments[name] for name in (*_OLD_NAMES, *_NEW_NAMES) if name in arguments}
    pairs = [_pair(one) for one in [*listed, *([own] if own else [])]]
    if ("edits" in arguments and not listed) or None in pairs:
        return []
    for name in ("edits", *own):
        arguments.pop(name, None)
    return [pair for pair in pairs if pair is not None]


def _pair(edit: object) -> tuple[str, str] | None:
    """None also where it says more than the two."""
    if not isinstance(edit, dict) or len(edit) != 2:
        return None
    old = next((edit[name] for name in _OLD_NAMES if name in edit), None)
    new = next((edit[name] for name in _NEW_NAMES if name in edit), None)
    return (old, new) if isinstance(old, str) and isinstance(new, str) else None


def as_diff(edits: list[tuple[str, str]]) -> str:
    """Lines that go and lines that come; two edits are apart by a line of their own."""
    return "\n@@\n".join(
        "\n".join([*_marked("-", old), *_marked("+", new)]) or "(nothing by nothing)" for old, new in edits
    )


def _marked(mark: str, text: str) -> list[str]:
    return [mark + line for line in text.removesuffix("\n").split("\n")] if text else []
