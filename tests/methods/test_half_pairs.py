"""Half a surrogate pair may stand wherever a session or a client has a string: in ids, names, models, directories."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.methods.conftest import Scene, assistant, user
from tests.methods.test_catalogue import followed, search

HALF = "\ud83d"


def write(path: Path, entries: list[dict[str, Any]], **header: Any) -> None:
    head = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/p", **header}
    path.write_text("".join(json.dumps(one) + "\n" for one in [head, *entries]))


def chain(*bodies: dict[str, Any], size: int = 0) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for number, body in enumerate(bodies):
        parent = made[-1]["id"] if made else None
        common = {"id": f"{HALF}{number}", "parentId": parent, "timestamp": f"2026-01-01T00:00:0{number}.000Z"}
        made.append({**common, **body, "more": "x" * size})
    return made


def test_a_client_with_such_a_name_writes(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client(f"editor {HALF}")
            state = await client.call("session/create", cwd="/p", persist="immediate")
            for text in ("one", HALF):
                await client.call("session/append", sessionId=state["sessionId"], entries=[user(text)])
            assert len((await client.call("session/entries", sessionId=state["sessionId"]))["entries"]) == 2

    asyncio.run(main())


@pytest.mark.parametrize("size", [0, 600_000])
def test_the_leaf_moves_to_such_an_id_and_is_there_again(scene: Scene, size: int) -> None:
    """In a large session too, whose heads are kept."""
    write(scene.sessions / "s.jsonl", chain(user("a"), assistant(), user("b"), size=size))

    async def main() -> None:
        for leaf in (f"{HALF}1", None, f"{HALF}0"):
            async with scene.running():
                client = await scene.client()
                state = await client.call("session/open", sessionId="s")
                session_id = state["sessionId"]
                moved = await client.call("session/moveLeaf", sessionId=session_id, entryId=leaf)
                assert moved["leafId"] == leaf
                await client.call("session/label", sessionId=session_id, entryId=f"{HALF}0", label=HALF)
                await client.call("session/moveLeaf", sessionId=session_id, entryId=leaf)
            async with scene.running():
                client = await scene.client()
                assert (await client.call("session/open", sessionId="s"))["leafId"] == leaf
                context = await client.call("session/context", sessionId="s")
                assert len(context["messages"]) == {f"{HALF}1": 2, None: 0, f"{HALF}0": 1}[leaf]

    asyncio.run(main())


def test_what_is_known_of_all_sessions_knows_these(scene: Scene) -> None:
    model = {"type": "model_change", "provider": HALF, "modelId": HALF}
    name = {"type": "session_info", "name": f"half {HALF}"}
    label = {"type": "label", "targetId": f"{HALF}0", "label": HALF}
    write(scene.sessions / "s.jsonl", chain(user(f"needle {HALF}"), model, assistant(), name, label), cwd=f"/{HALF}")

    async def main() -> None:
        for _ in range(2):  # by the file, and by what was kept of it
            async with followed(scene) as client:
                (listed,) = (await client.call("session/list"))["sessions"]
                assert listed["name"] == "half \ufffd"
                assert len((await search(client, "needle"))["hits"]) == 1
                await client.call("catalog/totals")
                await client.call("session/open", sessionId="s")
                for method in ("tree", "explain", "stats", "resumeReport", "compactionPlan"):
                    answer = await client.ask(f"session/{method}", {"sessionId": "s"})
                    assert "result" in answer or answer["error"]["data"]["reason"] == "nothingToCompact"
                exported = await client.call("session/export", sessionId="s", format="markdown")
                assert "needle" in exported["text"]

    asyncio.run(main())
