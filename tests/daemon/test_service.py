"""systemd starts the daemon for whoever connects; the socket is systemd's, and stays."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from home import PATIENCE, Home, ended, is_daemon
from pi_daemon_client import AsyncClient

from pi_daemon.daemon.systemd import units

pytestmark = pytest.mark.slow

LAUNCH = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ |= {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": sys.argv[2], "LISTEN_FDNAMES": "x"}
os.execv(sys.executable, [sys.executable, *sys.argv[3:]])
"""


@contextmanager
def activated(
    home: Home, listening: socket.socket, count: str = "1", idle: str = "1"
) -> Iterator[subprocess.Popen[bytes]]:
    """As systemd runs it: descriptor 3 is the socket."""
    argv = home.argv("serve", "--idle", idle)[1:]
    with subprocess.Popen(
        [sys.executable, "-c", LAUNCH, str(listening.fileno()), count, *argv],
        env=home.environment,
        pass_fds=[listening.fileno()],
        stderr=subprocess.PIPE,
    ) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.communicate(timeout=PATIENCE)


@contextmanager
def systemd(home: Home) -> Iterator[socket.socket]:
    home.socket.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(home.socket))
        home.socket.chmod(0o600)
        listening.listen()
        yield listening


async def test_started_by_the_first_client_and_again_by_the_next(home: Home) -> None:
    with systemd(home) as listening:
        for _ in range(2):
            # The client comes first: it is in the socket's queue when the daemon starts.
            with socket.socket(socket.AF_UNIX) as early:
                early.connect(str(home.socket))
                with activated(home, listening, idle="0.003") as process:
                    async with await AsyncClient.connect_unix(home.socket, reconnect=None) as client:
                        assert (await client.daemon_status())["pid"] == process.pid == home.pid
                        environment = Path(f"/proc/{process.pid}/environ").read_text()
                        assert "LISTEN_FDS" in environment  # as it was given; children don't inherit it
                    early.close()
                    await ended(process.pid)  # nobody is here
            assert home.socket.is_socket()


async def test_connect_joins_it(home: Home) -> None:
    with systemd(home) as listening, activated(home, listening) as process:
        async with home.editor() as editor:
            await editor.initialize()
            assert home.pid == process.pid
            assert await editor.end() == 0


async def test_an_activated_daemon_is_taken_over_too(home: Home) -> None:
    """The newer one can't have systemd's socket; its client goes to the one that systemd starts then."""
    home.environment["PI_DAEMON_VERSION"] = "1.0"
    with systemd(home) as listening, activated(home, listening) as old:
        async with home.editor() as editor:
            await editor.initialize()
            assert await editor.end() == 0
        home.environment["PI_DAEMON_VERSION"] = "2.0"
        async with home.editor() as editor:
            sent = editor.send("initialize", {"processId": None, "capabilities": {}})
            await ended(old.pid)
            with activated(home, listening) as new:
                answer = await editor.answer(sent)
                assert answer["result"]["serverInfo"]["version"] == "2.0"
                assert home.pid == new.pid
                assert await editor.end() == 0


@pytest.mark.parametrize("count", ["0", "2", "many"])
def test_what_isn_t_one_socket_is_refused(home: Home, count: str) -> None:
    with systemd(home) as listening, activated(home, listening, count) as process:
        assert process.wait(PATIENCE) == 1
        assert process.stderr is not None and b"one listening Unix socket" in process.stderr.read()


def test_a_variable_that_means_another_process_is_ignored(home: Home) -> None:
    told = home.json("serve", "--detach", LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
    assert is_daemon(told["pid"])


def test_the_units(home: Home) -> None:
    printed = home.run("service", "--idle", "5", "--sessions-dir", "some where")
    assert "ListenStream=%t/pi-daemon/daemon.sock" in printed
    assert f'-m pi_daemon.cli serve --idle 5 --sessions-dir "{home.directory}/some where"' in printed
    assert f"Environment=PI_DAEMON_STATE_DIR={home.state}" in printed
    assert not (home.directory / ".config").exists()
    told = home.json("service", "--install", PI_API_KEY="secret")
    written = {path.name: path.read_text() for path in (home.directory / ".config/systemd/user").iterdir()}
    assert written == told["units"] and set(written) == {"pi-daemon.socket", "pi-daemon.service"}
    assert "secret" not in json.dumps(told)
    assert "daemon-reload" in home.run("service", "--install")
    if shutil.which("systemd-analyze"):
        files = [str(home.directory / ".config/systemd/user" / name) for name in written]
        done = subprocess.run(
            ["systemd-analyze", "--user", "verify", *files], env=home.environment, capture_output=True, text=True
        )
        assert done.returncode == 0 or "initialize manager" in done.stderr, done.stderr


@pytest.mark.parametrize("link", [False, True])
def test_a_unit_of_somebody_else_stays(home: Home, link: bool) -> None:
    directory = home.directory / ".config/systemd/user"
    directory.mkdir(parents=True)
    theirs = directory / "theirs" if link else directory / "pi-daemon.service"
    theirs.write_text("[Service]\n")
    if link:
        (directory / "pi-daemon.service").symlink_to(theirs)
    assert "remove it first" in home.json("service", "--install", code=1)["error"]["message"]
    assert theirs.read_text() == "[Service]\n"
    assert not (directory / "pi-daemon.socket").exists()


def test_words_of_a_unit_are_quoted() -> None:
    argv = ["/usr/bin/python", "a b", 'say "hi"', "50%", "$HOME", "back\\slash"]
    service = units(argv, {"A": "x y$z%"}, Path("/run/a%b.sock"))["pi-daemon.service"]
    assert 'ExecStart=/usr/bin/python "a b" "say \\"hi\\"" "50%%" "$$HOME" "back\\\\slash"' in service
    assert 'Environment="A=x y$z%%"' in service
    assert "ListenStream=/run/a%%b.sock" in units(argv, {}, Path("/run/a%b.sock"))["pi-daemon.socket"]
