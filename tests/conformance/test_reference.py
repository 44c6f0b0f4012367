"""The same file in, the same answers out: ours against the reference's, at every leaf.

Over random sessions that the reference writes, over those sessions once they have been damaged, and over real
sessions where those are at hand.
"""

from __future__ import annotations

import os
import random
import re
from pathlib import Path
from typing import Any

import pytest

from pi_daemon.session.fork import fork_lines
from pi_daemon.session.projection import project
from pi_daemon.session.selection import select
from pi_daemon.session.system import fold_system
from pi_daemon.session.view import tree_rows
from tests.conformance.sessions import Ask, Generate, Session, as_javascript, decoded, read
from tests.session.entries import summed

pytestmark = pytest.mark.timeout(600)  # the first run may have to fetch the reference

TREES = 60
"""Random sessions a run, of 20 to 90 steps each. PI_DAEMON_SEED shifts them to others."""

FIRST_SEED = int(os.environ.get("PI_DAEMON_SEED", "1"))

REAL_SESSIONS = Path(os.environ.get("PI_DAEMON_SHARED", Path(__file__).parents[3] / "shared")) / "sessions"


def agree(session: Session, theirs: dict[str, Any]) -> None:
    """Fails at the first fact in which we and the reference differ."""
    assert "error" not in theirs, theirs["error"]
    tree = session.tree
    assert session.header.id == theirs["id"]
    ids = [head.id for head in tree.entries]
    ours_of = dict(zip(theirs["entries"], ids, strict=True))
    assert session.header.cwd == theirs["cwd"]
    if session.header.version >= 2:
        assert ids == theirs["entries"]
    assert tree.name == theirs["name"]
    assert tree.last_id == ours_of.get(theirs["leaf"])
    assert {k: v for k, v in tree.labels.items() if k in tree} == {ours_of[k]: v for k, v in theirs["labels"].items()}
    assert [head.id for head in tree.children(None)] == [ours_of[root] for root in theirs["roots"]]
    assert {head.id: [kid.id for kid in kids] for head in tree.live() if (kids := tree.children(head.id))} == {
        ours_of[parent]: [ours_of[kid] for kid in kids] for parent, kids in theirs["children"].items()
    }
    values = [as_javascript(value) for value in theirs["values"]]
    same: dict[tuple[bytes, int], bool] = {}

    def messages_agree(ours: list[bytes], numbers: list[int], what: str) -> None:
        assert len(ours) == len(numbers), what
        for message, number in zip(ours, numbers, strict=True):
            key = (message, number)
            if key not in same:
                assert decoded(message) == values[number], what
                same[key] = True

    for leaf, expected in theirs["at"].items():
        found = session.at(ours_of[leaf])
        assert found["path"] == [ours_of[entry] for entry in expected["path"]]
        messages_agree(found["messages"], expected["messages"], f"messages at {leaf}")
        messages_agree(found["llm"], expected["llm"], f"llm at {leaf}")
        assert found["sources"] == [ours_of[entry] for entry in expected["sources"]]
        model = expected["model"]
        assert found["model"] == (None if model is None else (model.get("provider", ""), model.get("modelId", "")))
        assert found["thinkingLevel"] == expected["thinkingLevel"]
        assert found["tokens"] == expected["tokens"], f"tokens at {leaf}"
    for filter_name, shown in theirs["shown"].items():
        rows = tree_rows(tree, tree.last_id, filter_name)
        assert {row.head.id: row.parent_id for row in rows} == {
            ours_of[entry]: parent and ours_of[parent] for entry, parent in shown.items()
        }, filter_name
        assert len({row.head.id for row in rows}) == len(rows)
    if theirs["stats"] is not None:
        stats_agree(session, theirs["stats"])
    fork_agrees(session, theirs["fork"], ours_of)


def stats_agree(session: Session, theirs: dict[str, Any]) -> None:
    heads = session.tree.entries
    ours = summed(heads, map(session.line, heads))
    by_role = ours.messages_by_role
    assert (ours.messages, ours.tool_calls) == (theirs["totalMessages"], theirs["toolCalls"])
    assert [by_role.get(role, 0) for role in ("user", "assistant", "toolResult")] == [
        theirs["userMessages"],
        theirs["assistantMessages"],
        theirs["toolResults"],
    ]
    tokens = theirs["tokens"]
    for count, expected in (
        (ours.usage.input, tokens["input"]),
        (ours.usage.output, tokens["output"]),
        (ours.usage.cache_read, tokens["cacheRead"]),
        (ours.usage.cache_write, tokens["cacheWrite"]),
        (ours.usage.cost, theirs["cost"]),
    ):
        if expected is not None:  # a part that is missing somewhere makes their sum NaN
            assert count == pytest.approx(expected)


