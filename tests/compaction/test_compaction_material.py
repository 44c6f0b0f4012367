"""What a summary is told: messages, the summary before it, and the files."""

from __future__ import annotations

from typing import Any

import pytest

from pi_daemon.compaction import portions
from pi_daemon.compaction.files import Files
from pi_daemon.compaction.listing import Listing
from pi_daemon.session.rawjson import loads
from tests.compaction.planning import Reader, compaction, edit, result, summary
from tests.session.entries import Chain, answer, call, line, text, user

LISTS = {"readFiles": ["r", "m", 5], "modifiedFiles": ["m"]}
NESTED = {"calls": [{"name": "write", "arguments": {"path": "n"}}, {"name": "read"}]}


def test_messages_come_decoded_with_the_entry_they_are_from() -> None:
    system = line("message", "s", "u", message={"role": "system", "content": "be"})
    reader = Reader(Chain(user("u", None), system, answer("a", "s", [text("x")]), user("v", "a"), user("w", "v")))
    found = reader.material(reader.plan(0))
    assert [(said.entry_id, said.role) for said in found.history] == [("u", "user"), ("a", "assistant"), ("v", "user")]
    assert found.history[0].message == {"role": "user", "content": "hello"}
    assert (found.prefix, found.previous) == ([], None)
    assert found.all == found.history


def test_the_prefix_of_a_split_turn_is_apart() -> None:
    lines = [user("u", None), user("v", "u"), answer("a", "v", [call("c", path="p")]), answer("b", "a", [text("x")])]
    reader = Reader(Chain(*lines))
    found = reader.material(reader.plan(0))
    assert [said.entry_id for said in found.history] == ["u"]
    assert [said.entry_id for said in found.prefix] == ["v", "a"]
    assert found.read_files == ["p"]


@pytest.mark.parametrize(
    "members, read, modified",
    [
        ({"details": LISTS}, ["a", "r"], ["m"]),
        ({"details": LISTS, "fromHook": False}, ["a", "r"], ["m"]),
        ({"details": LISTS, "fromHook": True}, ["a"], []),
        ({"details": {"readFiles": "r", "modifiedFiles": None}}, ["a"], []),
        ({"details": []}, ["a"], []),
        ({}, ["a"], []),
    ],
)
def test_the_previous_summary_and_its_lists(members: dict[str, Any], read: list[str], modified: list[str]) -> None:
    reader = Reader(
        Chain(
            user("u", None),
            compaction("c", "u", "u", **members),
            answer("a", "c", [call("1", path="a")]),
            user("v", "a"),
        )
    )
    found = reader.material(reader.plan(0))
    assert (found.previous, found.read_files, found.modified_files) == ("before", read, modified)


def test_a_summary_that_is_none() -> None:
    odd = line("compaction", "c", "u", summary=5, firstKeptEntryId="u")
    reader = Reader(Chain(user("u", None), odd, user("v", "c")))
    assert reader.material(reader.plan(0)).previous is None


def test_edits_take_calls_away() -> None:
    lines = [user("u", None), answer("a", "u", [call("c", path="p")]), edit("e", "a", "a", "x"), user("v", "e")]
    reader = Reader(Chain(*lines))
    assert reader.material(reader.plan(0)).read_files == []


def test_it_is_read_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portions, "PORTION", 1)
    lines = [user("0", None)] + [user(str(n), str(n - 1), f"say {n}") for n in range(1, 9)]
    reader = Reader(Chain(*lines, compaction("c", "8", "2"), user("9", "c")))
    plan = reader.plan(0)
    reader.read.clear()
    found = reader.material(plan)
    assert reader.read == ["c", *"2345678"]
    assert [said.message["content"] for said in found.history] == [f"say {n}" for n in range(2, 9)]


