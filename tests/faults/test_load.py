"""Many clients on many sessions, with three among them that behave badly: one never reads, one sends rubbish, one
opens and closes all the time.

What must hold: no acknowledgement is lost, everybody else hears of every revision once and in order, and the one that
doesn't read costs no more than its outbox and is told to catch up once it reads. What is only printed: how long an
append takes with and without the three, when all append at once and when one does alone, and the daemon's memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import random
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from statistics import median
from typing import Any

import pytest
from pi_daemon_client import AsyncClient

from pi_daemon.rpc.framing import frame
from tests.daemon.home import PATIENCE
from tests.faults.served import Ledger, Served, prompt
from tests.faults.support import LONG

CLIENTS, SESSIONS = (200, 50) if LONG else (60, 15)
APPENDS = 60 if LONG else 20
"""That each client sends, one after the other is answered."""

DRAFTS = [1, 1, 1, 2, 40]
"""Of an append. The last one is for the client that doesn't read: its notification has 10 KB."""

ALONE = 200
"""Appends of one client while the others only listen."""

ON_ITS_WAY = 256 * 1024
"""Bytes that the daemon may have taken out of an outbox and not got rid of: a batch for the socket."""


class Listener:
    """What one client hears of its session."""

    def __init__(self, client: AsyncClient, name: str, session: str, ledger: Ledger) -> None:
        self.client = client
        self.name = name
        self.session = session
        self.ledger = ledger
        self.since = 0
        self.heard: dict[str, list[int]] = defaultdict(list)
        self._numbers = itertools.count()
        self._more = asyncio.Event()
        client.on_notification(self._notified)

    async def open(self) -> None:
        self.since = (await self.client.open_session(self.session))["revision"]

    def _notified(self, method: str, params: dict[str, Any]) -> None:
        assert params["sessionId"] == self.session
        self.heard[method].append(params["revision"])
        self._more.set()

    async def append(self, drafts: int) -> float:
        """Seconds until it was answered."""
        number = next(self._numbers)
        texts = [f"{self.name}.{number}.{place}" for place in range(drafts)]
        self.ledger.sent |= set(texts)
        started = time.perf_counter()
        answer = await self.client.append(self.session, [prompt(text, 100) for text in texts])
        took = time.perf_counter() - started
        self.ledger.acknowledge(texts, answer)
        return took

    async def append_many(self, count: int) -> list[float]:
        return [await self.append(DRAFTS[number % len(DRAFTS)]) for number in range(count)]

    async def caught_up(self, revision: int) -> None:
        """Each revision was told once and in order; raises TimeoutError where one never comes."""
        async with asyncio.timeout(PATIENCE):
            while any(self.heard[method][-1:] < [revision] for method in ("session/appended", "session/leafChanged")):
                self._more.clear()
                await self._more.wait()
        every = list(range(self.since + 1, revision + 1))
        assert self.heard == {"session/appended": every, "session/leafChanged": every}


