"""What a model sees of a path. The reference agrees on random sessions (tests/conformance); here each rule once."""

from __future__ import annotations

from typing import Any

import pytest

from pi_daemon.session.llm import to_llm
from pi_daemon.session.projection import Projection, project
from pi_daemon.session.rawjson import loads
from pi_daemon.session.selection import select
from tests.session.entries import TIME, TIME_MS, Chain, answer, call, line, result, text, user


def at(chain: Chain, leaf: str) -> Projection:
    selection = select(chain.tree.path(leaf))
    heads = selection.heads()
    by_place = project(selection, chain.of(heads))
    assert project(selection, chain.lines) == by_place
    assert len(by_place.messages) == len(by_place.roles) == len(by_place.sources)
    assert [loads(message).get("role", "") for message in by_place.messages] == by_place.roles
    return by_place


def shown(projection: Projection) -> list[Any]:
    return [loads(message) for message in projection.messages]


def contents(chain: Chain, leaf: str) -> list[Any]:
    return [message.get("content", message.get("summary")) for message in shown(at(chain, leaf))]


def compaction(id: str, parent: str, first: str | None, summary: str = "sum", **members: Any) -> bytes:
    return line("compaction", id, parent, summary=summary, firstKeptEntryId=first, tokensBefore=9, **members)


def edit(id: str, parent: str, target: str, replacement: Any) -> bytes:
    return line("context_edit", id, parent, targetId=target, replacement=replacement)


def system(id: str, parent: str | None, content: Any = "prompt") -> bytes:
    return line("message", id, parent, message={"role": "system", "content": content})


def test_nothing() -> None:
    selection = select([])
    assert (selection.sources, selection.model, selection.thinking_level, selection.compaction) == (
        [],
        None,
        "off",
        None,
    )
    assert project(selection, []) == Projection([], [], [])


def test_only_the_path_counts() -> None:
    chain = Chain(user("a", None, "1"), user("b", "a", "2"), user("c", "a", "3"))
    assert contents(chain, "c") == ["1", "3"]
    assert at(chain, "c").sources == ["a", "c"]


def test_messages_are_the_bytes_of_their_lines() -> None:
    message = b'{"role":"user","content":"\\u0041\\ud83d", "n":[1.0,1e999,123456789012345678901234567890]}'
    raw = b'{"type":"message","id":"a","message":%s,"after":1}' % message
    plain = b'{"type":"message","id":"b","parentId":"a","message": %s }' % message.replace(b"\\ud83d", b"")
    chain = Chain(raw, plain)
    assert at(chain, "b").messages == [message, message.replace(b"\\ud83d", b"")]


def test_model_and_level_are_the_last_on_the_whole_path() -> None:
    chain = Chain(
        line("model_change", "a", None, provider="p1", modelId="m1"),
        line("thinking_level_change", "b", "a", thinkingLevel="low"),
        answer("c", "b", provider="p2", model="m2"),
        compaction("d", "c", None),
        user("e", "d"),
        line("thinking_level_change", "f", "e", thinkingLevel="high"),
    )
    for leaf, model, level in (
        ("a", ("p1", "m1"), "off"),
        ("b", ("p1", "m1"), "low"),
        ("e", ("p2", "m2"), "low"),
        ("f", ("p2", "m2"), "high"),
    ):
        selection = select(chain.tree.path(leaf))
        assert (selection.model, selection.thinking_level) == (model, level)


@pytest.mark.parametrize(
    "role, reads_as", [("user", []), ("assistant", []), ("toolResult", []), ("system", ""), ("custom", None)]
)
def test_null_content_reads_as_empty(role: str, reads_as: Any) -> None:
    chain = Chain(
        line("message", "a", None, message={"role": role, "content": None, "x": 1}),
        line("message", "b", "a", message={"role": role}),
    )
    first, second = shown(at(chain, "b"))
    assert first == {"role": role, "content": reads_as, "x": 1}
    assert second == ({"role": role} if reads_as is None else {"role": role, "content": reads_as})


