"""Requests of the client, against a daemon that does what the test wants."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_daemon import SILENT, FakeDaemon, Peer, Refused, greeting
from pi_daemon_client import (
    AsyncClient,
    Backoff,
    Client,
    ClientClosed,
    ConnectionLost,
    NotConnected,
    ServerError,
    Unreachable,
)

SOON = Backoff(first=0.001, most=0.01)


def silent(peer: Peer, params: Any) -> Any:
    return SILENT


async def test_names_itself_and_keeps_what_the_daemon_says(tmp_path: Path) -> None:
    async with FakeDaemon(f"{tmp_path}/d") as daemon:
        async with await AsyncClient.connect_unix(daemon.path, name="editor") as client:
            peer = await daemon.peers.get()
            params = (await peer.next("initialize"))["params"]
            assert params["clientInfo"] == {"name": "editor"}
            assert params["initializationOptions"] == {"piDaemon": {"protocolVersion": 1}}
            await peer.next("initialized")
            assert client.daemon["sessionsDir"] == "/s"
            assert client.connected
        await peer.next("shutdown")
        await peer.next("exit")
        await peer.ended.wait()


async def test_nobody_there_is_unreachable(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="No such file"):
        await AsyncClient.connect_unix(tmp_path / "d")
    with pytest.raises(Unreachable, match="can't be started"):
        await AsyncClient.connect_stdio([f"{tmp_path}/nothing"])
    with pytest.raises(Unreachable, match="ended with code 3: it said so") as refused:
        await AsyncClient.connect_stdio(["sh", "-c", "echo it said so >&2; exit 3"])
    assert refused.value.said == "it said so"
    with pytest.raises(Unreachable, match="does not speak the protocol"):
        await AsyncClient.connect_stdio(["sh", "-c", "yes"])


async def test_a_refusal_at_the_greeting_is_raised_as_it_is(tmp_path: Path) -> None:
    def refuse(peer: Peer, params: Any) -> Any:
        raise Refused(1020, "versionMismatch", protocolVersion=2)

    async with FakeDaemon(f"{tmp_path}/d") as daemon:
        daemon.handlers["initialize"] = refuse
        with pytest.raises(ServerError) as caught:
            await AsyncClient.connect_unix(daemon.path)
        assert (caught.value.code, caught.value.reason) == (1020, "versionMismatch")
        assert caught.value.data["protocolVersion"] == 2
        await (await daemon.peers.get()).ended.wait()


async def test_absent_is_not_null(tmp_path: Path) -> None:
    async with FakeDaemon(f"{tmp_path}/d") as daemon, await AsyncClient.connect_unix(daemon.path) as client:
        peer = await daemon.peers.get()
        await client.append("s", [], parent_id=None)
        assert (await peer.next("session/append"))["params"] == {"sessionId": "s", "entries": [], "parentId": None}
        await client.append("s", [], expected_leaf_id=None)
        assert "parentId" not in (await peer.next("session/append"))["params"]
        await client.configure("s", context_window=None)
        assert (await peer.next("session/configure"))["params"] == {"sessionId": "s", "contextWindow": None}


@pytest.mark.parametrize(
    "value",
    [10**29 + 7, -(10**40), 2**63, 1.0, "\ud83d", "x\udc00y", "\x00\u2028", {"jsonrpc": {"type_name": 1}}, [[[]]]],
    ids=ascii,
)
async def test_values_come_back_as_they_went(tmp_path: Path, value: Any) -> None:
    async with FakeDaemon(f"{tmp_path}/d") as daemon, await AsyncClient.connect_unix(daemon.path) as client:
        daemon.handlers["echo"] = lambda peer, params: params
        back = await client.request("echo", {"value": value, "deep": [[value]]})
        assert back == {"value": value, "deep": [[value]]}
        assert type(back["value"]) is type(value)


async def test_cancelling_the_task_cancels_the_request(tmp_path: Path) -> None:
    async with FakeDaemon(f"{tmp_path}/d") as daemon, await AsyncClient.connect_unix(daemon.path) as client:
        daemon.handlers["session/list"] = silent
        peer = await daemon.peers.get()
        task = asyncio.create_task(client.list_sessions())
        request = await peer.next("session/list")
        task.cancel()
        assert (await peer.next("$/cancelRequest"))["params"] == {"id": request["id"]}
        # The late answer, whichever it is, disturbs nobody.
        peer.send({"id": request["id"], "error": {"code": -32800, "message": "cancelled"}})
        assert await client.request("other") == {}
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_progress_reaches_the_one_who_asked(tmp_path: Path) -> None:
    def slow(peer: Peer, params: Any) -> Any:
        for value in ({"kind": "begin", "title": "t"}, {"kind": "report", "percentage": 50}, {"kind": "end"}):
            peer.send({"method": "$/progress", "params": {"token": params["workDoneToken"], "value": value}})
        return {"sessions": []}

    async with FakeDaemon(f"{tmp_path}/d") as daemon, await AsyncClient.connect_unix(daemon.path) as client:
        daemon.handlers["session/list"] = slow
        seen: list[Any] = []
        await client.list_sessions(progress=seen.append)
        assert [value["kind"] for value in seen] == ["begin", "report", "end"]


async def test_a_tree_is_read_again_where_its_pages_are_gone(tmp_path: Path) -> None:
    pages = iter(["a", None, "b", "c"])

    def tree(peer: Peer, params: Any) -> Any:
        node = next(pages)
        if node is None:
            raise Refused(-32602, "invalidParams", path="cursor")
        more = {"nextCursor": "x"} if node != "c" else {}
        return {"nodes": [node], "leafId": "c", "revision": 3, **more}

    async with FakeDaemon(f"{tmp_path}/d") as daemon, await AsyncClient.connect_unix(daemon.path) as client:
        daemon.handlers["session/tree"] = tree
        assert await client.whole_tree("s") == {"nodes": ["b", "c"], "leafId": "c", "revision": 3}


async def test_requests_of_the_daemon_are_answered_as_unknown(tmp_path: Path) -> None:
    async with FakeDaemon(f"{tmp_path}/d") as daemon, await AsyncClient.connect_unix(daemon.path):
        peer = await daemon.peers.get()
        peer.send({"id": "x", "method": "summarizer/summarize", "params": {}})
        answer = await peer.next("answer")
        assert (answer["id"], answer["error"]["code"]) == ("x", -32601)


async def test_a_lost_connection_fails_what_was_under_way(tmp_path: Path) -> None:
    async with FakeDaemon(f"{tmp_path}/d") as daemon:
        daemon.handlers["session/append"] = silent
        async with await AsyncClient.connect_unix(daemon.path, reconnect=SOON) as client:
            peer = await daemon.peers.get()
            task = asyncio.create_task(client.append("s", []))
            await peer.next("session/append")
            peer.drop()
            with pytest.raises(ConnectionLost) as caught:
                await task
            assert caught.value.applied == "unknown"
            # The next request waits for the next connection.
            await client.rename("s", "n")
            await (await daemon.peers.get()).next("session/rename")


async def test_an_append_with_retry_is_sent_again_with_the_same_ids(tmp_path: Path) -> None:
    async with FakeDaemon(f"{tmp_path}/d") as daemon:
        daemon.handlers["session/append"] = silent
        async with await AsyncClient.connect_unix(daemon.path, reconnect=SOON) as client:
            peer = await daemon.peers.get()
            task = asyncio.create_task(client.append("s", [{"type": "a"}, {"type": "b", "id": "mine"}], retry=True))
            first = await peer.next("session/append")
            peer.drop()
            peer = await daemon.peers.get()
            second = await peer.next("session/append")
            assert second["params"] == first["params"]
            ids = [entry["id"] for entry in first["params"]["entries"]]
            assert ids[1] == "mine" and len(ids[0]) == 32
            peer.answer(second, {"leafId": "mine"})
            assert (await task)["leafId"] == "mine"


def dying(peer: Peer, params: Any) -> Any:
    peer.drop()
    return SILENT


async def test_a_retry_ends_where_the_daemon_dies_each_time(tmp_path: Path) -> None:
    async with FakeDaemon(f"{tmp_path}/d") as daemon:
        daemon.handlers["session/append"] = dying
        async with await AsyncClient.connect_unix(daemon.path, reconnect=SOON) as client:
            with pytest.raises(ConnectionLost):
                await client.append("s", [{"type": "a"}], retry=True)
            assert daemon.methods() == ["session/append"] * 5


async def test_a_daemon_that_shuts_down_is_tried_again(tmp_path: Path) -> None:
    def leaving(peer: Peer, params: Any) -> Any:
        daemon.handlers.pop("session/append")
        asyncio.get_running_loop().call_soon(peer.writer.close)
        raise Refused(1019, "shuttingDown", applied=False)

    async with FakeDaemon(f"{tmp_path}/d") as daemon:
        daemon.handlers["session/append"] = leaving
        async with await AsyncClient.connect_unix(daemon.path, reconnect=SOON) as client:
            await client.append("s", [], retry=True)
            assert daemon.methods() == ["session/append"] * 2


@pytest.mark.parametrize(("reason", "passing"), [("shuttingDown", True), ("overloaded", True), ("unauthorized", False)])
async def test_a_refused_greeting_is_final_or_not(tmp_path: Path, reason: str, passing: bool) -> None:
    def refuse_once(peer: Peer, params: Any) -> Any:
        daemon.handlers["initialize"] = greeting
        raise Refused(1, reason)

    async with (
        FakeDaemon(f"{tmp_path}/d") as daemon,
        await AsyncClient.connect_unix(daemon.path, reconnect=SOON) as client,
    ):
        changes: asyncio.Queue[bool] = asyncio.Queue()
        client.on_connection(changes.put_nowait)
        daemon.handlers["initialize"] = refuse_once
        (await daemon.peers.get()).drop()
        assert await changes.get() is False
        if passing:
            await client.rename("s", "n")
            assert client.connected
        else:
            with pytest.raises(ServerError):
                await client.rename("s", "n")
            assert not client.connected


async def test_without_a_connection_requests_give_up_in_time(tmp_path: Path) -> None:
    daemon = FakeDaemon(f"{tmp_path}/d")
    async with daemon:
        client = await AsyncClient.connect_unix(daemon.path, reconnect=SOON, wait=0.02)
        changes: asyncio.Queue[bool] = asyncio.Queue()
        client.on_connection(changes.put_nowait)
    async with client:
        assert await changes.get() is False
        with pytest.raises(NotConnected) as caught:
            await client.rename("s", "n")
        assert caught.value.applied == "no"
        async with FakeDaemon(f"{tmp_path}/d") as daemon:
            await client.wait_connected()
            assert await changes.get() is True
            await client.rename("s", "n")


async def test_a_client_that_does_not_reconnect_ends(tmp_path: Path) -> None:
    async with FakeDaemon(f"{tmp_path}/d") as daemon:
        async with await AsyncClient.connect_unix(daemon.path, reconnect=None) as client:
            (await daemon.peers.get()).drop()
            with pytest.raises(ConnectionLost):
                await client.rename("s", "n")
        assert daemon.peers.empty()


async def test_giving_up_ends_the_client(tmp_path: Path) -> None:
    async with FakeDaemon(f"{tmp_path}/d") as daemon:
        daemon.handlers["session/subscribe"] = lambda peer, params: {
            "instanceId": "i1",
            "revision": 1,
            "leafId": None,
            "fresh": True,
        }
        client = await AsyncClient.connect_unix(daemon.path, reconnect=Backoff(0.001, 0.001, give_up_after=0.01))
        watch = await client.watch("s")
    async with client:
        with pytest.raises(NotConnected):
            await anext(watch)
        with pytest.raises(NotConnected):
            await client.rename("s", "n")


async def test_a_closed_client_says_so(tmp_path: Path) -> None:
    async with FakeDaemon(f"{tmp_path}/d") as daemon:
        client = await AsyncClient.connect_unix(daemon.path)
        await client.close()
        await client.close()
        with pytest.raises(ClientClosed):
            await client.rename("s", "n")


async def test_rubbish_from_the_daemon_ends_the_connection_only(tmp_path: Path) -> None:
    no_json, no_length = b"Content-Length: 3\r\n\r\n{x}", b"Content-Length: -1\r\n\r\n"
    async with (
        FakeDaemon(f"{tmp_path}/d") as daemon,
        await AsyncClient.connect_unix(daemon.path, reconnect=SOON) as client,
    ):
        for rubbish in (no_json, no_length, b"GET / HTTP/1.1\r\n\r\n", b"x" * 9000):
            peer = await daemon.peers.get()
            peer.writer.write(rubbish)
            await peer.ended.wait()
            await client.rename("s", "n")


async def test_what_was_open_is_opened_again(tmp_path: Path) -> None:
    def opened(peer: Peer, params: Any) -> Any:
        return {"sessionId": params.get("sessionId", "p"), "path": params.get("path")}

    async with FakeDaemon(f"{tmp_path}/d") as daemon:
        daemon.handlers |= dict.fromkeys(("session/open", "session/create"), opened)
        async with await AsyncClient.connect_unix(daemon.path, reconnect=SOON) as client:
            await client.open_session("s", read_only=True, options={"durability": "written"})
            await client.configure("s", context_window=7)
            await client.open_session(path="/s/p.jsonl", recover="skip")
            await client.open_session("closed")
            await client.close_session("closed")
            (await daemon.peers.get()).drop()
            peer = await daemon.peers.get()
            assert [(await peer.next("session/open"))["params"] for _ in range(2)] == [
                {"sessionId": "s", "readOnly": True, "options": {"durability": "written", "contextWindow": 7}},
                {"path": "/s/p.jsonl", "recover": "skip"},
            ]
            await client.request("other")
            assert peer.received["session/open"].empty()


def few(peer: Peer, params: Any) -> Any:
    """The greeting of a daemon that takes two requests at a time."""
    result = greeting(peer, params)
    result["capabilities"]["experimental"]["piDaemon"]["limits"] = {"requestsInFlight": 2}
    return result


async def test_no_more_requests_than_the_daemon_takes(tmp_path: Path) -> None:
    async with FakeDaemon(f"{tmp_path}/d") as daemon:
        daemon.handlers |= {"initialize": few, "slow": lambda peer, params: SILENT}
        async with await AsyncClient.connect_unix(daemon.path, reconnect=SOON) as client:
            peer = await daemon.peers.get()
            asked = [asyncio.create_task(client.request("slow", {"number": n})) for n in range(5)]
            first, second = [await peer.next("slow") for _ in range(2)]
            asked[1].cancel()
            await peer.next("$/cancelRequest")
            assert peer.received["slow"].empty()  # until that is answered
            peer.answer(first, 0)
            third = await peer.next("slow")
            assert (await asked[0], third["params"]) == (0, {"number": 2})
            peer.answer(second, 1)
            assert (await peer.next("slow"))["params"] == {"number": 3}
            assert peer.received["slow"].empty()
            peer.drop()
            peer = await daemon.peers.get()
            last = await peer.next("slow")  # was never sent, so it is now
            assert last["params"] == {"number": 4}
            peer.answer(last, 4)
            assert await asked[4] == 4
            for task in asked[2:4]:
                with pytest.raises(ConnectionLost):
                    await task
            await client.request("other")


async def test_what_a_watched_session_was_set_to_is_said_again(tmp_path: Path) -> None:
    """Though this client has not opened it."""
    async with FakeDaemon(f"{tmp_path}/d") as daemon:
        daemon.handlers["session/subscribe"] = lambda peer, params: {
            "instanceId": "i1",
            "revision": 0,
            "leafId": None,
            "fresh": True,
        }
        async with (
            await AsyncClient.connect_unix(daemon.path, reconnect=SOON) as client,
            await client.watch("s"),
        ):
            await client.configure("s", context_window=7)
            await client.configure("s", durability="written")
            await client.configure("unwatched", context_window=8)
            (await daemon.peers.get()).drop()
            peer = await daemon.peers.get()
            said = (await peer.next("session/configure"))["params"]
            assert said == {"sessionId": "s", "contextWindow": 7, "durability": "written"}
            await peer.next("session/subscribe")
            await client.request("other")
            assert peer.received["session/configure"].empty()


def test_the_blocking_client_does_the_same(tmp_path: Path) -> None:
    script = Path(__file__).with_name("child.py")
    with Client.connect_stdio([sys.executable, str(script)], timeout=20) as client:
        assert client.daemon["daemonId"] == "d1"
        assert client.request("echo", {"value": 10**30}) == {"value": 10**30}
        assert [session["sessionId"] for session in client.iter_sessions()] == ["a", "b", "c"]
        with client.watch("s") as watch:
            client.append("s", [{"type": "custom"}])
            event = watch.next_event(timeout=10)
            assert event is not None and event.revision == 2
            with pytest.raises(TimeoutError):
                watch.next_event(timeout=0)
        assert next(watch, None) is None
        with pytest.raises(ServerError, match="unknown"):
            client.rename("s", "n")
    with pytest.raises(ClientClosed):
        client.rename("s", "n")
