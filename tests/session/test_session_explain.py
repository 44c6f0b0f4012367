"""Each entry has one reason, which agrees with the context and names what exists."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from pi_daemon.session.explain import Explanation
from pi_daemon.session.head import Damage, Head
from pi_daemon.session.selection import Trail
from pi_daemon.session.tree import SessionTree
from pi_daemon.session.why import Why
from tests.session.entries import Chain, answer, bare, head, line, user
from tests.session.explained import agree


def explain(chain: Chain | SessionTree, leaf: str | None, damage: list[Damage] | None = None) -> Explanation:
    tree = chain if isinstance(chain, SessionTree) else chain.tree
    return Explanation(tree, Trail(tree.path(leaf)), damage or [])


def whys(chain: Chain | SessionTree, leaf: str | None) -> dict[str, Why]:
    found = explain(chain, leaf)
    return {one.id: found.of(one).why for one in found.items(0, found.count) if isinstance(one, Head)}


def reasons(chain: Chain | SessionTree, leaf: str | None) -> dict[str, str]:
    return {name: why.reason for name, why in whys(chain, leaf).items()}


def compaction(id: str, parent: str | None, first: str | None, **members: Any) -> bytes:
    return line("compaction", id, parent, summary="sum", firstKeptEntryId=first, tokensBefore=9, **members)


def edit(id: str, parent: str | None, target: str, content: str | None) -> bytes:
    return line("context_edit", id, parent, targetId=target, replacement=content and {"content": content})


def system(id: str, parent: str | None) -> bytes:
    return line("message", id, parent, message={"role": "system", "content": "prompt"})


def shell(id: str, parent: str | None, excluded: Any) -> bytes:
    message = {"role": "bashExecution", "command": "ls", "output": "", "excludeFromContext": excluded}
    return line("message", id, parent, message=message)


CONTENT = st.sampled_from(["text", None, [], [{"type": "text", "text": "t"}]])
NAMES = [f"e{number}" for number in range(14)]
NAME = st.sampled_from([*NAMES, "gone"])


@st.composite
def members(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.integers(0, 14))
    match kind:
        case 0 | 1 | 2 | 3:
            role = ("user", "assistant", "toolResult", "system")[kind]
            return {"type": "message", "message": {"role": role, "content": draw(CONTENT), "toolCallId": "c"}}
        case 4:
            excluded = draw(st.sampled_from([True, False, None, 0, "", "yes", [], {}]))
            return {"type": "message", "message": {"role": "bashExecution", "excludeFromContext": excluded}}
        case 5:
            role = draw(st.sampled_from(["custom", "branchSummary", "compactionSummary", "later", 7]))
            return {"type": "message", "message": {"role": role, "content": "x"}}
        case 6 | 7:
            first = draw(st.one_of(st.none(), NAME))
            more = draw(st.sampled_from([{}, {"systemMessage": {"role": "system", "content": "s"}}]))
            return {"type": "compaction", "summary": "s", "firstKeptEntryId": first, "tokensBefore": 1, **more}
        case 8:
            return {"type": "branch_summary", "summary": draw(st.sampled_from(["s", ""])), "fromId": draw(NAME)}
        case 9 | 10:
            replacement = draw(st.sampled_from([None, {"content": "new"}]))
            return {"type": "context_edit", "targetId": draw(NAME), "replacement": replacement}
        case 11:
            return {"type": "custom_message", "customType": "x", "content": draw(CONTENT), "display": True}
        case 12:
            return {"type": "model_change", "provider": "p", "modelId": draw(st.sampled_from("ab"))}
        case 13:
            return {"type": "thinking_level_change", "thinkingLevel": draw(st.sampled_from(["off", "low"]))}
        case _:
            odd = [{"type": "label", "targetId": "e1", "label": "l"}, {"type": "message", "message": 7}]
            more = [{"type": "session_info", "name": "n"}, {"type": "later"}, {"type": "context_edit", "targetId": 1}]
            return draw(st.sampled_from([*odd, *more, {"type": "usage"}, {"type": "custom", "customType": "x"}]))


@st.composite
def files(draw: st.DrawFn) -> list[bytes]:
    """Mostly a chain; parents that are missing, come later or loop, and ids used twice."""
    found = []
    before: str | None = None
    for number in range(draw(st.integers(1, 14))):
        name = draw(NAME) if draw(st.integers(0, 9)) == 0 else NAMES[number]
        parent = draw(st.one_of(st.none(), NAME)) if draw(st.integers(0, 3)) == 0 else before
        entry = {"id": name, "parentId": parent, "timestamp": "2026-01-01T00:00:00.000Z", **draw(members())}
        found.append(json.dumps(entry).encode())
        before = name
    return found


@pytest.mark.slow
@given(files())
@settings(max_examples=400, deadline=None)
def test_the_reasons_agree_with_the_context_at_every_leaf(raw: list[bytes]) -> None:
    heads = [head(one) for one in raw]
    tree = SessionTree(heads)
    lines = {id(one): line for one, line in zip(heads, raw, strict=True)}
    for leaf in (None, *dict.fromkeys(one.id for one in heads)):
        agree(tree, lines, leaf)


def test_what_never_enters() -> None:
    chain = Chain(
        user("u", None),
        line("label", "l", "u", targetId="u", label="x"),
        line("custom", "c", "l", customType="x"),
        line("usage", "s", "c"),
        line("session_info", "n", "s", name="x"),
        line("later_kind", "k", "n"),
        line("branch_summary", "b", "k", fromId="u", summary=""),
        shell("h", "b", True),
        shell("g", "h", False),
        line("message", "o", "g", message={"role": "laterRole", "content": "x"}),
        line("custom_message", "m", "o", customType="x", content="c", display=True),
    )
    expected = dict.fromkeys("lcsnk", "neverEnters") | {"b": "emptySummary", "h": "excluded", "o": "unknownRole"}
    assert reasons(chain, "m") == expected | {"u": "asStored", "g": "asStored", "m": "asStored"}
    found = explain(chain, "m")
    places = {one.id: (found.of(one).message, found.of(one).sent) for one in chain.tree.entries}
    assert (places["u"], places["h"], places["g"], places["o"], places["m"]) == (
        (0, 0),
        (1, None),
        (2, 1),
        (3, None),
        (4, 2),
    )


def test_branches_name_where_they_left() -> None:
    chain = Chain(
        user("a", None), user("b", "a"), user("c", "b"), user("d", "b"), user("e", "d"), user("f", "a"), user("r", None)
    )
    found = whys(chain, "c")
    assert {name: (why.reason, why.branch, why.left_at) for name, why in found.items() if not why.in_context} == {
        "d": ("otherBranch", "d", "b"),
        "e": ("otherBranch", "d", "b"),
        "f": ("otherBranch", "f", "a"),
        "r": ("otherBranch", "r", None),
    }
    assert reasons(chain, "b") == {
        **dict.fromkeys("ab", "asStored"),
        **dict.fromkeys("cde", "afterLeaf"),
        **dict.fromkeys("fr", "otherBranch"),
    }
    assert set(reasons(chain, None).values()) == {"noLeaf"}


def test_a_branch_summary_tells_of_the_branch_that_was_left() -> None:
    chain = Chain(
        user("a", None),
        user("b", "a"),
        user("c", "b"),
        line("branch_summary", "s", "a", fromId="c", summary="left"),
        user("d", "s"),
    )
    found = explain(chain, "d")
    assert [found.of(one).summary for one in chain.tree.entries] == [None, "s", "s", None, None]
    assert found.of(chain.tree.entries[3]).why == Why("summary", True)


def test_broken_chains_name_what_is_missing() -> None:
    chain = Chain(user("a", None), user("b", "gone"), user("c", "b"), user("d", "a"))
    assert whys(chain, "d")["c"] == Why("orphaned", root="b", missing="gone")
    assert whys(chain, "c")["a"] == Why("pathCut", root="b", missing="gone")
    lost = [Damage("notJson", "broken", 3, 10, 5, ["b", "c"])]
    found = explain(chain, "d", lost)
    assert found.of(chain.tree.entries[2]).why.line == 3
    assert found.count == 5


def test_loops_end() -> None:
    tree = SessionTree([bare("a", "b"), bare("b", "a"), bare("s", "s"), bare("x", None)])
    assert set(reasons(tree, "x").values()) == {"neverEnters"}
    chain = Chain(user("a", "b"), user("b", "a"), user("s", "s"), user("x", None))
    assert whys(chain, "x") == {
        "a": Why("loop", root="a"),
        "b": Why("loop", root="a"),
        "s": Why("loop", root="s"),
        "x": Why("asStored", True),
    }
    assert whys(chain, "b")["x"] == Why("pathCut", root="a")


def test_of_two_lines_with_one_id_the_earlier_says_so() -> None:
    heads = [head(user("a", None)), head(user("b", "a")), head(user("a", None))]
    found = explain(SessionTree(heads), "b")
    assert [found.of(one).why.reason for one in heads] == ["sameIdLater", "asStored", "asStored"]


def test_a_compaction_covers() -> None:
    system_message = {"role": "system", "content": "folded"}
    chain = Chain(
        system("s", None),
        user("a", "s"),
        user("b", "a"),
        compaction("c1", "b", "b"),
        user("d", "c1"),
        system("s2", "d"),
        user("e", "s2"),
        compaction("c2", "e", "d", systemMessage=system_message),
        user("f", "c2"),
    )
    assert whys(chain, "f") == {
        "s": Why("foldedSystem", compaction="c2"),
        "a": Why("compacted", compaction="c2", first_compaction="c1"),
        "b": Why("compacted", compaction="c2"),
        "c1": Why("olderCompaction", compaction="c2"),
        "d": Why("asStored", True),
        "s2": Why("foldedSystem", compaction="c2"),
        "e": Why("asStored", True),
        "c2": Why("summary", True),
        "f": Why("asStored", True),
    }
    assert whys(chain, "c1")["s"] == Why("droppedSystem", compaction="c1")
    found = explain(chain, "f")
    assert [found.of(one).sent for one in chain.tree.entries] == [None, None, None, None, 2, None, 3, 0, 4]


def test_a_compaction_that_is_omitted_covers_all_the_same() -> None:
    chain = Chain(user("a", None), compaction("c", "a", None), edit("x", "c", "c", None), user("b", "x"))
    assert whys(chain, "b") == {
        "a": Why("compacted", compaction="c", by="x"),
        "c": Why("omitted", by="x"),
        "x": Why("edit", target="c"),
        "b": Why("asStored", True),
    }


def test_edits() -> None:
    chain = Chain(
        user("a", None),
        user("b", "a"),
        edit("x", "b", "a", "first"),
        edit("y", "x", "a", "second"),
        edit("z", "y", "b", None),
        edit("w", "z", "nowhere", None),
        shell("h", "w", False),
        edit("v", "h", "h", "changes nothing"),
    )
    assert whys(chain, "v") == {
        "a": Why("edited", True, by="y"),
        "b": Why("omitted", by="z"),
        "x": Why("overridden", by="y", target="a"),
        "y": Why("edit", target="a"),
        "z": Why("edit", target="b"),
        "w": Why("editsNothing", target="nowhere"),
        "h": Why("asStored", True),
        "v": Why("editsNothing", target="h"),
    }


def test_settings_name_what_overrode_them() -> None:
    chain = Chain(
        line("model_change", "m1", None, provider="p", modelId="m"),
        line("thinking_level_change", "t1", "m1", thinkingLevel="low"),
        answer("a", "t1"),
        line("model_change", "m2", "a", provider="p", modelId="m"),
        line("thinking_level_change", "t2", "m2", thinkingLevel="high"),
        line("model_change", "m3", "t2", provider="q", modelId="m"),
        answer("b", "m3"),
    )
    found = whys(chain, "m3")
    assert {name: found[name] for name in ("m1", "m2", "m3", "t1", "t2")} == {
        "m1": Why("overridden", by="m3"),
        "m2": Why("overridden", by="m3"),
        "m3": Why("setting"),
        "t1": Why("overridden", by="t2"),
        "t2": Why("setting"),
    }
    assert whys(chain, "b")["m3"] == Why("overridden", by="b")
    assert whys(chain, "m2")["m1"] == Why("setting")


def test_damaged_lines_stand_where_they_lie() -> None:
    first, second = user("a", None), user("b", "a")
    heads = [head(first, 100), head(second, 300)]
    lost = [Damage("notUtf8", "bad", 3, 200, 50), Damage("tornTail", "torn", 5, 400, 9), Damage("orphan", "x", 1, 1, 1)]
    found = explain(SessionTree(heads), "b", [*lost, Damage("notJson", "since an entry", 4, 300, 9)])
    items = found.items(0, found.count)
    assert [one.kind if isinstance(one, Damage) else one.id for one in items] == ["a", "notUtf8", "b", "tornTail"]
    told = found.of(items[1])
    assert (told.head, told.why, told.damage) == (None, Why("damagedLine", line=3), lost[0])
    assert list(found.items(1, 3)) == list(items[1:3])


def test_an_explanation_stays_as_it_was() -> None:
    chain = Chain(user("a", None), user("b", "a"))
    trail = Trail(chain.tree.path("b"))
    found = Explanation(chain.tree, trail)
    more = head(compaction("c", "b", None))
    chain.tree.add(more)
    trail.extend([more])
    assert [found.of(one).why.reason for one in found.items(0, 9)] == ["asStored", "asStored"]


@pytest.mark.slow
def test_a_path_of_a_hundred_thousand_entries_is_explained() -> None:
    """Nothing is recursive, and nothing is walked over twice."""
    depth = 100_000
    heads = [bare(f"e{n}", f"e{n - 1}" if n else None) for n in range(depth)]
    for one in heads:
        one.type = "custom_message"
    found = explain(SessionTree(heads), "e0")
    assert {found.of(one).why.reason for one in heads[1:]} == {"afterLeaf"}
    found = explain(SessionTree(heads), heads[-1].id)
    assert [found.of(one).sent for one in heads] == list(range(depth))


def test_as_many_damaged_lines_as_orphans() -> None:
    """Each orphan is told which line took its parent, at the cost of looking that up."""
    count = 30_000
    one = head(line("message", "x", None, message={"role": "user", "content": "hi"}))
    tree = SessionTree()
    for number in range(count):
        tree.add(structs.replace(one, id=f"e{number}", parent_id=f"gone{number}", offset=200 * number))
    damage = [
        Damage("notJson", "", line=2 * number + 3, offset=200 * number + 100, length=99, entry_ids=[f"e{number}"])
        for number in range(count)
    ]
    found = explain(tree, f"e{count - 1}", damage)
    items = found.items(0, 2 * count)
    assert [one is damage[place // 2] for place, one in enumerate(items)] == [False, True] * count
    whys = [found.of(one).why for one in items[::2]]
    assert [(why.reason, why.line) for why in whys[:-1]] == [("orphaned", 2 * n + 3) for n in range(count - 1)]