class Raw:
    """A connection without a client library. What it reads is bounded in time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self._ids = itertools.count(1)

    @classmethod
    @contextlib.asynccontextmanager
    async def to(cls, daemon: Served) -> AsyncIterator[Raw]:
        reader, writer = await asyncio.open_unix_connection(daemon.home.socket, limit=1 << 16)
        try:
            yield cls(reader, writer)
        finally:
            writer.transport.abort()

    def send(self, method: str, **params: Any) -> int:
        number = next(self._ids)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.writer.write(frame(json.dumps(message).encode()))
        return number

    def initialize(self, name: str) -> None:
        self.send("initialize", processId=None, capabilities={}, clientInfo={"name": name})

    async def read(self) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            head = await self.reader.readuntil(b"\r\n\r\n")
            message: dict[str, Any] = json.loads(await self.reader.readexactly(int(head.split(b":")[1])))
        return message


class Silent:
    """Subscribes to every session, reads the answers, and then nothing."""

    def __init__(self, raw: Raw) -> None:
        self.raw = raw
        self.heard: dict[str, list[int]] = defaultdict(list)
        self.since: dict[str, tuple[str, int]] = {}

    async def subscribe(self, sessions: list[str]) -> None:
        self.raw.initialize("silent")
        await self.raw.read()
        for session in sessions:
            self.raw.send("session/subscribe", sessionId=session)
            answer = (await self.raw.read())["result"]
            self.since[session] = (answer["instanceId"], answer["revision"])

    async def read_on(self, revisions: dict[str, int]) -> int:
        """Read again, until each session is told to the end, or told to be read anew. How many were."""
        resyncs: dict[str, dict[str, Any]] = {}
        for session, (_, revision) in self.since.items():
            if revision == revisions[session]:
                self.heard[session].append(revision)
        while any(session not in resyncs and self.heard[session][-1:] != [end] for session, end in revisions.items()):
            message = await self.raw.read()
            session = message["params"]["sessionId"]
            assert session not in resyncs
            if message["method"] == "session/resync":
                resyncs[session] = message["params"]
            elif message["method"] == "session/leafChanged":
                self.heard[session].append(message["params"]["revision"])
        for session, told in resyncs.items():
            assert (told["instanceId"], told["revision"]) == (self.since[session][0], revisions[session])
            since = {"instanceId": told["instanceId"], "revision": told["revision"]}
            sent = self.raw.send("session/subscribe", sessionId=session, since=since)
            answer = await self.raw.read()
            assert answer["id"] == sent
            assert (answer["result"]["fresh"], answer["result"]["events"]) == (False, [])
        for session, heard in self.heard.items():
            first = self.since[session][1] + 1
            assert heard in ([first - 1], list(range(first, first + len(heard))))
        return len(resyncs)


def rubbish(chance: random.Random) -> Iterator[bytes]:
    """Messages that are none, and requests that are refused. Some end the connection."""
    deep = b"[" * 100_000
    asks = [
        b'{"jsonrpc":"2.0","id":1,"method":"session/append","params":{"sessionId":"none","entries":[{}]}}',
        b'{"jsonrpc":"2.0","id":{},"method":"daemon/status"}',
        b'{"jsonrpc":"2.0","id":2,"method":"session/open","params":{"path":"/etc/passwd"}}',
        b'[{"jsonrpc":"2.0","id":3,"method":"daemon/status"}]',
        b'{"jsonrpc":"2.0","id":4,"method":"no/such"}',
        b"\xff\xfe",
        b"{",
        b"",
        deep,
        b'{"id":5,"params":' + deep,
    ]
    while True:
        yield chance.choice([frame(chance.choice(asks)), frame(chance.randbytes(chance.randrange(2_000)))])
        if chance.random() < 0.05:
            yield chance.choice(
                [
                    b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
                    b"Content-Length: -1\r\n\r\n",
                    b"Content-Length: 5",
                    b"A: " + b"b" * 10_000,
                    chance.randbytes(5_000),
                ]
            )


class Bad:
    """The two that keep at it until `stop`."""

    def __init__(self, daemon: Served, ledgers: dict[str, Ledger], chance: random.Random) -> None:
        self.daemon = daemon
        self.ledgers = ledgers
        self.chance = chance
        self.rubbish = 0
        self.visits = 0

    async def send_rubbish(self) -> None:
        """Reads what it is answered, and comes back when it is thrown out."""
        pieces = rubbish(self.chance)
        while True:
            async with Raw.to(self.daemon) as raw:
                if self.chance.random() < 0.5:
                    raw.initialize("rubbish")
                try:
                    for piece in itertools.islice(pieces, self.chance.randint(1, 40)):
                        self.rubbish += 1
                        raw.writer.write(piece)
                        await raw.writer.drain()
                    raw.writer.write_eof()
                    async with asyncio.timeout(PATIENCE):
                        while await raw.reader.read(1 << 16):
                            pass
                except ConnectionError:
                    pass

    async def come_and_go(self) -> None:
        """Leaves at any point, in the middle of an append too, with a word or without one."""
        for visit in itertools.count():
            async with Raw.to(self.daemon) as raw:
                raw.initialize("guest")
                session = self.chance.choice(list(self.ledgers))
                text = f"guest.{visit}"
                raw.send("session/open", sessionId=session)
                self.ledgers[session].sent.add(text)
                raw.send("session/append", sessionId=session, entries=[prompt(text)])
                raw.send("session/close", sessionId=session)
                raw.send("shutdown")
                for _ in range(self.chance.randrange(6)):
                    await raw.read()
                self.visits += 1


async def appends(listeners: list[Listener], count: int) -> list[float]:
    """Of all of them at once; what each took."""
    taken = await asyncio.gather(*(listener.append_many(count) for listener in listeners))
    return list(itertools.chain.from_iterable(taken))


async def probe(listener: Listener) -> list[float]:
    return [await listener.append(1) for _ in range(ALONE)]


@pytest.mark.slow
@pytest.mark.timeout(900 if LONG else 120)
async def test_three_that_behave_badly_cost_the_others_nothing_but_time() -> None:
    chance = random.Random(20260131)
    async with Served() as daemon, contextlib.AsyncExitStack() as stack:
        await daemon.start()
        watcher = await stack.enter_async_context(await daemon.connect("watcher"))
        ledgers = {session: Ledger(path) for session, path in [await daemon.session(watcher) for _ in range(SESSIONS)]}
        listeners = []
        for number, session in zip(range(CLIENTS), itertools.cycle(ledgers)):
            client = await stack.enter_async_context(await daemon.connect(f"client {number}"))
            listeners.append(Listener(client, f"c{number}", session, ledgers[session]))
            await listeners[-1].open()
        for session in ledgers:
            await watcher.unsubscribe(session)

        alone = await probe(listeners[0])
        together = await appends(listeners, APPENDS)
        before = (await watcher.daemon_status())["memory"]

        silent = Silent(await stack.enter_async_context(Raw.to(daemon)))
        await silent.subscribe(list(ledgers))
        bad = Bad(daemon, ledgers, chance)
        tasks = [asyncio.create_task(bad.send_rubbish()), asyncio.create_task(bad.come_and_go())]
        rounds, most = 0, 0
        bad_together: list[float] = []
        limits = watcher.daemon["limits"]
        async with asyncio.timeout(600 if LONG else PATIENCE):
            # As often as it takes until the silent one has been left out.
            while most < limits["outboxBytes"] - ON_ITS_WAY:
                bad_together += await appends(listeners, APPENDS)
                rounds += 1
                most = max(most, await queued(watcher))
        bad_alone = await probe(listeners[0])
        assert most <= limits["outboxBytes"] + ON_ITS_WAY
        for task in tasks:
            assert not task.done(), task.exception()
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        during = (await watcher.daemon_status())["memory"]

        revisions = {}
        for listener in listeners[:SESSIONS]:
            revisions[listener.session] = (await listener.client.open_session(listener.session))["revision"]
        for listener in listeners:
            await listener.caught_up(revisions[listener.session])
        resyncs = await silent.read_on(revisions)
        status = await watcher.daemon_status()
        (client,) = [client for client in status["clients"] if client["name"] == "silent"]
        assert (client["queued"], client["queuedBytes"], client["resyncs"]) == (0, 0, resyncs)
        assert resyncs > 0
        for ledger in ledgers.values():
            ledger.check()
        assert daemon.failures() == []
        print(
            f"\n{CLIENTS} clients, {SESSIONS} sessions, {sum(len(ledger.acknowledged) for ledger in ledgers.values())}"
            f" entries acknowledged; {bad.rubbish} pieces of rubbish, {bad.visits} visits; the silent one: at most"
            f" {most / 1e6:.1f} MB queued, {resyncs} resyncs"
            f"\nappend p50, all at once: {ms(together)} without the three, {ms(bad_together)} with them"
            f"\nappend p50, one alone: {ms(alone)} without the three, {ms(bad_alone)} with them"
            f"\nmemory: {before / 1e6:.0f} MB before the three, {during / 1e6:.0f} MB with them after {rounds} more"
            f" rounds, {status['memory'] / 1e6:.0f} MB at the end"
        )


async def queued(watcher: AsyncClient) -> int:
    """Bytes that wait for the one that doesn't read."""
    status = await watcher.daemon_status()
    (client,) = [client for client in status["clients"] if client["name"] == "silent"]
    return client["queuedBytes"]


def ms(taken: list[float]) -> str:
    return f"{median(taken) * 1000:.1f} ms"