class TestFiles:
    def seen(self, *messages: dict[str, Any]) -> tuple[list[str], list[str]]:
        files = Files()
        for message in messages:
            files.see(message)
        return files.read, files.modified

    def test_reads_writes_and_edits(self) -> None:
        calls = [call("1", "read", path="a"), call("2", "write", path="b"), call("3", "edit", path="c")]
        assert self.seen({"role": "assistant", "content": calls}) == (["a"], ["b", "c"])

    def test_what_was_modified_is_not_read(self) -> None:
        calls = [call("1", "edit", path="a"), call("2", "read", path="a")]
        assert self.seen({"role": "assistant", "content": calls}) == ([], ["a"])

    def test_sorted_by_utf16(self) -> None:
        calls = [call(str(n), "read", path=path) for n, path in enumerate(["\uffff", "😀", "b", "B", "\ud800"])]
        assert self.seen({"role": "assistant", "content": calls})[0] == ["B", "b", "\ud800", "😀", "\uffff"]

    def test_calls_within_a_result(self) -> None:
        nested = {"calls": [{"name": "edit", "arguments": {"path": "n"}}]}
        assert self.seen({"role": "toolResult", "nestedCalls": nested}) == ([], ["n"])

    @pytest.mark.parametrize(
        "odd",
        [
            {"role": "assistant", "content": None},
            {"role": "assistant", "content": "read a"},
            {"role": "assistant", "content": [5, None, {"type": "toolCall"}, {"type": "toolCall", "name": "read"}]},
            {"role": "assistant", "content": [call("1", "bash", path="a"), call("2", "read", path="")]},
            {"role": "assistant", "content": [call("1", "read", path=["a"]), {"type": "text", "text": "read a"}]},
            {"role": "assistant", "content": [{"type": "toolCall", "name": ["read"], "arguments": {"path": "a"}}]},
            {"role": "user", "content": [call("1", "read", path="a")]},
            {"role": "toolResult", "nestedCalls": None},
            {"role": "toolResult", "nestedCalls": {"calls": [None, {"name": "read", "arguments": "a"}]}},
        ],
    )
    def test_what_names_no_file(self, odd: dict[str, Any]) -> None:
        assert self.seen(odd) == ([], [])


class TestFilesOfLines:
    """Lines in which hardly anything is decoded, against the same decoded."""

    @pytest.mark.parametrize(
        "stored",
        [
            answer("a", None, [text('"nestedCalls"'), call("1", "read", path="é"), call("2", "edit", path="b", n=[1])]),
            answer("a", None, [call("1", "read", path=5), call("2", "edit", path="b"), 7]),
            answer("a", None, [{"type": "toolCall", "name": "read", "arguments": None}, call("2", "edit", path="b")]),
            answer("a", None, [call("1", "read", path="\ud800"), {"type": "later", "name": "read"}]),
            answer("a", None, [call("1", "read", path="p")]).replace(b"toolCall", b"tool\\u0043all"),
            line("message", "a", None, message={"role": "assistant", "content": "toolCall"}),
            line("message", "a", None, message={"role": "assistant", "content": None, "x": "toolCall"}),
            result("r", None, "\x1b[0m", nestedCalls=NESTED, details={"type": "toolCall", "x": [{}]}),
            result("r", None, nestedCalls=None),
            result("r", None, nestedCalls={"calls": None}),
            result("r", None, nestedCalls=NESTED).replace(b"nestedCalls", b"\\u006eestedCalls"),
            result("r", None, details={"nestedCalls": NESTED}),
            result("r", None, details={"content": [call("1", "read", path="p")]}),
        ],
    )
    def test_they_name_the_same(self, stored: bytes) -> None:
        message = loads(stored)["message"]
        lines, decoded = Files(), Files()
        lines.see_line(stored, message["role"])
        decoded.see(message)
        assert (lines.read, lines.modified) == (decoded.read, decoded.modified)

    def test_a_plan_lists_what_its_material_does_and_reads_less(self) -> None:
        lines = [
            user("u", None),
            answer("a", "u", [call("1", "read", path="a"), call("2", "edit", path="b")]),
            result("r", "a", nestedCalls=NESTED),
            compaction("c", "r", "a", details=LISTS),
            answer("d", "c", [call("1", "read", path="d")]),
            user("v", "d"),
            user("w", "v"),
        ]
        for more in ([], [edit("e", "w", "a", "nothing"), user("x", "e")]):
            reader = Reader(Chain(*lines, *more))
            plan = reader.plan(0)
            found = reader.material(plan)
            reader.read.clear()
            files = reader.finish(Listing(plan)).files
            assert (files.read, files.modified) == (found.read_files, found.modified_files)
            assert "n" in files.modified and ("b" in files.modified) == (not more)
            assert not {"u", "v"} & set(reader.read)


