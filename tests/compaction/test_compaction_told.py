"""What a summary says of one entry."""

from __future__ import annotations

from typing import Any

from pi_daemon.compaction.told import counterparts, facts_kept, questions
from tests.session.entries import Chain, answer, call, line, user


def result(id: str, parent: str, call_id: str, text: str, failed: bool = False) -> bytes:
    message = {"role": "toolResult", "toolCallId": call_id, "toolName": "t", "isError": failed}
    return line("message", id, parent, message={**message, "content": [{"type": "text", "text": text}]})


CHAIN = Chain(
    user("u", None, "Please mend the parser in src/parse.py. Never change the public names."),
    answer("a", "u", [call("c1", "read", path="src/parse.py"), call("c2", "bash", command="pytest -x")]),
    result("r1", "a", "c1", "def parse(): ..."),
    result("r2", "r1", "c2", "ValueError: unexpected token near line 12", failed=True),
    answer("b", "r2", [call("c3", "edit", path="src/fix.py")]),
    line("branch_summary", "s", "b", fromId="u", summary="## Next Steps\n1. Write the release notes"),
    line("custom_message", "m", "s", customType="x", content="c"),
)


def kinds(id: str) -> list[tuple[str, str]]:
    head = CHAIN.tree.get(id)
    assert head is not None
    others = counterparts(CHAIN.tree, head)
    found = questions(head, CHAIN.lines[id], [(one, CHAIN.lines[one.id]) for one in others])
    return [(one.kind, one.text) for one in found]


def test_the_facts_of_each_kind_of_entry() -> None:
    assert [kind for kind, _ in kinds("u")] == ["request", "constraint"]
    assert kinds("a") == [("read", "src/parse.py")]
    assert kinds("r1") == [("read", "src/parse.py")]
    assert kinds("r2") == [("error", "ValueError: unexpected token near line 12")]
    assert [kind for kind, _ in kinds("b")] == ["openCall", "modified"]
    assert kinds("s") == [("unfinished", "Write the release notes")]
    assert kinds("m") == []


def test_a_summary_is_asked_for_them() -> None:
    head = CHAIN.tree.get("u")
    assert head is not None

    def kept(summary: str) -> tuple[int, int]:
        found = facts_kept(summary, head, CHAIN.lines["u"], [])
        return len(found.kept), len(found.missing)

    assert kept("## Constraints\n- Never change the public names.") == (1, 1)
    assert kept("we talked about code") == (0, 2)


def test_counterparts() -> None:
    def of(id: str) -> list[str]:
        head = CHAIN.tree.get(id)
        assert head is not None
        return [one.id for one in counterparts(CHAIN.tree, head)]

    assert (of("a"), of("r2"), of("u"), of("b")) == (["r1", "r2"], ["a"], [], [])
    odd: Any = Chain(result("r", "gone", "c", "x"), line("message", "n", "r", message={"role": "assistant"}))
    assert counterparts(odd.tree, odd.tree.entries[0]) == []


def test_odd_messages_have_no_facts() -> None:
    chain = Chain(
        line("message", "a", None, message={"role": "assistant", "content": [7, {"type": "toolCall", "id": []}]}),
        line("message", "r", "a", message={"role": "toolResult", "toolCallId": 7, "content": 1}),
        line("compaction", "c", "r", summary=7),
    )
    for head in chain.tree.entries:
        others = counterparts(chain.tree, head)
        assert questions(head, chain.lines[head.id], [(one, chain.lines[one.id]) for one in others]) == []
