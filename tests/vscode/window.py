"""VS Code with the extension: code-server, looked at by a Chromium that `drive.mjs` drives."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.npm import installed
from tests.reference import NODE, NODE_VERSION, REPOSITORY, reference

CODE_SERVER = "code-server@4.139.1"
FAILED = REPOSITORY / ".cache" / "vscode-failed.png"
PATIENCE = 90.0
"""Seconds for a step; each waits for something to show, and for nothing else."""


def code_server() -> Path:
    """Its entry point. It compiles parts of itself where it is installed, for the Node that runs it."""
    node = reference().node
    environment = {"npm_config_nodedir": str(node.parents[1]), "PATH": f"{node.parent}{os.pathsep}{os.environ['PATH']}"}
    modules = installed(CODE_SERVER, f"{NODE}@{NODE_VERSION}", scripts=environment)
    return modules / "code-server" / "out" / "node" / "entry.js"


def chromium() -> Path:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert found is not None, "a Chromium is needed: Debian's package chromium has one"
    return Path(found)


class Window:
    """The browser's one page."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def step(self, name: str, /, **given: Any) -> Any:
        answer = self._ask(name, given)
        if "error" in answer:
            FAILED.parent.mkdir(exist_ok=True)
            self._ask("screenshot", {"path": str(FAILED)})
            raise AssertionError(f"{answer['error']}\nwhat showed is in {FAILED}")
        return answer["value"]

    def _ask(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        print(json.dumps({"do": name, **given}), file=self._process.stdin, flush=True)
        ready, _, _ = select.select([self._process.stdout], [], [], PATIENCE)
        assert ready, f"no answer to {name} {given}"
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def see(self, selector: str) -> None:
        self.step("wait", selector=selector)

    def click(self, selector: str, button: str = "left") -> None:
        self.step("click", selector=selector, button=button)

    def press(self, key: str) -> None:
        self.step("press", key=key)

    def type(self, text: str) -> None:
        self.step("type", text=text)

    def texts(self, selector: str) -> list[str]:
        found: list[str] = self.step("texts", selector=selector)
        return found

    def labels(self, selector: str) -> list[str]:
        found: list[str] = self.step("attributes", selector=selector, name="aria-label")
        return found

    def command(self, title: str) -> None:
        """By the palette, as a user does it."""
        self.press("F1")
        self.see(".quick-input-widget input")
        self.type(title)
        self.see(f'.quick-input-list [role="option"][aria-label^="{title}"]')
        self.press("Enter")


@contextlib.contextmanager
def window(
    entry: Path, extensions: list[Path], folder: Path, environment: dict[str, str], settings: dict[str, Any]
) -> Iterator[Window]:
    """The folder in an editor that has the extensions, shown in a browser."""
    node = str(reference().node)
    data = folder.parent / "editor"
    for place in ("User", "Machine"):
        (data / place).mkdir(parents=True)
        (data / place / "settings.json").write_text(json.dumps(settings))
    own = [node, str(entry), "--user-data-dir", str(data), "--extensions-dir", str(data / "extensions")]
    installing = [word for one in extensions for word in ("--install-extension", str(one))]
    done = subprocess.run([*own, *installing], env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    served = [*own, "--auth", "none", "--bind-addr", "127.0.0.1:0", "--disable-telemetry", "--disable-update-check"]
    server = subprocess.Popen(
        [*served, "--disable-workspace-trust", "--disable-getting-started-override", str(folder)],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        address = _address(server)
        playwright = installed("playwright-core@1.65") / "playwright-core"
        drive = [node, str(REPOSITORY / "tests" / "vscode" / "drive.mjs"), str(playwright), str(chromium())]
        browser = subprocess.Popen(drive, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            made = Window(browser)
            made.step("open", url=address)
            yield made
        finally:
            with contextlib.suppress(subprocess.TimeoutExpired):
                browser.communicate(timeout=10)
            browser.kill()
            browser.wait()
    finally:
        # Its own processes, which are the session that it leads, and nobody else's.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, 15)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, 9)
        server.wait()
        if server.stdout is not None:
            server.stdout.close()


def _address(server: subprocess.Popen[str]) -> str:
    assert server.stdout is not None
    said = ""
    for line in server.stdout:
        said += line
        if "HTTP server listening on " in line:
            return line.split("HTTP server listening on ")[1].strip()
    raise AssertionError(said)
