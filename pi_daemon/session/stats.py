"""Sums over a session."""

from __future__ import annotations

import math
from typing import TypeAlias

from msgspec import Struct, field

from pi_daemon.session.facts import Json
from pi_daemon.session.head import BROKEN_OFF, AssistantFacts, Head
from pi_daemon.session.rawjson import loads

_BILLED = frozenset({"usage", "compaction", "branch_summary"})

Model: TypeAlias = tuple[str, str]
"""Provider and model id."""


class Usage(Struct):
    """Tokens, and cost in the currency of the usages."""

    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_write: float = 0
    cost: float = 0

    def add(self, other: Usage) -> None:
        self.input += other.input
        self.output += other.output
        self.cache_read += other.cache_read
        self.cache_write += other.cache_write
        self.cost += other.cost


class Measure(Struct, gc=False):
    """What one entry adds to sums.

    `role` is None for what is no message. `calls` are the ids of an answer's tool calls. `failure`: how it failed:
    "toolResult", "error" or "aborted". `model` is who made an answer or was billed, as far as the entry says. `reply`
    tells an answer from all others, and is the same in a copy of it.
    """

    role: str | None = None
    calls: list[str] = []
    failure: str | None = None
    usage: Usage | None = None
    model: Model | None = None
    reply: object = None


def measure(head: Head, line: bytes) -> Measure:
    """`line` is the entry's. Whatever in it is of another type than pi writes counts as absent."""
    role = (head.role or "") if head.type == "message" else None
    if head.type not in _BILLED and role not in ("assistant", "toolResult"):
        return Measure(role)
    entry = loads(line)
    holder = entry if head.type in _BILLED else entry["message"]
    usage = _usage(holder.get("usage"))
    if head.type in _BILLED:
        return Measure(role, usage=usage, model=_model(holder))
    if role == "toolResult":
        return Measure(role, failure="toolResult" if holder.get("isError") is True else None, usage=usage)
    content = holder.get("content")
    blocks = content if isinstance(content, list) else []
    calls = [
        str(block.get("id") or "") for block in blocks if isinstance(block, dict) and block.get("type") == "toolCall"
    ]
    facts = head.facts
    stop = facts.stop_reason if isinstance(facts, AssistantFacts) else None
    failure = stop if stop in BROKEN_OFF else None
    model = _model(holder)
    return Measure(role, calls, failure, usage, model, _reply(holder, model, usage))


def _reply(message: Json, model: Model | None, usage: Usage | None) -> object:
    """The provider's id of an answer. Where it gave none: what no two answers have in common, and a copy under another
    entry id keeps. None where even that can't be told."""
    given = message.get("responseId")
    if isinstance(given, str) and given:
        return given
    at = message.get("timestamp")
    if usage is None or not isinstance(at, int | float) or not (usage.input or usage.output):
        return None
    return model, at, usage.input, usage.output, usage.cache_read, usage.cache_write


def _model(holder: Json) -> Model | None:
    provider, model = holder.get("provider"), holder.get("model")
    if not isinstance(model, str):
        return None
    return provider if isinstance(provider, str) else "", model


def _usage(value: object) -> Usage | None:
    if not isinstance(value, dict):
        return None
    cost = value.get("cost")
    total = _number(cost, "total") if isinstance(cost, dict) else 0
    return Usage(
        _number(value, "input"),
        _number(value, "output"),
        _number(value, "cacheRead"),
        _number(value, "cacheWrite"),
        total,
    )


class Sums(Struct):
    """Counts of messages, tool calls and failures; `usage` of all that was billed.

    pi 1.6.0: over all entries of the file, those that no context shows any more and copies of one reply included; usage
    stands in assistant messages, tool results, usage entries, compactions and branch summaries. `failed_results` are
    tool results that say they are errors, `errors` and `aborted` answers that ended so.
    """

    messages: int = 0
    messages_by_role: dict[str, int] = field(default_factory=dict)
    tool_calls: int = 0
    failed_results: int = 0
    errors: int = 0
    aborted: int = 0
    usage: Usage = field(default_factory=Usage)

    def add(self, head: Head, line: bytes) -> None:
        """Count one entry."""
        self.count(measure(head, line))

    def count(self, one: Measure) -> None:
        role = one.role
        if role is not None:
            self.messages += 1
            self.messages_by_role[role] = self.messages_by_role.get(role, 0) + 1
        self.tool_calls += len(one.calls)
        if one.failure is not None:
            self.failed_results += one.failure == "toolResult"
            self.errors += one.failure == "error"
            self.aborted += one.failure == "aborted"
        if one.usage is not None:
            self.usage.add(one.usage)


def _number(value: Json, name: str) -> float:
    """0 for what is no number, or more than a double holds."""
    found = value.get(name)
    if not isinstance(found, int | float) or not -1e300 < found < 1e300 or not math.isfinite(found):
        return 0
    return found if isinstance(found, float) or -(2**53) < found < 2**53 else float(found)
