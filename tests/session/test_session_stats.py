"""Sums over a session."""

from __future__ import annotations

from pi_daemon.session.stats import Sums, Usage
from tests.session.entries import answer, call, head, line, summed, text, user

USAGE = {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4, "totalTokens": 10, "cost": {"total": 0.5}}


def test_everything_that_was_billed_counts() -> None:
    lines = [
        user("a", None),
        answer("b", "a", [call("1"), call("2"), text("x")], usage=USAGE),
        line("message", "c", "b", message={"role": "toolResult", "content": [], "usage": USAGE}),
        line("usage", "d", "c", usage=USAGE),
        line("compaction", "e", "d", summary="s", tokensBefore=1, usage=USAGE),
        line("branch_summary", "f", "e", fromId="a", summary="s", usage=USAGE),
        line("custom", "g", "f", usage=USAGE),
        answer("b", "a", [call("3")], usage={"input": "much", "cost": 5}, stopReason="aborted"),
        line("message", "h", "g", message="text"),
    ]
    assert summed(map(head, lines), lines) == Sums(
        messages=5,
        messages_by_role={"user": 1, "assistant": 2, "toolResult": 1, "": 1},
        tool_calls=3,
        aborted=1,
        usage=Usage(5, 10, 15, 20, 2.5),
    )