def fork_agrees(session: Session, theirs: dict[str, Any], ours_of: dict[str, str]) -> None:
    path = session.tree.path(ours_of[theirs["leaf"]])
    new = iter(range(10**6))
    lines = fork_lines(session.tree, path, [session.line(head) for head in path], lambda taken: f"new-{next(new)}")
    ours = [decoded(line) for line in lines]
    expected = [as_javascript(entry) for entry in theirs["entries"]]
    names = {entry["id"]: mine["id"] for mine, entry in zip(ours, expected, strict=True)}
    for entry in expected:
        for member in ("id", "parentId", "firstKeptEntryId", "targetId", "fromId"):
            if entry.get(member) in names:
                entry[member] = names[entry[member]]
    if session.header.version >= 2:
        assert ours == expected
    projection = project(select(path), [session.line(head) for head in select(path).heads()])
    folded = fold_system(projection.messages)
    system = as_javascript(theirs["system"])
    if system is not None:
        system.pop("timestamp")  # the time of the compaction
    ours_folded = decoded(folded) if folded is not None else None
    if ours_folded is not None:
        ours_folded.pop("timestamp")
    assert ours_folded == system


@pytest.mark.slow
def test_random_sessions_of_the_reference(ask: Ask, generate: Generate, tmp_path: Path) -> None:
    files = generate(tmp_path, range(FIRST_SEED, FIRST_SEED + TREES))
    kinds: set[str] = set()
    for file, theirs in zip(files, ask(files), strict=True):
        session = read(file, block=random.Random(file.name).choice([1, 999, 1 << 16]))
        kinds.update(head.type for head in session.tree.entries)
        assert session.tree.damage() == []
        try:
            agree(session, theirs)
        except AssertionError as difference:
            difference.add_note(f"seed {file.stem}")
            raise
    assert len(kinds) == 11


@pytest.mark.slow
def test_the_same_sessions_damaged(ask: Ask, generate: Generate, tmp_path: Path) -> None:
    """Lines lost and added, times that are none, literals that only another writer would write."""
    files = generate(tmp_path, range(FIRST_SEED, FIRST_SEED + TREES))
    for file in files:
        file.write_bytes(damaged(file.read_bytes(), random.Random(file.name)))
    for file, theirs in zip(files, ask(files), strict=True):
        try:
            agree(read(file), theirs)
        except AssertionError as difference:
            difference.add_note(f"seed {file.stem}")
            raise


_TIME = re.compile(rb'"timestamp":"[^"]*"')
_TIMES = (
    b"",
    b"no time",
    b"2026-01-01",
    b"2026-01-01T00:00:00+02:00",
    b"2026-02-31T24:00:00Z",
    b"+010000-01-01T00:00Z",
)
_ODD = tuple(
    line.encode()
    for line in (
        "",
        "no JSON",
        "\ufeff\u00a0",
        '{"type":"message","id":"x","parentId":null',
        '{"type":"later_kind","id":"later","parentId":null,"message":{"role":"user"}}',
        '{"type":"session","version":3,"id":"second header"}',
        ' { "type" : "message" , "id" : "wide" , "message" : { "role" : "user" , "content" : "a b" } } ',
        '{"type":"message","id":"twice","parentId":"no","parentId":"later",'
        '"message":1,"message":{"role":"user","content":"\\u0041"}}',
        '{"type":"message","id":"large","message":{"role":"user","content":[],'
        '"n":[1e999,123456789012345678901234567890,1.0,1E5]}}',
        '{"type":"message","id":"late","parentId":"later still","message":{"role":"assistant","content":"text"}}',
        '{"type":"later_kind","id":"later still","parentId":"wide","timestamp":1767225600000}',
    )
)


def damaged(data: bytes, rng: random.Random) -> bytes:
    header, *lines = data.splitlines(keepends=True)
    lines = [line for line in lines if rng.random() > 0.05]
    lines = [
        _TIME.sub(b'"timestamp":"%s"' % rng.choice(_TIMES), line, 1) if rng.random() < 0.2 else line for line in lines
    ]
    lines = [line[:-1] + b"\r\n" if rng.random() < 0.1 else line for line in lines]
    for odd in rng.sample(_ODD, rng.randrange(len(_ODD))):
        lines.insert(rng.randrange(len(lines) + 1), odd + b"\n")
    return header + b"".join(lines)


@pytest.mark.skipif(not REAL_SESSIONS.is_dir(), reason=f"no real sessions in {REAL_SESSIONS} (PI_DAEMON_SHARED)")
def test_real_sessions(ask: Ask) -> None:
    files = sorted(REAL_SESSIONS.glob("*.jsonl"))
    assert files
    for file, theirs in zip(files, ask(files), strict=True):
        try:
            agree(read(file), theirs)
        except AssertionError as difference:
            difference.add_note(file.name)
            raise
