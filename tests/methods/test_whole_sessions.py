"""create, open, fork, move, list, delete, check and repair as a client meets them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.methods.conftest import Client, Refused, Scene, assistant, user


async def conversation(client: Client, **create: Any) -> tuple[str, list[str]]:
    session_id = (await client.call("session/create", cwd="/p", **create))["sessionId"]
    reply = await client.call(
        "session/append", sessionId=session_id, entries=[user("a"), assistant("b"), user("c"), assistant("d")]
    )
    return session_id, [entry["id"] for entry in reply["entries"]]


def test_a_session_is_created_as_asked(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            state = await client.call(
                "session/create",
                cwd="/home/u/p",
                id="my-session",
                name=" my\nname ",
                parentSession="/elsewhere.jsonl",
                persist="immediate",
                options={"contextWindow": 1000, "durability": "written"},
            )
            assert (state["sessionId"], state["name"], state["cwd"]) == ("my-session", "my name", "/home/u/p")
            assert (state["parentSession"], state["persisted"], state["revision"]) == ("/elsewhere.jsonl", True, 1)
            assert state["options"]["contextWindow"] == 1000
            assert client.told_methods() == ["session/appended", "session/leafChanged", "session/renamed"]
            header = json.loads(Path(state["path"]).read_text().splitlines()[0])
            assert header["cwd"] == "/home/u/p"
            with pytest.raises(Refused) as refused:
                await client.call("session/create", cwd="/home/u/p", id="my-session")
            assert refused.value.reason == "sessionExists"
            for cwd, session_id in (("relative", "x"), ("/p", "../x"), ("/p", "a b"), ("/p", "")):
                with pytest.raises(Refused) as refused:
                    await client.call("session/create", cwd=cwd, id=session_id)
                assert refused.value.reason == "invalidParams"

    asyncio.run(main())


def test_the_trigger_is_answered(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id = (await client.call("session/create", cwd="/p"))["sessionId"]
            reply = await client.call("session/append", sessionId=session_id, entries=[user(), assistant(tokens=900)])
            assert (reply["contextTokens"], reply["shouldCompact"]) == (900, None)
            await client.call("session/configure", sessionId=session_id, contextWindow=1000, reserveTokens=50)
            reply = await client.call("session/append", sessionId=session_id, entries=[user("x" * 196)])
            assert (reply["contextTokens"], reply["shouldCompact"]) == (949, False)
            reply = await client.call("session/append", sessionId=session_id, entries=[user("x" * 8)])
            assert (reply["contextTokens"], reply["shouldCompact"]) == (951, True)
            state = await client.call("session/configure", sessionId=session_id, contextWindow=None)
            assert state["options"]["contextWindow"] is None
            stats = await client.call("session/stats", sessionId=session_id)
            assert stats["messagesByRole"] == {"user": 3, "assistant": 1}
            for bad in ({"contextWindow": 0}, {"reserveTokens": -1}, {"summarizer": "nobody"}):
                with pytest.raises(Refused) as refused:
                    await client.call("session/configure", sessionId=session_id, **bad)
                assert refused.value.data["path"] == next(iter(bad))

    asyncio.run(main())


def test_moving_the_leaf(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, (a, b, c, d) = await conversation(client)
            moved = await client.call("session/moveLeaf", sessionId=session_id, entryId=c, position="before")
            assert (moved["leafId"], moved["previousLeafId"], moved["editorText"]) == (b, d, "c")
            with pytest.raises(Refused) as refused:
                await client.call("session/moveLeaf", sessionId=session_id, entryId=d, position="before")
            assert refused.value.data["path"] == "position"
            with pytest.raises(Refused) as refused:
                await client.call("session/moveLeaf", sessionId=session_id, entryId=a, expectedLeafId=d)
            assert (refused.value.reason, refused.value.data["leafId"]) == ("leafMoved", b)
            moved = await client.call("session/moveLeaf", sessionId=session_id, entryId=d, summary="s", label="l")
            tree = await client.call("session/tree", sessionId=session_id, filter="labeledOnly")
            assert [node["label"] for node in tree["nodes"]] == ["l"]
            assert tree["nodes"][0]["id"] == moved["summaryEntryId"]
            moved = await client.call("session/moveLeaf", sessionId=session_id, entryId=a, summarize=True, label="l")
            assert moved["leafId"] != moved["summaryEntryId"], "the label is the leaf"
            entry = (await client.call("session/entries", sessionId=session_id, ids=[moved["summaryEntryId"]]))[
                "entries"
            ][0]
            assert (entry["parentId"], entry["type"]) == (a, "branch_summary")
            assert entry["fromId"] == moved["previousLeafId"]
            assert entry["details"]["summarizer"] == "extractive"
            assert (await client.call("session/moveLeaf", sessionId=session_id, entryId=None))["leafId"] is None
            context = await client.call("session/context", sessionId=session_id)
            assert (context["messages"], context["leafId"]) == ([], None)
            compared = await client.call("session/compare", sessionId=session_id, a=b, b=d)
            assert compared == {"ancestorId": b, "a": [], "b": [c, d]}

    asyncio.run(main())


@pytest.mark.parametrize("scope", ["path", "tree"])
def test_forking(scene: Scene, scope: str) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, (a, b, _c, _d) = await conversation(client)
            await client.call("session/label", sessionId=session_id, entryId=a, label="start")
            before = scene.files()[0].read_bytes()
            fork = await client.call("session/fork", sessionId=session_id, entryId=b, scope=scope, cwd="/q")
            assert fork["parentSession"] == str(scene.files()[0])
            assert fork["cwd"] == "/q"
            assert scene.files()[0].read_bytes() == before
            entries = (await client.call("session/entries", sessionId=fork["sessionId"]))["entries"]
            if scope == "tree":
                assert fork["leafId"] == b
                assert Path(fork["path"]).read_bytes().splitlines()[1:] == before.splitlines()[1:]
            else:
                assert [entry["type"] for entry in entries] == ["message", "message", "label"]
                assert entries[2]["targetId"] == a
            again = await client.call("session/fork", sessionId=session_id, entryId=a, position="before", id="again")
            assert (again["sessionId"], again["entryCount"], again["editorText"]) == ("again", 0, "a")
            with pytest.raises(Refused) as refused:
                await client.call("session/fork", sessionId=session_id, id="again")
            assert refused.value.reason == "sessionExists"

    asyncio.run(main())


def test_two_forks_to_one_id_at_a_time(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, _ = await conversation(client)
            asked = [client.ask("session/fork", {"sessionId": session_id, "id": "same"}) for _ in range(4)]
            answers = await asyncio.gather(*asked)
            assert sorted("result" in answer for answer in answers) == [False, False, False, True]
            reasons = {answer["error"]["data"]["reason"] for answer in answers if "error" in answer}
            assert reasons == {"sessionExists"}
            assert len(scene.files()) == 2

    asyncio.run(main())


def test_listing_in_pages(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            made = [(await conversation(client))[0] for _ in range(5)]
            unwritten = (await client.call("session/create", cwd="/q"))["sessionId"]
            await client.call("session/append", sessionId=unwritten, entries=[user("not yet")])
            seen: list[dict[str, Any]] = []
            cursor: dict[str, str] = {}
            while True:
                page = await client.call("session/list", limit=2, **cursor)
                seen += page["sessions"]
                if "nextCursor" not in page:
                    break
                cursor = {"cursor": page["nextCursor"]}
            assert {info["sessionId"] for info in seen} == {*made, unwritten}
            assert len(seen) == 6
            mine = [info for info in seen if info["sessionId"] == unwritten]
            assert (mine[0]["persisted"], mine[0]["path"], mine[0]["firstMessage"]) == (False, None, "not yet")
            assert [info["modified"] for info in seen] == sorted((i["modified"] for i in seen), reverse=True)
            only = await client.call("session/list", cwd="/q")
            assert [info["sessionId"] for info in only["sessions"]] == [unwritten]
            for bad in ({"limit": 0}, {"limit": 5000}, {"cursor": "nonsense"}):
                with pytest.raises(Refused) as refused:
                    await client.call("session/list", **bad)
                assert refused.value.data["path"] == next(iter(bad))

    asyncio.run(main())


def test_deleting(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(scene.path / "data"))

    async def main() -> None:
        async with scene.running():
            client, other = await scene.client("a"), await scene.client("b")
            session_id, _ = await conversation(client)
            await other.call("session/open", sessionId=session_id)
            with pytest.raises(Refused) as refused:
                await client.call("session/delete", sessionId=session_id)
            assert refused.value.reason == "busy"
            await other.call("session/close", sessionId=session_id)
            client.log.clear()
            await client.call("session/delete", sessionId=session_id)
            assert [value.get("method", "answer") for value in client.log] == ["answer", "session/deleted"]
            assert scene.files() == []
            with pytest.raises(Refused) as refused:
                await client.call("session/append", sessionId=session_id, entries=[user()])
            assert refused.value.reason == "sessionNotFound"

    asyncio.run(main())


def test_a_damaged_file_is_refused_checked_repaired_and_opened(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, (a, _b, _c, d) = await conversation(client)
            await client.call("session/close", sessionId=session_id)
            (path,) = scene.files()
            lines = path.read_bytes().split(b"\n")
            lines[2] = lines[2][:40]
            path.write_bytes(b"\n".join(lines))
            damaged = path.read_bytes()
            with pytest.raises(Refused) as refused:
                await client.call("session/open", sessionId=session_id)
            assert (refused.value.code, refused.value.reason) == (1003, "sessionCorrupted")
            assert refused.value.data["recoverable"] is True
            assert Path(refused.value.data["copy"]).read_bytes() == damaged
            report = await client.call("session/check", path=str(path))
            assert (report["opens"], report["sessionId"]) == (False, session_id)
            assert "notJson" in {damage["kind"] for damage in report["damage"]}
            assert path.read_bytes() == damaged
            state = await client.call("session/open", sessionId=session_id, recover="skip")
            assert (state["entryCount"], state["leafId"]) == (3, d)
            other = await scene.client("who has not said skip")
            for method, more in (
                ("session/open", {}),
                ("session/append", {"entries": [user()]}),
                ("session/entries", {}),
                ("session/subscribe", {}),
                ("session/delete", {}),
            ):
                with pytest.raises(Refused) as refused:
                    await other.call(method, sessionId=session_id, **more)
                assert (refused.value.reason, refused.value.data["recoverable"]) == ("sessionCorrupted", True), method
            copied = await client.call("session/fork", sessionId=session_id, scope="tree")
            await client.call("session/entries", sessionId=copied["sessionId"])
            await client.call("session/delete", sessionId=copied["sessionId"])
            assert (await client.call("session/path", sessionId=session_id))["entryIds"] != [a]
            with pytest.raises(Refused) as refused:
                await client.call("session/repair", path=str(path))
            assert refused.value.reason == "busy"
            await client.call("session/close", sessionId=session_id)
            assert path.read_bytes() == damaged
            repaired = await client.call("session/repair", path=str(path))
            assert Path(repaired["originalKeptAt"]).read_bytes() == damaged
            assert (await client.call("session/open", sessionId=session_id))["entryCount"] == 3

    asyncio.run(main())


def test_pages_of_entries_and_of_the_tree(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pi_daemon.engine.pages.NODES", 7)

    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, _ = await conversation(client)
            for n in range(20):
                await client.call("session/append", sessionId=session_id, entries=[user(str(n))])
            ids = (await client.call("session/path", sessionId=session_id))["entryIds"]
            seen: list[str] = []
            since: dict[str, str] = {}
            while True:
                page = await client.call("session/entries", sessionId=session_id, limit=7, **since)
                seen += [entry["id"] for entry in page["entries"]]
                if "nextSince" not in page:
                    break
                since = {"since": page["nextSince"]}
            assert seen == ids
            named = await client.call("session/entries", sessionId=session_id, ids=[ids[5], ids[2], ids[5]])
            assert [entry["id"] for entry in named["entries"]] == [ids[2], ids[5]]
            nodes: list[str] = []
            cursor: dict[str, str] = {}
            while True:
                page = await client.call("session/tree", sessionId=session_id, filter="all", **cursor)
                nodes += [node["id"] for node in page["nodes"]]
                if "nextCursor" not in page:
                    break
                # Another client goes on appending: the pages are of the tree as it was.
                await client.call("session/append", sessionId=session_id, entries=[user("more")])
                cursor = {"cursor": page["nextCursor"]}
            assert nodes == ids
            for bad in ({"limit": 0}, {"limit": 10**6}, {"ids": [ids[0]], "since": ids[0]}):
                with pytest.raises(Refused) as refused:
                    await client.call("session/entries", sessionId=session_id, **bad)
                assert refused.value.reason == "invalidParams"
            with pytest.raises(Refused) as refused:
                await client.call("session/tree", sessionId=session_id, cursor="nonsense")
            assert refused.value.data["path"] == "cursor"

    asyncio.run(main())


def test_a_session_that_is_never_written(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client, other = await scene.client("a"), await scene.client("b")
            session_id, (_a, b, _c, _d) = await conversation(client, persist="never")
            state = await other.call("session/open", sessionId=session_id)
            assert (state["persisted"], state["path"], state["entryCount"]) == (False, None, 4)
            fork = await client.call("session/fork", sessionId=session_id, entryId=b)
            assert (fork["persisted"], fork["entryCount"], fork["parentSession"]) == (False, 2, None)
            tree = await client.call("session/fork", sessionId=session_id, entryId=b, scope="tree")
            assert (tree["entryCount"], tree["leafId"]) == (4, b)
            await client.call("session/close", sessionId=session_id)
            await other.call("session/close", sessionId=session_id)
            assert scene.files() == []
            with pytest.raises(Refused) as refused:
                await other.call("session/open", sessionId=session_id)
            assert refused.value.reason == "sessionNotFound"

    asyncio.run(main())
