"""A user's daemon with some sessions, and a browser that shows them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pi_daemon_client import Client

from tests.daemon.home import Home
from tests.panel import sessions
from tests.panel.browser import Browser


class Shown:
    """`client` is another client of the daemon that serves the panel: what it does is somebody else's."""

    def __init__(self, home: Home, browser: Browser) -> None:
        self.home = home
        self.browser = browser
        self.command = subprocess.Popen(
            home.argv("panel", "--no-open"), env=home.environment, cwd=home.directory, stdout=subprocess.PIPE
        )
        assert self.command.stdout is not None
        assert self.command.stdout.readline().startswith(b"http://127.0.0.1:")
        self.client = Client.connect_unix(home.socket, name="another editor")

    def close(self) -> None:
        self.client.close()
        self.command.terminate()
        self.command.communicate(timeout=20)

    def open(self, writer: sessions.Writer | str, **how: Any) -> str:
        """A page with the session, which is written first. Its id."""
        if isinstance(writer, sessions.Writer):
            writer.write(self.home.sessions)
            session_id = writer.id
        else:
            session_id = writer
        self.browser("open", url=self.client.panel(session_id)["url"], **how)
        self.browser("wait", selector=".row.leaf")
        self.browser("until", code="document.querySelector('.row.lit, .row.cover') !== null")
        return session_id

    def focus(self) -> None:
        """The tree has the keyboard."""
        self.browser("press", key="2")
        self.browser("until", code="document.activeElement.closest('.tree') !== null")

    def rows(self) -> list[str]:
        """The text of each row in the document, from the top."""
        code = (
            "[...document.querySelectorAll('.row')].map(row => [row.getBoundingClientRect().top, "
            "row.querySelector('.text').innerText]).sort((a, b) => a[0] - b[0]).map(([, text]) => text)"
        )
        found: list[str] = self.browser("evaluate", code=code)
        return found

    def selected(self) -> str:
        found: str = self.browser("text", selector=".row.selected .text")
        return found

    def harmless(self) -> None:
        """Nothing was complained of."""
        assert self.browser("said") == []


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    made = Browser()
    yield made
    made.close()


@pytest.fixture(scope="module")
def shown(browser: Browser) -> Iterator[Shown]:
    with Home() as home:
        made = Shown(home, browser)
        try:
            yield made
        finally:
            made.close()


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots go: `PI_DAEMON_SCREENSHOTS`, or nowhere that lasts."""
    given = os.environ.get("PI_DAEMON_SCREENSHOTS")
    return Path(given) if given else tmp_path_factory.mktemp("pictures")
