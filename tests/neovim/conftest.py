"""`home`: a user without a daemon. `other`: another client of the user's daemon, which the first of them starts.
`nvim`: Neovim with the plugin, over the bridge. `talk`: a session with a branch."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from editor import Neovim
from pi_daemon_client import Client

from tests.daemon.home import Home

Message = dict[str, Any]


@pytest.fixture
def home() -> Iterator[Home]:
    with Home() as made:
        yield made


@pytest.fixture
def other(home: Home) -> Iterator[Client]:
    with Client.connect_stdio(home.argv("connect"), env=home.environment, name="other", timeout=30) as client:
        yield client


@pytest.fixture
def nvim(home: Home) -> Iterator[Neovim]:
    editor = Neovim(home.environment, home.directory)
    try:
        editor.lua("require('pi_daemon').setup({ cmd = ... })", home.argv("connect"))
        yield editor
    finally:
        editor.close()


class Talk:
    """A session, and the other client's way to change it."""

    def __init__(self, client: Client, cwd: str) -> None:
        self.client = client
        self._clock = itertools.count(1767225600000, 1000)
        state = client.create_session(cwd, persist="immediate")
        self.id: str = state["sessionId"]

    def user(self, text: str) -> str:
        """The id of what the user says."""
        return self.append({"role": "user", "content": text})

    def model(self, text: str, tokens: int = 900) -> str:
        usage = {"input": tokens, "output": 20, "cacheRead": 0, "cacheWrite": 0, "totalTokens": tokens + 20}
        message = {"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": "stop"}
        return self.append({**message, "provider": "anthropic", "model": "m1", "usage": usage})

    def append(self, message: Message) -> str:
        draft = {"type": "message", "message": {**message, "timestamp": next(self._clock)}}
        return self.client.append(self.id, [draft])["entries"][0]["id"]

    @property
    def leaf(self) -> str | None:
        return self.client.path(self.id)["leafId"]


@pytest.fixture
def talk(home: Home, other: Client) -> Talk:
    """Two questions, the second of which was asked in two ways; the leaf is on the later one."""
    session = Talk(other, str(home.directory))
    session.user("What is in a.py?")
    answer = session.model("It prints one.")
    session.user("Make it two.")
    session.model("Now it prints two.")
    other.move_leaf(session.id, answer)
    session.user("Make it three.")
    session.model("Now it prints three.")
    return session
