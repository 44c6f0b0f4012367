"""What is typed, and what a person is told when it can't be done: in the words of the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import ESCAPE, Commands, conversation, line, message, write_session
from typer.testing import CliRunner

from pi_daemon.cli.typed import app

pytestmark = pytest.mark.slow


def named(id: str, name: str) -> list[dict[str, object]]:
    return [message("u1", None, "user", id), line("session_info", "s1", "u1", name=name)]


def test_a_session_by_its_name(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", named("aaaa-1", "fix a/b.jsonl"))
    write_session(commands.sessions, "bbbb-1", named("bbbb-1", "aaaa"))
    write_session(commands.sessions, "cccc-1", named("cccc-1", "twice"))
    write_session(commands.sessions, "dddd-1", named("dddd-1", "twice"))
    assert commands.json("tree", "fix a/b.jsonl")["sessionId"] == "aaaa-1"
    assert commands.json("check", "fix a/b.jsonl")["sessionId"] == "aaaa-1"
    # An id, or its beginning, goes before a name.
    assert commands.json("tree", "aaaa")["sessionId"] == "aaaa-1"
    twice = commands.json("tree", "twice", code=3)["error"]
    assert twice["reason"] == "ambiguousSession" and len(twice["data"]["paths"]) == 2
    assert "no session is called so" in commands.json("tree", "./none.jsonl", code=3)["error"]["message"]
    assert "the id or the name nobody" in commands.json("tree", "nobody", code=3)["error"]["message"]


def test_an_ambiguous_name_shows_what_to_type(commands: Commands) -> None:
    ids = ["019e3634-aaaa", "019e3634-aabb", "019effff-0000"]
    for id in ids:
        write_session(commands.sessions, id, [message("u1", None, "user", f"the title\nof {id} " + ESCAPE)])
    commands.run("tree", "019e", code=3)
    said = commands.errors.splitlines()
    assert said[:2] == ["pi-daemon: 3 sessions fit 019e.", "Say which:"]
    typed = [row.split()[0] for row in said[2:]]
    assert sorted(typed) == ["019e3634-aaa", "019e3634-aab", "019effff"]
    assert all(
        "the title of 019e" in row and row.endswith("  (/project)") and row.startswith("    ") for row in said[2:]
    )
    assert [commands.json("tree", name)["sessionId"] for name in sorted(typed)] == ids
    # Several files of one session have their path.
    other = commands.sessions / "2026-01-02T00-00-00-000Z_019effff-0000.jsonl"
    other.write_bytes(next(commands.sessions.glob("*019effff*")).read_bytes())
    commands.run("tree", "019eff", code=3)
    assert sum(row.startswith(f"    {commands.sessions}/2026") for row in commands.errors.splitlines()) == 2


def test_an_id_goes_before_longer_ones(commands: Commands) -> None:
    for id in ("aaaa-1", "aaaa-10"):
        write_session(commands.sessions, id, conversation())
    assert commands.json("check", "aaaa-1")["sessionId"] == "aaaa-1"


def test_refusals_speak_of_options(commands: Commands) -> None:
    path = write_session(commands.sessions, "aaaa-1", conversation())
    # Refused, not a command line that makes no sense.
    before = commands.json("fork", "aaaa-1", "a1", "--before", code=1)["error"]
    assert before["reason"] == "invalidParams" and before["message"].endswith("or leave out --before.")
    write_session(commands.sessions, "bbbb-1", [])
    assert commands.json("fork", "bbbb-1", "--before", code=3)["error"]["reason"] == "entryNotFound"
    assert commands.json("fork", "aaaa-1", "--id", "no id", code=2)["error"]["reason"] == "invalidParams"
    path.write_bytes(path.read_bytes().replace(b'{"type": "message", "id": "a1"', b'{"type": \x00', 1))
    for command, recovers in ((["tree"], True), (["context"], True), (["fork"], True), (["rename"], False)):
        commands.run(*command, str(path), *(["x"] if command == ["rename"] else []), code=4)
        assert "recover:" not in commands.errors and "pi-daemon repair FILE" in commands.errors
        assert ("--recover" in commands.errors) is recovers


def test_a_directory_that_is_not_there(commands: Commands, tmp_path: Path) -> None:
    for command in (["list"], ["tree", "last"], ["check", "last"]):
        refused = CliRunner().invoke(app, [*command, "--sessions-dir", str(tmp_path / "nope"), "--json"])
        error = json.loads(refused.stdout)["error"]
        assert (refused.exit_code, error["reason"]) == (1, "directoryNotFound")
        assert f"{tmp_path}/nope does not exist" in error["message"]
    (tmp_path / "file").write_text("")
    assert "is no directory" in CliRunner().invoke(app, ["list", "--sessions-dir", str(tmp_path / "file")]).stderr


@pytest.mark.parametrize("variable", ["PI_CODING_AGENT_SESSION_DIR", "PI_CODING_AGENT_DIR"])
def test_a_directory_of_the_environment_that_is_not_there(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PI_DAEMON_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.delenv("PI_CODING_AGENT_SESSION_DIR", raising=False)
    assert CliRunner().invoke(app, ["list"]).exit_code == 0  # nothing was named
    monkeypatch.setenv(variable, str(tmp_path / "nope"))
    for command in (["list"], ["tree", "last"], ["search", "x"]):
        refused = CliRunner().invoke(app, command)
        assert refused.exit_code == 1
        assert refused.stderr.splitlines()[-2:] == [
            f"pi-daemon: The directory {tmp_path}/nope does not exist.",
            f"{variable} names it.",
        ]
    # A file is where it is.
    path = write_session(tmp_path, "aaaa-1", conversation())
    assert CliRunner().invoke(app, ["tree", str(path)]).exit_code == 0
    (tmp_path / "nope").mkdir()
    assert CliRunner().invoke(app, ["list"]).exit_code == 0


@pytest.mark.parametrize("path", ["--home-me--/x.jsonl", "--home-me--"])
def test_a_path_that_looks_like_an_option(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "--home-me--").mkdir()
    refused = CliRunner().invoke(app, ["check", path])
    assert refused.exit_code == 2 and f"written ./{path}" in refused.output
    assert "written ./" not in CliRunner().invoke(app, ["check", "--odd"]).output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["list", "--limit", "-1"], "'-1' is no count: give a whole number, 0 or more."),
        (["list", "--limit", "many"], "'many' is no count: give a whole number, 0 or more."),
        (["logs", "-n", "1.5"], "'1.5' is no count"),
        (["tree", "x", "--filter", "odd"], "'odd' is none: take default, no-tools, user-only, labeled-only or all."),
        (["context", "x", "--format", "odd"], "'odd' is none: take agent or llm."),
        (["serve", "--idle", "never"], "'never' are no minutes: give a number, 0 or more."),
        (["serve", "--idle", "inf"], "'inf' are no minutes"),
    ],
)
def test_values_that_options_do_not_take(arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    refused = CliRunner().invoke(app, arguments)
    assert refused.exit_code == 2 and said in refused.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tree", "--json"], "Missing argument 'SESSION'"),
        (["stats", "last", "--window", "x", "--json"], "'x' is no count"),
        (["stats", "last", "--json", "--window", "0"], "at least one token"),
        (["tree", "last", "--json", "--odd"], "No such option: --odd"),
        (["nothing", "--json"], "No such command 'nothing'"),
        (["--json"], "No such option: --json"),
    ],
)
def test_usage_errors_for_machines(arguments: list[str], said: str) -> None:
    refused = CliRunner().invoke(app, arguments)
    told = json.loads(refused.stdout)
    assert (refused.exit_code, told["exitCode"], told["error"]["reason"]) == (2, 2, "invalidParams")
    assert said in told["error"]["message"] and "--help" in told["error"]["hint"]
    assert "Usage:" in refused.stderr


def test_usage_errors_for_people_are_no_objects() -> None:
    for arguments in (["tree"], ["tree", "--odd", "--", "--json"]):
        assert CliRunner().invoke(app, arguments).stdout == ""
