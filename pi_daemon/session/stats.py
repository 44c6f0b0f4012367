"""Sums over a session."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from pi_daemon.session.facts import Json
from pi_daemon.session.head import Head
from pi_daemon.session.rawjson import loads

_BILLED = frozenset({"usage", "compaction", "branch_summary"})


class Sums(Struct):
    """Counts of messages and tool calls; tokens and cost (in the currency of the usages) of all that was billed.

    pi 1.6.0: over all entries of the file, those that no context shows any more included; usage stands in
    assistant messages, tool results, usage entries, compactions and branch summaries.
    """

    messages: int = 0
    messages_by_role: dict[str, int] = field(default_factory=dict)
    tool_calls: int = 0
    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_write: float = 0
    cost: float = 0

    def add(self, head: Head, line: bytes) -> None:
        """Count one entry."""
        role = head.role
        if head.type == "message":
            self.messages += 1
            self.messages_by_role[role or ""] = self.messages_by_role.get(role or "", 0) + 1
        if head.type not in _BILLED and role not in ("assistant", "toolResult"):
            return
        entry = loads(line)
        holder = entry if head.type in _BILLED else entry["message"]
        content = holder.get("content")
        if role == "assistant" and isinstance(content, list):
            self.tool_calls += sum(isinstance(block, dict) and block.get("type") == "toolCall" for block in content)
        usage = holder.get("usage")
        if isinstance(usage, dict):
            self.input += _number(usage, "input")
            self.output += _number(usage, "output")
            self.cache_read += _number(usage, "cacheRead")
            self.cache_write += _number(usage, "cacheWrite")
            cost = usage.get("cost")
            self.cost += _number(cost, "total") if isinstance(cost, dict) else 0


def add_all(total: Sums, heads: Iterable[Head], lines: Iterable[bytes]) -> Sums:
    """`total` with the entries of `heads`, whose lines are `lines`."""
    for head, line in zip(heads, lines, strict=True):
        total.add(head, line)
    return total


def _number(value: Json, name: str) -> float:
    found = value.get(name)
    return found if isinstance(found, int | float) else 0
