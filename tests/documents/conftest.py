"""The whole daemon in this process, with editors that speak LSP to it. Coroutine tests run in a loop of their own."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pi_daemon.documents import opened
from pi_daemon.documents.uris import uri_of
from tests.methods.conftest import Client, Scene

ALL = {
    "general": {"positionEncodings": ["utf-16"]},
    "window": {"showDocument": {"support": True}},
    "workspace": {"codeLens": {"refreshSupport": True}, "diagnostics": {"refreshSupport": True}},
    "textDocument": {
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "definition": {"linkSupport": True},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}},
        "foldingRange": {"rangeLimit": 5000},
    },
}
"""What an editor of these days can do, but for asking for diagnostics itself."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opened, "TOLD_SECONDS", 0.0)
    monkeypatch.setattr(opened, "SHARE", 0)


class Editor(Client):
    """`capabilities`: of the server."""

    capabilities: dict[str, Any]

    async def initialize(self, capabilities: Any = ALL) -> Editor:
        params = {"processId": None, "capabilities": capabilities, "clientInfo": {"name": "editor"}}
        self.capabilities = (await self.call("initialize", **params))["capabilities"]
        self.tell("initialized")
        return self

    def tell(self, method: str, **params: Any) -> None:
        self.connection.receive(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def open(self, path: Path, text: str = "") -> None:
        item = {"uri": uri_of(str(path)), "languageId": "jsonl", "version": 1, "text": text}
        self.tell("textDocument/didOpen", textDocument=item)

    def close_document(self, path: Path) -> None:
        self.tell("textDocument/didClose", textDocument={"uri": uri_of(str(path))})

    async def about(self, path: Path, method: str, *position: int, **params: Any) -> Any:
        """A request about a document, at line and character."""
        if position:
            params["position"] = {"line": position[0], "character": position[1]}
        return await self.call(f"textDocument/{method}", textDocument={"uri": uri_of(str(path))}, **params)

    async def at(self, path: Path, method: str, line: int, text: str, **params: Any) -> Any:
        """A request at the place of a text in a line, counted as UTF-16."""
        before = path.read_text(encoding="utf-8", errors="replace").split("\n")[line].partition(text)[0]
        return await self.about(path, method, line, len(before.encode("utf-16-le")) // 2, **params)

    async def diagnostics(self, path: Path, count: int = 1) -> list[dict[str, Any]]:
        """What was published `count` times by now."""
        uri = uri_of(str(path))
        while True:
            found = [
                value["params"]["diagnostics"]
                for value in self.told
                if value["method"] == "textDocument/publishDiagnostics" and value["params"]["uri"] == uri
            ]
            if len(found) >= count:
                return found[-1]  # type: ignore[no-any-return]
            await self.changed()

    async def execute(self, command: dict[str, Any]) -> Any:
        return await self.call("workspace/executeCommand", command=command["command"], arguments=command["arguments"])


class Desk(Scene):
    """Sessions as files, and editors."""

    def write(self, name: str, *lines: bytes, end: bytes = b"\n", ended: bool = True) -> Path:
        path = self.sessions / f"{name}.jsonl"
        path.write_bytes(end.join(lines) + (end if ended else b""))
        return path

    async def editor(self, capabilities: Any = ALL) -> Editor:
        return await Editor(self.daemon, "editor").initialize(capabilities)

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """The daemon hears of what others write."""
        await self.daemon.following.start()
        try:
            yield
        finally:
            await self.daemon.following.stop()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)
