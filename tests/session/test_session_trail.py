"""A path that grows keeps up what counts of it, and so does each of its branches, by itself."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pi_daemon.session.head import Head
from pi_daemon.session.selection import Trail
from tests.session.entries import answer, head, line, user

KINDS = ["user", "answer", "system", "edit", "omit", "compaction", "model", "label"]


@st.composite
def paths(draw: st.DrawFn) -> list[Head]:
    made: list[Head] = []
    for number, kind in enumerate(draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=24))):
        id, parent = str(number), str(number - 1) if number else None
        other = str(draw(st.integers(0, max(0, number - 1))))
        made.append(head(_line(kind, id, parent, other)))
    return made


def _line(kind: str, id: str, parent: str | None, other: str) -> bytes:
    match kind:
        case "answer":
            return answer(id, parent)
        case "system":
            return line("message", id, parent, message={"role": "system", "content": "be"})
        case "edit" | "omit":
            content = None if kind == "omit" else {"content": "anew"}
            return line("context_edit", id, parent, targetId=other, replacement=content)
        case "compaction":
            return line("compaction", id, parent, summary="s", firstKeptEntryId=other, tokensBefore=1)
        case "model":
            return line("model_change", id, parent, provider="p", modelId=id)
        case "label":
            return line("label", id, parent, targetId=other, label="l")
        case _:
            return user(id, parent)


def told(trail: Trail) -> Any:
    """All that can be asked of one."""
    made = trail.selection()
    sources = [(source.head.id, source.edit.id if source.edit else None) for source in made.sources]
    return [one.id for one in trail.path], trail.model, sources, made.compaction, made.thinking_level, made.edited


@given(path=paths(), at=st.integers(0, 24), looked=st.booleans())
def test_a_branch_of_a_path_goes_on_by_itself(path: list[Head], at: int, looked: bool) -> None:
    trail = Trail(path[:at])
    if looked:
        trail.selection()
    branch = trail.branch()
    branch.extend(path[at:])
    assert told(branch) == told(Trail(path))
    assert told(trail) == told(Trail(path[:at]))
    trail.extend(path[at:])
    assert told(trail) == told(Trail(path))
