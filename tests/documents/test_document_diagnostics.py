"""What is wrong with a file is told, with its line, and told again as the file changes."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import pytest

from pi_daemon.documents.diagnostics import Pairs
from pi_daemon.documents.names import item_of
from tests.documents.conftest import ALL, Desk
from tests.documents.entries import Kept, answer, call, header, line, result, text, user

HEAD = header()
U1 = user("u1", None)

DAMAGE: dict[str, tuple[list[bytes], set[tuple[str, int]]]] = {
    "a line that is no JSON": ([HEAD, U1, b"{broken", answer("a1", "u1")], {("notJson", 2)}),
    "no object": ([HEAD, U1, b"[1]", b"", answer("a1", "u1")], {("notObject", 2)}),
    "no id": ([HEAD, U1, b'{"type":"custom"}'], {("noId", 2)}),
    "too deep": ([HEAD, U1, b'{"type":"custom","id":"x","d":' + b"[" * 600 + b"]" * 600 + b"}"], {("tooDeep", 2)}),
    "not UTF-8": ([HEAD, U1, b'{"type":"custom","id":"\xff"}'], {("notUtf8", 2)}),
    "an orphan": ([HEAD, U1, answer("a1", "nobody")], {("orphan", 2)}),
    "a doubled id": ([HEAD, U1, answer("a1", "u1"), answer("a1", "u1")], {("duplicateId", 3)}),
    "a loop": ([HEAD, U1, user("x", "y"), user("y", "x"), user("z", "u1")], {("loop", 2)}),
    "a second header": ([HEAD, U1, HEAD], {("extraHeader", 2)}),
    "a late header": ([b'{"type":"custom","id":"c"}', HEAD, U1], {("lateHeader", 1)}),
    "a newer version": ([HEAD.replace(b":3", b":9"), U1], {("newerVersion", 0)}),
    "no version": ([HEAD.replace(b'"version":3,', b""), U1], {("unversioned", 0)}),
    "a byte order mark": ([b"\xef\xbb\xbf" + HEAD, U1, answer("a1", "u1")], {("byteOrderMark", 0)}),
    "a call without a result": (
        [HEAD, U1, answer("a1", "u1", [call("c1")], stopReason="toolUse"), user("u2", "a1")],
        {("callWithoutResult", 2)},
    ),
    "a call that waits": (
        [HEAD, U1, answer("a1", "u1", [call("c1")], stopReason="toolUse")],
        {("callWithoutResult", 2)},
    ),
    "a result without a call": (
        [HEAD, U1, answer("a1", "u1", [text("x")]), result("r", "a1", "c9")],
        {("resultWithoutCall", 3)},
    ),
    "a first kept entry that is missing": (
        [HEAD, U1, line("compaction", "k", "u1", summary="s", firstKeptEntryId="gone", tokensBefore=1)],
        {("firstKeptMissing", 2)},
    ),
    "a first kept entry of another branch": (
        [HEAD, U1, user("v", None), line("compaction", "k", "u1", summary="s", firstKeptEntryId="v", tokensBefore=1)],
        {("firstKeptMissing", 3)},
    ),
    "a label of nothing": ([HEAD, U1, line("label", "l", "u1", targetId="gone", label="x")], {("targetMissing", 2)}),
    "nothing at all": (
        [HEAD, U1, answer("a1", "u1", [call("c")], stopReason="toolUse"), result("r", "a1", "c")],
        set(),
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
async def test_each_kind_of_damage_has_its_line(desk: Desk, name: str) -> None:
    lines, wanted = DAMAGE[name]
    path = desk.write("damaged", *lines)
    before = path.read_bytes(), path.stat().st_mtime_ns
    async with desk.running():
        editor = await desk.editor()
        editor.open(path)
        found = await editor.diagnostics(path)
        assert {(one["code"], one["range"]["start"]["line"]) for one in found} == wanted
        assert all(one["source"] == "pi-daemon" and one["message"] for one in found)
        assert (await editor.about(path, "diagnostic"))["items"] == found
        for one in found:
            hover = await editor.about(path, "hover", one["range"]["start"]["line"], 0)
            assert hover is not None
        assert (path.read_bytes(), path.stat().st_mtime_ns) == before


async def test_damage_that_keeps_a_session_from_being_opened(desk: Desk) -> None:
    path = desk.write("lost", HEAD, U1, b"{broken", answer("a2", "a1"))
    async with desk.running():
        editor = await desk.editor()
        editor.open(path)
        found = await editor.diagnostics(path)
        assert [(one["code"], one["range"]["start"]["line"]) for one in found] == [
            ("sessionCorrupted", 0),
            ("notJson", 2),
            ("orphan", 3),
        ]
        assert "`pi-daemon repair FILE` mends it" in found[0]["message"] and "recover" not in found[0]["message"]
        assert await editor.about(path, "documentSymbol") == []


async def test_a_last_line_that_is_still_being_written(desk: Desk) -> None:
    path = desk.write("torn", HEAD, U1)
    whole = answer("a1", "u1") + b"\n"
    with path.open("ab") as file:
        file.write(whole[:20])
    async with desk.running(), desk.following():
        editor = await desk.editor()
        editor.open(path)
        found = await editor.diagnostics(path)
        assert [(one["code"], one["range"]["start"]["line"], one["severity"]) for one in found] == [("tornTail", 2, 3)]
        with path.open("ab") as file:
            file.write(whole[20:])
        assert await editor.diagnostics(path, 2) == []


async def test_what_a_stranger_writes_shows_without_being_asked_for(desk: Desk) -> None:
    path = desk.write("grows", HEAD, U1)
    async with desk.running(), desk.following():
        editor = await desk.editor()
        editor.open(path)
        assert await editor.diagnostics(path) == []
        with path.open("ab") as file:
            file.write(answer("a1", "nobody", [text("new")]) + b"\n")
        found = await editor.diagnostics(path, 2)
        assert [one["code"] for one in found] == ["orphan"]
        asked = await editor.asked("workspace/codeLens/refresh")
        editor.answer(asked, result=None)
        assert "new" in str(await editor.about(path, "documentSymbol"))
        path.write_bytes(HEAD + b"\n" + U1 + b"\n" + answer("a1", "u1") + b"\n")  # rewritten: it is another instance
        assert await editor.diagnostics(path, 3) == []
        os.unlink(path)
        found = await editor.diagnostics(path, 4)
        assert found[0]["code"] in ("sessionNotFound", "storageFailed")
        path.write_bytes(HEAD + b"\n" + U1 + b"\n")
        assert await editor.diagnostics(path, 5) == []


async def test_a_document_that_becomes_a_session_later(desk: Desk) -> None:
    path = desk.sessions / "later.jsonl"
    async with desk.running(), desk.following():
        editor = await desk.editor()
        editor.open(path)
        assert (await editor.diagnostics(path))[0]["code"] == "sessionNotFound"
        path.write_bytes(HEAD + b"\n" + U1 + b"\n")
        assert await editor.diagnostics(path, 2) == []
        assert len(await editor.about(path, "documentSymbol")) == 1


async def test_clients_that_ask_are_told_when_to(desk: Desk) -> None:
    path = desk.write("asked", HEAD, U1)
    capabilities: dict[str, Any] = {**ALL, "textDocument": {**ALL["textDocument"], "diagnostic": {}}}
    async with desk.running(), desk.following():
        editor = await desk.editor(capabilities)
        assert "diagnosticProvider" in editor.capabilities
        editor.open(path)
        report = await editor.about(path, "diagnostic")
        assert report["items"] == []
        with path.open("ab") as file:
            file.write(b"{broken\n")
        editor.answer(await editor.asked("workspace/codeLens/refresh"), result=None)
        editor.answer(await editor.asked("workspace/diagnostic/refresh"), result=None)
        again = await editor.about(path, "diagnostic", previousResultId=report["resultId"])
        assert [one["code"] for one in again["items"]] == ["notJson"]
        assert "textDocument/publishDiagnostics" not in editor.told_methods()
        plain = await desk.editor()
        assert "diagnosticProvider" not in plain.capabilities


async def test_an_open_document_takes_no_lease_and_is_let_go(desk: Desk) -> None:
    path = desk.write("idle", HEAD, U1)
    async with desk.running():
        editor = await desk.editor()
        editor.open(path, text="whatever an editor \ud83d shows")
        await editor.diagnostics(path)
        [session] = desk.daemon.hub.sessions
        assert not session.log.held and len(session.subscribers) == 1
        editor.open(path)  # again, which is a mistake of the client's
        await editor.diagnostics(path, 2)
        assert len(session.subscribers) == 1
        editor.close_document(path)
        await editor.about(path, "hover", 1, 0)
        assert not session.subscribers
        editor.open(path)
        await editor.diagnostics(path, 3)
        assert len(session.subscribers) == 1
        editor.close()
        await desk.daemon.service.settled()
        assert not session.subscribers and not session.log.held


async def test_diagnostics_are_taken_back_with_the_document(desk: Desk) -> None:
    path = desk.write("closed", HEAD, answer("a", "nobody"))
    async with desk.running():
        editor = await desk.editor()
        editor.open(path)
        assert len(await editor.diagnostics(path)) == 1
        editor.close_document(path)
        assert await editor.diagnostics(path, 2) == []


async def test_a_session_is_deleted_by_whom_has_it_open_as_a_document(desk: Desk) -> None:
    path = desk.write("deleted", HEAD, U1)
    async with desk.running():
        editor = await desk.editor()
        editor.open(path)
        await editor.diagnostics(path)
        other = await desk.client("other")
        refused = await other.ask("session/delete", {"sessionId": "s1"})
        assert refused["error"]["data"]["reason"] == "busy"
        await editor.call("session/delete", sessionId="s1")
        assert (await editor.diagnostics(path, 2))[0]["code"] == "sessionNotFound"


async def test_notifications_of_nonsense_are_ignored(desk: Desk) -> None:
    path = desk.write("sound", HEAD, U1)
    async with desk.running():
        editor = await desk.editor()
        for method in ("didOpen", "didClose", "didChange", "didSave", "willSave"):
            for params in ({}, {"textDocument": 5}, {"textDocument": {"uri": None}}, {"textDocument": {"uri": "x"}}):
                editor.tell(f"textDocument/{method}", **params)
        editor.tell("workspace/didChangeConfiguration", settings={})
        editor.connection.receive(b'{"jsonrpc":"2.0","method":"textDocument/didOpen"}')
        assert await editor.about(path, "hover", 1, 0) is not None


async def test_documents_and_sessions_side_by_side(desk: Desk) -> None:
    """One client has the session open in both ways; it hears of both, and each ends for itself."""
    path = desk.write("both", HEAD, U1)
    async with desk.running():
        editor = await desk.editor()
        editor.open(path)
        await editor.diagnostics(path)
        await editor.call("session/open", path=str(path))
        await editor.call("session/append", sessionId="s1", entries=[json.loads(_draft("nobody"))])
        await editor.heard("session/appended")
        editor.close_document(path)
        await editor.about(path, "hover", 1, 0)
        [session] = desk.daemon.hub.sessions
        assert list(session.subscribers) == [editor.connection.client.client_id]


def _draft(words: str) -> bytes:
    return json.dumps({"type": "message", "message": {"role": "user", "content": words}}).encode()


async def test_many_changes_are_told_of_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from pi_daemon.documents import opened

    path = desk.write("busy", HEAD, U1)
    monkeypatch.setattr(opened, "TOLD_SECONDS", 3600.0)
    async with desk.running():
        editor = await desk.editor()
        editor.open(path)
        await editor.diagnostics(path)
        for _ in range(20):
            await editor.call("session/append", sessionId="s1", entries=[json.loads(_draft("x"))])
        [document] = desk.daemon.service._documents._clients[editor.connection.client.client_id].documents.values()  # type: ignore[union-attr]
        assert document._timer is not None and not document._working
        assert "workspace/codeLens/refresh" not in editor.told_methods()


def test_calls_are_accounted_for_like_pi_does() -> None:
    kept = Kept(
        user("u", None),
        answer("a1", "u", [call("c1"), call("c2")], stopReason="toolUse"),
        result("r2", "a1", "c2"),
        result("r1", "r2", "c1"),
        answer("a2", "r1", [call("c3"), call("c4")], stopReason="toolUse"),
        result("r3", "a2", "c3"),
        line("message", "s", "r3", message={"role": "system", "content": "x"}),
        result("r4", "s", "c4"),
        answer("a3", "r4", [call("c5")], stopReason="aborted"),
        user("u2", "a3"),
        answer("a4", "u2", [call("c6")], stopReason="toolUse"),
        answer("a5", "a4", [call("c7", "bash")], stopReason="toolUse"),
    )
    known = {head: item_of(head, raw) for head, raw in zip(kept.heads, kept.lines, strict=True)}
    pairs = Pairs(known)
    for head in kept.heads:
        pairs.take([head])
    assert [(head.id, severity, words) for head, severity, _, words in pairs.end()] == [
        ("a4", 2, "The tool call “read” has no result: a provider would refuse the context."),
        ("a5", 3, "The tool call “bash” waits for its result."),
    ]
    unread = Pairs({})
    unread.take(kept.heads[1:3])
    assert unread.end() == []  # of what nobody has read nothing is said


async def test_the_last_answers_alone_are_read(desk: Desk) -> None:
    """What an outline or a diagnostic doesn't show is not read."""
    lines = [HEAD, U1]
    for number in range(30):
        lines.append(answer(f"a{number}", "u1", [text("x")], stopReason="stop"))
    path = desk.write("unread", *lines)
    async with desk.running():
        editor = await desk.editor()
        editor.open(path)
        await editor.diagnostics(path)
        await editor.about(path, "foldingRange")
        await editor.about(path, "codeLens")
        [session] = desk.daemon.hub.sessions
        view = desk.daemon.service._documents._views[session]  # type: ignore[union-attr]
        assert not any(view.item(head) for head in session.tree.entries)


