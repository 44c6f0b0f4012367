"""When a daemon leaves, and that nothing is lost by it."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from home import Home, ended, eventually, is_daemon
from pi_daemon_client import AsyncClient, ServerError, Unreachable

from pi_daemon.daemon import server as server_module
from pi_daemon.daemon.idle import Idle
from pi_daemon.daemon.server import Config, Daemon
from pi_daemon.rpc.types.lifecycle import Empty

pytestmark = pytest.mark.slow

SOON = "0.003"
"""Minutes."""


def prompt(text: str) -> dict[str, Any]:
    return {"type": "message", "message": {"role": "user", "content": text, "timestamp": 1}}


async def test_it_leaves_after_its_last_client(home: Home) -> None:
    async with home.editor("--idle", SOON) as one:
        await one.initialize()
        pid = home.pid
        async with home.editor() as other:
            await other.initialize()
            assert await one.end() == 0
            assert is_daemon(pid)
            assert await other.end() == 0
        await ended(pid)
    assert not home.socket.exists()
    assert [record["event"] for record in home.records()][-3:] == ["nobody is here: leaving", "leaving", "left"]
    async with home.editor() as editor:
        await editor.initialize()


async def test_one_whose_client_never_comes_leaves_too(home: Home) -> None:
    pid = home.json("serve", "--detach", "--idle", SOON)["pid"]
    await ended(pid)


async def test_what_is_not_written_keeps_it(home: Home) -> None:
    async with home.editor("--idle", SOON) as editor:
        await editor.initialize()
        made = await editor.call("session/create", cwd="/project", persist="never")
        await editor.call("session/append", sessionId=made["sessionId"], entries=[prompt("kept in memory")])
        pid = home.pid
        assert await editor.end() == 0
    assert (await home.logged("sessions that aren't written keep the daemon here"))["sessions"] == 1
    async with home.editor() as editor:
        await editor.initialize()
        entries = (await editor.call("session/entries", sessionId=made["sessionId"]))["entries"]
        assert [entry["message"]["content"] for entry in entries] == ["kept in memory"]
        await editor.call("session/close", sessionId=made["sessionId"])
        assert await editor.end() == 0
    await ended(pid)


async def test_a_disk_without_room_keeps_it(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was typed can't be written: it is tried again, and only then the daemon leaves."""
    full = True

    def link(source: Any, target: Any, **_: Any) -> None:
        if full:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(source, target, follow_symlinks=False)

    real = os.link
    open_ = os.open

    def refuse(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        if full and flags & os.O_CREAT and str(path).endswith(".jsonl"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return open_(path, flags, *rest, **more)

    async with daemon_in(home, idle=0.02) as daemon:
        async with await AsyncClient.connect_unix(home.socket, reconnect=None) as client:
            made = await client.create_session("/project")
            await client.append(made["sessionId"], [prompt("typed")])
            monkeypatch.setattr(os, "link", link)
            monkeypatch.setattr(os, "open", refuse)
        await eventually(lambda: any(session.persistence.has_user for session in daemon.hub.sessions))
        asked = asyncio.Event()
        may_leave = daemon._may_leave

        async def ask() -> bool:
            agreed = await may_leave()
            asked.set()
            return agreed

        daemon.shared.presence = Idle(0.02, daemon.shared.connections.__len__, ask, daemon._leave_idle).look
        daemon.shared.presence()
        async with asyncio.timeout(20):
            await asked.wait()
        assert not daemon._stopping.is_set()
        assert not list(home.sessions.rglob("*.jsonl"))
        full = False
        async with asyncio.timeout(20):
            await daemon._stopping.wait()
        assert b"typed" in next(home.sessions.rglob("*.jsonl")).read_bytes()


@asynccontextmanager
async def daemon_in(home: Home, **config: Any) -> AsyncIterator[Daemon]:
    """A daemon in this process, which the test closes, or the end does."""
    made = Daemon(Config(socket=home.socket, sessions_dir=home.sessions, state_dir=home.state, **config))
    await made.start()
    try:
        yield made
    finally:
        await made.close()


class Gate:
    """A method that waits until it is let go on."""

    def __init__(self, daemon: Daemon) -> None:
        self.entered, self.open = asyncio.Event(), asyncio.Event()

        async def wait(call: Any, params: Any) -> Empty:
            self.entered.set()
            await self.open.wait()
            return Empty()

        daemon.service.handlers = {**daemon.service.handlers, "daemon/status": wait}


async def test_what_runs_is_finished_and_nothing_else_begun(home: Home) -> None:
    async with daemon_in(home) as daemon, connected(home) as one, connected(home) as two:
        gate = Gate(daemon)
        made = await one.create_session("/project")
        await one.append(made["sessionId"], [prompt("typed")])
        running = asyncio.create_task(one.daemon_status())
        await gate.entered.wait()
        closing = asyncio.create_task(daemon.close())
        await eventually(lambda: daemon.service.handlers["daemon/stop"] is daemon.service.handlers["session/list"])
        with pytest.raises(ServerError) as caught:
            await asyncio.wait_for(two.connection_request("session/list"), 20)
        assert (caught.value.reason, caught.value.data["applied"]) == ("shuttingDown", False)
        with pytest.raises(Unreachable):
            await AsyncClient.connect_unix(home.socket, reconnect=None)
        other = Daemon(Config(socket=home.socket, sessions_dir=home.sessions, state_dir=home.state))
        starting = asyncio.create_task(other.start())
        assert not running.done() and not closing.done() and not starting.done()
        assert not list(home.sessions.iterdir())
        gate.open.set()
        assert await running == {}
        await asyncio.wait_for(closing, 20)
        await asyncio.wait_for(starting, 20)
        assert b"typed" in next(home.sessions.iterdir()).read_bytes()
        await other.close()


async def test_in_a_hurry_what_runs_is_interrupted(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    async with daemon_in(home) as daemon, connected(home) as client:
        gate = Gate(daemon)
        running = asyncio.create_task(client.connection_request("daemon/status"))
        await gate.entered.wait()
        daemon.stop(True)
        closing = asyncio.create_task(daemon.close())
        daemon.stop(True)  # SIGTERM once more
        with pytest.raises(ServerError) as caught:
            await asyncio.wait_for(running, 20)
        assert (caught.value.reason, caught.value.data["applied"]) == ("shuttingDown", "unknown")
        await asyncio.wait_for(closing, 20)


async def test_what_never_ends_is_interrupted(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "DRAIN_SECONDS", 0.02)
    async with daemon_in(home) as daemon, connected(home) as client:
        gate = Gate(daemon)
        running = asyncio.create_task(client.connection_request("daemon/status"))
        await gate.entered.wait()
        await asyncio.wait_for(daemon.close(), 20)
        with pytest.raises(ServerError):
            await running


async def test_a_client_that_does_not_read_holds_up_nobody(
    home: Home, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The address is free for the next daemon although a connection of the old one lingers; and that is said."""
    monkeypatch.setattr(server_module, "PATIENCE_SECONDS", 0)
    caplog.set_level("INFO")
    async with daemon_in(home) as daemon:
        reader, writer = await asyncio.open_unix_connection(str(home.socket))
        await eventually(lambda: any(server.channels for server in daemon._listening))
        closing = asyncio.create_task(daemon.close())
        await eventually(lambda: not home.socket.exists())
        async with daemon_in(home), connected(home) as client:
            assert await client.daemon_status()
            assert not closing.done()
            writer.close()
            await closing
        assert await reader.read() == b""
    waiting = [record for record in caplog.records if record.getMessage().startswith("waiting for clients")]
    assert vars(waiting[0])["fields"] == {"clients": 1}


async def test_the_log_names_minutes_as_they_were_given(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    async with daemon_in(home, idle=60 * 0.03) as daemon:
        daemon._leave_idle()
    assert {"idleSeconds": 1.8} in [vars(record).get("fields") for record in caplog.records]


async def test_one_that_cannot_be_found_any_more_leaves(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "LOST_SECONDS", 0.01)
    async with daemon_in(home) as daemon:
        home.socket.unlink()
        home.socket.write_text("of somebody else")
        async with asyncio.timeout(20):
            await daemon._stopping.wait()
    assert home.socket.read_text() == "of somebody else"


class Client(AsyncClient):
    async def connection_request(self, method: str) -> Any:
        """Without coming back."""
        assert self._connection is not None
        return await self._connection.request(method, {})


@asynccontextmanager
async def connected(home: Home) -> AsyncIterator[Client]:
    client = await Client.connect_unix(home.socket, reconnect=None)
    assert isinstance(client, Client)
    try:
        yield client
    finally:
        await client.close()


async def test_idle_begins_anew_with_each_client() -> None:
    clients: list[int] = []
    asked: list[bool] = []
    left = asyncio.Event()
    answers = iter([False, True])

    async def may_leave() -> bool:
        asked.append(bool(clients))
        return next(answers)

    idle = Idle(0.001, lambda: clients, may_leave, left.set)
    clients.append(1)
    idle.look()
    clients.clear()
    idle.look()
    idle.look()
    async with asyncio.timeout(20):
        await left.wait()
    assert asked == [False, False]


async def test_somebody_who_comes_while_it_asks_is_not_left(home: Home) -> None:
    clients: list[int] = []
    asked = asyncio.Event()

    async def may_leave() -> bool:
        clients.append(1)
        idle.look()
        asked.set()
        return True

    idle = Idle(0.001, lambda: clients, may_leave, lambda: pytest.fail("it left"))
    idle.look()
    async with asyncio.timeout(20):
        await asked.wait()
    await asyncio.sleep(0)
    assert idle._timer is None
