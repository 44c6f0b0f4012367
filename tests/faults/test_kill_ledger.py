"""kill -9 of the daemon again and again while eight clients append: what was acknowledged is in the files, once.

Half of the writers give ids and send an append again until it is answered, half leave the ids to the daemon and never
repeat. Each has several appends under way, of one to three entries, some of them large enough to be cut by the kill.
The moments are seeded: after so many acknowledgements, and a little; or some time after the start, ready or not.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from pathlib import Path

import pytest
from pi_daemon_client import AsyncClient, ConnectionLost

from tests.daemon.home import PATIENCE
from tests.faults.served import Ledger, Served, prompt
from tests.faults.support import LONG
from tests.storage.pi import Pi

KILLS = 200 if LONG else 12
WRITERS = 8
SESSIONS = 3
UNDER_WAY = 3
"""Appends that each writer has sent and got no answer to."""

SIZES = [0] * 6 + [300] * 5 + [5_000] * 4 + [150_000]


class Writers:
    def __init__(self, chance: random.Random, ledgers: dict[str, Ledger]) -> None:
        self.chance = chance
        self.ledgers = ledgers
        self.answers = 0
        self.lost = 0
        self.over = False
        self._wanted = 0
        self._reached = asyncio.Event()

    async def reach(self, more: int) -> None:
        """Until so many more appends have been acknowledged."""
        self._wanted = self.answers + more
        self._reached.clear()
        async with asyncio.timeout(PATIENCE):
            await self._reached.wait()

    async def write(self, client: AsyncClient, name: str, retry: bool) -> None:
        async with asyncio.TaskGroup() as group:
            for lane in range(UNDER_WAY):
                group.create_task(self._lane(client, f"{name}.{lane}", retry))

    async def _lane(self, client: AsyncClient, name: str, retry: bool) -> None:
        for number in itertools.count():
            if self.over:
                return
            session = self.chance.choice(list(self.ledgers))
            ledger = self.ledgers[session]
            texts = [f"{name}.{number}.{place}" for place in range(self.chance.randint(1, 3))]
            drafts = [prompt(text, self.chance.choice(SIZES)) for text in texts]
            ledger.sent |= set(texts)
            try:
                answer = await client.append(session, drafts, retry=retry)
            except ConnectionLost as error:
                assert error.applied == "unknown"
                self.lost += 1
                continue
            ledger.acknowledge(texts, answer)
            self.answers += 1
            if self.answers >= self._wanted:
                self._reached.set()


def whole_lines(path: Path) -> bytes:
    content = path.read_bytes()
    return content[: content.rfind(b"\n") + 1]


@pytest.mark.slow
@pytest.mark.timeout(1800 if LONG else 120)
async def test_nothing_acknowledged_is_lost_or_doubled(pi: Pi) -> None:
    chance = random.Random(20260131)
    async with Served() as daemon:
        started = time.monotonic()
        await daemon.start()
        clients = [await daemon.connect("writer 0")]
        start_seconds = time.monotonic() - started
        clients += [await daemon.connect(f"writer {number}") for number in range(1, WRITERS)]
        made = [await daemon.session(clients[0]) for _ in range(SESSIONS)]
        ledgers = {session: Ledger(path) for session, path in made}
        for client in clients:
            for session in ledgers:
                await client.open_session(session)
        writers = Writers(chance, ledgers)
        before = {ledger.path: b"" for ledger in ledgers.values()}
        early = 0
        async with asyncio.TaskGroup() as group:
            for number, client in enumerate(clients):
                group.create_task(writers.write(client, f"w{number}", retry=number % 2 == 0))
            for kill in range(KILLS):
                if kill % 5 == 4:
                    early += 1
                    await asyncio.sleep(chance.random() * start_seconds * 1.5)
                else:
                    await writers.reach(chance.randint(1, 60))
                    await asyncio.sleep(chance.random() * 0.004)
                await daemon.kill()
                for path, old in before.items():
                    before[path] = whole_lines(path)
                    assert before[path].startswith(old)
                await daemon.start()
            await writers.reach(WRITERS * UNDER_WAY)
            writers.over = True
        ids = {ledger.path: ledger.check() for ledger in ledgers.values()}
        for client in clients:
            await client.close()
        await daemon.kill()

        # Nobody remembers anything: read by a new daemon, and by pi.
        await daemon.start()
        torn = 0
        async with await daemon.connect("reader") as reader:
            for session, ledger in ledgers.items():
                state = await reader.open_session(session)
                assert state["path"] == str(ledger.path)
                assert {damage["kind"] for damage in state["damage"]} <= {"notJson"}
                torn += len(state["damage"])
                assert state["entryCount"] == len(ids[ledger.path])
                assert [entry["id"] async for entry in reader.iter_entries(session)] == ids[ledger.path]
                checked = await reader.check(str(ledger.path))
                assert (checked["opens"], checked["entryCount"]) == (True, state["entryCount"])
        assert pi("read", paths=[str(path) for path in ids]) == list(ids.values())
        assert daemon.failures() == []
        acknowledged = sum(len(ledger.acknowledged) for ledger in ledgers.values())
        sent = sum(len(ledger.sent) for ledger in ledgers.values())
        print(
            f"\n{KILLS} kills, {early} of them about a start of {start_seconds:.1f} s: {writers.answers} appends"
            f" acknowledged with {acknowledged} entries, {writers.lost} without an answer; {sent} entries sent,"
            f" {sum(map(len, ids.values()))} in the files; {torn} torn lines"
        )
