"""What `context` says beside the messages: problems, and answers that did not end well."""

from __future__ import annotations

from typing import Any

import pytest
from commands import ESCAPE, Commands, message, text, write_session

from pi_daemon.cli.context import CALLS

pytestmark = pytest.mark.slow


def calls(*ids: str) -> list[dict[str, Any]]:
    return [{"type": "toolCall", "id": id, "name": "read", "arguments": {}} for id in ids]


def test_problems_are_counted_and_summed_up(commands: Commands) -> None:
    entries = [
        message("u1", None, "user", "read"),
        message("a1", "u1", "assistant", calls("call-1", "call-2")),
        message("r1", "a1", "toolResult", [text("x")], toolCallId="call-9", toolName="read"),
    ]
    write_session(commands.sessions, "aaaa-1", entries)
    printed = commands.run("context", "aaaa-1").splitlines()
    assert printed[0].endswith("  3 problems")
    end = printed.index("3 problems: a provider refuses such a request; --pairing repair mends it")
    assert sorted(printed[end + 1 :]) == [
        "    2 calls without a result: call-1, call-2 (in a1)",
        "    a tool result without its call: call-9 (in r1)",
    ]
    assert "   problem: 2 calls without a result: call-1, call-2" in printed
    mended = commands.run("context", "aaaa-1", "--pairing", "repair")
    assert mended.splitlines()[0].endswith("  3 problems mended") and "problem:" not in mended
    assert "3 problems mended: what was wrong in the session" in mended


def test_many_problems_are_one_line(commands: Commands) -> None:
    ids = [f"call-{number}" for number in range(CALLS + 4)]
    first = message("a1", None, "assistant", calls(*ids[:2]))
    write_session(commands.sessions, "aaaa-1", [first, message("a2", "a1", "assistant", calls(*ids[2:]))])
    printed = commands.run("context", "aaaa-1")
    told = "9 calls without a result: call-0, call-1 (in a1); call-2, call-3, call-4 (in a2)"
    assert f"    {told} and 4 more (--full shows them)\n" in printed
    assert "   problem: 7 calls without a result: call-2, call-3, call-4, call-5, call-6 and 2 more" in printed
    assert printed.count("without a result") == 3
    assert "--full shows" not in (full := commands.run("context", "aaaa-1", "--full"))
    assert full.count("call-8") == 3


def test_no_problem_no_word_of_it(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", [message("u1", None, "user", "hello")])
    printed = commands.run("context", "aaaa-1")
    assert "problem" not in printed and printed.startswith("1 message  ")


def test_how_an_answer_ended(commands: Commands) -> None:
    why = "429 too many\nrequests " + ESCAPE
    entries = [
        message("u1", None, "user", "hello"),
        message("a1", "u1", "assistant", [text("par")], stopReason="error", errorMessage=why),
        message("a2", "a1", "assistant", [], stopReason="aborted"),
        message("a3", "a2", "assistant", [text("done")], stopReason="stop"),
    ]
    write_session(commands.sessions, "aaaa-1", entries)
    printed = commands.run("context", "aaaa-1")
    assert "    ended: error: 429 too many requests \u241b]0;owned" in printed
    assert "    ended: aborted\n" in printed and printed.count("ended:") == 2
