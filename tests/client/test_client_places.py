"""Where a client looks for the daemon when it is told nothing: where the daemon listens."""

from __future__ import annotations

import os
import traceback
from pathlib import Path

import pytest
from fake_daemon import FakeDaemon
from pi_daemon_client import AsyncClient, Client, Unreachable
from pi_daemon_client._places import standard_socket

from pi_daemon.daemon.paths import socket_path

VARIABLES = ("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "PI_DAEMON_STATE_DIR")


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


CASES: dict[str, dict[str, str]] = {
    "nothing set": {},
    "runtime directory": {"XDG_RUNTIME_DIR": "{tmp}"},
    "runtime directory that isn't there": {"XDG_RUNTIME_DIR": "{tmp}/none"},
    "runtime directory that is a file": {"XDG_RUNTIME_DIR": "{tmp}/file"},
    "relative runtime directory": {"XDG_RUNTIME_DIR": "."},
    "another user's": {"XDG_RUNTIME_DIR": "/proc/1"} if os.geteuid() else {"XDG_RUNTIME_DIR": ""},
    "state home": {"XDG_STATE_HOME": "{tmp}/state"},
    "relative state home": {"XDG_STATE_HOME": "state"},
    "state directory": {"PI_DAEMON_STATE_DIR": "{tmp}/own", "XDG_STATE_HOME": "{tmp}/state"},
    "state directory in the home": {"PI_DAEMON_STATE_DIR": "~/own"},
    "relative state directory": {"PI_DAEMON_STATE_DIR": "own"},
    "empty": dict.fromkeys(VARIABLES, ""),
    "too long": {"PI_DAEMON_STATE_DIR": "{tmp}/" + "x" * 120},
    "too long in bytes": {"PI_DAEMON_STATE_DIR": "{tmp}/" + "日" * 40},
}


@pytest.mark.parametrize("case", CASES)
def test_client_and_daemon_agree(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    for name, value in CASES[case].items():
        monkeypatch.setenv(name, value.replace("{tmp}", str(tmp_path)))
    assert standard_socket() == str(socket_path())


@pytest.mark.parametrize("length", range(100, 112))
def test_they_agree_on_what_is_too_long(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = "/nowhere/" + "x" * (length - len("/nowhere//run/daemon.sock"))
    monkeypatch.setenv("PI_DAEMON_STATE_DIR", directory)
    assert standard_socket() == str(socket_path())
    assert standard_socket().startswith("/tmp/") is (length > 107)


def test_nobody_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_DAEMON_STATE_DIR", str(tmp_path))
    with pytest.raises(Unreachable) as caught:
        Client.connect_unix()
    assert standard_socket() in caught.value.message
    assert "`pi-daemon serve`" in str(caught.value) and '["pi-daemon", "connect"]' in caught.value.hint
    printed = "".join(traceback.format_exception(caught.value))
    assert printed.count("Traceback") == 1 and "concurrent/futures" not in printed


async def test_nobody_there_asynchronously(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="pi-daemon serve") as caught:
        await AsyncClient.connect_unix(tmp_path / "none")
    assert "".join(traceback.format_exception(caught.value)).count("Traceback") == 1


async def test_the_standard_socket_is_where_it_connects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "pi-daemon").mkdir()
    async with FakeDaemon(standard_socket()), await AsyncClient.connect_unix() as client:
        assert client.connected
