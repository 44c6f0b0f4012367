"""Sums by branch and by model: of any tree they add up to those of the whole file."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_daemon.session import tally as tallied
from pi_daemon.session.branches import TRUNK, split
from pi_daemon.session.stats import Sums
from pi_daemon.session.tally import Part, Tally
from pi_daemon.session.tree import SessionTree
from tests.session.entries import Chain, answer, call, head, line, result, summed, user

USAGE = {"input": 1, "output": 2, "cacheRead": 4, "cacheWrite": 8, "totalTokens": 15, "cost": {"total": 0.25}}


def at(minute: float, raw: bytes) -> bytes:
    """The entry at that time of the first of January 2026."""
    seconds = round(minute * 60)
    time = f"2026-01-01T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.000Z"
    return json.dumps(json.loads(raw) | {"timestamp": time}, separators=(",", ":")).encode()


def tally(lines: list[bytes], leaf: str | None) -> Tally:
    heads = [head(raw) for raw in lines]
    found = Tally(heads, leaf)
    found.add(heads, lines)
    return found


def test_branches_and_the_trunk() -> None:
    chain = Chain(
        user("a", None),
        user("b", "a"),
        user("old", "b"),
        user("shared", "b"),
        user("one", "shared"),
        user("two", "shared"),
        user("leaf", "b"),
        user("root", None),
    )
    found = split(chain.tree, "leaf")
    assert [head.id for head in found.trunk] == ["a", "b", "leaf"]
    assert [(row.tip.id, row.left_at, row.count) for row in found.rows] == [
        ("root", None, 1),
        ("two", "b", 2),
        ("one", "shared", 1),
        ("old", "b", 1),
    ]
    assert found.numbers["shared"] == found.numbers["two"] == 2 and found.numbers["leaf"] == TRUNK
    # A leaf that was moved back: what goes on from it is a branch, too.
    assert [(row.tip.id, row.left_at) for row in split(chain.tree, "b").rows][1:] == [
        ("leaf", "b"),
        ("two", "b"),
        ("one", "shared"),
        ("old", "b"),
    ]
    assert len(split(chain.tree, None).trunk) == 0


def test_models_failures_and_times() -> None:
    big = {"provider": "p", "model": "big"}
    failed = line(
        "message", "r", "b", message={"role": "toolResult", "toolCallId": "1", "isError": True, "content": []}
    )
    lines = [
        at(0, user("a", None)),
        at(1, answer("b", "a", [call("1"), call("2")], usage=USAGE, **big)),
        at(3, failed),
        at(60, result("s", "r", "2")),
        at(61, answer("c", "s", stopReason="error", usage=USAGE)),
        at(62, line("compaction", "k", "c", summary="s", tokensBefore=1, usage=USAGE)),
        at(2, answer("d", "a", stopReason="aborted", **big)),
    ]
    found = tally(lines, "k")
    parts, models = found.finished()
    # Branch d goes on two minutes after a, although it comes last in the file.
    assert [(part.span.entries, part.span.active_ms // 60_000) for part in parts] == [(6, 1 + 2 + 1 + 1), (1, 2)]
    assert found.span.active_ms == 7 * 60_000
    first, last = found.span.first_ms, found.span.last_ms
    assert first is not None and last is not None and last - first == 62 * 60_000
    told = {
        row.model: (
            row.sums.tool_calls,
            row.sums.failed_results,
            row.sums.errors,
            row.sums.aborted,
            row.sums.usage.cost,
        )
        for row in models
    }
    assert told == {("p", "big"): (2, 1, 0, 1, 0.25), ("p", "m"): (0, 0, 1, 0, 0.25), None: (0, 0, 0, 0, 0.25)}


def test_a_copy_of_a_reply_is_told() -> None:
    lines = [
        answer("a", None, usage=USAGE, responseId="r1"),
        answer("b", "a", usage=USAGE, responseId="r1"),
        answer("c", "b", usage=USAGE, responseId="r2"),
        answer("d", "c", usage=USAGE, timestamp=5),
        answer("e", None, usage=USAGE, timestamp=5),
        answer("f", "e", usage=USAGE, timestamp=6),
        answer("g", "f", usage=USAGE),
        answer("h", "g", usage=USAGE),
        answer("i", "h", timestamp=6, responseId="r1"),
    ]
    found = tally(lines, "i")
    assert (found.repeated_replies, found.repeated.input, found.repeated.cost) == (2, 2, 0.5)
    assert found.total.usage.input == 8  # as pi counts them


def test_there_is_a_bound_to_what_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tallied, "BRANCHES", 2)
    monkeypatch.setattr(tallied, "MODELS", 2)
    lines = [user("root", None)] + [answer(f"a{n}", "root", [call(str(n))], model=f"m{n}") for n in range(6)]
    parts, models = tally(lines, "a5").finished()
    assert [part.branch and part.branch.tip.id for part in parts] == [None, "a4", "a3", None]
    assert (parts[-1].branches, parts[-1].span.entries) == (3, 3)
    assert [(row.models, row.sums.tool_calls) for row in models] == [(1, 1), (1, 1), (4, 4)]


def test_numbers_that_no_model_reports() -> None:
    odd = b'{"input":1e999,"output":%s,"cacheRead":true,"cacheWrite":"4","cost":{"total":-1.5}}' % (b"9" * 400)
    raw = answer("a", None, usage={}).replace(b'"usage":{}', b'"usage":' + odd)
    usage = tally([raw], "a").total.usage
    assert (usage.input, usage.output, usage.cache_write, usage.cost) == (0, 0, 0, -1.5)


NAMES = st.sampled_from([f"e{number}" for number in range(12)])


@st.composite
def entries(draw: st.DrawFn) -> bytes:
    """Any entry: ids come twice, parents are missing or form loops, times go back and forth."""
    name, parent = draw(NAMES), draw(st.none() | NAMES)
    minute = draw(st.integers(0, 40))
    kind = draw(st.sampled_from(["user", "answer", "result", "compaction", "label", "usage"]))
    usage: Any = draw(st.sampled_from([None, USAGE, {"input": 3, "cost": {"total": 0.5}}]))
    match kind:
        case "user":
            raw = user(name, parent)
        case "answer":
            model, stop = draw(st.sampled_from("mno")), draw(st.sampled_from(["stop", "error", "aborted"]))
            calls = [call(str(number)) for number in range(draw(st.integers(0, 2)))]
            raw = answer(name, parent, calls, model=model, stopReason=stop, usage=usage)
        case "result":
            said = {"role": "toolResult", "toolCallId": draw(st.sampled_from("012")), "isError": draw(st.booleans())}
            raw = line("message", name, parent, message={**said, "content": [], "usage": usage})
        case "compaction":
            raw = line("compaction", name, parent, summary="s", tokensBefore=1, usage=usage)
        case "label":
            raw = line("label", name, parent, targetId="e1", label="l")
        case _:
            raw = line("usage", name, parent, kind="k", provider="p", model="m", usage=usage)
    return at(minute, raw)


def added(parts: list[Part]) -> tuple[Sums, int, int]:
    total, roles = Sums(), Counter[str]()
    for part in parts:
        sums = part.sums
        roles.update(sums.messages_by_role)
        total.messages += sums.messages
        total.tool_calls += sums.tool_calls
        total.failed_results += sums.failed_results
        total.errors += sums.errors
        total.aborted += sums.aborted
        total.usage.add(sums.usage)
    total.messages_by_role = dict(roles)
    return total, sum(part.span.entries for part in parts), sum(part.span.active_ms for part in parts)


@given(st.lists(entries(), min_size=1, max_size=25), st.data())
def test_any_tree_adds_up(lines: list[bytes], data: st.DataObject) -> None:
    heads = [head(raw) for raw in lines]
    tree = SessionTree(heads)
    leaf = data.draw(st.none() | st.sampled_from([one.id for one in tree.live()]))
    found = Tally(heads, leaf)
    cut = data.draw(st.integers(0, len(lines)))
    found.add(heads[:cut], lines[:cut])
    found.add(heads[cut:], lines[cut:])
    parts, models = found.finished()
    assert found.total == summed(heads, lines)
    assert added(parts) == (found.total, len(lines), found.span.active_ms)
    billed = Sums()
    for row in models:
        billed.usage.add(row.sums.usage)
        billed.tool_calls += row.sums.tool_calls
        billed.errors += row.sums.errors
    assert billed.usage == found.total.usage
    assert (billed.tool_calls, billed.errors) == (found.total.tool_calls, found.total.errors)
    # Each branch is a stretch of a path, and they share no entry.
    cuts = split(tree, leaf)
    assert len(cuts.trunk) + sum(row.count for row in cuts.rows) == len(list(tree.live())) == len(cuts.numbers)
    for number, row in enumerate(cuts.rows, 1):
        path = [one.id for one in tree.path(row.tip.id)]
        own = [name for name in path if cuts.numbers[name] == number]
        assert path[len(path) - row.count :] == own
        assert row.left_at == (path[-row.count - 1] if row.count < len(path) else None)