def test_kinds_that_make_messages() -> None:
    chain = Chain(
        line("custom_message", "a", None, customType="x", content="c", display=True, details={"k": 1}),
        line("custom_message", "b", "a", customType="x", content=None, display=False, timestamp_="x"),
        line("branch_summary", "c", "b", fromId="f", summary="left"),
        line("branch_summary", "d", "c", fromId="f", summary=""),
        b'{"type":"custom_message","id":"e","parentId":"d","timestamp":"never","customType":"x","content":[]}',
    )
    assert shown(at(chain, "e")) == [
        {
            "role": "custom",
            "customType": "x",
            "content": "c",
            "display": True,
            "details": {"k": 1},
            "timestamp": TIME_MS,
        },
        {"role": "custom", "customType": "x", "content": [], "display": False, "timestamp": TIME_MS},
        {"role": "branchSummary", "summary": "left", "fromId": "f", "timestamp": TIME_MS},
        {"role": "custom", "customType": "x", "content": [], "timestamp": None},
    ]


def test_kinds_that_make_none() -> None:
    chain = Chain(
        line("custom", "a", None, customType="x", data={"role": "user"}),
        line("label", "b", "a", targetId="a", label="L"),
        line("session_info", "c", "b", name="n"),
        line("usage", "d", "c", usage={}),
        line("later_kind", "e", "d", message={"role": "user", "content": "no"}),
        line("message", "f", "e", message=None),
        line("message", "g", "f", message="text"),
    )
    assert at(chain, "g").messages == []


class TestCompaction:
    chain = Chain(
        system("s", None),
        user("a", "s", "1"),
        user("b", "a", "2"),
        system("s2", "b", "more"),
        user("c", "s2", "3"),
        compaction("k", "c", "b", systemMessage={"role": "system", "content": "folded"}),
        user("d", "k", "4"),
        system("s3", "d", "after"),
        compaction("k2", "s3", "k", "second"),
        user("e", "k2", "5"),
        compaction("own", "d", "own"),
        compaction("off", "d", "e"),
        compaction("absent", "d", None),
        user("f", "absent", "6"),
    )

    def test_summary_then_the_kept_then_the_rest(self) -> None:
        assert contents(self.chain, "s3") == ["folded", "sum", "2", "3", "4", "after"]
        assert at(self.chain, "s3").sources == ["k", "k", "b", "c", "d", "s3"]
        assert shown(at(self.chain, "k"))[1] == {
            "role": "compactionSummary",
            "summary": "sum",
            "tokensBefore": 9,
            "timestamp": TIME_MS,
        }

    def test_an_older_one_in_the_kept_range_contributes_nothing(self) -> None:
        assert contents(self.chain, "e") == ["second", "4", "5"]

    @pytest.mark.parametrize("leaf", ["own", "off", "absent"])
    def test_without_a_first_kept_entry_on_the_path_nothing_is_kept(self, leaf: str) -> None:
        assert contents(self.chain, leaf) == ["sum"]

    def test_what_follows_is_kept(self) -> None:
        assert contents(self.chain, "f") == ["sum", "6"]
        selection = select(self.chain.tree.path("f"))
        assert selection.compaction is self.chain.tree.get("absent")


class TestEdits:
    @pytest.mark.parametrize(
        "target, expected", [("u", "new"), ("a", [text("new")]), ("r", [text("new")]), ("m", "new"), ("c", "new")]
    )
    def test_content_replaces_content(self, target: str, expected: Any) -> None:
        chain = self.chain(target, {"content": "new", "role": "system"})
        edited = dict(zip(at(chain, "edit").sources, shown(at(chain, "edit")), strict=True))[target]
        before = dict(zip(at(chain, "c").sources, shown(at(chain, "c")), strict=True))[target]
        assert edited == before | {"content": expected}
        assert list(edited) == list(before)

    @pytest.mark.parametrize("target", ["s", "b"])
    def test_other_roles_stay(self, target: str) -> None:
        chain = self.chain(target, {"content": "new"})
        assert shown(at(chain, "edit")) == shown(at(chain, "c"))

    @pytest.mark.parametrize("target", ["u", "a", "r", "m", "c", "s", "b"])
    def test_null_omits_anything(self, target: str) -> None:
        chain = self.chain(target, None)
        assert at(chain, "edit").sources == [source for source in at(chain, "c").sources if source != target]

    @pytest.mark.parametrize("replacement", [{}, "text", 5, []])
    def test_without_content_there_is_none(self, replacement: Any) -> None:
        chain = self.chain("u", replacement)
        assert shown(at(chain, "edit"))[1] == {"role": "user"}

    def test_the_latest_counts_and_only_on_its_own_branch(self) -> None:
        chain = Chain(
            user("a", None, "1"),
            user("b", "a", "2"),
            edit("e1", "b", "a", {"content": "x"}),
            edit("e2", "e1", "a", {"content": "y"}),
            user("other", "b", "3"),
        )
        assert contents(chain, "e1") == ["x", "2"]
        assert contents(chain, "e2") == ["y", "2"]
        assert contents(chain, "other") == ["1", "2", "3"]

    def test_an_edit_before_the_kept_range_is_gone(self) -> None:
        chain = Chain(
            user("a", None, "1"),
            edit("e", "a", "a", {"content": "x"}),
            compaction("k", "e", "a"),
            compaction("l", "e", "e"),
        )
        assert contents(chain, "k") == ["sum", "x"]
        assert contents(chain, "l") == ["sum"]

    def test_a_compaction_can_be_omitted(self) -> None:
        chain = Chain(user("a", None, "1"), compaction("k", "a", "a"), edit("e", "k", "k", None), user("b", "e", "2"))
        assert contents(chain, "b") == ["1", "2"]

    def chain(self, target: str, replacement: Any) -> Chain:
        return Chain(
            system("s", None),
            user("u", "s", "1"),
            answer("a", "u", [call("call_1")]),
            result("r", "a", "call_1"),
            line("message", "b", "r", message={"role": "bashExecution", "command": "ls", "output": "x"}),
            line("message", "m", "b", message={"role": "custom", "content": "2", "timestamp": 1}),
            line("custom_message", "c", "m", customType="x", content=[text("3")], display=True),
            edit("edit", "c", target, replacement),
        )


