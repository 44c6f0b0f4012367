"""Two real daemons on one sessions directory, one of them stopped in the middle of its work: never do both write."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from pi_daemon_client import AsyncClient, ConnectionLost, ServerError

from tests.daemon.home import PATIENCE, Home, eventually, kill
from tests.faults.support import LONG

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600 if LONG else 60)]

ROUNDS = 60 if LONG else 6


@pytest.fixture
def home() -> Iterator[Home]:
    with Home() as made:
        yield made


class Process:
    """A daemon with a state directory of its own, one client of it, and what that client was answered."""

    def __init__(self, home: Home, name: str) -> None:
        self.name = name
        socket = home.runtime / f"{name}.sock"
        serve = ("serve", "--detach", "--durability", "written", "--socket", str(socket))
        self.pid: int = home.json(*serve, "--state-dir", str(home.directory / name))["pid"]
        self.socket = socket
        self.session = ""
        self.acknowledged: list[str] = []
        self.unknown: list[str] = []
        self.refused: list[str] = []
        self._asked = 0

    @contextlib.asynccontextmanager
    async def client(self) -> AsyncIterator[Process]:
        async with await AsyncClient.connect_unix(self.socket, name=f"{self.name}'s editor", reconnect=None) as client:
            self.editor = client
            yield self

    async def append(self) -> None:
        """Raises ServerError, ConnectionLost; either way it is kept what became of the entry."""
        self._asked += 1
        entry_id = f"{self.name}{self._asked}"
        entry = {"type": "message", "id": entry_id, "message": {"role": "user", "content": "x" * 300, "timestamp": 1}}
        try:
            async with asyncio.timeout(PATIENCE):
                await self.editor.append(self.session, [entry])
            self.acknowledged.append(entry_id)
        except ServerError as error:
            assert error.reason == "writerBusy", error
            self.refused.append(entry_id)
            raise
        except ConnectionLost:
            self.unknown.append(entry_id)
            raise

    async def append_until(self, stop: asyncio.Event) -> None:
        """As fast as it is answered."""
        with contextlib.suppress(ServerError, ConnectionLost):
            while not stop.is_set():
                await self.append()

    async def has(self, count: int) -> None:
        await eventually(lambda: len(self.acknowledged) >= count)

    async def request_writer(self) -> None:
        async with asyncio.timeout(PATIENCE):
            assert await self.editor.request_writer(self.session) == {"status": "held"}

    async def stop(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)
        await eventually(lambda: state(self.pid) == "T")

    def go_on(self) -> None:
        os.kill(self.pid, signal.SIGCONT)


def waiting(socket: Path) -> bool:
    """Whether a connection is made that the daemon hasn't taken yet (state 2 of the kernel's list)."""
    lines = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
    return any(line[5] == "02" and line[-1] == str(socket) for line in lines)


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@contextlib.asynccontextmanager
async def two(home: Home) -> AsyncIterator[tuple[Process, Process, Path]]:
    """Both have the session open, and the first one writes to it."""
    async with Process(home, "a").client() as one, Process(home, "b").client() as other:
        made = await one.editor.create_session("/project", persist="immediate")
        one.session = other.session = made["sessionId"]
        await other.editor.open_session(made["sessionId"])
        yield one, other, next(home.sessions.rglob("*.jsonl"))


def check(path: Path, *processes: Process) -> None:
    """Every line is whole, what was acknowledged is there once, what was refused isn't there, and each was written by
    somebody who knew all before it: they hang in the order of the file."""
    data = path.read_bytes()
    assert data.endswith(b"\n")
    entries: list[dict[str, Any]] = [json.loads(line) for line in data.splitlines()[1:]]
    ids = [entry["id"] for entry in entries]
    assert len(set(ids)) == len(ids)
    acknowledged = [entry_id for each in processes for entry_id in each.acknowledged]
    unknown = [entry_id for each in processes for entry_id in each.unknown]
    assert set(acknowledged) <= set(ids) <= {*acknowledged, *unknown}
    assert [entry["parentId"] for entry in entries] == [None, *ids[:-1]]


async def test_a_stopped_writer_is_named_and_a_killed_one_is_no_more(home: Home) -> None:
    async with two(home) as (one, other, path):
        writing = asyncio.create_task(one.append_until(asyncio.Event()))
        await one.has(20)
        await one.stop()
        for _ in range(5):
            with pytest.raises(ServerError) as refused:
                await other.append()
            owner = refused.value.data["owner"]
            assert (owner["pid"], owner["client"]) == (one.pid, "a's editor")
        before = path.read_bytes()
        assert b'"id":"b' not in before
        kill(one.pid)
        await other.append()
        await writing
        assert path.read_bytes().startswith(before)
        assert len(one.acknowledged) >= 20
        assert len(other.refused) == 5
        assert one.unknown
        check(path, one, other)
        tree = await other.editor.request("session/entries", {"sessionId": other.session})
        assert [entry["id"] for entry in tree["entries"]] == [
            json.loads(line)["id"] for line in path.read_bytes().splitlines()[1:]
        ]


async def test_a_writer_that_is_killed_while_it_is_asked_is_no_more(home: Home) -> None:
    async with two(home) as (one, other, path):
        await one.append()
        await one.stop()
        asking = asyncio.create_task(other.request_writer())
        await eventually(lambda: waiting(one.socket))
        kill(one.pid)
        await asking
        await other.append()
        check(path, one, other)


@pytest.mark.skipif(not LONG, reason="waits as long as a daemon may take to hand over")
async def test_a_stopped_writer_hands_nothing_over(home: Home) -> None:
    async with two(home) as (one, other, path):
        await one.append()
        await one.stop()
        with pytest.raises(ServerError) as refused:
            await other.request_writer()
        assert refused.value.reason == "writerBusy"
        owner = refused.value.data["owner"]
        assert (owner["pid"], owner["client"]) == (one.pid, "a's editor")
        one.go_on()
        await one.append()
        await other.request_writer()
        await other.append()
        check(path, one, other)


async def test_a_writer_whose_client_never_pauses_hands_over(home: Home) -> None:
    async with two(home) as pair:
        *processes, path = pair
        holder, asker = processes
        for _ in range(ROUNDS):
            writing = asyncio.create_task(holder.append_until(asyncio.Event()))
            await holder.has(len(holder.acknowledged) + 5)
            await asker.request_writer()
            await asker.append()
            await writing
            check(path, holder, asker)
            holder, asker = asker, holder


@pytest.mark.parametrize("stopped", ["who has it", "who asks"])
async def test_stopped_around_a_hand_over(home: Home, stopped: str) -> None:
    chance = random.Random(stopped)
    async with two(home) as pair:
        *processes, path = pair
        holder, asker = processes
        handed_over = 0
        for _ in range(ROUNDS):
            end = asyncio.Event()
            writing = asyncio.create_task(holder.append_until(end))
            await holder.has(len(holder.acknowledged) + 1 + chance.randrange(10))
            if stopped == "who has it" and chance.random() < 0.5:
                await holder.stop()
                with pytest.raises(ServerError):
                    await asker.append()
            asking = asyncio.create_task(asker.request_writer())
            for _ in range(chance.randrange(20)):
                await asyncio.sleep(0)
            victim = holder if stopped == "who has it" else asker
            await victim.stop()
            if stopped == "who has it":
                with contextlib.suppress(ServerError):
                    await asker.append()
            victim.go_on()
            end.set()
            await writing
            # The one that has handed it over takes it again if its client is faster than the one that asked.
            with contextlib.suppress(ServerError):
                await asking
            await asker.request_writer()
            await asker.append()
            with pytest.raises(ServerError) as refused:
                await holder.append()
            assert refused.value.data["owner"]["pid"] == asker.pid
            handed_over += 1
            holder, asker = asker, holder
            check(path, holder, asker)
        assert handed_over == ROUNDS
