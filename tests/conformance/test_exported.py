"""An exported path is a session that the reference opens, and in which a model sees the same."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.sessions import Ask, Generate, as_javascript
from tests.methods.conftest import Scene

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SEEDS = range(101, 109)


def test_the_reference_sees_the_same_in_an_exported_path(ask: Ask, generate: Generate, tmp_path: Path) -> None:
    files = generate(tmp_path, SEEDS)
    scene = Scene(tmp_path)
    for file in files:
        shutil.copy(file, scene.sessions)
    before = dict(zip(files, ask(files), strict=True))
    made: list[tuple[Path, Path, str]] = []

    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            for file, theirs in before.items():
                session_id = (await client.call("session/open", path=str(scene.sessions / file.name)))["sessionId"]
                for leaf in theirs["at"]:
                    target = tmp_path / f"{file.stem}-{leaf}.jsonl"
                    await client.call(
                        "session/export", sessionId=session_id, format="jsonl", leafId=leaf, path=str(target)
                    )
                    made.append((file, target, leaf))
                tree = tmp_path / f"{file.stem}-tree.jsonl"
                await client.call("session/export", sessionId=session_id, format="tree", path=str(tree))
                assert tree.read_bytes() == file.read_bytes()

    asyncio.run(main())
    assert len(made) > len(files)

    def seen(answer: dict[str, Any], at: dict[str, Any]) -> Any:
        return [as_javascript(answer["values"][number]) for number in at["llm"]]

    for (file, target, leaf), theirs in zip(made, ask([target for _, target, _ in made]), strict=True):
        (at,) = theirs["at"].values()
        old = before[file]["at"][leaf]
        assert seen(theirs, at) == seen(before[file], old), target
        assert (at["model"], at["thinkingLevel"]) == (old["model"], old["thinkingLevel"])
