"""The facts of an entry, from its decoded value: nothing is taken for granted, no file is too odd.

A member of the wrong type reads as an absent one. `pi_daemon.session.entry` has the fast way to the same facts
for the lines that are as they should be.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from sys import intern
from typing import Any

from pi_daemon.session.head import (
    BROKEN_OFF,
    AssistantFacts,
    BranchSummaryFacts,
    CompactionFacts,
    EditFacts,
    Facts,
    LabelFacts,
    MessageFacts,
    ModelFacts,
    NameFacts,
    ShellFacts,
    ThinkingFacts,
    ToolResultFacts,
)
from pi_daemon.session.rawjson import JS_SPACE

Json = dict[str, Any]

MAX_USAGE = 2.0**53
"""Beyond it a double doesn't count whole tokens any more."""


def facts_of(entry: Json) -> Facts | None:
    """What a head keeps of the entry `entry`; None where it contributes only its place in the tree."""
    kind = entry.get("type")
    make = _KINDS.get(kind) if isinstance(kind, str) else None
    return make(entry) if make else None


def context_tokens(total: float, *parts: float) -> float:
    """The context size that a usage reports: pi takes the total, and the sum of the parts where that is zero.

    A part that is missing is NaN. 0.0 for what can't be a size.
    """
    try:
        tokens = total or sum(parts)
    except OverflowError:  # an integer that no double holds, beside a part that is one
        return 0.0
    return tokens if 0 < tokens <= MAX_USAGE else 0.0


def has_text(content: object) -> bool:
    """Whether the content of a message shows any text but white space."""
    if isinstance(content, str):
        return bool(content.strip(JS_SPACE))
    return isinstance(content, list) and any(
        isinstance(block, dict) and block.get("type") == "text" and bool(_string(block, "text").strip(JS_SPACE))
        for block in content
    )


def _string(value: Json, name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def _name(value: Json, name: str) -> str | None:
    found = value.get(name)
    return intern(found) if isinstance(found, str) else None


def _number(value: Json, name: str, missing: float) -> float:
    found = value.get(name, missing)
    return found if isinstance(found, int | float) else missing


def _message(entry: Json) -> Facts | None:
    message = entry.get("message")
    if not isinstance(message, dict):
        return None
    empty = message.get("content") is None
    match message.get("role"):
        case "assistant":
            stop = _name(message, "stopReason")
            usage = message.get("usage")
            tokens = 0.0
            if isinstance(usage, dict) and stop not in BROKEN_OFF:
                parts = [_number(usage, part, math.nan) for part in ("input", "output", "cacheRead", "cacheWrite")]
                tokens = context_tokens(_number(usage, "totalTokens", 0), *parts)
            return AssistantFacts(
                _name(message, "provider"),
                _name(message, "model"),
                stop,
                tokens,
                empty,
                has_text=has_text(message.get("content")),
            )
        case "toolResult":
            return ToolResultFacts(_string(message, "toolCallId"), empty)
        case "bashExecution":
            excluded = message.get("excludeFromContext")
            return ShellFacts(bool(excluded) or excluded in ([], {}), empty)  # as JavaScript has it
        case str(role):
            return MessageFacts(intern(role), empty)
        case _:
            return MessageFacts("", empty)


def _model(entry: Json) -> Facts:
    return ModelFacts(intern(_string(entry, "provider")), intern(_string(entry, "modelId")))


def _thinking(entry: Json) -> Facts | None:
    level = _name(entry, "thinkingLevel")
    return None if level is None else ThinkingFacts(level)


def _compaction(entry: Json) -> Facts:
    first = entry.get("firstKeptEntryId")
    return CompactionFacts(first if isinstance(first, str) else None, bool(entry.get("systemMessage")))


def _branch_summary(entry: Json) -> Facts:
    origin = entry.get("fromId")
    return BranchSummaryFacts(origin if isinstance(origin, str) else None, not entry.get("summary"))


def _label(entry: Json) -> Facts | None:
    target = entry.get("targetId")
    return LabelFacts(target, _string(entry, "label") or None) if isinstance(target, str) else None


def _session_info(entry: Json) -> Facts:
    return NameFacts(_string(entry, "name").strip(JS_SPACE) or None)


def _context_edit(entry: Json) -> Facts | None:
    target = entry.get("targetId")
    if not isinstance(target, str) or "replacement" not in entry:
        return None
    return EditFacts(target, entry["replacement"] is None)


_KINDS: dict[str, Callable[[Json], Facts | None]] = {
    "message": _message,
    "model_change": _model,
    "thinking_level_change": _thinking,
    "compaction": _compaction,
    "branch_summary": _branch_summary,
    "label": _label,
    "session_info": _session_info,
    "context_edit": _context_edit,
}

KINDS_WITH_FACTS = frozenset(_KINDS)
