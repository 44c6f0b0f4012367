"""Who makes summaries, in processes of their own: clients in Python and TypeScript, a model over HTTP, the daemon."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from home import PATIENCE, Home
from pi_daemon_client import AsyncClient, ServerError, types

from tests.compaction.provider import provider
from tests.reference import reference

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]  # the first run may have to fetch Node

LONG = "word " * 400


async def talked(client: AsyncClient) -> str:
    state = await client.create_session("/p", persist="immediate", options={"keepRecentTokens": 800})
    for number in range(6):
        message = {"role": "user", "content": f"Request {number}: {LONG}", "timestamp": 1}
        answer = {"role": "assistant", "content": [{"type": "text", "text": f"Done {number}"}], "stopReason": "stop"}
        drafts = [{"type": "message", "message": message}, {"type": "message", "message": answer}]
        await client.append(state["sessionId"], drafts)
    return state["sessionId"]


async def test_a_client_in_python_makes_summaries(home: Home) -> None:
    wanted: list[types.SummarizeParams] = []

    async def summarize(params: types.SummarizeParams) -> types.SummarizeResult:
        wanted.append(params)
        return {"summary": "## Goal\n- By a client\n", "model": "mine"}

    home.json("serve", "--detach")
    async with (
        await AsyncClient.connect_unix(home.socket) as asks,
        await AsyncClient.connect_unix(home.socket, name="model", summarizer=summarize) as makes,
    ):
        session_id = await talked(asks)
        told: list[Any] = []
        done = await asks.compact(session_id, instructions="Mind the tests", progress=told.append)
        assert (done["summarizer"], done["model"]) == ("client", "mine")
        assert done["summary"].startswith("## Goal\n- By a client")
        assert [one["instructions"] for one in wanted] == ["Mind the tests"]
        assert any("model" in value.get("message", "") for value in told)
        moved = await asks.move_leaf(session_id, None, summarize=True)
        assert wanted[-1]["kind"] == "branch" and "summaryEntryId" in moved
        assert makes.connected


async def test_a_summarizer_in_python_that_fails_or_blocks(home: Home) -> None:
    def blocking(params: types.SummarizeParams) -> types.SummarizeResult:
        return {"summary": "## Goal\n- From a thread\n"}

    async def failing(params: types.SummarizeParams) -> types.SummarizeResult:
        raise RuntimeError("no quota")

    home.json("serve", "--detach")
    async with await AsyncClient.connect_unix(home.socket, summarizer=failing) as asks:
        session_id = await talked(asks)
        with pytest.raises(ServerError) as refused:
            await asks.compact(session_id)
        assert refused.value.reason == "summarizerFailed" and "RuntimeError: no quota" in str(refused.value)
        async with await AsyncClient.connect_unix(home.socket, summarizer=blocking):
            done = await asks.compact(session_id)
        assert "From a thread" in done["summary"]


async def test_a_client_in_typescript_makes_summaries_through_the_bridge(home: Home) -> None:
    node = reference().node
    script = Path(__file__).with_name("summarizer.ts")
    home.json("serve", "--detach")
    process = await asyncio.create_subprocess_exec(
        *(str(node), "--no-warnings", str(script), *home.argv("connect")),
        env=home.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE):
            assert await process.stdout.readline() == b"ready\n"
            async with await AsyncClient.connect_unix(home.socket) as asks:
                session_id = await talked(asks)
                done = await asks.compact(session_id, summarizer="client")
            assert (await process.stdout.readline()).startswith(b"asked first ")
        assert (done["summarizer"], done["model"]) == ("client", "ts")
        assert "a client in TypeScript" in done["summary"]
    finally:
        process.stdin.close()
        async with asyncio.timeout(PATIENCE):
            await process.wait()


async def test_a_model_makes_summaries(home: Home) -> None:
    with provider() as server:
        server.plan = ["429", "500", "ok"]
        environment = {"PI_DAEMON_MODEL": "openai/gpt", "PI_DAEMON_MODEL_URL": server.url, "OPENAI_API_KEY": "k3y"}
        home.json("serve", "--detach", **environment)
        async with await AsyncClient.connect_unix(home.socket) as asks:
            session_id = await talked(asks)
            done = await asks.compact(session_id)
            assert (done["summarizer"], done["model"]) == ("model", "gpt")
            assert done["summary"].startswith(server.text.strip())
            assert len(server.asked) == 3 and server.keys[-1] == "Bearer k3y"
            entry = (await asks.entries(session_id, ids=[done["entryId"]]))["entries"][0]
            assert entry["usage"]["totalTokens"] == 120
            server.plan = ["tool"]
            with pytest.raises(ServerError) as refused:
                await asks.move_leaf(session_id, None, summarize=True)
            assert refused.value.reason == "summarizerFailed"
            assert "k3y" not in home.log.read_text()


async def test_cancelling_hangs_up_on_the_model(home: Home) -> None:
    with provider() as server:
        server.plan = ["hang"]
        home.json("serve", "--detach", "--model", "local", "--model-url", server.url)
        async with await AsyncClient.connect_unix(home.socket) as asks:
            session_id = await talked(asks)
            before = next(home.sessions.iterdir()).read_bytes()
            task = asyncio.create_task(asks.compact(session_id))
            await asyncio.to_thread(server.half.wait, PATIENCE)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert await asyncio.to_thread(server.gone.wait, PATIENCE)
            assert next(home.sessions.iterdir()).read_bytes() == before
            server.plan = ["ok"]
            assert (await asks.compact(session_id))["summarizer"] == "model"


async def test_a_daemon_that_leaves_ends_the_summary_it_waits_for(home: Home) -> None:
    with provider() as server:
        server.plan = ["hang"]
        home.json(
            "serve",
            "--detach",
            "--auto-compact",
            "--context-window",
            "17000",
            "--model",
            "m",
            "--model-url",
            server.url,
        )
        async with await AsyncClient.connect_unix(home.socket, reconnect=None) as asks:
            await talked(asks)
            await asyncio.to_thread(server.half.wait, PATIENCE)
        assert home.json("stop")["stopped"]
        kinds = [json.loads(line)["type"] for line in next(home.sessions.iterdir()).read_text().splitlines()]
        assert set(kinds) == {"session", "message"}


def test_a_model_that_is_none_is_said_at_the_start(home: Home) -> None:
    told = home.json("serve", "--detach", "--model", "gpt", code=1)
    assert "openai/NAME" in told["error"]["message"]
