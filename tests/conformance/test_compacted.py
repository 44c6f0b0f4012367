"""Sessions that the daemon has compacted: pi opens them, and builds the same contexts."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.conformance.sessions import Ask, Generate, Session, as_javascript
from tests.conformance.test_reference import REAL_SESSIONS, agree
from tests.methods.conftest import Refused, Scene, assistant, user

pytestmark = pytest.mark.timeout(600)

SEEDS = range(900, 912)


def compacted(directory: Path, files: list[Path]) -> tuple[list[Path], int]:
    """Copies of the files: each is compacted, goes on, is compacted again, and left for another branch with a summary.
    And how many compactions that made."""
    made = 0

    async def work() -> list[Path]:
        nonlocal made
        scene = Scene(directory)
        for file in files:
            (scene.sessions / file.name).write_bytes(file.read_bytes())
        async with scene.running():
            client = await scene.client()
            for file in files:
                path = scene.sessions / file.name
                try:
                    state = await client.call("session/open", path=str(path))
                except Refused:
                    continue
                session_id = state["sessionId"]
                for number in range(2):
                    await client.call(
                        "session/append", sessionId=session_id, entries=[user(f"Go on {number}"), assistant()]
                    )
                    try:
                        await client.call("session/compact", sessionId=session_id, keepRecentTokens=20)
                        made += 1
                    except Refused as refused:
                        assert refused.reason == "nothingToCompact", refused
                entries = (await client.call("session/path", sessionId=session_id))["entryIds"]
                middle = entries[len(entries) // 2]
                await client.call(
                    "session/moveLeaf", sessionId=session_id, entryId=middle, summarize=True, label="back"
                )
                await client.call("session/append", sessionId=session_id, entries=[user("On another branch")])
                context = await client.call("session/context", sessionId=session_id)
                (directory / f"{file.name}.context").write_text(json.dumps(context["messages"]))
        return [scene.sessions / file.name for file in files if (directory / f"{file.name}.context").exists()]

    return asyncio.run(work()), made


def compare(directory: Path, files: list[Path], ask: Ask) -> None:
    for file, theirs in zip(files, ask(files), strict=True):
        session = Session(file.read_bytes())
        agree(session, theirs)
        leaf = theirs["at"][theirs["leaf"]]
        values = [as_javascript(theirs["values"][number]) for number in leaf["messages"]]
        ours = json.loads((directory / f"{file.name}.context").read_text())
        assert [as_javascript(message) for message in ours] == values, file.name


def test_random_sessions(tmp_path: Path, generate: Generate, ask: Ask) -> None:
    files, made = compacted(tmp_path, generate(tmp_path, SEEDS))
    assert len(files) == len(SEEDS) and made >= len(SEEDS)
    compare(tmp_path, files, ask)


def test_real_sessions(tmp_path: Path, ask: Ask) -> None:
    if not REAL_SESSIONS.is_dir():
        pytest.skip(f"no real sessions at {REAL_SESSIONS}")
    files, made = compacted(tmp_path, sorted(REAL_SESSIONS.glob("real-*.jsonl")))
    assert len(files) > 1 and made > 1
    compare(tmp_path, files, ask)
