"""What each answer of a model was billed, and how to know it again in a copy.

A fork carries the answers of the session that it comes from, so sums over sessions count an answer once: by its
`responseId`, which the provider gave it, else by its entry's id and time.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any

from msgspec import Struct


class _Cost(Struct, gc=False):
    total: float = 0


class UsageRead(Struct, gc=False):
    """A usage, as the fast way through a file decodes it."""

    input: float = 0
    output: float = 0
    cacheRead: float = 0
    cacheWrite: float = 0
    cost: _Cost | None = None


class Reply(Struct, array_like=True, gc=False, frozen=True):
    """`key` tells answers apart; `model` is `provider/model`."""

    key: str
    model: str
    input: float
    output: float
    cache_read: float
    cache_write: float
    cost: float


class Totals(Struct):
    """Over many sessions. `repeated` are the copies of answers that were not counted again."""

    replies: int = 0
    repeated: int = 0
    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_write: float = 0
    cost: float = 0

    def add(self, replies: Iterable[Reply], seen: set[str]) -> None:
        for reply in replies:
            if reply.key in seen:
                self.repeated += 1
                continue
            seen.add(reply.key)
            self.replies += 1
            self.input += reply.input
            self.output += reply.output
            self.cache_read += reply.cache_read
            self.cache_write += reply.cache_write
            self.cost += reply.cost


def reply_of(
    entry_id: str, timestamp: str, response_id: str | None, model: str, usage: UsageRead | None
) -> Reply | None:
    """None where nothing was billed."""
    if usage is None:
        return None
    cost = usage.cost.total if usage.cost is not None else 0.0
    return Reply(
        _key(entry_id, timestamp, response_id),
        model,
        usage.input,
        usage.output,
        usage.cacheRead,
        usage.cacheWrite,
        cost,
    )


def reply_of_value(entry: dict[str, Any], message: dict[str, Any], model: str) -> Reply | None:
    """The same of an entry that was decoded whole; a number that is none counts 0."""
    usage = message.get("usage")
    if not isinstance(usage, dict):
        return None
    cost = usage.get("cost")
    entry_id, timestamp, response_id = entry.get("id"), entry.get("timestamp"), message.get("responseId")
    key = _key(
        entry_id if isinstance(entry_id, str) else "",
        timestamp if isinstance(timestamp, str) else "",
        response_id if isinstance(response_id, str) else None,
    )
    return Reply(
        key.encode("utf-8", "replace").decode(),  # a lone surrogate can't be kept
        model,
        _number(usage, "input"),
        _number(usage, "output"),
        _number(usage, "cacheRead"),
        _number(usage, "cacheWrite"),
        _number(cost, "total") if isinstance(cost, dict) else 0.0,
    )


def _number(value: dict[str, Any], name: str) -> float:
    found = value.get(name)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return 0.0
    try:
        number = float(found)
    except OverflowError:
        return 0.0
    return number if isfinite(number) else 0.0


def _key(entry_id: str, timestamp: str, response_id: str | None) -> str:
    return response_id or f"{entry_id}\0{timestamp}"
