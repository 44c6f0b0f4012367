"""Compactions and branch summaries as clients see them: who is asked, where they land, what others hear meanwhile."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from pi_daemon.compaction.summarizing import MOST_CHARACTERS
from pi_daemon.engine import landing, planning
from pi_daemon.engine.live import LiveSession
from pi_daemon.rpc.limits import Limits
from tests.methods.conftest import Client, Refused, Scene, assistant, user

SUMMARY = "## Goal\n- Build src/main.py\n"
LONG = "word " * 400


async def talked(client: Client, turns: int = 6, **options: Any) -> tuple[str, list[str]]:
    """A session of so many turns of some 500 tokens each, and the ids of its entries."""
    state = await client.call(
        "session/create", cwd="/p", persist="immediate", options={"keepRecentTokens": 800, **options}
    )
    ids: list[str] = []
    for number in range(turns):
        reply = await client.call(
            "session/append",
            sessionId=state["sessionId"],
            entries=[user(f"Request {number}: {LONG}"), assistant(f"Done {number}", tokens=600 * (number + 1))],
        )
        ids += [entry["id"] for entry in reply["entries"]]
    return state["sessionId"], ids


def calling(call_id: str = "t1", **more: Any) -> dict[str, Any]:
    content = [{"type": "toolCall", "id": call_id, "name": "bash", "arguments": {"command": "make"}}]
    message = {"role": "assistant", "content": content, "provider": "p", "model": "m", "stopReason": "toolUse"}
    return {"type": "message", "message": message, **more}


def result(call_id: str = "t1") -> dict[str, Any]:
    content = [{"type": "text", "text": "ok"}]
    message = {"role": "toolResult", "toolCallId": call_id, "toolName": "bash", "content": content, "isError": False}
    return {"type": "message", "message": message}


def lines(scene: Scene) -> list[dict[str, Any]]:
    return [json.loads(line) for line in scene.files()[0].read_text().splitlines()]


def statuses(client: Client) -> list[tuple[str, str | None]]:
    told = [v["params"] for v in client.told if v["method"] == "session/compaction"]
    return [(one["status"], one.get("reason")) for one in told]


def test_a_plan_writes_nothing_and_says_what_would_be_done(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, ids = await talked(client)
            before = scene.files()[0].read_bytes()
            plan = await client.call("session/compactionPlan", sessionId=session_id, requests=True, contextWindow=4000)
            assert plan["summarizedEntryIds"] == ids[: len(plan["summarizedEntryIds"])]
            assert plan["firstKeptEntryId"] in ids
            assert plan["firstKeptEntryId"] not in plan["summarizedEntryIds"] + plan["prefixEntryIds"]
            assert (plan["tokensBefore"], plan["shouldCompact"], plan["summarizer"]) == (3600, True, "extractive")
            assert 0 < plan["tokensKept"] < plan["tokensBefore"]
            assert "Request 0" in plan["requests"][0]["conversation"]
            assert scene.files()[0].read_bytes() == before
            assert (plan["keepRecentTokens"], plan["reserveTokens"]) == (800, 16384)
            with pytest.raises(Refused) as refused:
                await client.call("session/compactionPlan", sessionId=session_id, keepRecentTokens=100_000)
            assert refused.value.reason == "nothingToCompact"

    asyncio.run(main())


def test_a_compaction_is_one_entry_more(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client, panel = await scene.client(), await scene.client("panel")
            session_id, ids = await talked(client)
            await panel.call("session/subscribe", sessionId=session_id)
            before = scene.files()[0].read_bytes()
            done = await client.call("session/compact", sessionId=session_id)
            assert scene.files()[0].read_bytes().startswith(before)
            entry = lines(scene)[-1]
            assert (entry["type"], entry["id"], entry["parentId"]) == ("compaction", done["entryId"], ids[-1])
            assert (entry["summary"], entry["details"]) == (done["summary"], done["details"])
            assert entry["firstKeptEntryId"] == done["firstKeptEntryId"]
            assert done["tokensAfter"] < done["tokensBefore"] == 3600
            assert (done["summarizer"], done["durability"]) == ("extractive", "written")
            assert 0 < done["retention"]["score"] <= done["retention"]["scoreAfter"] <= 1
            context = await client.call("session/context", sessionId=session_id)
            assert context["messages"][0] == {**context["messages"][0], "role": "compactionSummary"}
            assert context["compactionId"] == done["entryId"]
            told = await panel.heard("session/compacted")
            assert told["retention"] == entry["details"]["retention"] == done["retention"]
            assert (told["cause"], told["origin"]["name"]) == ("compact", "editor")
            moved = await panel.heard("session/leafChanged", leafId=done["entryId"])
            assert moved["cause"] == "compact"
            await panel.heard("session/compaction", status="completed")
            assert statuses(panel) == [("started", None), ("completed", None)]
            revisions = [v["params"]["revision"] for v in panel.told if v["params"].get("sessionId") == session_id]
            assert revisions == sorted(revisions)
            with pytest.raises(Refused) as refused:
                await client.call("session/compact", sessionId=session_id)
            assert refused.value.reason == "nothingToCompact"

    asyncio.run(main())


def test_a_summary_of_the_client_s_own(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, _ = await talked(client)
            for bad in ("", "  \n"):
                with pytest.raises(Refused) as refused:
                    await client.call("session/compact", sessionId=session_id, summary=bad)
                assert refused.value.data["path"] == "summary"
            with pytest.raises(Refused) as refused:
                await client.call("session/compact", sessionId=session_id, summary="We talked.", retention="refuse")
            assert refused.value.reason == "summarizerFailed"
            assert refused.value.data["retention"]["missing"]
            done = await client.call("session/compact", sessionId=session_id, summary="We talked.", retention="report")
            assert (done["summary"], done["summarizer"]) == ("We talked.", "request")
            assert done["retention"]["missing"]

    asyncio.run(main())


def test_what_a_bad_summary_lacks_is_added(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, _ = await talked(client)
            done = await client.call("session/compact", sessionId=session_id, summary="We talked.")
            assert done["summary"].startswith("We talked.")
            assert "Critical Context" in done["summary"]
            assert done["retention"]["scoreAfter"] > done["retention"]["score"]

    asyncio.run(main())


def test_a_client_makes_the_summary(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client, model = await scene.client(), await scene.client("model", summarizer=True)
            session_id, _ = await talked(client)
            asked = client.ask("session/compact", {"sessionId": session_id, "instructions": "Mind the tests"})
            request = await model.asked("summarizer/summarize")
            assert request["params"]["kind"] == "first"
            assert "Request 0" in request["params"]["conversation"]
            assert request["params"]["instructions"] == "Mind the tests"
            assert "Mind the tests" in request["params"]["prompt"]
            usage = {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 3}
            model.answer(request, result={"summary": SUMMARY, "usage": usage, "model": "big"})
            done = (await asked)["result"]
            assert (done["summarizer"], done["model"]) == ("client", "big")
            assert done["summary"].startswith(SUMMARY.strip())
            assert lines(scene)[-1]["usage"] == usage

    asyncio.run(main())


@pytest.mark.parametrize("text", ["I'm sorry, I can't help with that.", "<think>hm</think>", "## Goal\n(none)\n", "ok"])
def test_what_is_no_summary_is_not_taken_for_one(scene: Scene, text: str) -> None:
    async def main() -> None:
        async with scene.running():
            client, model = await scene.client(), await scene.client("model", summarizer=True)
            session_id, _ = await talked(client)
            before = scene.files()[0].read_bytes()
            asked = client.ask("session/compact", {"sessionId": session_id})
            model.answer(await model.asked("summarizer/summarize"), result={"summary": text})
            assert (await asked)["error"]["data"]["reason"] == "summarizerFailed"
            assert scene.files()[0].read_bytes() == before

    asyncio.run(main())


def test_the_thinking_before_a_summary_is_left_out(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client, model = await scene.client(), await scene.client("model", summarizer=True)
            session_id, _ = await talked(client)
            asked = client.ask("session/compact", {"sessionId": session_id})
            answer = f"<think>What do they want?</think>\n```markdown\n{SUMMARY}```"
            model.answer(await model.asked("summarizer/summarize"), result={"summary": answer})
            summary = (await asked)["result"]["summary"]
            assert summary.startswith(SUMMARY.strip()) and "What do they want" not in summary

    asyncio.run(main())


def test_the_one_who_asks_is_asked_first(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            other = await scene.client("other", summarizer=True)
            client = await scene.client(summarizer=True)
            session_id, _ = await talked(client)
            asked = client.ask("session/compact", {"sessionId": session_id})
            client.answer(await client.asked("summarizer/summarize"), result={"summary": SUMMARY})
            assert "result" in await asked
            assert "summarizer/summarize" not in other.told_methods()

    asyncio.run(main())


@pytest.mark.parametrize("how", ["leaves", "error", "empty", "nonsense"])
def test_another_client_takes_over(scene: Scene, how: str) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            first = await scene.client("first", summarizer=True)
            session_id, _ = await talked(client)
            asked = client.ask("session/compact", {"sessionId": session_id})
            request = await first.asked("summarizer/summarize")
            second = await scene.client("second", summarizer=True)  # has come meanwhile
            if how == "leaves":
                first.connection.lost()
            elif how == "error":
                first.answer(request, error={"code": -32603, "message": "no quota"})
            else:
                first.answer(request, result={"summary": " "} if how == "empty" else {"text": 1})
            second.answer(await second.asked("summarizer/summarize"), result={"summary": SUMMARY})
            assert "result" in await asked

    asyncio.run(main())


def test_a_client_that_takes_too_long_is_told_so(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            scene.daemon.config = type(scene.daemon.config)(limits=Limits(summarizer_seconds=0.01))
            model = await scene.client("model", summarizer=True)
            client = await scene.client()
            session_id, _ = await talked(client)
            with pytest.raises(Refused, match="took too long") as refused:
                await client.call("session/compact", sessionId=session_id)
            assert refused.value.reason == "summarizerFailed"
            request = await model.asked("summarizer/summarize")
            assert (await model.heard("$/cancelRequest"))["id"] == request["id"]
            assert lines(scene)[-1]["type"] == "message"
            assert statuses(client)[-1] == ("failed", "summarizerFailed")

    asyncio.run(main())


def test_appends_go_on_meanwhile_and_it_lands_at_the_leaf(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client, model = await scene.client(), await scene.client("model", summarizer=True)
            session_id, ids = await talked(client)
            asked = client.ask("session/compact", {"sessionId": session_id})
            request = await model.asked("summarizer/summarize")
            reply = await client.call("session/append", sessionId=session_id, entries=[user("meanwhile")])
            await client.call("session/label", sessionId=session_id, entryId=ids[0], label="l")
            leaf = (await client.call("session/path", sessionId=session_id))["leafId"]
            model.answer(request, result={"summary": SUMMARY})
            done = (await asked)["result"]
            assert lines(scene)[-1]["parentId"] == leaf
            context = await client.call("session/context", sessionId=session_id)
            assert context["sources"][0] == done["entryId"]
            assert context["sources"][-1] == reply["entries"][0]["id"]

    asyncio.run(main())


@pytest.mark.parametrize(
    ("meanwhile", "reason"), [("move", "leafMoved"), ("compaction", "superseded"), ("edit", "superseded")]
)
def test_what_makes_it_untrue_cancels_it(scene: Scene, meanwhile: str, reason: str) -> None:
    async def main() -> None:
        async with scene.running():
            client, model = await scene.client(), await scene.client("model", summarizer=True)
            session_id, ids = await talked(client)
            asked = client.ask("session/compact", {"sessionId": session_id})
            request = await model.asked("summarizer/summarize")
            if meanwhile == "move":
                await client.call("session/moveLeaf", sessionId=session_id, entryId=ids[3])
            elif meanwhile == "edit":
                await client.call("session/editContext", sessionId=session_id, targetId=ids[1], replacement=None)
            else:
                draft = {"type": "compaction", "summary": "s", "firstKeptEntryId": ids[-1], "tokensBefore": 1}
                await client.call("session/append", sessionId=session_id, entries=[draft])
            before = scene.files()[0].read_bytes()
            model.answer(request, result={"summary": SUMMARY})
            answer = await asked
            assert answer["error"]["data"]["reason"] == reason
            assert scene.files()[0].read_bytes() == before
            assert statuses(client) == [("started", None), ("cancelled", reason)]

    asyncio.run(main())


def test_an_edit_of_what_is_kept_does_no_harm(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client, model = await scene.client(), await scene.client("model", summarizer=True)
            session_id, ids = await talked(client)
            asked = client.ask("session/compact", {"sessionId": session_id})
            request = await model.asked("summarizer/summarize")
            await client.call("session/editContext", sessionId=session_id, targetId=ids[-1], replacement=None)
            model.answer(request, result={"summary": SUMMARY})
            assert "result" in await asked

    asyncio.run(main())


def test_none_lands_between_a_call_and_its_result(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client, model = await scene.client(), await scene.client("model", summarizer=True)
            session_id, _ = await talked(client)
            asked = client.ask("session/compact", {"sessionId": session_id, "workDoneToken": "w"})
            request = await model.asked("summarizer/summarize")
            await client.call("session/append", sessionId=session_id, entries=[calling("t1")])
            model.answer(request, result={"summary": SUMMARY})
            while not any("tool call" in v["params"].get("value", {}).get("message", "") for v in client.told):
                await client.changed()
            await client.call("session/label", sessionId=session_id, entryId=lines(scene)[-1]["id"], label="l")
            assert not asked.done()
            reply = await client.call("session/append", sessionId=session_id, entries=[result("t1")])
            assert "result" in await asked
            assert lines(scene)[-1]["parentId"] == reply["leafId"]

    asyncio.run(main())


def test_a_call_that_was_given_up_on_holds_nothing_up(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, _ = await talked(client)
            await client.call("session/append", sessionId=session_id, entries=[calling("t1"), user("Go on")])
            assert await client.call("session/compact", sessionId=session_id)

    asyncio.run(main())


def test_a_file_that_was_replaced_meanwhile_supersedes_it(scene: Scene) -> None:
    """The ids may be there again, but what was to be kept isn't."""

    async def main() -> None:
        async with scene.running():
            client, model = await scene.client(), await scene.client("model", summarizer=True)
            session_id, _ = await talked(client)
            kept = (await client.call("session/compactionPlan", sessionId=session_id))["firstKeptEntryId"]
            asked = client.ask("session/compact", {"sessionId": session_id})
            request = await model.asked("summarizer/summarize")
            path = scene.files()[0]
            entries = lines(scene)
            gone = next(entry for entry in entries if entry["id"] == kept)
            left = [entry for entry in entries if entry is not gone]
            for entry in left:
                if entry.get("parentId") == kept:
                    entry["parentId"] = gone["parentId"]
            staged = path.with_suffix(".staged")
            staged.write_text("".join(json.dumps(entry) + "\n" for entry in left))
            staged.replace(path)
            model.answer(request, result={"summary": SUMMARY})
            assert (await asked)["error"]["data"]["reason"] == "superseded"
            assert lines(scene) == left

    asyncio.run(main())


