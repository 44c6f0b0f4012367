"""The Unix socket's gate: the directory, the socket's mode, the peer's user, and what lies at the path already."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
from pathlib import Path

import pytest
from fake_service import FakeService
from peers import Peer, StreamWire, house

from pi_daemon.rpc.limits import Limits
from pi_daemon.transports import stream
from pi_daemon.transports.server import CannotListen
from pi_daemon.transports.stream import UnixServer


def server(path: Path) -> UnixServer:
    return UnixServer(path, FakeService(Limits()).connect)


async def refused(path: Path) -> str:
    with pytest.raises(CannotListen) as caught:
        await server(path).start()
    return caught.value.message


async def test_only_this_user_can_reach_it(tmp_path: Path) -> None:
    async with house("unix", tmp_path) as house_:
        path = Path(house_.server.address)
        assert stat.S_IMODE(path.parent.lstat().st_mode) == 0o700
        assert stat.S_IMODE(path.lstat().st_mode) == 0o600
    assert not path.exists()


async def test_another_user_is_turned_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with house("unix", tmp_path) as house_:
        reader, writer = await asyncio.open_unix_connection(house_.server.address)
        await Peer(StreamWire(reader, writer)).initialize()
        ours = os.geteuid()
        monkeypatch.setattr(stream.os, "geteuid", lambda: ours + 1)
        other, other_writer = await asyncio.open_unix_connection(house_.server.address)
        assert await StreamWire(other, other_writer).rest() == b""
        monkeypatch.undo()
        for one in (writer, other_writer):
            one.close()
        await house_.service.someone_left.wait()


async def test_a_directory_that_is_not_ours_alone(tmp_path: Path) -> None:
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o755)
    assert "chmod 700" in await refused(open_to_all / "socket")

    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    link = tmp_path / "link"
    link.symlink_to(private)
    assert "not a directory of yours" in await refused(link / "socket")

    (tmp_path / "file").write_text("")
    assert "can't be made" in await refused(tmp_path / "file" / "socket")
    assert list(private.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
async def test_a_directory_of_another_user(tmp_path: Path) -> None:
    squatted = tmp_path / "squatted"
    squatted.mkdir(mode=0o700)
    os.chown(squatted, 12345, 12345)
    assert "not a directory of yours" in await refused(squatted / "socket")


async def test_what_is_no_socket_stays(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    for name, make in (
        ("file", lambda path: path.write_text("kept")),
        ("folder", lambda path: path.mkdir()),
        ("link", lambda path: path.symlink_to(tmp_path / "file")),
        ("dangling", lambda path: path.symlink_to(tmp_path / "nothing")),
    ):
        make(tmp_path / name)
        assert "no socket" in await refused(tmp_path / name)
    assert (tmp_path / "file").read_text() == "kept"
    assert (tmp_path / "dangling").is_symlink()


async def test_a_lock_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / "socket.lock").symlink_to(tmp_path / "elsewhere")
    assert "can't be opened" in await refused(tmp_path / "socket")
    assert not (tmp_path / "elsewhere").exists()


async def test_a_live_daemon_keeps_its_socket(tmp_path: Path) -> None:
    async with house("unix", tmp_path) as house_, house_.client() as peer:
        assert "serves" in await refused(Path(house_.server.address))
        assert (await peer.call("test/echo", value=1))["result"] == {"value": 1}
        async with house_.client() as another:
            assert (await another.call("test/echo", value=2))["result"] == {"value": 2}


async def test_a_live_socket_without_a_lock_is_not_taken(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        other.listen()
        assert "Another program" in await refused(path)
        assert path.is_socket()


async def test_a_dead_daemons_socket_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "run" / "socket"
    path.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    async with house("unix", tmp_path) as house_, house_.client() as peer:
        assert (await peer.call("test/echo", value=1))["result"] == {"value": 1}


async def test_closing_leaves_a_socket_that_is_not_ours(tmp_path: Path) -> None:
    async with house("unix", tmp_path) as house_:
        path = Path(house_.server.address)
        path.unlink()
        path.write_text("of somebody else")
    assert path.read_text() == "of somebody else"


async def test_closed_and_started_again(tmp_path: Path) -> None:
    for _ in range(2):
        async with house("unix", tmp_path) as house_, house_.client() as peer:
            assert (await peer.call("test/echo", value=1))["result"] == {"value": 1}


async def test_a_path_that_is_too_long(tmp_path: Path) -> None:
    path = tmp_path / ("d" * 100) / "socket"
    assert "shorter" in await refused(path)
