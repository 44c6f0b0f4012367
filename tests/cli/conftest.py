"""A daemon over a directory of sessions, for as long as the tests run."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import Commands
from pi_daemon_client import Client, Unreachable

from pi_daemon.cli.reach import daemon_command


@pytest.fixture(scope="session")
def socket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    directory = tmp_path_factory.mktemp("daemon")
    (directory / "sessions").mkdir()
    path = directory / "run" / "daemon.sock"
    argv, environment = daemon_command(
        *("serve", "--socket", str(path), "--durability", "written"),
        *("--sessions-dir", str(directory / "sessions"), "--state-dir", str(directory / "state")),
    )
    with subprocess.Popen(argv, env=environment, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        while b"listening" not in (said := process.stderr.readline()):
            assert said, "the daemon ended"
        try:
            yield path
        finally:
            process.terminate()
            process.stderr.read()


@pytest.fixture
def commands(socket: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Commands]:
    """The daemon's directory is empty at the beginning of each test."""
    monkeypatch.setenv("COLUMNS", "200")
    sessions = socket.parents[1] / "sessions"
    yield Commands(socket, sessions)
    try:
        with Client.connect_unix(socket, reconnect=None) as client:
            for session in client.daemon_status()["sessions"]:
                client.close_session(session["sessionId"])
    except Unreachable:
        pass
    for file in sessions.iterdir():
        os.unlink(file)