def test_an_edit_of_the_summary_that_is_updated_supersedes_it(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client, model = await scene.client(), await scene.client("model", summarizer=True)
            session_id, _ = await talked(client)
            first = await client.call("session/compact", sessionId=session_id, summary="## Goal\n- The old one")
            for number in range(4):
                entries = [user(f"Request {number}: {LONG}"), assistant(tokens=600 * (number + 1))]
                await client.call("session/append", sessionId=session_id, entries=entries)
            asked = client.ask("session/compact", {"sessionId": session_id})
            request = await model.asked("summarizer/summarize")
            assert "The old one" in request["params"]["previousSummary"]
            edit = {"type": "context_edit", "id": "e0e0e0e0", "parentId": lines(scene)[-1]["id"], "replacement": None}
            with scene.files()[0].open("a") as file:  # only others do that
                file.write(json.dumps({**edit, "targetId": first["entryId"], "timestamp": "2026-01-01"}) + "\n")
            model.answer(request, result={"summary": SUMMARY})
            assert (await asked)["error"]["data"]["reason"] == "superseded"

    asyncio.run(main())


@pytest.mark.parametrize("when", ["plan", "brief"])
def test_a_file_that_is_replaced_while_it_is_read_supersedes_it(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """Where lines lay before, there are others."""
    read = getattr(planning, when)

    async def replaced(session: LiveSession, *rest: Any) -> Any:
        path = scene.files()[0]
        staged = path.with_suffix(".staged")
        staged.write_text("".join(json.dumps({**entry, "more": "x"}) + "\n" for entry in lines(scene)))
        staged.replace(path)
        await session.look()
        return await read(session, *rest)

    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, _ = await talked(client)
            monkeypatch.setattr(planning, when, replaced)
            answer = await client.ask("session/compact", {"sessionId": session_id})
            assert answer["error"]["data"]["reason"] == "superseded"

    asyncio.run(main())


def test_a_summary_that_nobody_could_read_is_none(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client, model = await scene.client(), await scene.client("model", summarizer=True)
            session_id, _ = await talked(client)
            huge = "x" * (MOST_CHARACTERS + 1)
            asked = client.ask("session/compact", {"sessionId": session_id})
            model.answer(await model.asked("summarizer/summarize"), result={"summary": huge})
            assert (await asked)["error"]["data"]["reason"] == "summarizerFailed"
            with pytest.raises(Refused) as refused:
                await client.call("session/compact", sessionId=session_id, summary=huge)
            assert refused.value.data["path"] == "summary"

    asyncio.run(main())


def test_a_branch_of_a_file_that_was_replaced_meanwhile_is_not_told_of(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client, model = await scene.client(), await scene.client("model", summarizer=True)
            session_id, ids = await talked(client)
            asked = client.ask("session/moveLeaf", {"sessionId": session_id, "entryId": ids[0], "summarize": True})
            request = await model.asked("summarizer/summarize")
            path = scene.files()[0]
            staged = path.with_suffix(".staged")
            staged.write_text(path.read_text().replace("Done 5", "Lost 5"))
            staged.replace(path)
            model.answer(request, result={"summary": SUMMARY})
            assert (await asked)["error"]["data"]["reason"] == "superseded"
            assert lines(scene)[-1]["id"] == ids[-1]

    asyncio.run(main())


def test_a_summary_of_file_lists_alone_is_none(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, _ = await talked(client)
            before = scene.files()[0].read_bytes()
            empty = {"sessionId": session_id, "summary": "<read-files>\na\n</read-files>", "retention": "report"}
            with pytest.raises(Refused) as refused:
                await client.call("session/compact", **empty)
            assert refused.value.reason == "summarizerFailed"
            assert scene.files()[0].read_bytes() == before

    asyncio.run(main())


@pytest.mark.parametrize(
    ("first", "second", "stored"),
    [
        ({"a": 1}, {"a": {"b": 1}}, {"a": 1}),
        ({"a": {"b": 1}}, {"a": 1}, {"a": {"b": 1}}),
        ({"a": 1e308}, {"a": 1e308, "b": 2}, {"a": 0, "b": 2}),
        ({"a": "x"}, {"a": 1}, {"a": 1}),
        ([1], {"a": -1}, {"a": -1}),
    ],
)
def test_whatever_clients_say_that_it_cost(scene: Scene, first: Any, second: Any, stored: Any) -> None:
    async def main() -> None:
        async with scene.running():
            client, model = await scene.client(), await scene.client("model", summarizer=True)
            session_id, _ = await talked(client, 2)
            entries = [user(LONG), *[assistant(LONG) for _ in range(5)]]
            await client.call("session/append", sessionId=session_id, entries=entries)
            asked = client.ask("session/compact", {"sessionId": session_id})
            for usage in (first, second):
                request = await model.asked("summarizer/summarize")
                model.answer(request, result={"summary": SUMMARY, "usage": usage})
            assert "result" in await asked
            assert lines(scene)[-1]["usage"] == stored

    asyncio.run(main())


def test_who_may_not_write_is_told_before_a_summary_is_made(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, _ = await talked(client)
            reader = await scene.client("reader", summarizer=True)
            await reader.call("session/open", path=str(scene.files()[0]), readOnly=True)
            move = {"entryId": None, "summarize": True, "summarizer": "model"}  # there is none, which comes later
            for method, params in (("compact", {}), ("moveLeaf", move)):
                with pytest.raises(Refused) as refused:
                    await reader.call(f"session/{method}", sessionId=session_id, **params)
                assert refused.value.reason == "readOnly"
            assert "summarizer/summarize" not in reader.told_methods()

    asyncio.run(main())


def test_a_call_without_a_result_is_given_up_on_though_nothing_comes(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, _ = await talked(client)
            await client.call("session/append", sessionId=session_id, entries=[calling("t1")])
            monkeypatch.setattr(landing, "GIVEN_UP_MS", 20)
            assert "entryId" in await client.call("session/compact", sessionId=session_id)

    asyncio.run(main())


@pytest.mark.parametrize("how", ["aborted", "error", "omitted", "replaced", "noTime", "future", "past"])
def test_calls_that_nobody_runs_are_not_waited_for(scene: Scene, how: str) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, _ = await talked(client)
            entry = calling("t1")
            if how in ("aborted", "error"):
                entry["message"]["stopReason"] = how
            (made,) = (await client.call("session/append", sessionId=session_id, entries=[entry]))["entries"]
            if how in ("omitted", "replaced"):
                content = None if how == "omitted" else {"content": "No call"}
                edit = {"sessionId": session_id, "targetId": made["id"], "replacement": content}
                await client.call("session/editContext", **edit)
            if how in ("noTime", "future", "past"):
                when = {"noTime": "garbage", "future": "2099-01-01T00:00:00.000Z", "past": "2001-01-01T00:00:00.000Z"}
                *before, last = scene.files()[0].read_text().splitlines()
                last = json.dumps({**json.loads(last), "timestamp": when[how]})
                staged = scene.files()[0].with_suffix(".staged")
                staged.write_text("\n".join([*before, last, ""]))
                staged.replace(scene.files()[0])
            plan = await client.call("session/compactionPlan", sessionId=session_id)
            assert plan["openCalls"] == []
            assert "entryId" in await client.call("session/compact", sessionId=session_id, openCalls="refuse")

    asyncio.run(main())


def test_a_branch_of_which_nothing_fits_is_left_without_a_summarizer(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, ids = await talked(client, contextWindow=16_500)
            await client.call("session/append", sessionId=session_id, entries=[user("word " * 8_000)])
            move = {"sessionId": session_id, "entryId": ids[0], "summarize": True, "summarizer": "client"}
            moved = await client.call("session/moveLeaf", **move)
            assert moved["leafId"] == ids[0] and "summaryEntryId" not in moved
            await client.call("session/append", sessionId=session_id, entries=[user("small")])
            with pytest.raises(Refused) as refused:
                await client.call("session/moveLeaf", **move)
            assert refused.value.reason == "summarizerFailed"

    asyncio.run(main())


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_a_call_without_a_result_is_refused_or_ignored_if_the_request_says_so(scene: Scene, when: str) -> None:
    async def main() -> None:
        async with scene.running():
            client, model = await scene.client(), await scene.client("model", summarizer=True)
            session_id, _ = await talked(client)
            for policy in ("refuse", "ignore"):
                if when == "before" or policy == "ignore":
                    await client.call("session/append", sessionId=session_id, entries=[calling(f"t{policy}")])
                asked = client.ask("session/compact", {"sessionId": session_id, "openCalls": policy})
                if when == "meanwhile" or policy == "ignore":
                    request = await model.asked("summarizer/summarize")
                    await client.call("session/append", sessionId=session_id, entries=[calling("later")])
                    model.answer(request, result={"summary": SUMMARY})
                answer = await asked
                if policy == "ignore":
                    assert lines(scene)[-1]["id"] == answer["result"]["entryId"]
                    continue
                assert answer["error"]["data"]["reason"] == "callOpen"
                (call,) = answer["error"]["data"]["openCalls"]
                assert call["toolName"] == "bash" and 0 < answer["error"]["data"]["leftMs"] <= landing.GIVEN_UP_MS
                assert all(line["type"] != "compaction" for line in lines(scene))
                assert not any(when == "before" for value in model.log if value.get("method") == "summarizer/summarize")
                plan = await client.call("session/compactionPlan", sessionId=session_id)
                assert plan["openCalls"] == [call]

    asyncio.run(main())


def test_one_at_a_time(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client, model = await scene.client(), await scene.client("model", summarizer=True)
            session_id, ids = await talked(client)
            asked = client.ask("session/compact", {"sessionId": session_id})
            request = await model.asked("summarizer/summarize")
            for method, params in (
                ("session/compact", {}),
                ("session/moveLeaf", {"entryId": ids[0], "summarize": True}),
                ("session/moveLeaf", {"entryId": ids[0], "summary": "s"}),
            ):
                with pytest.raises(Refused) as refused:
                    await client.call(method, sessionId=session_id, **params)
                assert refused.value.reason == "busy" and "for editor since" in str(refused.value)
            assert (await client.call("daemon/status"))["sessions"][0]["compacting"]
            model.answer(request, result={"summary": SUMMARY})
            assert "result" in await asked
            assert not (await client.call("daemon/status"))["sessions"][0]["compacting"]

    asyncio.run(main())


def test_cancelling_stops_the_model_and_writes_nothing(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client, model = await scene.client(), await scene.client("model", summarizer=True)
            session_id, _ = await talked(client)
            before = scene.files()[0].read_bytes()
            asked = client.ask("session/compact", {"sessionId": session_id})
            number = next(iter(client._waiting))
            request = await model.asked("summarizer/summarize")
            client.connection.receive(
                json.dumps({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": number}}).encode()
            )
            assert (await asked)["error"]["code"] == -32800
            assert (await model.heard("$/cancelRequest"))["id"] == request["id"]
            assert scene.files()[0].read_bytes() == before
            await client.heard("session/compaction", status="cancelled", reason="cancelled")
            model.answer(request, result={"summary": SUMMARY})  # too late, and nobody minds
            assert "entryId" in await client.call("session/compact", sessionId=session_id, summary=SUMMARY)

    asyncio.run(main())


def test_a_summarizer_that_is_not_there(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, _ = await talked(client)
            for name, reason in (("client", "summarizerFailed"), ("model", "summarizerFailed"), ("x", "invalidParams")):
                with pytest.raises(Refused) as refused:
                    await client.call("session/compact", sessionId=session_id, summarizer=name)
                assert refused.value.reason == reason
            assert statuses(client) == []

    asyncio.run(main())


def test_a_session_that_compacts_by_itself_does_so_once(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, _ = await talked(client, autoCompact=True, contextWindow=20_000)
            assert statuses(client) == []
            reply = await client.call(
                "session/append", sessionId=session_id, entries=[user("go"), assistant(tokens=4000)]
            )
            assert reply["shouldCompact"] is True
            told = await client.heard("session/compacted")
            assert told["origin"]["name"] == "editor"
            assert statuses(client)[0] == ("started", None)
            await client.heard("session/compaction", status="completed", automatic=True)
            await talked(client, turns=1)
            await client.call("session/append", sessionId=session_id, entries=[user(LONG), assistant(tokens=900)])
            await client.call("session/compact", sessionId=session_id)
            await client.heard("session/compaction", status="completed", automatic=False)

    asyncio.run(main())


def test_no_loop_where_a_summary_makes_it_no_smaller(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client, model = await scene.client(), await scene.client("model", summarizer=True)
            session_id, _ = await talked(client, autoCompact=True, contextWindow=16_400)
            huge = "x" * 8000
            request = await model.asked("summarizer/summarize")  # the window is that small
            model.answer(request, result={"summary": huge})
            await client.heard("session/compaction", status="completed")
            count = len(statuses(client))
            for number in range(5):
                reply = await client.call("session/append", sessionId=session_id, entries=[user(f"small {number}")])
                assert reply["shouldCompact"] is True
            assert len(statuses(client)) == count
            await client.call("session/append", sessionId=session_id, entries=[user(huge), assistant(tokens=9000)])
            model.answer(await model.asked("summarizer/summarize"), result={"summary": SUMMARY})
            await client.heard("session/compaction", status="completed", revision=(await _revision(client, session_id)))

    asyncio.run(main())


async def _revision(client: Client, session_id: str) -> int:
    while len([1 for status, _ in statuses(client) if status == "completed"]) < 2:
        await client.changed()
    return max(v["params"]["revision"] for v in client.told if v["method"] == "session/compaction")


def test_an_automatic_compaction_ends_with_the_daemon(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client, model = await scene.client(), await scene.client("model", summarizer=True)
            await talked(client, autoCompact=True, contextWindow=16_400)
            await model.asked("summarizer/summarize")
            before = scene.files()[0].read_bytes()
        assert scene.files()[0].read_bytes() == before

    asyncio.run(main())


def test_settings_of_pi_count_beneath_those_of_the_session(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = scene.path / "agent"
    project = scene.path / "project"
    (project / ".pi").mkdir(parents=True)
    agent.mkdir()
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(agent))
    (agent / "settings.json").write_text(
        json.dumps(
            {
                "compaction": {
                    "reserveTokens": 1,
                    "keepRecentTokens": 900,
                    "modelOverrides": {"p/m": {"reserveTokens": 2}, "q/m": {"reserveTokens": 3}},
                }
            }
        )
    )

    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            state = await client.call("session/create", cwd=str(project))
            session_id = state["sessionId"]
            assert (state["options"]["reserveTokens"], state["options"]["keepRecentTokens"]) == (1, 900)
            entries = [user(LONG), assistant(tokens=1000), user(LONG), assistant(tokens=2000), user(LONG)]
            await client.call("session/append", sessionId=session_id, entries=entries)
            plan = await client.call("session/compactionPlan", sessionId=session_id)
            assert (plan["reserveTokens"], plan["keepRecentTokens"]) == (2, 900)
            (project / ".pi" / "settings.json").write_text(json.dumps({"compaction": {"keepRecentTokens": 700}}))
            plan = await client.call("session/compactionPlan", sessionId=session_id)
            assert plan["keepRecentTokens"] == 700
            await client.call("session/configure", sessionId=session_id, keepRecentTokens=600)
            plan = await client.call("session/compactionPlan", sessionId=session_id, reserveTokens=5)
            assert (plan["reserveTokens"], plan["keepRecentTokens"]) == (5, 600)
            (project / ".pi" / "settings.json").write_text('{"compaction": {"keepRecentTokens": -1}}')
            for method in ("session/compactionPlan", "session/compact"):
                with pytest.raises(Refused) as refused:
                    await client.call(method, sessionId=session_id)
                assert refused.value.reason == "invalidSettings"
                assert refused.value.data == {
                    "reason": "invalidSettings",
                    "file": str(project / ".pi" / "settings.json"),
                    "key": "compaction.keepRecentTokens",
                }
            assert await client.call("session/append", sessionId=session_id, entries=[user("still")])

    asyncio.run(main())


def test_a_branch_that_is_left_is_summarized(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client, model = await scene.client(), await scene.client("model", summarizer=True)
            session_id, ids = await talked(client, 3)
            asked = client.ask(
                "session/moveLeaf",
                {"sessionId": session_id, "entryId": ids[2], "position": "before", "summarize": True, "label": "back"},
            )
            request = await model.asked("summarizer/summarize")
            assert request["params"]["kind"] == "branch"
            assert "Request 2" in request["params"]["conversation"]
            assert "Request 0" not in request["params"]["conversation"]
            model.answer(request, result={"summary": "Tried src/other.py.", "model": "big"})
            moved = (await asked)["result"]
            assert moved["editorText"].startswith("Request 1")
            entry = next(line for line in lines(scene) if line["type"] == "branch_summary")
            assert (entry["id"], entry["parentId"], entry["fromId"]) == (moved["summaryEntryId"], ids[1], ids[-1])
            assert entry["summary"].startswith("Tried src/other.py.")
            label = lines(scene)[-1]
            assert (label["type"], label["targetId"], label["label"]) == ("label", entry["id"], "back")

    asyncio.run(main())


def test_nothing_to_summarize_is_no_error(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, ids = await talked(client, 2)
            moved = await client.call("session/moveLeaf", sessionId=session_id, entryId=ids[-1], summarize=True)
            assert "summaryEntryId" not in moved
            moved = await client.call(
                "session/moveLeaf", sessionId=session_id, entryId=ids[-1], summarize=True, label="l"
            )
            assert lines(scene)[-1]["targetId"] == ids[-1]

    asyncio.run(main())


def test_a_leaf_that_moves_meanwhile_writes_no_branch_summary(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client, model = await scene.client(), await scene.client("model", summarizer=True)
            session_id, ids = await talked(client, 3)
            asked = client.ask("session/moveLeaf", {"sessionId": session_id, "entryId": ids[0], "summarize": True})
            request = await model.asked("summarizer/summarize")
            await client.call("session/append", sessionId=session_id, entries=[user("meanwhile")])
            before = scene.files()[0].read_bytes()
            model.answer(request, result={"summary": "Tried src/other.py."})
            assert (await asked)["error"]["data"]["reason"] == "leafMoved"
            assert scene.files()[0].read_bytes() == before

    asyncio.run(main())
