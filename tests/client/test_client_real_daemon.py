"""The client with real daemons: on a Unix socket, on stdio, killed and started again, behind a socket that breaks."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pi_daemon_client import (
    AppendedEvent,
    AsyncClient,
    Backoff,
    Client,
    ConnectionLost,
    DeletedEvent,
    Event,
    LeafChangedEvent,
    ResyncEvent,
    ServerError,
    Unreachable,
    Watch,
    types,
)
from unreliable import Proxy

from pi_daemon.cli.demo.process import DemoDaemon
from pi_daemon.cli.reach import daemon_command

pytestmark = pytest.mark.slow

SOON = Backoff(first=0.001, most=0.02)


def prompt(text: str) -> dict[str, Any]:
    return {"type": "message", "message": {"role": "user", "content": text, "timestamp": 1}}


@asynccontextmanager
async def daemon_in(directory: Path) -> AsyncIterator[DemoDaemon]:
    daemon = DemoDaemon(directory)
    await daemon.start()
    try:
        yield daemon
    finally:
        await daemon.close()


async def session_of(client: AsyncClient, directory: Path) -> str:
    return (await client.create_session(str(directory), persist="immediate"))["sessionId"]


async def test_a_session_from_end_to_end(tmp_path: Path) -> None:
    async with daemon_in(tmp_path) as daemon, await daemon.connect("editor") as client:
        assert client.daemon["sessionsDir"] == str(daemon.sessions)
        session = await session_of(client, tmp_path)
        async with await client.watch(session) as watch:
            done = await client.append(session, [prompt("a"), prompt("b")], expected_leaf_id=None)
            first, second = (entry["id"] for entry in done["entries"])
            appended, moved = await anext(watch), await anext(watch)
            assert isinstance(appended, AppendedEvent) and isinstance(moved, LeafChangedEvent)
            assert [node["preview"] for node in appended.params["entries"]] == ["a", "b"]
            assert (moved.params["previousLeafId"], moved.params["leafId"]) == (None, second)
            assert appended.origin == {"clientId": client.daemon["clientId"], "name": "editor"}

            assert (await client.path(session))["entryIds"] == [first, second]
            assert (await client.move_leaf(session, first))["previousLeafId"] == second
            third = (await client.append(session, [prompt("c")]))["leafId"]
            assert third is not None
            compared = await client.compare(session, second, third)
            assert (compared["ancestorId"], compared["a"], compared["b"]) == (first, [second], [third])
            await client.label(session, first, "start")
            await client.rename(session, "named")
            assert [node.get("label") for node in (await client.whole_tree(session))["nodes"]] == ["start", None, None]
            context = await client.context(session, leaf_id=second, format="llm")
            assert [message["content"] for message in context["messages"]] == ["a", "b"]
            await client.edit_context(session, third, None)
            assert third not in (await client.context(session))["sources"]
            fork = await client.fork(session, entry_id=second)
            assert fork["entryCount"] == 3  # with the label, made again
            assert (await client.stats(session))["messagesByRole"]["user"] == 3
            report = await client.resume_report(session, leaf_id=None, tools=["read"], credentials=[])
            assert report["leafId"] is None and report["toolCalls"]["called"] == 0

            with pytest.raises(ServerError) as caught:
                await client.append(session, [prompt("x")], expected_leaf_id=first)
            assert caught.value.reason == "leafMoved"
            with pytest.raises(ServerError) as caught:
                await client.label(session, "nothing", "x")
            assert (caught.value.reason, caught.value.code) == ("entryNotFound", 1004)

            state = await client.open_session(session)
            assert state["path"] is not None
            assert (await client.check(state["path"]))["damage"] == []
            assert {one["sessionId"] async for one in client.iter_sessions()} == {session, fork["sessionId"]}
            await client.close_session(fork["sessionId"])
            await client.delete_session(fork["sessionId"])
            assert (await client.daemon_status())["pid"] == daemon.pid


@pytest.mark.parametrize("value", [10**30, -(2**64), "\ud83d", "a\u2028b", {"jsonrpc": 1, "type_name": []}], ids=ascii)
async def test_values_come_back_as_they_went(tmp_path: Path, value: Any) -> None:
    async with daemon_in(tmp_path) as daemon, await daemon.connect("editor") as client:
        session = await session_of(client, tmp_path)
        done = await client.append(session, [{"type": "custom", "customType": "t", "data": {"value": value}}])
        stored = (await client.entries(session, ids=[done["entries"][0]["id"]]))["entries"][0]
        assert stored["data"] == {"value": value}


async def test_deletion_ends_the_watch(tmp_path: Path) -> None:
    async with daemon_in(tmp_path) as daemon, await daemon.connect("editor") as client:
        session = await session_of(client, tmp_path)
        async with await client.watch(session) as watch:
            await client.delete_session(session)
            assert [type(event) async for event in watch] == [DeletedEvent]


def test_stdio_and_the_blocking_client(tmp_path: Path) -> None:
    argv, environment = daemon_command(
        *("serve", "--stdio", "--sessions-dir", str(tmp_path / "s"), "--state-dir", str(tmp_path / "state"))
    )
    with Client.connect_stdio(argv, env=environment, timeout=30) as client:
        session = client.create_session(str(tmp_path), persist="immediate")["sessionId"]
        with client.watch(session) as watch:
            done = client.append(session, [prompt("a")], retry=True)
            event = watch.next_event(timeout=30)
            assert isinstance(event, AppendedEvent) and event.revision == done["revision"]
        assert [entry["id"] for entry in client.iter_entries(session)] == [done["leafId"]]
        pid = client.daemon_status()["pid"]
    assert not Path(f"/proc/{pid}").exists()


async def test_tcp_wants_the_token(tmp_path: Path) -> None:
    argv, environment = daemon_command(
        *("serve", "--tcp", "127.0.0.1:0", "--sessions-dir", str(tmp_path), "--state-dir", str(tmp_path / "state"))
    )
    process = await asyncio.create_subprocess_exec(*argv, env=environment, stderr=asyncio.subprocess.PIPE)
    try:
        assert process.stderr is not None
        while b"listening on tcp" not in (said := await process.stderr.readline()):
            assert said, "the daemon ended"
        port = int(said.rsplit(b":", 1)[1])
        with pytest.raises(ServerError) as caught:
            await AsyncClient.connect_tcp("127.0.0.1", port, "wrong")
        assert caught.value.reason == "unauthorized"
        token = (tmp_path / "state" / "token").read_text().strip()
        async with await AsyncClient.connect_tcp("127.0.0.1", port, token) as client:
            assert (await client.daemon_status())["pid"] == process.pid
    finally:
        process.terminate()
        await process.communicate()


async def test_catching_up_after_a_kill(tmp_path: Path) -> None:
    async with daemon_in(tmp_path) as daemon, await daemon.connect("editor") as client:
        session = await session_of(client, tmp_path)
        watch = await client.watch(session)
        first = await client.append(session, [prompt("a")])
        assert [(await anext(watch)).revision for _ in range(2)] == [first["revision"]] * 2
        lost = asyncio.create_task(client.append(session, [prompt("b")]))
        retried = asyncio.create_task(client.append(session, [prompt("c")], retry=True))
        await daemon.kill()
        await daemon.start()
        done = await retried
        again = await anext(watch)
        assert isinstance(again, ResyncEvent) and again.cause == "fresh"
        known = first["entries"][-1]["id"]
        assert done["leafId"] in [entry["id"] async for entry in client.iter_entries(session, since=known)]
        try:
            await lost
        except ConnectionLost as error:
            assert error.applied == "unknown"
        # What was open is open: its subscription too.
        revision = (await client.append(session, [prompt("d")]))["revision"]
        while (event := await anext(watch)).revision < revision:
            pass
        assert isinstance(event, Event)


@pytest.mark.parametrize("seed", range(3))
async def test_no_gap_and_no_duplicate_over_a_breaking_connection(tmp_path: Path, seed: int) -> None:
    """One client appends, another watches through a socket that is cut at any byte of what the daemon sends."""
    rounds = 60
    chance = random.Random(seed)
    cuts = iter([chance.randrange(1, 9000) for _ in range(12)])
    async with daemon_in(tmp_path) as daemon, await daemon.connect("writer") as writer:
        session = await session_of(writer, tmp_path)
        plain = await writer.watch(session)
        async with Proxy(f"{tmp_path}/proxy", str(daemon.socket), cuts) as proxy:
            async with await _connect(proxy) as reader:
                watch = await _watch(reader, session, plain.opened)
                for number in range(rounds):
                    await writer.append(session, [prompt(str(number))])
                    await writer.label(session, (await writer.path(session))["entryIds"][0], str(number))
                expected = [await anext(plain) for _ in range(rounds * 5)]
                seen = [await anext(watch) for _ in range(rounds * 5)]
                assert seen == expected
            assert proxy.connections > 3


async def _connect(proxy: Proxy) -> AsyncClient:
    """The cut may come in the middle of the greeting."""
    while True:
        with contextlib.suppress(Unreachable):
            return await AsyncClient.connect_unix(proxy.path, reconnect=SOON)


async def _watch(client: AsyncClient, session: str, opened: Any) -> Watch:
    """And in the middle of the first subscription, more often than the client retries."""
    since: types.SubscribeSince = {"instanceId": opened["instanceId"], "revision": opened["revision"]}
    while True:
        with contextlib.suppress(ConnectionLost):
            return await client.watch(session, since=since)


@pytest.mark.parametrize("downstream", [True, False])
async def test_retried_appends_are_there_once(tmp_path: Path, downstream: bool) -> None:
    chance = random.Random(7)
    cuts = iter([chance.randrange(400, 2500) for _ in range(25)])
    async with daemon_in(tmp_path) as daemon, await daemon.connect("owner") as owner:
        session = await session_of(owner, tmp_path)
        async with (
            Proxy(f"{tmp_path}/proxy", str(daemon.socket), cuts, downstream=downstream) as proxy,
            await AsyncClient.connect_unix(proxy.path, reconnect=SOON) as client,
        ):
            acknowledged: list[str] = []
            leaf: str | None = None
            for number in range(80):
                drafts = [prompt(f"{number}a"), prompt(f"{number}b")]
                done = await client.append(session, drafts, expected_leaf_id=leaf, retry=True)
                acknowledged += [entry["id"] for entry in done["entries"]]
                leaf = done["leafId"]
            assert proxy.connections > 10
        entries = [entry async for entry in owner.iter_entries(session)]
        assert [entry["id"] for entry in entries] == acknowledged
        texts = [entry["message"]["content"] for entry in entries]
        assert texts == [f"{number}{part}" for number in range(80) for part in "ab"]


async def test_watches_of_one_client_share_a_subscription(tmp_path: Path) -> None:
    async with daemon_in(tmp_path) as daemon, await daemon.connect("editor") as client:
        session = await session_of(client, tmp_path)
        first, second = await client.watch(session), await client.watch(session)
        await client.append(session, [prompt("a")])
        second.close()
        assert [await _seen(first) for _ in range(2)] == [("session/appended", 1), ("session/leafChanged", 1)]
        # Nobody else has it open, so it is let go and loaded anew: revisions begin anew too.
        await client.close_session(session)
        assert isinstance(await anext(first), ResyncEvent)
        done = await client.append(session, [prompt("b")])
        assert await _seen(first) == ("session/appended", done["revision"])
        assert (await client.daemon_status())["sessions"][0]["subscribers"] == 1
        first.close()
        await client.daemon_status()  # after it, what the closed watch still sent has been answered
        assert (await client.unsubscribe(session))["status"] in ("notSubscribed", "notOpen")


async def _seen(watch: Watch) -> tuple[str, int]:
    event = await anext(watch)
    assert isinstance(event, Event)
    return event.method, event.revision


async def test_a_client_that_was_not_reading_misses_nothing(tmp_path: Path) -> None:
    """So much is said that the daemon drops it and sends a resync; the watch asks for what was dropped."""
    rounds, batch = 36, 900
    async with (
        daemon_in(tmp_path) as daemon,
        await daemon.connect("writer") as writer,
        Proxy(f"{tmp_path}/proxy", str(daemon.socket), iter(())) as proxy,
        await AsyncClient.connect_unix(proxy.path) as reader,
    ):
        session = await session_of(writer, tmp_path)
        watch = await reader.watch(session)
        heard: list[str] = []
        reader.on_notification(lambda method, params: heard.append(method))
        proxy.flowing.clear()
        for number in range(rounds):
            await writer.append(session, [prompt(f"{number} {'x' * 120}")] * batch)
        proxy.flowing.set()
        assert [await _seen(watch) for _ in range(2 * rounds)] == [
            (method, revision)
            for revision in range(1, rounds + 1)
            for method in ("session/appended", "session/leafChanged")
        ]
        assert "session/resync" in heard