@pytest.mark.slow
async def test_ten_thousand_entries_while_they_grow(desk: Desk) -> None:
    lines = [HEAD]
    before: str | None = None
    for number in range(10_000):
        name = f"e{number}"
        make = (
            user(name, before, f"turn {number}") if number % 4 == 0 else answer(name, before, [text(f"step {number}")])
        )
        lines.append(make)
        before = name
    path = desk.write("long", *lines)
    async with desk.running(), desk.following():
        editor, writer = await desk.editor(), await desk.client("writer")
        editor.open(path)
        await editor.diagnostics(path)

        async def write() -> None:
            for number in range(200):
                await writer.call("session/append", sessionId="s1", entries=[json.loads(_draft(f"more {number}"))])

        writing = asyncio.create_task(write())
        for number in range(50):
            found = await editor.about(path, "hover", 1 + number * 199, 5)
            assert f"`e{number * 199}`" in found["contents"]["value"]
            back = await editor.about(path, "definition", 2 + number * 199, 60)
            assert back is None or back[0]["targetRange"]["start"]["line"] == 1 + number * 199
            await asyncio.sleep(0)
        await writing
        symbols = await editor.about(path, "documentSymbol")
        assert len(symbols) == 2_700 and symbols[-1]["range"]["start"]["line"] == 10_200
        assert symbols[-1]["name"] == "◆ more 199"