def bash(**members: Any) -> Any:
    chain = Chain(
        line("message", "a", None, message={"role": "bashExecution", "command": "ls", "timestamp": 5, **members})
    )
    found = shown(to_llm(at(chain, "a")))
    return found[0]["content"][0]["text"] if found else None


class TestLlm:
    """The texts are those of pi 1.6.0, byte for byte: tests/conformance compares them."""

    def test_commands(self) -> None:
        assert bash(output="x") == "Ran `ls`\n```\nx\n```"
        assert bash(output="") == bash(output=None) == bash() == "Ran `ls`\n(no output)"
        assert bash(output="x", exitCode=2) == "Ran `ls`\n```\nx\n```\n\nCommand exited with code 2"
        assert bash(output="x", exitCode=0) == bash(output="x", exitCode=None) == "Ran `ls`\n```\nx\n```"
        assert bash(exitCode=1, cancelled=True) == "Ran `ls`\n(no output)\n\n(command cancelled)"
        assert bash(truncated=True) == "Ran `ls`\n(no output)"
        assert bash(truncated=True, fullOutputPath="/o") == (
            "Ran `ls`\n(no output)\n\n[Output truncated. Full output: /o]"
        )
        assert bash(excludeFromContext=True) is None
        assert bash(excludeFromContext=0) is not None

    def test_the_rest(self) -> None:
        chain = Chain(
            compaction("k", "a", None, "one", systemMessage={"role": "system", "content": "s"}),
            line("branch_summary", "b", "k", fromId="f", summary="two"),
            line("custom_message", "c", "b", customType="x", content="three", display=False),
            line("message", "d", "c", message={"role": "custom", "content": [text("four")]}),
            line("message", "e", "d", message={"role": "laterRole", "content": "five"}),
            user("f", "e", "six"),
        )
        projection = to_llm(at(chain, "f"))
        assert projection.sources == ["k", "k", "b", "c", "d", "f"]
        assert projection.roles == ["system", "user", "user", "user", "user", "user"]
        assert [message["content"] for message in shown(projection)] == [
            "s",
            [
                text(
                    "The conversation history before this point was compacted into the following summary:\n\n"
                    "<summary>\none\n</summary>"
                )
            ],
            [
                text(
                    "The following is a summary of a branch that this conversation came back from:\n\n"
                    "<summary>\ntwo</summary>"
                )
            ],
            [text("three")],
            [text("four")],
            "six",
        ]
        assert [message.get("timestamp") for message in shown(projection)] == [
            None,
            TIME_MS,
            TIME_MS,
            TIME_MS,
            None,
            None,
        ]

    def test_what_is_odd_in_a_summary_stays(self) -> None:
        raw = b'{"type":"branch_summary","id":"a","timestamp":"%s","fromId":"f","summary":"\\ud83d\\u0041\\/"}'
        chain = Chain(raw % TIME.encode())
        assert b"\\ud83d\\u0041\\/</summary>" in to_llm(at(chain, "a")).messages[0]