class TestBranch:
    """u ─ a ─ b ─ c, and d beside b."""

    lines = (
        user("u", None),
        answer("a", "u", [text("x" * 40)]),
        answer("b", "a", [call("1", "read", path="p"), text("x" * 40)]),
        result("r", "b", "y" * 400),
        user("c", "r", "x" * 40),
        user("d", "a"),
    )

    def told(self, reader: Reader, old: str | None, target: str | None, budget: int = 0) -> list[str]:
        return [said.entry_id for said in reader.branch(old, target, budget).material.history]

    def test_from_the_old_leaf_to_what_both_share_without_tool_results(self) -> None:
        reader = Reader(Chain(*self.lines))
        found = reader.branch("c", "d")
        assert [said.entry_id for said in found.material.history] == ["b", "c"]
        assert (found.material.read_files, found.tokens) == (["p"], 24)
        assert "r" not in reader.read

    def test_paths_that_share_nothing_or_all(self) -> None:
        reader = Reader(Chain(*self.lines))
        assert self.told(reader, "a", None) == ["u", "a"]
        assert self.told(reader, "a", "c") == []
        assert self.told(reader, None, "c") == []

    def test_the_newest_within_the_budget(self) -> None:
        """The first one beyond it isn't told, but what it did to files is."""
        reader = Reader(Chain(*self.lines))
        assert self.told(reader, "c", "d", 24) == ["b", "c"]
        found = reader.branch("c", "d", 23).material
        assert ([said.entry_id for said in found.history], found.read_files) == (["c"], ["p"])
        assert self.told(reader, "c", "d", 9) == []

    @pytest.mark.parametrize("budget, told", [(12, ["s", "c"]), (11, ["c"]), (9, [])])
    def test_a_summary_may_pass_it(self, budget: int, told: list[str]) -> None:
        reader = Reader(Chain(user("u", None), summary("s", "u", "z" * 400), user("c", "s", "x" * 40), user("d", "u")))
        assert self.told(reader, "c", "d", budget) == told

    def test_a_compaction_is_told_as_its_summary(self) -> None:
        system = {"role": "system", "content": "be"}
        reader = Reader(
            Chain(user("u", None), compaction("c", "u", "u", systemMessage=system), user("v", "c"), user("d", "u"))
        )
        said = reader.branch("v", "d").material.history
        assert [(one.entry_id, one.role) for one in said] == [("c", "compactionSummary"), ("v", "user")]

    def test_the_files_of_all_summaries_count(self) -> None:
        lines = [
            user("u", None),
            summary("s", "u", details=LISTS),
            summary("t", "s", details={"readFiles": ["hook"]}, fromHook=True),
            user("c", "t", "x" * 40),
        ]
        found = Reader(Chain(*lines)).branch("c", None, 10).material
        assert ([said.entry_id for said in found.history], found.read_files, found.modified_files) == (
            ["c"],
            ["r"],
            ["m"],
        )

    def test_edits_count(self) -> None:
        lines = [*self.lines[:5], edit("e", "c", "c"), edit("f", "e", "b", "new"), edit("g", "f", "a", "no")]
        found = Reader(Chain(*lines, user("d", "a"))).branch("g", "d").material
        assert [said.message["content"] for said in found.history] == [[text("new")]]
        assert found.read_files == []

    def test_it_is_read_in_portions_until_the_budget_is_used(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(portions, "FIRST_PORTION", 1)
        monkeypatch.setattr(portions, "PORTION", 1)
        lines = [user("0", None)] + [user(str(n), str(n - 1), "x" * 40) for n in range(1, 9)]
        reader = Reader(Chain(*lines))
        assert self.told(reader, "8", None, 25) == ["7", "8"]
        assert reader.read == ["8", "7", "6"]
