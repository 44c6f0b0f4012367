"""What is said of a session that is not in a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from commands import Commands
from pi_daemon_client import Client

pytestmark = pytest.mark.slow


@pytest.fixture(params=["firstAssistant", "never"])
def session(commands: Commands, request: pytest.FixtureRequest) -> Iterator[str]:
    with Client.connect_unix(commands.socket, reconnect=None) as client:
        made = client.create_session("/project", persist=request.param)
        draft = {"type": "message", "id": "u1", "message": {"role": "user", "content": "hello", "timestamp": 0}}
        client.append(made["sessionId"], [draft])
        yield made["sessionId"]


def test_changes_say_that_nothing_is_on_disk(commands: Commands, session: str) -> None:
    for command in (["rename", session, "a name"], ["rename", session, ""], ["label", session, "leaf", "here"]):
        commands.run(*command)
        assert f"{session} is not on disk" in commands.errors
        told = commands.json(*command)
        assert (told["persisted"], told["durability"]) == (False, "memory")
        assert commands.errors == ""


def test_a_fork_says_whether_it_is_on_disk(commands: Commands, session: str) -> None:
    printed = commands.run("fork", session)
    told = commands.errors
    made = commands.json("fork", session)
    if made["persisted"]:
        assert str(commands.sessions) in printed and told == ""
    else:
        assert made["path"] is None and "is not on disk" in told


def test_what_is_written_is_not_spoken_of(commands: Commands, session: str) -> None:
    with Client.connect_unix(commands.socket, reconnect=None) as client:
        made = client.create_session("/project", persist="immediate")["sessionId"]
        assert commands.json("rename", made, "a name")["persisted"] is True
        commands.run("rename", made, "another")
        assert commands.errors == ""
