"""What a summary says of one entry that it stands for: the facts of that entry alone, put to it as questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pi_daemon.compaction.material import Material, Said
from pi_daemon.compaction.questions import Question, draw
from pi_daemon.compaction.retention import Retention, check
from pi_daemon.session.head import Head, ToolResultFacts
from pi_daemon.session.rawjson import loads
from pi_daemon.session.tree import SessionTree

MOST_RESULTS = 100
"""Results of one answer that are looked at, and entries between a result and its call."""


def counterparts(tree: SessionTree, head: Head) -> list[Head]:
    """The entries without which it can't be told what became of a call (the results after an answer), or what a result
    answers (the answer before it)."""
    found: list[Head] = []
    if head.role == "assistant":
        at: list[Head] = [head]
        while at and len(found) < MOST_RESULTS:
            for child in tree.children(at.pop().id):
                if child.role == "toolResult":
                    found.append(child)
                    at.append(child)
    elif head.role == "toolResult":
        above = tree.parent(head)
        for _ in range(MOST_RESULTS):
            if above is None or above.role == "assistant":
                break
            above = tree.parent(above)
        if above is not None and above.role == "assistant":
            found.append(above)
    return found


def facts_kept(summary: str, head: Head, line: bytes, others: Sequence[tuple[Head, bytes]]) -> Retention:
    """Which of the entry's facts the summary names. `others` are its counterparts and their lines."""
    return check(summary, questions(head, line, others))


def questions(head: Head, line: bytes, others: Sequence[tuple[Head, bytes]]) -> list[Question]:
    """The facts of the entry."""
    entry = loads(line)
    if head.type in ("compaction", "branch_summary"):
        summary = entry.get("summary")
        return draw(Material([], previous=summary if isinstance(summary, str) else None))
    message = _message(entry)
    if message is None or head.role is None:
        return []
    said = [Said(head.id, head.role, message)]
    around = [Said(one.id, one.role or "", found) for one, raw in others if (found := _message(loads(raw))) is not None]
    if head.role == "toolResult":
        # Its call, which says what it is about, and no other call of that answer.
        call_id = head.facts.call_id if isinstance(head.facts, ToolResultFacts) else ""
        said = [Said(one.entry_id, one.role, _one_call(one.message, call_id)) for one in around] + said
        return draw(Material(said))
    return [question for question in draw(Material(said + around)) if question.entry_id == head.id]


def _message(entry: dict[str, Any]) -> dict[str, Any] | None:
    message = entry.get("message")
    return message if isinstance(message, dict) else None


def _one_call(answer: dict[str, Any], call_id: str) -> dict[str, Any]:
    content = answer.get("content")
    blocks = content if isinstance(content, list) else []
    return {"content": [block for block in blocks if isinstance(block, dict) and block.get("id") == call_id]}
