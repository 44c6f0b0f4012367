"""Questions about a session file, as an editor asks them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pi_daemon.documents import links
from pi_daemon.documents.uris import uri_of
from tests.documents.conftest import ALL, Desk, Editor
from tests.documents.entries import answer, call, header, line, result, text, user
from tests.methods.conftest import user as a_user

THUMB = "\U0001f44d"


def branching(desk: Desk) -> Path:
    """Line 1: u1, 2: a1 with a call, 3: its result, 4: a2, 5: u2 (another branch), 6: label of u1, 7: compaction."""
    (desk.path / "there.txt").write_text("")
    astral = json.dumps(f"{THUMB * 3} look", ensure_ascii=False).encode()
    first = user("u1", None, "TEXT").replace(b'"TEXT"', astral)
    calls = [text(f"I read {THUMB}"), call("c1", path="there.txt"), call("c2", "write", path="/nowhere/at/all")]
    called = answer("a1", "u1", calls, stopReason="toolUse", usage={"input": 1200, "output": 34, "cacheRead": 5})
    called = called.replace(b"\\ud83d\\udc4d", THUMB.encode())
    return desk.write(
        "branching",
        header(cwd=str(desk.path), parentSession=str(desk.path / "there.txt")),
        first,
        called,
        result("r1", "a1", "c1"),
        answer("a2", "r1", [text("done")], stopReason="stop"),
        user("u2", "u1", "another way"),
        line("label", "l1", "u2", targetId="u1", label="start"),
        line("compaction", "k1", "l1", summary="so far", firstKeptEntryId="u2", tokensBefore=9),
    )


def names(symbols: list[dict[str, Any]], depth: int = 0) -> list[str]:
    found: list[str] = []
    for symbol in symbols:
        found += ["  " * depth + symbol["name"], *names(symbol.get("children", []), depth + 1)]
    return found


async def test_outline(desk: Desk) -> None:
    path = branching(desk)
    async with desk.running():
        editor = await desk.editor()
        symbols = await editor.about(path, "documentSymbol")
        assert names(symbols) == [
            f"● [start] {THUMB * 3} look",
            f"⎇ I read {THUMB}",
            f"  I read {THUMB}",
            "  read there.txt",
            "  write /nowhere/at/all",
            "  done",
            "● another way",
            "◆ so far",
        ]
        assert [symbol["range"]["start"]["line"] for symbol in symbols] == [1, 2, 5, 7]
        assert symbols[0]["range"]["end"] == {"line": 1, "character": len(path.read_bytes().split(b"\n")[1])}
        assert symbols[1]["children"][2]["detail"] == "tool call without a result"
        plain = await desk.editor({})
        flat = await plain.about(path, "documentSymbol")
        assert [one["name"] for one in flat] == [name.strip() for name in names(symbols)]
        assert flat[2]["containerName"] == f"⎇ I read {THUMB}"


async def test_hover_says_what_a_line_is(desk: Desk) -> None:
    path = branching(desk)
    async with desk.running():
        editor = await desk.editor()
        shown = [(await editor.about(path, "hover", number, 0))["contents"] for number in range(8)]
        assert {one["kind"] for one in shown} == {"markdown"}
        words = [one["value"] for one in shown]
        assert f"{desk.path}" in words[0] and "7 entries, 4 of them on the active path" in words[0]
        assert "**user's message** `u1`, labelled “start”" in words[1] and f"{THUMB * 3} look" in words[1]
        assert "the compaction `k1` stands for it" in words[1] and "named by label `l1`" in words[1]
        assert "2 children: a fork here: answer `a1`, user's message `u2`" in words[1]
        assert "it is not on the active path" in words[2] and "model p/m, ended with toolUse" in words[2]
        assert "1,200 input, 34 output, 5 cache read" in words[2] and "read there.txt" in words[2]
        assert "In the model's context" in words[5]
        assert "an entry of this kind never enters" in words[6]
        assert "`k1`, the leaf" in words[7] and "nothing follows it" in words[7]
        assert await editor.about(path, "hover", 99, 0) is None
        named = await editor.at(path, "hover", 7, "firstKept")
        assert named["contents"]["value"].startswith("→ user's message `u2`: another way")
        assert named["range"]["start"]["line"] == 7
        plain = await desk.editor({})
        assert (await plain.about(path, "hover", 1, 0))["contents"]["kind"] == "plaintext"


async def test_hover_shows_no_encoded_data(desk: Desk) -> None:
    data = "QUJD" * 200
    image = {"type": "image", "data": data, "mimeType": "image/png"}
    path = desk.write(
        "images",
        header(),
        user("u", None, [image, text(f"see data:image/png;base64,{data} here ```` x")]),
        user("v", "u", [image]),
        user("w", "v", "\ud83d lone"),
        answer("x", "w", [call("c1", "edit", path="a.py")], stopReason="toolUse"),
    )
    async with desk.running():
        editor = await desk.editor()
        words = [(await editor.about(path, "hover", number, 0))["contents"]["value"] for number in (1, 2, 3, 4)]
        assert not any("QUJDQUJD" in one for one in words)
        assert words[3].count("edit a.py") == 1
        assert "see data:image/png;base64,(encoded data) here" in words[0] and "`````text" in words[0]
        assert "[image]" in words[1] and "lone" in words[2]


def place(found: dict[str, Any]) -> tuple[int, int, int]:
    where = found.get("targetSelectionRange") or found["range"]
    return where["start"]["line"], where["start"]["character"], where["end"]["character"]


async def test_definitions(desk: Desk) -> None:
    path = branching(desk)
    async with desk.running():
        editor = await desk.editor()

        async def to(number: int, text: str) -> list[tuple[int, int, int]]:
            found = await editor.at(path, "definition", number, text)
            assert all(one["targetUri"] == uri_of(str(path)) for one in found or ())
            return [place(one) for one in found or ()]

        assert await to(2, '"u1"') == await to(2, "parentId") == [(1, 24, 26)]
        assert await to(6, "targetId") == [(1, 24, 26)]
        assert (await to(7, "firstKept"))[0][0] == 5
        lines = path.read_text(encoding="utf-8").split("\n")
        start = len(lines[2].partition("c1")[0].encode("utf-16-le")) // 2
        assert await to(3, "toolCallId") == [(2, start, start + 2)]  # after an astral character
        assert (await to(2, '"c1"'))[0][0] == (await to(2, "there.txt"))[0][0] == 3
        assert await to(2, '"c2"') == await to(2, "text") == await to(1, "parentId") == await to(4, "done") == []
        found = await editor.at(path, "definition", 2, '"u1"')
        assert found[0]["originSelectionRange"]["start"]["character"] == len('{"type":"message","id":"a1","parentId":')
        parent = await editor.at(path, "definition", 0, "parentSession")
        assert parent == [{"uri": uri_of(str(desk.path / "there.txt")), "range": parent[0]["range"]}]
        plain = await desk.editor({})
        assert (await plain.at(path, "definition", 2, '"u1"'))[0]["uri"] == uri_of(str(path))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_positions_are_counted_as_agreed(desk: Desk, encoding: str) -> None:
    path = branching(desk)
    async with desk.running():
        editor = await desk.editor({**ALL, "general": {"positionEncodings": [encoding]}})
        assert editor.capabilities["positionEncoding"] == encoding
        before = path.read_text(encoding="utf-8").split("\n")[2].partition('c1"')[0]
        size = {"utf-8": len(before.encode()), "utf-16": len(before.encode("utf-16-le")) // 2, "utf-32": len(before)}
        assert len(set(size.values())) == 3
        there = await editor.about(path, "definition", 2, size[encoding] + 1)
        assert place(there[0])[0] == 3
        origin = there[0]["originSelectionRange"]
        assert origin["start"]["character"] == size[encoding] - 1
        back = await editor.at(path, "definition", 3, "toolCallId")
        assert place(back[0]) == (2, size[encoding], size[encoding] + 2)


async def test_references(desk: Desk) -> None:
    path = branching(desk)
    async with desk.running():
        editor = await desk.editor()

        async def lines(number: int, text: str = "{", **context: bool) -> list[int]:
            found = await editor.at(path, "references", number, text, context={"includeDeclaration": False, **context})
            return [one["range"]["start"]["line"] for one in found]

        assert await lines(1) == [2, 5, 6]
        assert await lines(1, includeDeclaration=True) == [1, 2, 5, 6]
        assert await lines(2, '"u1"') == [2, 5, 6]
        assert await lines(2) == [3]
        assert await lines(5) == [6, 7]
        assert await lines(0) == await lines(4) == []


async def test_call_hierarchy(desk: Desk) -> None:
    path = branching(desk)
    async with desk.running():
        editor = await desk.editor()
        [item] = await editor.about(path, "prepareCallHierarchy", 1, 3)
        assert item["detail"] == "user's message, 2 branches" and item["name"].startswith("● [start]")
        assert await editor.call("callHierarchy/incomingCalls", item=item) == []
        following = await editor.call("callHierarchy/outgoingCalls", item=item)
        assert [one["to"]["name"] for one in following] == [f"I read {THUMB}", "● another way"]
        [below] = await editor.call("callHierarchy/outgoingCalls", item=following[1]["to"])
        assert below["to"]["name"] == "◆ so far"  # past the label between them
        [above] = await editor.call("callHierarchy/incomingCalls", item=below["to"])
        assert above["from"]["range"]["start"]["line"] == 5
        assert await editor.about(path, "prepareCallHierarchy", 0, 0) is None
        assert await editor.call("callHierarchy/incomingCalls", item={**item, "data": "odd"}) == []


async def test_links_lead_to_files_that_are_there(desk: Desk) -> None:
    path = branching(desk)
    async with desk.running():
        editor = await desk.editor()
        found = await editor.about(path, "documentLink")
        assert [(one["range"]["start"]["line"], one["target"]) for one in found] == [
            (0, uri_of(str(desk.path / "there.txt"))),
            (2, uri_of(str(desk.path / "there.txt"))),
        ]
        text = path.read_text(encoding="utf-8").split("\n")[2]
        start = found[1]["range"]["start"]["character"]
        assert start == len(text.partition("there.txt")[0].encode("utf-16-le")) // 2
        assert await editor.about(path, "documentLink") == found


async def test_only_the_newest_answers_are_read_for_links(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    path = branching(desk)
    monkeypatch.setattr(links, "LINK_BYTES", 10)
    async with desk.running():
        editor = await desk.editor()
        assert [one["range"]["start"]["line"] for one in await editor.about(path, "documentLink")] == [0]


async def test_folds_and_their_limit(desk: Desk) -> None:
    path = branching(desk)
    async with desk.running():
        editor = await desk.editor()
        found = [(one["startLine"], one["endLine"]) for one in await editor.about(path, "foldingRange")]
        assert found == [(1, 4), (5, 6)]
        few = await desk.editor({"textDocument": {"foldingRange": {"rangeLimit": 1}}})
        assert [one["startLine"] for one in await few.about(path, "foldingRange")] == [5]


async def test_sessions_are_symbols_of_the_workspace(desk: Desk) -> None:
    desk.write("one", header("one"), user("u", None, "Mend the \n Bridge"), answer("a", "u"))
    desk.write("two", header("two"), user("u", None, "x"), line("session_info", "n", "u", name="Paint the bridge"))
    async with desk.running():
        editor = await desk.editor()

        async def found(query: str) -> set[str]:
            return {one["name"] for one in await editor.call("workspace/symbol", query=query)}

        assert await found("") == await found("BRIDGE the") == {"Mend the Bridge", "Paint the bridge"}
        assert await found("mend") == {"Mend the Bridge"} and await found("nothing") == set()


async def test_line_ends_of_two_characters_and_a_last_line_without_any(desk: Desk) -> None:
    lines = (header(), user("u1", None), b"", answer("a1", "u1", [text("hi")]), user("u2", "a1", "last"))
    path = desk.write("crlf", *lines, end=b"\r\n", ended=False)
    async with desk.running():
        editor = await desk.editor()
        symbols = await editor.about(path, "documentSymbol")
        assert [symbol["range"]["start"]["line"] for symbol in symbols] == [1, 4]
        assert symbols[0]["children"][0]["range"]["start"]["line"] == 3
        assert place((await editor.at(path, "definition", 4, "parentId"))[0])[0] == 3
        assert await editor.about(path, "hover", 2, 0) is None


async def test_an_older_version_is_read_as_it_lies(desk: Desk) -> None:
    """Its entries have no ids in the file; what a hover says is of the entries as they will be."""
    old = [json.loads(one) for one in (user("u", None), answer("a", None, [call("c1")]), result("r", None, "c1"))]
    for entry in old:
        del entry["id"], entry["parentId"]
    path = desk.write("old", header().replace(b'"version":3,', b""), *(json.dumps(one).encode() for one in old))
    before = path.read_bytes()
    async with desk.running():
        editor = await desk.editor()
        editor.open(path)
        await editor.diagnostics(path)
        assert [one["range"]["start"]["line"] for one in await editor.about(path, "documentSymbol")] == [1]
        assert place((await editor.at(path, "definition", 3, "toolCallId"))[0])[0] == 2
        assert "answer" in (await editor.about(path, "hover", 2, 0))["contents"]["value"]
        assert path.read_bytes() == before
        session = next(iter(desk.daemon.hub.sessions))
        await editor.call("session/append", sessionId=session.session_id, entries=[a_user("n")])
        assert path.read_bytes() != before  # the first append migrates it, and everything lies elsewhere
        assert place((await editor.at(path, "definition", 4, "parentId"))[0])[0] == 3
        assert len(await editor.about(path, "documentSymbol")) == 2


async def test_what_is_no_session_is_answered_with_nothing(desk: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "outside.jsonl"
    outside.write_bytes(header() + b"\n")
    empty = desk.write("empty", b"", ended=False)
    other = desk.write("other", b'{"a":1}')
    missing = desk.sessions / "missing.jsonl"
    async with desk.running():
        editor = await desk.editor()
        for path, code in (
            (outside, "outsideRoot"),
            (empty, "sessionCorrupted"),
            (other, "sessionCorrupted"),
            (missing, "sessionNotFound"),
        ):
            for method in ("documentSymbol", "documentLink", "codeLens", "foldingRange"):
                assert await editor.about(path, method) == []
            assert await editor.about(path, "hover", 0, 0) is None
            assert await editor.about(path, "definition", 0, 0) is None
            editor.open(path)
            found = await editor.diagnostics(path)
            assert found[0]["code"] == code and found[0]["severity"] == 1
            report = await editor.about(path, "diagnostic")
            assert report["items"] == found
            again = await editor.about(path, "diagnostic", previousResultId=report["resultId"])
            assert again == {"kind": "unchanged", "resultId": report["resultId"]}
        assert await editor.call("textDocument/hover", textDocument={"uri": "untitled:1"}, position=_ZERO) is None


_ZERO = {"line": 0, "character": 0}


async def actions(editor: Editor, path: Path, number: int, **context: Any) -> dict[str, dict[str, Any]]:
    where = {"start": {"line": number, "character": 0}, "end": {"line": number, "character": 5}}
    found = await editor.about(path, "codeAction", range=where, context={"diagnostics": [], **context})
    return {one["title"]: one["command"] for one in found}


async def test_actions_are_done_by_the_daemon(desk: Desk) -> None:
    path = branching(desk)
    async with desk.running():
        editor = await desk.editor()
        found = await actions(editor, path, 4)
        assert list(found) == [
            "Move the leaf here",
            "Fork a new session here",
            "Label this entry “done”",
            "Compact the session at its leaf",
            "Explain this entry",
        ]
        assert (await editor.execute(found["Move the leaf here"]))["leafId"] == "a2"
        assert "◆ done" in str(await editor.about(path, "documentSymbol"))
        done = await editor.execute(found["Label this entry “done”"])
        assert path.read_bytes().count(done["entryId"].encode()) == 1
        assert "Clear the label “done”" in await actions(editor, path, 4)
        await editor.execute((await actions(editor, path, 4))["Clear the label “done”"])
        assert "[done]" not in str(await editor.about(path, "documentSymbol"))
        explained = await editor.execute(found["Explain this entry"])
        assert explained["standing"] == "In the model's context."
        assert (await editor.heard("window/showMessage"))["message"] == explained["standing"]
        moved = await editor.execute((await actions(editor, path, 5))["Move the leaf before this message"])
        assert (moved["leafId"], moved["editorText"]) == ("u1", "another way")
        forked = await editor.execute(found["Fork a new session here"])
        asked = await editor.asked("window/showDocument")
        assert asked["params"]["uri"] == uri_of(forked["path"]) and Path(forked["path"]).exists()
        editor.answer(asked, result={"success": True})
        assert "session/" not in "".join(editor.told_methods())  # an editor doesn't listen to sessions


async def test_actions_of_a_kind_and_of_older_clients(desk: Desk) -> None:
    path = branching(desk)
    async with desk.running():
        editor = await desk.editor()
        assert await actions(editor, path, 4, only=["quickfix"]) == {}
        assert await actions(editor, path, 4, only=["refactor"]) != {}
        assert await actions(editor, path, 0) == {}
        plain = await desk.editor({})
        where = {"start": _ZERO, "end": {"line": 4, "character": 0}}
        found = await plain.about(path, "codeAction", range=where, context={"diagnostics": []})
        assert found[0]["command"] == "pi-daemon.moveLeaf" and found[0]["arguments"][0]["entryId"] == "u1"


async def test_a_command_of_nonsense(desk: Desk) -> None:
    path = branching(desk)
    uri = uri_of(str(path))
    async with desk.running():
        editor = await desk.editor()
        for command, argument, reason in (
            ("pi-daemon.nothing", {"uri": uri}, "invalidParams"),
            ("pi-daemon.moveLeaf", 5, "invalidParams"),
            ("pi-daemon.moveLeaf", {"uri": uri}, "invalidParams"),
            ("pi-daemon.moveLeaf", {"uri": uri, "entryId": "nope"}, "entryNotFound"),
            ("pi-daemon.explain", {"uri": uri, "entryId": "nope"}, "entryNotFound"),
            ("pi-daemon.explain", {}, "sessionNotFound"),
            ("pi-daemon.fork", {"uri": "file:///elsewhere.jsonl", "entryId": "u1"}, "outsideRoot"),
        ):
            answer = await editor.ask("workspace/executeCommand", {"command": command, "arguments": [argument]})
            assert answer["error"]["data"]["reason"] == reason, command
        assert (await editor.ask("workspace/executeCommand", {"command": "pi-daemon.fork"}))["error"]


async def test_lenses(desk: Desk) -> None:
    path = branching(desk)
    async with desk.running():
        editor = await desk.editor()
        found = await editor.about(path, "codeLens")
        assert [(one["range"]["start"]["line"], one["command"]["title"]) for one in found] == [
            (1, "move the leaf here"),
            (1, "fork here"),
            (4, "move the leaf here"),
            (4, "fork here"),
            (5, "move the leaf here"),
            (5, "fork here"),
            (7, "◆ leaf: explain"),
            (7, "compact"),
            (7, "fork here"),
        ]
        assert (await editor.execute(found[0]["command"]))["leafId"] == "u1"


async def test_lone_surrogates_anywhere(desk: Desk) -> None:
    """They are legal in a file, and an answer that had them as they are would be none."""
    lone = "cut \ud83d"
    called = answer("a1", "u1", [call(lone, lone, path=lone)], stopReason="toolUse", model=lone)
    path = desk.write(
        "lone",
        header(parentSession=f"/{lone}"),
        user("u1", None, lone),
        called,
        line("label", "l", "a1", targetId="a1", label=lone),
        line("custom_message", "k", "l", customType=lone, content=lone),
        line("session_info", "n", "k", name=lone),
        line(lone, lone, "n"),
    )
    async with desk.running():
        for capabilities in (ALL, {}):
            editor = await desk.editor(capabilities)
            editor.open(path)
            assert [one["code"] for one in await editor.diagnostics(path)] == ["callWithoutResult"]
            symbols = await editor.about(path, "documentSymbol")
            assert "\ud83d" not in str(symbols) and "[cut ?]" in str(symbols)
            assert (await editor.about(path, "diagnostic"))["kind"] == "full"
            assert await editor.about(path, "documentLink") == []
            for number in range(7):
                assert await editor.about(path, "hover", number, 30) is not None
                await editor.about(path, "definition", number, 60)
                await editor.about(path, "references", number, 60, context={"includeDeclaration": True})
                await editor.about(path, "prepareCallHierarchy", number, 0)
                await actions(editor, path, number)
            await editor.call("workspace/symbol", query="cut")


async def test_a_home_of_nobody_is_no_link(desk: Desk) -> None:
    names = ["~\ud83d/a", "~\0", "~no body\n/a", "~" + "x" * 10_000, "file:///a%00", "there.txt"]
    calls = [call(f"c{number}", "read", path=name) for number, name in enumerate(names)]
    (desk.path / "there.txt").write_text("")
    path = desk.write(
        "home", header(cwd=str(desk.path)), user("u1", None), answer("a1", "u1", calls, stopReason="toolUse")
    )
    async with desk.running():
        editor = await desk.editor()
        found = await editor.about(path, "documentLink")
        assert [one["target"] for one in found] == [uri_of(str(desk.path / "there.txt"))]


async def test_words_of_a_session_are_no_marks_in_a_hover(desk: Desk) -> None:
    odd = "![x](https://example.com/a.png) <img src=x>\n# `big`\x1b[31m \\[y](z)"
    path = desk.write(
        "marks",
        header(cwd=f"/{odd}", parentSession=f"/{odd}", timestamp=odd),
        user(odd, None),
        answer("a1", odd, model=odd, provider=odd, stopReason=odd),
        line("label", "l", "a1", targetId="a1", label=odd),
        line("session_info", "n", "l", name=odd),
        line(odd, "k", odd, timestamp=odd),
    )
    async with desk.running():
        editor = await desk.editor()
        for number in range(6):
            words = (await editor.about(path, "hover", number, 40))["contents"]["value"]
            bare = re.sub(r"(?s)```text\n.*?\n```|(`+)(?!`).*?(?<!`)\1(?!`)", "", words.replace("\\\\", ""))
            bare = re.sub(r"\\[!-~]", "", bare)
            assert "example.com" in words and not re.search(r"[\[<]|\x1b|^#", bare, re.MULTILINE)
        symbols = await editor.about(path, "documentSymbol")
        assert "![x]" in str(symbols) and "\\u001b" not in json.dumps(symbols)
