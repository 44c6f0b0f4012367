"""`status`, `stop`, `logs` and `serve --detach`, and the short way into `connect`."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys

import pytest
from home import PATIENCE, Home, ended, eventually, is_daemon

from pi_daemon.cli import fast
from pi_daemon.cli.logs import Tail, last, text
from pi_daemon.daemon.launch import environment
from pi_daemon.transports.lock import Lock
from pi_daemon.transports.unix import start_lock_path

pytestmark = pytest.mark.slow


def test_status_stop_and_logs_name_both_versions(home: Home) -> None:
    for command, code in (("status", 5), ("stop", 5), ("logs", 0)):
        told = home.json(command, code=code, PI_DAEMON_VERSION="2.0")
        assert (told["commandVersion"], told["daemonVersion"]) == ("2.0", None)
    pid = home.json("serve", "--detach", PI_DAEMON_VERSION="1.0")["pid"]
    told = home.json("status", PI_DAEMON_VERSION="2.0")
    assert (told["commandVersion"], told["daemonVersion"], told["version"]) == ("2.0", "1.0", "1.0")
    assert (told["running"], told["pid"], told["protocolVersion"]) == (True, pid, 1)
    told = home.json("logs", PI_DAEMON_VERSION="2.0")
    assert (told["commandVersion"], told["daemonVersion"]) == ("2.0", "1.0")
    assert told["path"] == str(home.log)
    assert {"started", "client came"} <= {record["event"] for record in told["records"]}
    told = home.json("stop", PI_DAEMON_VERSION="2.0")
    assert (told["stopped"], told["pid"], told["commandVersion"], told["daemonVersion"]) == (True, pid, "2.0", "1.0")
    assert not is_daemon(pid)


def test_serve_in_the_background(home: Home) -> None:
    printed = home.run("serve", "--detach", "--idle", "0", A_SECRET="x")
    pid = home.pid
    assert printed == f"Process {pid} listens on unix:{home.socket}.\n"
    with open(f"/proc/{pid}/environ") as file:
        assert "A_SECRET" not in file.read()
    home.run("serve", "--detach", code=1)
    home.run("serve", "--detach", "--stdio", code=2)
    home.run("serve", "--json", code=2)


async def test_the_logs_of_a_daemon_that_does_not_answer(home: Home) -> None:
    pid = home.json("serve", "--detach")["pid"]
    os.kill(pid, signal.SIGSTOP)
    told = home.json("logs")
    assert told["daemonVersion"] == told["commandVersion"] and told["records"]
    os.kill(pid, signal.SIGCONT)


async def test_stop_finds_a_daemon_that_somebody_is_just_starting(home: Home) -> None:
    home.socket.parent.mkdir(mode=0o700)
    starter = Lock(start_lock_path(home.socket))
    assert starter.acquire()
    stopping = await asyncio.create_subprocess_exec(
        *home.argv("stop", "--json"), env=home.environment, stdout=subprocess.PIPE
    )
    pid = (await asyncio.to_thread(home.json, "serve", "--detach"))["pid"]
    told, _ = await asyncio.wait_for(stopping.communicate(), PATIENCE)
    starter.release()
    assert (json.loads(told)["stopped"], json.loads(told)["pid"]) == (True, pid)


def test_logs_are_readable(home: Home) -> None:
    assert "Nothing is in the log" in home.run("logs")
    home.json("serve", "--detach")
    home.run("stop")
    with home.log.open("ab") as file:
        file.write(b"Fatal Python error: \x1b[31m\n")
    printed = home.run("logs").splitlines()
    assert "info    started  version=0.1.0" in printed[1]
    assert printed[-2].endswith("left") and "\x1b" not in printed[-1] and "Fatal Python error" in printed[-1]
    assert len(home.run("logs", "-n", "2").splitlines()) == 2
    assert home.json("logs", "-n", "1")["records"] == [{"event": "Fatal Python error: \x1b[31m"}]
    assert home.json("logs", "-n", "0")["records"] == []


def test_daemons_beside_the_standard_one_have_their_own_log(home: Home) -> None:
    other = home.directory / "other" / "daemon.sock"
    home.json("serve", "--detach", "--socket", str(other))
    assert home.json("logs")["records"] == []
    told = home.json("logs", "--socket", str(other))
    assert told["path"] != str(home.log) and told["daemonVersion"] == "0.1.0"
    assert told["records"][-1]["event"] == "started"


def test_logs_cannot_be_followed_as_one_object(home: Home) -> None:
    assert "one object a line" in home.json("logs", "--follow", code=2)["error"]["message"]


async def test_logs_are_followed(home: Home) -> None:
    process = await asyncio.create_subprocess_exec(
        *home.argv("logs", "--follow"),
        env={**home.environment, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        pid = home.json("serve", "--detach")["pid"]
        await shown(process.stdout, b" started ")
        home.run("stop")
        await shown(process.stdout, b" left")
        await ended(pid)
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(PATIENCE):
            assert await process.wait() == 130
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def shown(stream: asyncio.StreamReader, words: bytes) -> None:
    """Until a line has them."""
    async with asyncio.timeout(PATIENCE):
        while line := await stream.readline():
            if words in line:
                return
    raise AssertionError("it ended")


def test_the_end_of_a_log_over_its_rotation(home: Home) -> None:
    home.state.mkdir()
    older = home.log.with_name("daemon.log.1")
    home.log.write_text("a\nb\n")
    tail = Tail(home.log)
    assert list(tail.more()) == []
    with home.log.open("a") as file:
        file.write("c\nhal")
        file.flush()
        assert list(tail.more()) == [b"c"]
        file.write("f\n")
    home.log.rename(older)
    home.log.write_text("d\n")
    assert list(tail.more()) == [b"half", b"d"]
    assert last(home.log, 3) == [b"c", b"half", b"d"]
    assert last(home.log, 99) == [b"a", b"b", b"c", b"half", b"d"]
    os.unlink(home.log)
    assert list(tail.more()) == []
    home.log.write_text("e\n")
    assert list(tail.more()) == [b"e"]


def test_a_record_as_text() -> None:
    record = {"time": "T", "level": "info", "event": "request", "pid": 1, "ms": 2.5, "clients": 0, "name": "a\x1b"}
    assert text(json.dumps(record).encode()) == "T info    request  ms=2.5  clients=0  name=a\u241b"


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ([], {}),
        (["--socket", "a"], {"--socket": "a"}),
        (["--socket=a=b", "--idle", "0.5"], {"--socket": "a=b", "--idle": "0.5"}),
        (["--sessions-dir", "/x", "--socket", "a"], {"--sessions-dir": "/x", "--socket": "a"}),
        (["--help"], None),
        (["--socket"], None),
        (["--socket", ""], None),
        (["--socket", "--idle"], None),
        (["--socket", "a", "--socket", "b"], None),
        (["--idle", "ten"], None),
        (["--idle", "-1"], None),
        (["--idle", "nan"], None),
        (["--idle", "inf"], None),
        (["extra"], None),
    ],
)
def test_the_short_way_takes_what_is_well_formed(arguments: list[str], given: dict[str, str] | None) -> None:
    assert fast._options(arguments) == given


def test_the_long_way_says_what_is_wrong(home: Home) -> None:
    assert "stdin and stdout" in home.run("connect", "--help")
    home.run("connect", "--idle", "ten", code=2)
    home.run("connect", "extra", code=2)


async def test_the_long_way_connects_too(home: Home) -> None:
    async with home.editor("--idle=0", "--socket", "sub dir/daemon.sock", "--") as editor:
        await editor.initialize()
        assert (home.directory / "sub dir" / "daemon.sock").is_socket()
        assert await editor.end() == 0


def test_connecting_imports_little() -> None:
    heavy = ["asyncio", "typer", "rich", "logging", "subprocess", "platformdirs", "pi_daemon.engine.hub"]
    code = f"import sys, pi_daemon.daemon.bridge.connect; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_clean_environment_stays_as_it_is() -> None:
    given = {
        "HOME": "/h",
        "PI_CODING_AGENT_DIR": "a",
        "PI_CODING_AGENT_SESSION_DIR": "~/s",
        "LC_ALL": "C",
        "EDITOR": "x",
    }
    once = environment(given)
    assert environment(once) == once
    assert once["PI_CODING_AGENT_DIR"] == os.path.abspath("a") and once["PI_CODING_AGENT_SESSION_DIR"] == "~/s"
    assert set(once) - {"PYTHONPATH"} == set(given) - {"EDITOR"}


async def test_a_first_word_that_is_http_is_not_answered(home: Home) -> None:
    async with home.editor() as editor:
        assert editor.process.stdin is not None and editor.process.stdout is not None
        editor.process.stdin.write(b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        async with asyncio.timeout(PATIENCE):
            assert await editor.process.stdout.read() == b""
        assert await eventually(lambda: editor.process.returncode is not None)
