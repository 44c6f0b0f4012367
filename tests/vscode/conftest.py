"""`shown`: a session of a user's, shown in VS Code; one editor serves all tests."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pi_daemon_client import Client

from tests.daemon.home import Home
from tests.npm import installed
from tests.reference import REPOSITORY, reference
from tests.vscode.window import Window, code_server, window

PACKAGES = [
    "@preact/signals@2.11.4",
    "@tanstack/virtual-core@3.19.11",
    "@types/node@24",
    "@types/vscode@1.95",
    "@vscode/vsce@4.1.0",
    "esbuild@0.28.2",
    "preact@10.29.8",
    "typescript@5.9",
    "vscode-jsonrpc@10.0.0",
    "vscode-languageclient@11.0.0",
]
WINDOW = 100_000
"""Tokens of the model's window, as the editor is set to."""


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the extension, with what it is built with; the client and the panel that it bundles beside it."""
    clients = tmp_path_factory.mktemp("clients")
    ignore = shutil.ignore_patterns("node_modules", "dist")
    for name in ("panel", "typescript", "vscode"):
        shutil.copytree(REPOSITORY / "clients" / name, clients / name, ignore=ignore)
    (clients / "vscode" / "node_modules").symlink_to(installed(*PACKAGES))
    return clients / "vscode"


def npm_run(package: Path, script: str) -> str:
    """What a script of package.json prints."""
    environment = {**os.environ, "PATH": f"{reference().node.parent}{os.pathsep}{os.environ['PATH']}"}
    command = [str(shutil.which("npm")), "run", "--silent", script]
    done = subprocess.run(command, cwd=package, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def vsix(package: Path) -> Path:
    npm_run(package, "package")
    return package / "dist" / "pi-daemon.vsix"


@pytest.fixture(scope="session")
def model(package: Path) -> Path:
    """An extension that brings a language model."""
    source = shutil.copytree(REPOSITORY / "tests" / "vscode" / "model", package / "dist" / "model")
    vsce = [str(reference().node), str(package / "node_modules" / "@vscode" / "vsce" / "vsce"), "package"]
    options = ["--no-dependencies", "--skip-license", "--allow-missing-repository", "--out", "model.vsix"]
    done = subprocess.run([*vsce, *options], cwd=source, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr
    return source / "model.vsix"


@pytest.fixture(scope="session")
def home() -> Iterator[Home]:
    with Home() as made:
        yield made


@pytest.fixture(scope="session")
def other(home: Home) -> Iterator[Client]:
    with Client.connect_stdio(home.argv("connect"), env=home.environment, name="other", timeout=30) as client:
        yield client


@pytest.fixture(scope="session")
def folder(home: Home) -> Path:
    made = home.directory / "work"
    made.mkdir()
    return made


@pytest.fixture(scope="session")
def editor(home: Home, vsix: Path, model: Path, folder: Path) -> Iterator[Window]:
    settings = {
        "pi-daemon.command": home.argv("connect"),
        "pi-daemon.contextWindow": WINDOW,
        "workbench.startupEditor": "none",
        "pi-daemon.summarizer": True,
    }
    environment = {**os.environ, **home.environment}
    with window(code_server(), [vsix, model], folder, environment, settings) as made:
        made.click('.activitybar .action-label[aria-label^="pi sessions"]')
        yield made


class Shown:
    """A session that the editor shows, and the other client's way to change it."""

    _numbers = itertools.count(1)

    def __init__(self, client: Client, editor: Window, folder: Path) -> None:
        self.client, self.editor = client, editor
        number = next(self._numbers)
        self.name, self.question = f"Session {number}", f"What is in a{number}.py?"
        self._clock = itertools.count(1767225600000, 1000)
        self.id: str = client.create_session(str(folder), name=self.name, persist="immediate")["sessionId"]
        self.user(self.question)
        self.answer = self.model("It prints one.")
        self.user("Make it two.")
        self.two = self.model("Now it prints two.")
        client.move_leaf(self.id, self.answer)
        self.user("Make it three.")
        self.three = self.model("Now it prints three.")

    def user(self, text: str) -> str:
        """The id of what the user says."""
        return self._append({"role": "user", "content": text})

    def model(self, text: str, tokens: int = 900) -> str:
        usage = {"input": tokens, "output": 20, "cacheRead": 0, "cacheWrite": 0, "totalTokens": tokens + 20}
        message = {"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": "stop"}
        return self._append({**message, "provider": "anthropic", "model": "m1", "usage": usage})

    def _append(self, message: dict[str, Any]) -> str:
        draft = {"type": "message", "message": {**message, "timestamp": next(self._clock)}}
        return self.client.append(self.id, [draft])["entries"][0]["id"]

    def row(self, words: str) -> str:
        """A selector of the row of the tree that says so."""
        return f'[role="treeitem"][aria-label*="{words}"]'

    def see(self, words: str) -> None:
        self.editor.see(self.row(words))

    def menu(self, words: str, title: str) -> None:
        """A command of a row's own menu."""
        self.editor.click(self.row(words), button="right")
        # By the key: a menu takes no clicks in its first moments, lest a slip of the mouse chooses something.
        self.editor.step("hover", selector=f'.monaco-menu [role="menuitem"]:has-text("{title}")')
        self.editor.press("Enter")

    @property
    def leaf(self) -> str | None:
        return self.client.path(self.id)["leafId"]


@pytest.fixture
def shown(other: Client, editor: Window, folder: Path) -> Shown:
    """Two questions, the second of which was asked in two ways; the leaf is on the later one."""
    session = Shown(other, editor, folder)
    editor.click(f'[role="treeitem"][aria-label^="{session.name},"]')
    session.see(session.question)  # the tree of the session before says the same otherwise
    session.see("Now it prints three., the leaf")
    return session
