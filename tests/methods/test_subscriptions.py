"""Every change reaches every client once and in order, after the answer it belongs to, and nothing is missed."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.methods.conftest import Scene, assistant, user


def test_an_answer_precedes_what_it_causes(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client, other = await scene.client("a"), await scene.client("b")
            session_id = (await client.call("session/create", cwd="/p", persist="immediate"))["sessionId"]
            await other.call("session/open", sessionId=session_id)
            client.log.clear()
            params = [{"sessionId": session_id, "entries": [user(text)]} for text in "123"]
            answers = [client.ask("session/append", one) for one in params]
            await asyncio.gather(*answers)
            shape = [value.get("method", "answer") for value in client.log]
            assert shape == ["answer", "session/appended", "session/leafChanged"] * 3
            revisions = [v["params"]["revision"] if "method" in v else v["result"]["revision"] for v in client.log]
            assert revisions == [1, 1, 1, 2, 2, 2, 3, 3, 3]
            assert other.told == client.told
            origin = {"clientId": client.connection.client.client_id, "name": "a"}
            assert all(value["params"]["origin"] == origin for value in other.told)

    asyncio.run(main())


def test_what_a_notification_says(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client("a")
            made = await client.call("session/create", cwd="/p", persist="immediate")
            session_id = made["sessionId"]
            reply = await client.call("session/append", sessionId=session_id, entries=[user("what now?"), assistant()])
            first, second = (entry["id"] for entry in reply["entries"])
            appended, moved = (value["params"] for value in client.told)
            assert appended["entries"][0] == {
                "id": first,
                "parentId": None,
                "type": "message",
                "role": "user",
                "preview": "what now?",
                "timestamp": reply["entries"][0]["timestamp"],
                "childCount": 0,
                "onPath": True,
            }
            assert appended["instanceId"] == made["instanceId"]
            assert (moved["leafId"], moved["previousLeafId"], moved["cause"]) == (second, None, "append")
            client.log.clear()
            await client.call("session/label", sessionId=session_id, entryId=first, label="start")
            assert client.told[2]["params"] | {"origin": None} == {
                "sessionId": session_id,
                "instanceId": made["instanceId"],
                "revision": 2,
                "origin": None,
                "targetId": first,
                "label": "start",
                "entryId": client.told[0]["params"]["entries"][0]["id"],
            }

    asyncio.run(main())


def test_catching_up(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client, away = await scene.client("a"), await scene.client("b")
            session_id = (await client.call("session/create", cwd="/p", persist="immediate"))["sessionId"]
            state = await away.call("session/open", sessionId=session_id)
            since = {"instanceId": state["instanceId"], "revision": state["revision"]}
            assert (await away.call("session/unsubscribe", sessionId=session_id)) == {"status": "unsubscribed"}
            assert (await away.call("session/unsubscribe", sessionId=session_id)) == {"status": "notSubscribed"}
            client.log.clear()
            for text in "abc":
                await client.call("session/append", sessionId=session_id, entries=[user(text)])
            assert away.told == []
            caught = await away.call("session/subscribe", sessionId=session_id, since=since)
            assert caught["fresh"] is False
            assert caught["events"] == client.told
            await client.call("session/append", sessionId=session_id, entries=[user("d")])
            assert [value["params"]["revision"] for value in away.told] == [4, 4]
            stale = await away.call("session/subscribe", sessionId=session_id, since=since | {"instanceId": "other"})
            assert (stale["fresh"], "events" in stale, stale["revision"]) == (True, False, 4)
            future = await away.call("session/subscribe", sessionId=session_id, since=since | {"revision": 99})
            assert future["fresh"] is True
            assert (await away.call("session/unsubscribe", sessionId="nobody")) == {"status": "notOpen"}

    asyncio.run(main())


def test_a_client_that_goes_leaves_the_others_alone(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client, other = await scene.client("a"), await scene.client("b")
            session_id = (await client.call("session/create", cwd="/p"))["sessionId"]
            await other.call("session/open", sessionId=session_id)
            pending = client.ask("session/append", {"sessionId": session_id, "entries": [user()]})
            client.connection.lost()
            await scene.daemon.service.settled()
            assert pending.done() or not pending.cancelled()
            await other.call("session/append", sessionId=session_id, entries=[assistant()])
            (status,) = (await other.call("daemon/status"))["sessions"]
            assert status["subscribers"] == 1
            assert [c["name"] for c in (await other.call("daemon/status"))["clients"]] == ["b"]

    asyncio.run(main())


def test_what_the_user_said_is_written_when_the_last_client_goes(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client("a")
            session_id = (await client.call("session/create", cwd="/p"))["sessionId"]
            reply = await client.call("session/append", sessionId=session_id, entries=[user()])
            assert (reply["durability"], scene.files()) == ("memory", [])
            client.connection.lost()
            await scene.daemon.service.settled()
            (path,) = scene.files()
            assert len(path.read_text().splitlines()) == 2

    asyncio.run(main())


def test_values_come_back_as_they_went_in(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client("a")
            session_id = (await client.call("session/create", cwd="/p", persist="immediate"))["sessionId"]
            raw = (
                '{"type":"later","odd":"\\ud83d","big":123456789012345678901234567890,"one":1.0,'
                '"jsonrpc":"1.0","type_name":"x","line":"\u2028","deep":' + "[" * 490 + "]" * 490 + "}"
            )
            request = f'{{"jsonrpc":"2.0","id":99,"method":"session/append","params":{{"sessionId":"{session_id}",'
            assert "result" in await client.ask_raw(99, (request + f'"entries":[{raw}]}}}}').encode())
            client.log.clear()
            sent: list[bytes] = []
            came = asyncio.Event()

            def send(*messages: bytes) -> None:
                sent.extend(messages)
                came.set()

            client.send = send  # type: ignore[method-assign]
            client.ask("session/entries", {"sessionId": session_id})
            await came.wait()
            assert raw[len('{"type":"later",') : -1].encode() in sent[0]
            (path,) = scene.files()
            assert raw[len('{"type":"later",') : -1].encode() in path.read_bytes()
            assert json.loads(sent[0])["result"]["entries"][0]["big"] == 123456789012345678901234567890

    asyncio.run(main())


def test_a_replay_that_would_be_too_large_is_fresh(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pi_daemon.methods.subscriptions.REPLAY_BYTES", 2000)

    async def main() -> None:
        async with scene.running():
            client = await scene.client("a")
            state = await client.call("session/create", cwd="/p", persist="immediate")
            session_id, instance_id = state["sessionId"], state["instanceId"]
            for text in "abcdefgh":
                await client.call("session/append", sessionId=session_id, entries=[user(text)])
            for revision, fresh in ((0, True), (7, False)):
                since = {"instanceId": instance_id, "revision": revision}
                caught = await client.call("session/subscribe", sessionId=session_id, since=since)
                assert (caught["fresh"], "events" in caught) == (fresh, not fresh)

    asyncio.run(main())
