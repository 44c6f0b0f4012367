"""`connect` finds the daemon or starts it, and what it starts has nothing of its starter."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from home import Home, eventually, is_daemon, kill, mode

pytestmark = pytest.mark.slow


async def test_twenty_at_once_make_one_daemon(home: Home) -> None:
    async with contextlib.AsyncExitStack() as stack:
        editors = await asyncio.gather(*(stack.enter_async_context(home.editor(name=str(i))) for i in range(20)))
        greetings = await asyncio.gather(*(editor.initialize() for editor in editors))
        assert len({greeting["daemonId"] for greeting in greetings}) == 1
        assert len({greeting["clientId"] for greeting in greetings}) == 20
        made = await editors[0].call("session/create", cwd="/project")
        states = [editor.call("session/open", sessionId=made["sessionId"]) for editor in editors[1:]]
        assert {state["instanceId"] for state in await asyncio.gather(*states)} == {made["instanceId"]}
        assert [record["event"] for record in home.records()].count("started") == 1
        assert await asyncio.gather(*(editor.end() for editor in editors)) == [0] * 20
    assert is_daemon(home.pid)


def _open_files(process: Path) -> set[str]:
    """What the process has open that has a path. One may be closed while we look."""
    found = set()
    for one in (process / "fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.add(str(one.readlink()))
    return {file for file in found if file.startswith("/")}


async def test_nothing_of_the_starter_is_left(home: Home) -> None:
    held = os.open(home.directory, os.O_RDONLY)
    os.set_inheritable(held, True)
    async with home.editor(SECRET_OF_AN_EDITOR="x", VIRTUAL_ENV="/v", PI_CODING_AGENT_DIR="relative") as editor:
        await editor.initialize()
        process = Path(f"/proc/{home.pid}")
        variables = dict(item.split("=", 1) for item in (process / "environ").read_text().split("\0") if item)
        allowed = {"HOME", "USER", "LOGNAME", "PATH", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "PYTHONPATH"}
        assert {name for name in variables if not name.startswith(("LC_", "PI_", "XDG_"))} <= allowed
        assert variables["PI_CODING_AGENT_DIR"] == str(home.directory / "relative")
        assert (process / "cwd").readlink() == Path("/")
        status = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines() if ":\t" in line)
        assert int(status["PPid"]) not in (os.getpid(), editor.process.pid)
        assert status["Umask"] == "0077"
        assert os.getsid(home.pid) == os.getpgid(home.pid) == home.pid
        expected = {"/dev/null", str(home.log), f"{home.socket}.lock"}
        await eventually(lambda: _open_files(process) == expected)  # it may just be looking at the sessions
    os.close(held)
    assert mode(home.socket.parent) == mode(home.state) == 0o700
    assert mode(home.socket) == mode(home.log) == 0o600


async def test_the_daemon_survives_its_starter(home: Home) -> None:
    async with home.editor() as editor:
        daemon = (await editor.initialize())["daemonId"]
        editor.process.kill()
    async with home.editor() as editor:
        assert (await editor.initialize())["daemonId"] == daemon


async def test_without_a_runtime_directory(home: Home) -> None:
    del home.environment["XDG_RUNTIME_DIR"]
    home.socket = home.state / "run" / "daemon.sock"
    async with home.editor() as editor:
        await editor.initialize()
        assert home.socket.is_socket()
        assert await editor.end() == 0


async def test_a_runtime_directory_that_is_not_there(home: Home) -> None:
    home.environment["XDG_RUNTIME_DIR"] = "/run/user/987654"
    async with home.editor() as editor:
        await editor.initialize()
        assert (home.state / "run" / "daemon.sock").is_socket()


async def test_a_runtime_directory_too_deep_for_a_socket(home: Home) -> None:
    deep = home.runtime / ("d" * 100)
    deep.mkdir()
    home.environment["XDG_RUNTIME_DIR"] = str(deep)
    async with home.editor() as editor:
        await editor.initialize()
        transport = (await editor.call("daemon/status"))["transports"][0]
        home.socket = Path(transport.removeprefix("unix:"))
        try:
            assert len(str(home.socket)) < 108 and home.socket.parent.parent == Path("/tmp")
            assert mode(home.socket.parent) == 0o700
            async with home.editor() as other:
                assert (await other.initialize())["sessionsDir"] == str(home.sessions)
        finally:
            kill(home.pid)
            shutil.rmtree(home.socket.parent)


async def test_what_a_dead_daemon_left_is_no_obstacle(home: Home) -> None:
    """Its socket, its lock with the number of a process that lives, and the lock of one who died while starting."""
    home.socket.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(home.socket))
    for suffix in (".lock", ".start"):
        Path(f"{home.socket}{suffix}").write_text(f'{{"pid":{os.getpid()},"version":"0.0.1"}}')
    async with home.editor() as editor:
        await editor.initialize()
        assert home.pid != os.getpid()
    kill(home.pid)
    assert home.socket.is_socket()
    async with home.editor() as editor:
        await editor.initialize()


async def test_who_starts_a_daemon_is_waited_for(home: Home) -> None:
    home.socket.parent.mkdir(mode=0o700)
    with open(f"{home.socket}.start", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        async with home.editor() as editor:
            greeting = asyncio.create_task(editor.initialize())
            home.run("serve", "--detach")
            assert (await greeting)["daemonId"]
            assert [record["event"] for record in home.records()].count("started") == 1


def squat(home: Home) -> None:
    (home.directory / "elsewhere").mkdir(mode=0o700)
    home.socket.parent.symlink_to(home.directory / "elsewhere")


def put_a_file(home: Home) -> None:
    home.socket.parent.mkdir(mode=0o700)
    home.socket.write_text("kept")


def open_to_all(home: Home) -> None:
    home.state.mkdir()
    home.state.chmod(0o755)


def give_away(home: Home) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a socket away")
    home.socket.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(home.socket))
    os.chown(home.socket, 12345, 12345)


def link_the_lock(home: Home) -> None:
    home.socket.parent.mkdir(mode=0o700)
    Path(f"{home.socket}.start").symlink_to(home.directory / "made by following")


def link_the_log(home: Home) -> None:
    home.state.mkdir(mode=0o700)
    home.log.symlink_to(home.directory / "made by following")


@pytest.mark.parametrize(
    ("prepare", "cause", "words"),
    [
        (squat, "unsafeDirectory", "not a directory of yours"),
        (put_a_file, "unsafeSocket", "no socket"),
        (open_to_all, "unsafeDirectory", "chmod 700"),
        (give_away, "unsafeSocket", "another user"),
        (link_the_lock, "unsafeSocket", "can't be opened"),
        (link_the_log, "startFailed", "can't be written"),
    ],
)
async def test_the_client_is_told_why_there_is_no_daemon(
    home: Home, prepare: Callable[[Home], None], cause: str, words: str
) -> None:
    prepare(home)
    await refused(home, cause, words)
    assert not (home.directory / "made by following").exists()
    if prepare is put_a_file:
        assert home.socket.read_text() == "kept"


async def test_a_path_that_is_too_long(home: Home) -> None:
    await refused(home, "pathTooLong", "at most 107", "--socket", str(home.directory / ("s" * 120)))


async def test_other_sessions_than_those_the_daemon_serves(home: Home) -> None:
    async with home.editor() as editor:
        await editor.initialize()
        await refused(home, "otherDirectory", "leave out --sessions-dir", "--sessions-dir", "/elsewhere")
        async with home.editor("--sessions-dir", str(home.sessions)) as same:
            await same.initialize()
        async with home.editor("--sessions-dir", "/elsewhere", "--socket", "other/daemon.sock") as other:
            assert (await other.initialize())["sessionsDir"] == "/elsewhere"


async def test_other_sessions_than_the_environment_says(home: Home) -> None:
    """As with the option: the daemon has another directory, and a command looks into the one that was meant."""
    variable = "PI_CODING_AGENT_SESSION_DIR"
    elsewhere = home.directory / "elsewhere"
    pi = home.directory / "pi"
    for directory in (elsewhere, pi):
        directory.mkdir()
    (pi / "settings.json").write_text(json.dumps({"sessionDir": str(elsewhere)}))
    async with home.editor() as editor:
        await editor.initialize()
        await editor.call("session/create", cwd="/p", persist="immediate")
        await refused(home, "otherDirectory", f"leave out {variable}", **{variable: str(elsewhere)})
        by_setting = {variable: "", "PI_CODING_AGENT_DIR": str(pi)}
        await refused(home, "otherDirectory", "leave out sessionDir in", **by_setting)
        (pi / "settings.json").unlink()
        await refused(home, "otherDirectory", "leave out PI_CODING_AGENT_DIR", **by_setting)
        async with home.editor(**{variable: ""}) as anybody:  # who has chosen nothing joins whatever runs
            assert (await anybody.initialize())["sessionsDir"] == str(home.sessions)
        assert len(home.json("list")["sessions"]) == 1
        assert home.json("list", **{variable: str(elsewhere)})["sessions"] == []
        assert home.json("status", **{variable: str(elsewhere)})["sessionsDir"] == str(home.sessions)
        found = home.json("list", "--socket", str(home.socket), code=2, **{variable: str(elsewhere)})
        assert found["error"]["reason"] == "otherDirectory"


async def refused(home: Home, cause: str, words: str, *options: str, **environment: str) -> None:
    """The client that waits for the answer to `initialize`, and the person who reads stderr, are told the same."""
    async with home.editor(*options, **environment) as editor:
        error = (await editor.request("initialize", {"processId": None, "capabilities": {}}))["error"]
        assert error["code"] == 1022 and error["data"]["reason"] == "daemonUnavailable"
        assert error["data"]["cause"] == cause, error
        assert words in error["message"]
        assert await editor.left() == 5
        assert editor.process.stderr is not None
        assert words.encode() in await editor.process.stderr.read()
