"""Session files as documents, through a client library that knows nothing of us and a bridge whose daemon goes away."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from home import PATIENCE, Home, kill
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

pytestmark = pytest.mark.slow

TIME = "2026-01-01T00:00:00.000Z"
THUMB = "\U0001f44d"


def session(home: Home) -> Path:
    """Two turns; a tool call with its result, and an entry without a parent."""
    call = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "notes.txt"}}
    entries: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "s1", "timestamp": TIME, "cwd": str(home.directory)},
        entry("u1", None, "user", f"read my notes {THUMB}"),
        entry("a1", "u1", "assistant", [call], stopReason="toolUse"),
        entry("r1", "a1", "toolResult", [{"type": "text", "text": "milk"}], toolCallId="c1", toolName="read"),
        entry("a2", "r1", "assistant", [{"type": "text", "text": "buy milk"}], stopReason="stop"),
        entry("x", "nobody", "user", "lost"),
        entry("u2", "a2", "user", "thanks"),
    ]
    (home.directory / "notes.txt").write_text("milk")
    path = home.sessions / "s1.jsonl"
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in entries), encoding="utf-8")
    return path


def entry(id: str, parent: str | None, role: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": content, **more}
    return {"type": "message", "id": id, "parentId": parent, "timestamp": TIME, "message": message}


def position(path: Path, line: int, text: str) -> lsp.Position:
    before = path.read_text(encoding="utf-8").split("\n")[line].partition(text)[0]
    return lsp.Position(line, len(before.encode("utf-16-le")) // 2)


@pytest.mark.parametrize("arguments", [("serve", "--stdio"), ("connect",)], ids=["stdio", "socket"])
async def test_pygls_as_a_client(home: Home, arguments: tuple[str, ...]) -> None:
    path = session(home)
    client = LanguageClient("an editor", "1")
    told: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()
    refreshed = asyncio.Event()
    client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda one: told.put_nowait(one))
    client.feature(lsp.WORKSPACE_CODE_LENS_REFRESH)(lambda _: refreshed.set())
    command, *rest = home.argv(*arguments)
    await client.start_io(command, *rest, env=home.environment, cwd=home.directory)
    async with asyncio.timeout(PATIENCE):
        lenses = lsp.CodeLensWorkspaceClientCapabilities(refresh_support=True)
        symbols = lsp.DocumentSymbolClientCapabilities(hierarchical_document_symbol_support=True)
        can = lsp.ClientCapabilities(
            workspace=lsp.WorkspaceClientCapabilities(code_lens=lenses),
            text_document=lsp.TextDocumentClientCapabilities(document_symbol=symbols),
        )
        result = await client.initialize_async(lsp.InitializeParams(capabilities=can))
        assert result.capabilities.position_encoding == "utf-16"
        assert result.capabilities.execute_command_provider is not None
        client.initialized(lsp.InitializedParams())
        document = lsp.TextDocumentIdentifier(path.as_uri())
        item = lsp.TextDocumentItem(path.as_uri(), "jsonl", 1, path.read_text(encoding="utf-8"))
        client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        found = (await told.get()).diagnostics
        assert [(one.code, one.range.start.line) for one in found] == [("orphan", 5)]

        outline: Any = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(document))
        assert [one.name for one in outline] == [f"● read my notes {THUMB}", "⎇ lost", "◆ thanks"]
        assert [one.name for one in outline[0].children] == ["● read notes.txt", "● buy milk"]

        hover = await client.text_document_hover_async(lsp.HoverParams(document, lsp.Position(4, 0)))
        assert hover is not None and "buy milk" in str(hover.contents)
        where = position(path, 3, "toolCallId")
        there: Any = await client.text_document_definition_async(lsp.DefinitionParams(document, where))
        assert there[0].range.start == position(path, 2, 'c1"')
        context = lsp.ReferenceContext(include_declaration=False)
        found_references = await client.text_document_references_async(
            lsp.ReferenceParams(context, document, lsp.Position(2, 0))
        )
        assert [one.range.start.line for one in found_references or ()] == [3]
        items = await client.text_document_prepare_call_hierarchy_async(
            lsp.CallHierarchyPrepareParams(document, lsp.Position(1, 0))
        )
        assert items
        below = await client.call_hierarchy_outgoing_calls_async(lsp.CallHierarchyOutgoingCallsParams(items[0]))
        assert below is not None and below[0].to.range.start.line == 2
        above = await client.call_hierarchy_incoming_calls_async(lsp.CallHierarchyIncomingCallsParams(below[0].to))
        assert above is not None and above[0].from_.name == items[0].name
        links = await client.text_document_document_link_async(lsp.DocumentLinkParams(document))
        assert [one.target for one in links or ()] == [(home.directory / "notes.txt").as_uri()]
        folds = await client.text_document_folding_range_async(lsp.FoldingRangeParams(document))
        assert [(one.start_line, one.end_line) for one in folds or ()] == [(1, 4)]
        sessions: Any = await client.workspace_symbol_async(lsp.WorkspaceSymbolParams("notes"))
        assert [one.location.uri for one in sessions] == [path.as_uri()]
        report: Any = await client.text_document_diagnostic_async(lsp.DocumentDiagnosticParams(document))
        assert [one.code for one in report.items] == ["orphan"]

        whole = lsp.Range(lsp.Position(4, 0), lsp.Position(4, 0))
        actions: Any = await client.text_document_code_action_async(
            lsp.CodeActionParams(document, whole, lsp.CodeActionContext([]))
        )
        move = next(one for one in actions if one.command == "pi-daemon.moveLeaf")
        await client.workspace_execute_command_async(lsp.ExecuteCommandParams(move.command, move.arguments))
        lens = await client.text_document_code_lens_async(lsp.CodeLensParams(document))
        assert [one.range.start.line for one in lens or () if one.command and "leaf: " in one.command.title] == [4]

        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry("w", "nowhere either", "user", "written by another process")) + "\n")
        while len(found) != 2:
            found = (await told.get()).diagnostics
        assert [one.range.start.line for one in found] == [5, 7]
        await refreshed.wait()
        client.text_document_did_close(lsp.DidCloseTextDocumentParams(document))
        while found:
            found = (await told.get()).diagnostics
        await client.shutdown_async(None)
        client.exit(None)
        assert client._server is not None and await client._server.wait() == 0
    await client.stop()


async def test_a_document_outlives_the_daemon(home: Home) -> None:
    path = session(home)
    uri = path.as_uri()
    async with home.editor() as editor:
        first = await editor.initialize()
        item = {"uri": uri, "languageId": "jsonl", "version": 1, "text": ""}
        editor.notify("textDocument/didOpen", {"textDocument": item})
        before = await editor.told("textDocument/publishDiagnostics")
        asked = {"textDocument": {"uri": uri}, "position": {"line": 3, "character": 40}}
        there = await editor.call("textDocument/definition", **asked)
        kill(home.pid)
        replaced = await editor.told("daemon/replaced")
        assert replaced["daemonId"] != first["daemonId"]
        assert await editor.told("textDocument/publishDiagnostics") == before
        assert await editor.call("textDocument/definition", **asked) == there != []
        with path.open("a", encoding="utf-8") as file:
            file.write("{broken\n")
        after = await editor.told("textDocument/publishDiagnostics")
        assert [one["code"] for one in after["diagnostics"]] == ["orphan", "notJson"]
        assert await editor.end() == 0


def neovim() -> str | None:
    beside = Path(sys.executable).parent / "nvim"
    return str(beside) if beside.exists() else shutil.which("nvim")


@pytest.mark.skipif(neovim() is None, reason="there is no nvim")
async def test_neovim_without_a_plugin(home: Home) -> None:
    path = session(home)
    program = neovim()
    assert program is not None
    pictures, output = home.directory / "pictures", home.directory / "shown.json"
    pictures.mkdir()
    given = {
        "command": home.argv("connect"),
        "file": str(path),
        "line": 3,
        "text": "toolCallId",
        "append": json.dumps(entry("w", "nowhere either", "user", "written by another process")),
        "pictures": str(pictures),
        "expected": {"hover": "followed by answer"},
        "editor": [program, "--clean", "-S", str(Path(__file__).with_name("editor.lua"))],
        "output": str(output),
        "patience": 20_000,
    }
    process = await asyncio.create_subprocess_exec(
        *(program, "--headless", "--clean", "-S", str(Path(__file__).with_name("screen.lua"))),
        env={**home.environment, "PI_TEST": json.dumps(given), "NVIM_LOG_FILE": str(home.directory / "nvim.log")},
        cwd=home.directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(2 * PATIENCE):
            _, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert output.exists(), errors.decode()
    shown = json.loads(output.read_text())
    assert "error" not in shown, shown["error"]
    assert [(one["line"], one["code"]) for one in shown["diagnostics"]] == [(5, "orphan")]
    names = [" ".join(text.split()[1:]) for _, text in shown["symbols"]]
    assert names[:3] == [f"● read my notes {THUMB}", "● read notes.txt", "● buy milk"]
    assert names[3:] == ["⎇ lost", "lost", "◆ thanks"]
    assert shown["definition"] == [2, "c1"]
    assert shown["lenses"] > 3
    screen = (pictures / "hover").read_text()
    print(screen)
    assert "tool result r1" in screen and "- In the model's context." in screen
    assert "followed by answer a2" in screen
    assert [one["line"] for one in shown["grown"]] == [5, 7]
