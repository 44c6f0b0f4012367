"""Tool calls without results and the other way round: what is reported, and what repair makes of it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pi_daemon.session.llm import to_llm
from pi_daemon.session.pairing import calls, problems, repair
from pi_daemon.session.projection import Projection, project
from pi_daemon.session.rawjson import dumps, loads
from pi_daemon.session.selection import select
from tests.session.entries import Chain, answer, call, line, result, user


def of(*lines: bytes) -> Projection:
    """A chain of entries whose ids and parents are set here."""
    chain = Chain(*lines)
    selection = select(chain.tree.path(chain.tree.last_id))
    return project(selection, chain.of(selection.heads()))


def roles(projection: Projection) -> list[str]:
    return [f"{role}:{source}" for role, source in zip(projection.roles, projection.sources, strict=True)]


def system(id: str, parent: str) -> bytes:
    return line("message", id, parent, message={"role": "system", "content": "s"})


def shell(id: str, parent: str, excluded: bool) -> bytes:
    return line(
        "message", id, parent, message={"role": "bashExecution", "command": "x", "excludeFromContext": excluded}
    )


def test_pairs_are_no_problem() -> None:
    found = of(
        user("u", None),
        answer("a", "u", [call("1"), call("2")]),
        result("r2", "a", "2"),
        system("s", "r2"),
        shell("x", "s", True),
        result("r1", "x", "1"),
        user("v", "r1"),
    )
    assert problems(found) == []
    assert repair(found, 7) == found


def test_a_call_without_a_result() -> None:
    found = of(
        user("u", None), answer("a", "u", [call("1", "read"), call("2", "bash")]), result("r", "a", "1"), user("v", "r")
    )
    assert problems(found) == [("callWithoutResult", "a", "2")]
    mended = repair(found, 7)
    assert roles(mended) == ["user:u", "assistant:a", "toolResult:r", "toolResult:a", "user:v"]
    made = loads(mended.messages[3])
    assert (made["toolCallId"], made["toolName"], made["isError"], made["timestamp"]) == ("2", "bash", True, 7)
    assert "aborted" in made["content"][0]["text"].lower()
    assert problems(mended) == []


def test_the_last_answer_is_answered_too() -> None:
    found = of(user("u", None), answer("a", "u", [call("1")]))
    assert problems(found) == [("callWithoutResult", "a", "1")]
    assert roles(repair(found, 0)) == ["user:u", "assistant:a", "toolResult:a"]


def test_a_result_without_its_call() -> None:
    found = of(
        result("r", None, "1"),
        user("u", "r"),
        answer("a", "u", [call("2")]),
        result("s", "a", "2"),
        result("t", "s", "2"),
    )
    assert problems(found) == [("resultWithoutCall", "r", "1"), ("resultWithoutCall", "t", "2")]
    assert roles(repair(found, 0)) == ["user:u", "assistant:a", "toolResult:s"]


def test_a_result_that_comes_too_late() -> None:
    found = of(answer("a", None, [call("1")]), user("u", "a"), result("r", "u", "1"), answer("b", "r"))
    assert problems(found) == [("callWithoutResult", "a", "1"), ("resultWithoutCall", "r", "1")]
    assert roles(repair(found, 0)) == ["assistant:a", "toolResult:a", "user:u", "assistant:b"]


def test_the_answer_stands_before_what_else_came_between() -> None:
    found = of(answer("a", None, [call("1"), call("2")]), result("r", "a", "1"), system("s", "r"), user("u", "s"))
    assert roles(repair(found, 0)) == ["assistant:a", "toolResult:r", "toolResult:a", "system:s", "user:u"]


@pytest.mark.parametrize("llm", [False, True])
def test_both_formats_have_the_same_problems(llm: bool) -> None:
    lines = [
        answer("a", None, [call("1")]),
        line("message", "odd", "a", message={"role": "laterRole"}),
        shell("x", "odd", True),
        result("r", "x", "1"),
        answer("b", "r", [call("2")]),
        shell("y", "b", False),
        result("s", "y", "2"),
    ]
    found = of(*lines)
    shown = to_llm(found) if llm else found
    assert problems(shown) == [("callWithoutResult", "b", "2"), ("resultWithoutCall", "s", "2")]


def test_ids_that_come_again_in_each_turn() -> None:
    found = of(
        answer("a", None, [call("1")]), result("r", "a", "1"), answer("b", "r", [call("1")]), result("s", "b", "1")
    )
    assert problems(found) == []


@pytest.mark.parametrize(
    "content, expected",
    [
        (None, []),
        ("toolCall", []),
        ([], []),
        ([call("1", "read")], [("1", "read")]),
        ([call("1", "read"), "toolCall", 5, {"type": "toolCall", "id": 7}], [("1", "read"), ("7", "")]),
        ([{"type": "text", "text": "\ud83d toolCall"}, call("\ud83d", "x")], [("\ud83d", "x")]),
    ],
)
def test_calls(content: Any, expected: list[tuple[str, str]]) -> None:
    found = calls(dumps({"role": "assistant", "content": content}))
    assert [(call.id, call.name) for call in found] == expected


def test_a_repaired_context_has_no_problems() -> None:
    rng = random.Random(1)
    for _ in range(200):
        lines: list[bytes] = []
        parent = None
        for number in range(rng.randrange(12)):
            name = f"n{number}"
            kind = rng.randrange(5)
            if kind == 0:
                lines.append(user(name, parent))
            elif kind == 1:
                lines.append(answer(name, parent, [call(rng.choice("123")) for _ in range(rng.randrange(3))]))
            elif kind == 4:
                lines.append(line("message", name, parent, message={"role": "system", "content": "s"}))
            else:
                lines.append(result(name, parent, rng.choice("123")))
            parent = name
        found = of(*lines)
        mended = repair(found, 0)
        assert problems(mended) == []
        assert repair(mended, 0) == mended
        assert (mended == found) is (problems(found) == [])
