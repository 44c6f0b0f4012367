"""The commands as processes: at a terminal, in a pipe that breaks, with a daemon of their own."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
from pathlib import Path
from typing import Any

import pytest
from commands import Commands, conversation, line, message, write_session
from pi_daemon_client import Client

from pi_daemon.cli.reach import daemon_command

pytestmark = pytest.mark.slow

COLOUR = re.compile("\x1b\\[[0-9;]*m")
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def environment(directory: Path, **more: str) -> dict[str, str]:
    """No daemon runs here, and nothing of the user's is read or written."""
    _, base = daemon_command()
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "PI_CODING_AGENT_SESSION_DIR", "XDG_RUNTIME_DIR"):
        base.pop(name, None)
    home = {"HOME": str(directory), "PI_DAEMON_STATE_DIR": str(directory / "state"), "TERM": "xterm-256color"}
    return {**base, **home, **more}


def run(directory: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    argv, _ = daemon_command(*arguments)
    return subprocess.run(
        argv,
        env=environment(directory, **more),
        cwd=directory,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


def at_terminal(directory: Path, *arguments: str, columns: int = 80, argv: list[str] | None = None, **more: str) -> str:
    """What a terminal of that width is sent."""
    argv = argv or daemon_command(*arguments)[0]
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(
        argv, env=environment(directory, **more), cwd=directory, stdin=theirs, stdout=theirs, stderr=theirs
    ):
        os.close(theirs)
        printed = b""
        with contextlib.suppress(OSError):  # EIO: the other side is closed
            while data := os.read(ours, 65536):
                printed += data
    os.close(ours)
    return printed.decode()


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    directory = tmp_path / "sessions"
    directory.mkdir()
    write_session(directory, "aaaa-1", conversation())
    return directory


def test_a_daemon_of_its_own(tmp_path: Path, sessions: Path) -> None:
    listed = run(tmp_path, "list", "--sessions-dir", str(sessions), "--json")
    assert (listed.returncode, listed.stderr) == (0, "")
    found: Any = json.loads(listed.stdout)
    assert [session["sessionId"] for session in found["sessions"]] == ["aaaa-1"]
    # A path alone is enough, wherever it lies.
    drawn = run(tmp_path, "tree", f"sessions/{next(sessions.iterdir()).name}")
    assert drawn.returncode == 0 and "◆ a3" in drawn.stdout
    damaged = run(tmp_path, "check", "sessions/nothing.jsonl", "--json")
    assert damaged.returncode == 3 and json.loads(damaged.stdout)["error"]["reason"] == "sessionNotFound"
    labelled = run(tmp_path, "label", "last", "u3", "there", PI_CODING_AGENT_SESSION_DIR=str(sessions))
    assert labelled.returncode == 0, labelled.stderr
    assert b'"label":"there"' in next(sessions.iterdir()).read_bytes()


def test_a_package_in_the_current_directory_is_not_ours(tmp_path: Path, sessions: Path) -> None:
    (tmp_path / "pi_daemon").mkdir()
    (tmp_path / "pi_daemon" / "__init__.py").write_text("raise SystemExit('a stranger ran')")
    assert run(tmp_path, "list", "--sessions-dir", str(sessions)).returncode == 0


def test_serve_status_and_stop(tmp_path: Path, sessions: Path) -> None:
    argv, _ = daemon_command("serve", "--sessions-dir", str(sessions))
    with subprocess.Popen(argv, env=environment(tmp_path), stderr=subprocess.PIPE, cwd=tmp_path) as daemon:
        assert daemon.stderr is not None
        assert b"listening on unix" in daemon.stderr.readline()
        refused = run(tmp_path, "serve", "--sessions-dir", str(sessions))
        assert refused.returncode == 1
        assert len(refused.stderr.splitlines()) == 1, refused.stderr
        # The one that runs is used, without being named.
        assert json.loads(run(tmp_path, "status", "--json").stdout)["pid"] == daemon.pid
        assert "◆ a3" in run(tmp_path, "tree", "last").stdout
        assert json.loads(run(tmp_path, "stop", "--json").stdout)["pid"] == daemon.pid
        daemon.stderr.read()
    assert daemon.returncode == 0
    assert run(tmp_path, "status").returncode == 5
    assert run(tmp_path, "stop").returncode == 5


def test_serve_says_why_it_cannot(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir(mode=0o755)
    (tmp_path / "state").chmod(0o755)
    refused = run(tmp_path, "serve")
    assert refused.returncode == 1 and "chmod 700" in refused.stderr and "Traceback" not in refused.stderr
    # A command that starts one says the same, and nothing else.
    listed = run(tmp_path, "list")
    assert (listed.returncode, listed.stderr) == (5, refused.stderr)
    error = json.loads(run(tmp_path, "list", "--json").stdout)["error"]
    assert (error["reason"], error["hint"]) == ("unreachable", None)


def test_colours_at_a_terminal_only(tmp_path: Path, commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", conversation())
    command = ("tree", "last", "--socket", str(commands.socket))
    coloured = at_terminal(tmp_path, *command)
    assert COLOUR.search(coloured) and "◆" in coloured
    for plain in (at_terminal(tmp_path, *command, NO_COLOR="1"), at_terminal(tmp_path, *command, TERM="dumb")):
        assert "\x1b" not in plain and "◆ a3" in plain
    assert "\x1b" not in run(tmp_path, *command).stdout


@pytest.mark.parametrize("command", [["list"], ["tree", "last"], ["context", "last"]])
def test_a_session_does_not_reach_the_terminal_as_commands(
    tmp_path: Path, commands: Commands, command: list[str]
) -> None:
    write_session(commands.sessions, "aaaa-1", conversation())
    command = [*command, "--socket", str(commands.socket)]
    printed = at_terminal(tmp_path, *command)
    assert not CONTROL.search(COLOUR.sub("", printed).replace("\r\n", "\n"))
    assert "owned" in printed
    assert not CONTROL.search(at_terminal(tmp_path, *command, "--json").replace("\r\n", "\n"))


def test_lines_are_as_wide_as_the_terminal(tmp_path: Path, commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", [message("u", None, "user", "日本" * 100)])
    command = ("tree", "last", "--socket", str(commands.socket))
    for columns in (40, 120):
        plain = at_terminal(tmp_path, *command, columns=columns, NO_COLOR="1")
        entry = next(row for row in plain.splitlines() if row.startswith("◆ u"))
        assert entry.endswith("…")
        assert columns - 2 <= len(entry) + entry.count("日") + entry.count("本") <= columns
    assert run(tmp_path, *command).stdout.count("日") > 40
    narrow = at_terminal(tmp_path, "list", "--socket", str(commands.socket), columns=50, NO_COLOR="1").splitlines()
    assert narrow[1].startswith("aaaa-1") and narrow[1].count("…") == 1


def test_sixty_columns(tmp_path: Path, commands: Commands) -> None:
    more = [
        line("thinking_level_change", "x1", "a3", thinkingLevel="high"),
        line("kind_of_another_extension", "x2", "x1"),
        message("x3", "x2", "user", "the title " * 10),
    ]
    write_session(commands.sessions, "aaaa-1", [*conversation(), *more])
    write_session(commands.sessions, "bbbb-1", [message("u1", None, "user", "the title " * 10)])

    def shown(*command: str) -> list[str]:
        printed = at_terminal(tmp_path, *command, "--socket", str(commands.socket), columns=60, NO_COLOR="1")
        return [row.rstrip() for row in printed.splitlines()]

    with Client.connect_unix(commands.socket, name="a client with a very long name", reconnect=None) as client:
        client.open_session("bbbb-1")
        tree = shown("tree", "aaaa-1", "--filter", "all")
        assert "● x1       thinking_level… high" in tree and "● x2       kind_of_anothe…" in tree
        assert any(row.startswith("◆ x3       user            <leaf> the title") for row in tree)
        listed = shown("list")
        assert next(row for row in listed if row.startswith("bbbb-1")).split()[1] == "●"
        assert all("the title the title" in row for row in listed if row.startswith("bbbb-1"))
        assert "● open  ○ open, not on disk" in listed
        status = shown("status")
        assert any(row.split() == ["client", "transport", "requests", "queued"] for row in status)
        assert any(row.startswith("a client with a very long name") and row.endswith("0") for row in status)
        assert any(row.split() == ["session", "entries", "subscribers", "on", "disk"] for row in status)
    assert not any("…" in row for row in status if "subscribers" in row)
    # Where there is no terminal nothing is cut.
    whole = run(tmp_path, "tree", "aaaa-1", "--filter", "all", "--socket", str(commands.socket)).stdout
    assert "kind_of_another_extension" in whole


@pytest.mark.parametrize("columns", [40, 60, 80, 99, 100, 160])
def test_numbers_are_whole_at_any_width(tmp_path: Path, commands: Commands, columns: int) -> None:
    usage = {
        "input": 43229412,
        "output": 1020304,
        "cacheRead": 98765432,
        "cacheWrite": 7654321,
        "cost": {"total": 30.33},
    }
    answer = {"provider": "provider", "model": "a-model-with-a-rather-long-name", "usage": usage}
    entries = [
        message("u1", None, "user", "x"),
        message("a1", "u1", "assistant", [], **answer),
        message("a2", "u1", "assistant", [], **answer),
    ]
    write_session(commands.sessions, "aaaa-1", entries)
    command = ("stats", "aaaa-1", "--socket", str(commands.socket))
    unlimited = run(tmp_path, *command).stdout
    whole = set(re.split(r" {2,}|\n", unlimited))
    printed = at_terminal(tmp_path, *command, columns=columns, NO_COLOR="1").replace("\r", "")
    assert "…" not in printed
    for table, wide in zip(printed.split("\n\n")[1:], unlimited.split("\n\n")[1:], strict=True):
        heading, *rows = (row.rstrip() for row in table.splitlines())
        assert all(len(row) <= columns for row in (heading, *rows))
        numbers = [cell for row in rows for cell in re.split(" {2,}", row) if re.fullmatch("[0-9.,]+", cell)]
        assert numbers and set(numbers) <= whole
        all_headings = re.split(" {2,}", wide.splitlines()[0].strip())
        _, gone, names = " ".join("\n".join(rows).split()).partition("Left out: ")
        left_out = names.partition(";")[0].split(", ") if gone else []
        assert [name for name in all_headings if name not in left_out] == re.split(" {2,}", heading.strip())
        assert set(left_out) < set(all_headings) and bool(left_out) == (columns < 130)
        assert heading.endswith("cost")


def test_directories_keep_their_end(tmp_path: Path, commands: Commands) -> None:
    path = write_session(commands.sessions, "aaaa-1", [message("u1", None, "user", "the title " * 10)])
    directory = "/Users/somebody/work/projects/日本/the-project"
    path.write_text(path.read_text().replace("/project", directory, 1))
    command = ("list", "--socket", str(commands.socket))
    row = at_terminal(tmp_path, *command, columns=80, NO_COLOR="1").splitlines()[1].rstrip()
    assert row.split()[-1].startswith("…") and directory.endswith(row.split()[-1].removeprefix("…"))
    assert row.endswith("/the-project") and row.count("…") == 2 and len(row) <= 80
    assert directory in at_terminal(tmp_path, *command, columns=200, NO_COLOR="1")
    assert directory in run(tmp_path, *command).stdout


def test_the_demo_folds_what_is_heard(tmp_path: Path) -> None:
    printed = at_terminal(tmp_path, "demo", columns=60, NO_COLOR="1", TMPDIR=str(tmp_path))
    rows = [row.rstrip() for row in printed.splitlines()]
    start = next(number for number, row in enumerate(rows) if "hears session/appended" in row)
    assert rows[start].endswith("revision 1 from") and "Mend" in " ".join(rows[start : start + 3])
    assert not any("…" in row for row in rows if "hears" in row)


def test_what_takes_long_says_so_at_a_terminal(tmp_path: Path, commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", conversation())
    hurried = "import pi_daemon.cli.output as output; output.PATIENCE = 0; from pi_daemon.cli import main; main()"
    argv, _ = daemon_command()
    argv = [argv[0], "-c", hurried, "tree", "last", "--socket", str(commands.socket)]
    assert "Reading the tree" in at_terminal(tmp_path, argv=argv)


def test_a_terminal_that_knows_ascii_alone(tmp_path: Path, commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", conversation())
    command = ("tree", "last", "--socket", str(commands.socket))
    printed = run(tmp_path, *command, PYTHONIOENCODING="ascii", LC_ALL="C").stdout
    assert "|-o u2" in printed and "# a3" in printed


@pytest.mark.parametrize("more", ["--no-fold", "--json"])
def test_a_reader_that_goes_away_is_no_error(tmp_path: Path, commands: Commands, more: str) -> None:
    ids = [f"e{number}" for number in range(3000)]
    entries = [message(id, parent, "user", "x" * 100) for id, parent in zip(ids, [None, *ids], strict=False)]
    write_session(commands.sessions, "aaaa-1", entries)
    argv, _ = daemon_command("tree", "last", more, "--socket", str(commands.socket))
    with subprocess.Popen(
        argv, env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_an_interrupt_is_quiet(tmp_path: Path) -> None:
    argv, _ = daemon_command("demo")
    process = subprocess.Popen(
        argv, env=environment(tmp_path, TMPDIR=str(tmp_path)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    while "hears" not in process.stdout.readline():
        pass
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert (process.returncode, errors) == (130, "")
    assert not list(tmp_path.glob("pi-daemon-demo-*"))


def test_demo(tmp_path: Path) -> None:
    """All that it writes lies in its own directory, and is removed."""
    shown = run(tmp_path, "demo", TMPDIR=str(tmp_path), PI_DAEMON_STATE_DIR="")
    assert (shown.returncode, shown.stderr) == (0, "")
    for what in (
        "side panel hears session/appended",
        "├─○",
        "first way",
        "killed with -9",
        "resync",
        "no file is damaged",
    ):
        assert what in shown.stdout
    assert list(tmp_path.iterdir()) == []


def test_demo_for_machines(tmp_path: Path) -> None:
    shown = run(tmp_path, "demo", "--json", "--keep", TMPDIR=str(tmp_path))
    assert (shown.returncode, shown.stderr, shown.stdout.count("\n")) == (0, "", 1)
    found: Any = json.loads(shown.stdout)
    assert found["lost"] == [] and len(found["acknowledged"]) == 17
    assert found["replayed"] == ["session/appended", "session/leafChanged"]
    assert found["compaction"]["tokensAfter"] < found["compaction"]["tokensBefore"]
    assert found["daemons"][0] != found["daemons"][1]
    assert len(list(Path(found["directory"], "sessions").rglob("*.jsonl"))) == 2
    assert [one["method"] for one in found["notifications"]].count("resync") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full, which no other system than Linux has")
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_full_disk_is_told_in_a_line(tmp_path: Path, options: list[str]) -> None:
    argv, _ = daemon_command("list", *options)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(argv, stdout=full, stderr=subprocess.PIPE, env=environment(tmp_path), text=True)
    assert done.returncode == 1
    assert done.stderr == "pi-daemon: What is printed can't be written: No space left on device.\n"
