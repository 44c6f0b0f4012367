"""session/search and catalog/* as a client meets them."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pi_daemon.methods.listeners import OUTBOX_KEY
from pi_daemon.storage.summary import Summary
from tests.methods.conftest import Client, Refused, Scene, assistant, user


@asynccontextmanager
async def followed(scene: Scene) -> AsyncIterator[Client]:
    async with scene.running():
        await scene.daemon.following.start()
        try:
            yield await scene.client()
        finally:
            await scene.daemon.following.stop()


async def made(client: Client, *entries: dict[str, Any], cwd: str = "/p") -> str:
    state = await client.call("session/create", cwd=cwd, persist="immediate")
    await client.call("session/append", sessionId=state["sessionId"], entries=list(entries))
    return str(state["sessionId"])


async def search(client: Client, query: str, **more: Any) -> dict[str, Any]:
    """Asked until it is complete."""
    while True:
        found: dict[str, Any] = await client.call("session/search", query=query, **more)
        if found["complete"]:
            return found
        await asyncio.sleep(0)


def test_what_was_said_is_found(scene: Scene) -> None:
    async def main() -> None:
        async with followed(scene) as client:
            await client.call("session/list")
            await client.call("catalog/subscribe")
            session_id = await made(client, user("where is parseTokens?"), assistant("in core/cut.py"))
            await client.heard("catalog/changed")
            await client.call("session/list")  # looks at what is open, and so at what was appended since
            found = await search(client, "cut.py")
            (hit,) = found["hits"]
            assert (hit["sessionId"], hit["role"], hit["snippet"]) == (session_id, "assistant", "in core/cut.py")
            assert (hit["onPath"], hit["tipId"], hit["cwd"], hit["name"]) == (True, hit["entryId"], "/p", None)
            assert found["indexed"] == 1
            (hit,) = (await search(client, "parsetok", role="user", cwd="/p", after="2020-01-01"))["hits"]
            entries = await client.call("session/entries", sessionId=session_id, ids=[hit["entryId"]])
            assert entries["entries"][0]["message"]["content"] == "where is parseTokens?"
            assert (await search(client, "parsetok", cwd="/elsewhere"))["hits"] == []

    asyncio.run(main())


def test_before_anybody_follows(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            await made(client, user("word"), assistant())
            found = await client.call("session/search", query="word")
            assert (found["hits"], found["complete"]) == ([], False)
            totals = await client.call("catalog/totals")
            assert (totals["sessions"], totals["messages"], totals["replies"]) == (1, 2, 1)
            assert totals["tokens"]["input"] == 100

    asyncio.run(main())


@pytest.mark.parametrize(
    "params",
    [
        {"query": ""},
        {"query": " \n"},
        {"query": "x" * 10_001},
        {"query": "x", "limit": 0},
        {"query": "x", "limit": 101},
        {"query": "x", "cursor": "nonsense"},
        {"query": "x", "after": "yesterday"},
        {"query": "x", "before": ""},
    ],
)
def test_a_search_that_makes_no_sense(scene: Scene, params: dict[str, Any]) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            with pytest.raises(Refused) as refused:
                await client.call("session/search", **params)
            assert refused.value.reason == "invalidParams"

    asyncio.run(main())


def test_whoever_subscribed_hears_of_files(scene: Scene) -> None:
    async def main() -> None:
        async with followed(scene) as client:
            other, deaf = await scene.client("other"), await scene.client("deaf")
            await client.call("session/list")
            assert await client.call("catalog/subscribe") == {"subscribed": True}
            await other.call("catalog/subscribe", cwd="/q/")
            session_id = await made(client, user("word"), assistant())
            told = await client.heard("catalog/changed")
            (file,) = told["created"]
            assert (file["sessionId"], file["cwd"]) == (session_id, "/p")
            assert (told["changed"], told["deleted"], told["missed"]) == ([], [], False)
            client.log.clear()
            line = {"type": "custom", "id": "x", "parentId": None, "timestamp": "", "customType": "c"}
            with open(file["path"], "ab") as opened:
                opened.write(json.dumps(line).encode() + b"\n")
            told = await client.heard("catalog/changed")
            assert told["changed"] == [file]
            mine = await made(other, user("word"), assistant(), cwd="/q")
            assert (await other.heard("catalog/changed"))["created"][0]["sessionId"] == mine
            assert await client.call("catalog/unsubscribe") == {"subscribed": False}
            assert await other.call("catalog/unsubscribe", cwd="/r") == {"subscribed": True}
            assert await other.call("catalog/unsubscribe", cwd="/q") == {"subscribed": False}
            assert "catalog/changed" not in deaf.told_methods()

    asyncio.run(main())


def test_one_who_does_not_read_is_told_that_it_missed_something(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            assert client.connection.limits.outbox_messages > 1
            message = scene.daemon.service.resync(OUTBOX_KEY)
            assert message is not None
            assert json.loads(message)["params"] == {"created": [], "changed": [], "deleted": [], "missed": True}

    asyncio.run(main())


def test_a_large_session_that_is_not_written_yet_is_summed_up_beside_the_loop(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []
    read = Summary.read

    def noted(self: Summary, block: bytes) -> None:
        threads.append(threading.get_ident())
        read(self, block)

    monkeypatch.setattr(Summary, "read", noted)

    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            state = await client.call("session/create", cwd="/p")
            await client.call("session/append", sessionId=state["sessionId"], entries=[user("x" * 300_000)])
            (row,) = (await client.call("session/list"))["sessions"]
            assert row["messageCount"] == 1 and threads and threading.get_ident() not in threads

    asyncio.run(main())
