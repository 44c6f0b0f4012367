"""Each command against a real daemon."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from commands import ESCAPE, Commands, conversation, message, write_session
from typer.testing import CliRunner

from pi_daemon.cli import reach
from pi_daemon.cli.typed import app
from pi_daemon.daemon import paths
from pi_daemon.transports.lock import Holder, Lock
from pi_daemon.transports.unix import lock_path

pytestmark = pytest.mark.slow

BAD = [letter for letter in ESCAPE if not letter.isprintable()]


def harmless(printed: str) -> str:
    assert not [letter for letter in BAD if letter in printed]
    return printed


def test_list(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", conversation())
    write_session(commands.sessions, "bbbb-1", [message("u", None, "user", "x" * 300)])
    printed = harmless(commands.run("list"))
    assert "hello" in printed and "/project" in printed and "aaaa-1" in printed
    assert "x" * 50 in printed and "x" * 100 not in printed
    assert "1 of 2 sessions" in commands.run("list", "--limit", "1")
    listed = commands.json("list")
    assert {session["sessionId"] for session in listed["sessions"]} == {"aaaa-1", "bbbb-1"}
    assert (listed["total"], listed["sessionsDir"]) == (2, str(commands.sessions))
    assert commands.json("list", "--cwd", "/elsewhere")["sessions"] == []
    assert "There is no session" in commands.run("list", "--cwd", "/elsewhere")


def test_tree(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", conversation())
    printed = harmless(commands.run("tree", "aaaa-1"))
    rows = [row.split("  ")[0].rstrip() for row in printed.splitlines()[1:-1]]
    assert rows == ["● u1", "● a1", "├─○ u2", "│ ○ a2", "● u3", "◆ a3"]
    assert "[start] hello" in printed and "<leaf>" in printed
    tree = commands.json("tree", "aaaa-1", "--filter", "all")
    assert [node["id"] for node in tree["nodes"]][:2] == ["u1", "a1"]
    assert (tree["sessionId"], tree["leafId"]) == ("aaaa-1", "a3")
    assert "l1" in commands.run("tree", "aaaa-1", "--filter", "all")
    assert "assistant" not in commands.run("tree", "aaaa-1", "--filter", "user-only")


def test_context(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", conversation())
    printed = harmless(commands.run("context", "aaaa-1"))
    assert "hello\n    \u241b]0;owned" in printed
    assert "4 messages" in printed and "model p/m" in printed and "from a3" in printed
    assert "more lines (--full shows them)" in printed
    assert "more lines" not in commands.run("context", "aaaa-1", "--full")
    other = harmless(commands.run("context", "aaaa-1", "--leaf", "a2"))
    assert "left \ufffd" in other and "(thinking, 2 characters)" in other
    assert 'calls read {"path":"a.py"}  (id call-1)' in other
    assert "problem: a call without a result: call-1" in other
    mended = commands.json("context", "aaaa-1", "--leaf", "a2", "--pairing", "repair")
    assert mended["messages"][-1]["toolCallId"] == "call-1"


def test_json_loses_nothing(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", conversation())
    found = commands.json("context", "aaaa-1", "--leaf", "u2")
    assert found["messages"][-1]["content"] == "left \ud83d"
    assert found["messages"][-1]["big"] == 10**30
    assert found["messages"][0]["content"] == "hello\n" + ESCAPE


def test_sessions_and_entries_by_the_beginning_of_their_id(commands: Commands) -> None:
    path = write_session(commands.sessions, "aaaa-1", conversation())
    write_session(commands.sessions, "aaaa-2", [message("u", None, "user", "older")])
    for name in ("aaaa-1", str(path), "last"):
        assert commands.json("tree", name)["sessionId"] == "aaaa-1"
    assert commands.json("tree", "aaaa-1")["sessionId"] == "aaaa-1"
    ambiguous = commands.json("tree", "aaa", code=3)
    assert ambiguous["error"]["reason"] == "ambiguousSession" and len(ambiguous["error"]["data"]["paths"]) == 2
    assert "Say which" in commands.errors
    assert commands.json("tree", "nobody", code=3)["error"]["reason"] == "sessionNotFound"
    assert commands.json("tree", "./no.jsonl", code=3)["error"]["reason"] == "sessionNotFound"
    assert commands.json("tree", "/etc/passwd", code=1)["error"]["reason"] == "outsideRoot"
    assert commands.json("context", "aaaa-1", "--leaf", "nothing", code=3)["error"]["reason"] == "entryNotFound"
    assert commands.json("context", "aaaa-1", "--leaf", "u", code=3)["error"]["reason"] == "ambiguousEntry"
    assert commands.json("context", "aaaa-1", "--leaf", "leaf")["leafId"] == "a3"


def test_last_in_an_empty_directory(commands: Commands) -> None:
    assert commands.json("tree", "last", code=3)["error"]["reason"] == "sessionNotFound"
    assert "There is no session" in commands.run("list")


def test_label_and_rename(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", conversation())
    assert commands.json("label", "aaaa-1", "a2", "left end")["targetId"] == "a2"
    assert "[left end]" in commands.run("tree", "aaaa-1")
    commands.run("label", "aaaa-1", "a2", "--clear")
    assert "[left end]" not in commands.run("tree", "aaaa-1")
    assert commands.json("rename", "aaaa-1", "a name")["name"] == "a name"
    assert commands.run("tree", "aaaa-1").startswith("a name")
    assert "no name any more" in commands.run("rename", "aaaa-1", "")
    commands.run("label", "aaaa-1", "a2", code=2)
    commands.run("label", "aaaa-1", "a2", "x", "--clear", code=2)


def test_fork(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", conversation())
    made = commands.json("fork", "aaaa-1", "a2", "--id", "forked", "--cwd", "/new")
    assert (made["sessionId"], made["cwd"], made["leafId"]) == ("forked", "/new", made["leafId"])
    assert "left" in commands.run("tree", "forked")
    assert commands.run("fork", "aaaa-1", "u2", "--before").rstrip().endswith("left \ufffd")
    assert commands.json("fork", "aaaa-1", "--tree")["entryCount"] == 7
    assert (
        commands.json("fork", "aaaa-1", "--id", "forked", "--cwd", "/new", code=1)["error"]["reason"] == "sessionExists"
    )


def test_check_and_repair(commands: Commands) -> None:
    path = write_session(commands.sessions, "aaaa-1", conversation())
    assert "no damage" in commands.run("check", "aaaa-1")
    before = path.read_bytes()
    path.write_bytes(before.replace(b'{"type": "message", "id": "a1"', b'{"type": \x00', 1))
    damaged = path.read_bytes()
    assert "only with --recover" in commands.run("check", str(path), code=4)
    assert commands.json("check", str(path), code=4)["opens"] is False
    refused = commands.json("tree", str(path), code=4)
    assert refused["error"]["reason"] == "sessionCorrupted" and "repair" in commands.errors
    assert "--recover" in commands.errors
    assert commands.json("tree", str(path), "--recover")["leafId"] == "a3"
    assert path.read_bytes() == damaged
    assert "the original is" in commands.run("repair", str(path))
    assert commands.json("tree", str(path))["leafId"] == "a3"
    assert "needs no repair" in commands.run("repair", "aaaa-1")


def test_status(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", conversation())
    found = commands.json("status")
    assert found["running"] and found["sessionsDir"] == str(commands.sessions)
    printed = commands.run("status")
    assert f"process {found['pid']}" in printed and "unix" in printed


def test_no_daemon_there(tmp_path: Path) -> None:
    nobody = Commands(tmp_path / "none", tmp_path)
    assert nobody.json("status", code=5)["running"] is False
    assert "serve" in nobody.run("status", code=5)
    assert nobody.json("stop", code=5)["stopped"] is False
    assert nobody.json("list", code=5)["error"]["reason"] == "unreachable"
    assert "pi-daemon serve" in nobody.errors


def test_one_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "ANSWER_SECONDS", 0.01)
    path = tmp_path / "daemon.sock"
    lock = Lock(lock_path(path))
    lock.tell(Holder(4711, "1.0"))
    lock.release()
    mute = Commands(path, tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        assert mute.json("status", code=5)["running"] is False
        assert "does not answer. End it with `kill 4711`." in mute.run("status", code=5)
        for command in ("stop", "list"):
            assert mute.json(command, code=5)["error"]["reason"] == "notResponding"
            assert "`kill 4711`" in mute.errors
        monkeypatch.setattr(paths, "socket_path", lambda: path)
        for variable in ("PI_CODING_AGENT_DIR", "PI_DAEMON_STATE_DIR"):
            monkeypatch.setenv(variable, str(tmp_path))
        alone = CliRunner().invoke(app, ["list", "--json"], catch_exceptions=False)
        assert json.loads(alone.stdout)["sessions"] == []
        assert "`kill 4711`. This command does without it." in alone.stderr


def test_a_daemon_that_serves_another_directory(commands: Commands, tmp_path: Path) -> None:
    refused = commands.json("list", "--sessions-dir", str(tmp_path), code=2)
    assert refused["error"]["reason"] == "otherDirectory"
    assert commands.json("list", "--sessions-dir", str(commands.sessions))["sessions"] == []


@pytest.mark.parametrize(
    "arguments",
    [["nothing"], ["tree"], ["tree", "x", "--filter", "odd"], ["list", "--limit", "-1"], ["serve", "--tcp", "x"]],
)
def test_usage(arguments: list[str]) -> None:
    assert CliRunner().invoke(app, arguments).exit_code == 2


def test_help_names_the_exit_codes() -> None:
    printed = CliRunner().invoke(app, ["--help"]).output
    assert "Exit codes" in printed and "ambiguous" in printed


def test_search(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", conversation())
    printed = harmless(commands.run("search", "HELLO"))
    assert "aaaa-1 u1" in printed and "user" in printed and "hello" in printed
    assert "○" not in printed
    assert "on a branch that was left" in commands.run("search", '"I read"')
    assert "Nothing was found." in commands.run("search", "hello", "--role", "assistant", code=3)
    assert "Nothing was found." in commands.run("search", 'AND "', code=3)
    assert "pi writes no 'usr'; --role takes user," in commands.run("search", "hello", "--role", "usr", code=3)
    found = commands.json("search", "hello", "--label", "start", "--before", "2027-01-01")
    assert ([hit["entryId"] for hit in found["hits"]], found["complete"], found["more"]) == (["u1"], True, False)
    assert "The first 1 hit" in commands.run("search", "e", "--limit", "1")
    assert commands.json("search", "nowhere", code=3)["hits"] == []
    commands.run("search", "x", "--after", "yesterday", code=2)
    commands.run("search", "", code=2)
    assert commands.json("search", " ", code=2)["error"]["reason"] == "invalidParams"


def test_a_limit_of_nought_is_none(commands: Commands) -> None:
    said = [message(f"u{number}", f"u{number - 1}" if number else None, "user", "hello") for number in range(120)]
    write_session(commands.sessions, "aaaa-1", said)
    commands.run("list")  # looks at the directory, before the watcher tells of the file
    assert len(commands.json("search", "hello")["hits"]) == 20
    assert "The first 1 hit; --limit 0 shows all." in commands.run("search", "hello", "--limit", "1")
    found = commands.json("search", "hello", "--limit", "0")
    assert (len(found["hits"]), found["more"]) == (120, False)


def test_totals(commands: Commands) -> None:
    usage = {"input": 10, "output": 2, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0.5}}
    reply = message("a", None, "assistant", [], responseId="r", usage=usage)
    write_session(commands.sessions, "aaaa-1", [reply])
    write_session(commands.sessions, "bbbb-1", [reply])
    assert "1 answer, without 1 copy in forks: 10 tokens in, 2 out" in commands.run("list", "--totals")
    assert commands.json("list", "--totals")["totals"]["tokens"]["cost"] == 0.5
