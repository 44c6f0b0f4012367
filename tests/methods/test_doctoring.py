"""daemon/doctor on the whole daemon: what it mends, what it leaves, and that it holds nobody up."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.methods.conftest import Scene, user

OLD = time.time() - 10_000


def write(path: Path, session_id: str, more: bytes = b"") -> Path:
    entry = {"type": "message", "id": "a", "parentId": None, "timestamp": "2026-01-01T00:00:00.000Z"}
    message = {"role": "user", "content": "hello", "timestamp": 1}
    header = {"type": "session", "version": 3, "id": session_id, "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/p"}
    path.write_bytes(
        b"".join(json.dumps(one).encode() + b"\n" for one in (header, entry | {"message": message})) + more
    )
    os.utime(path, (OLD, OLD))
    return path


def everything(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def by_name(found: Any) -> dict[str, Any]:
    return {Path(one["path"]).name: one for one in found["findings"]}


def test_nothing_changes_without_fix_and_nothing_is_lost_with_it(scene: Scene) -> None:
    torn = write(scene.sessions / "torn.jsonl", "torn", b'{"half')
    broken = write(scene.sessions / "broken.jsonl", "broken", b"no JSON\n")
    left = write(scene.sessions / ".x.jsonl.0123abcd", "left")
    write(scene.sessions / "one.jsonl", "same")
    write(scene.sessions / "two.jsonl", "same")
    (scene.sessions / "empty.jsonl").touch()
    write(scene.sessions / "notes.txt", "none")

    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            before = everything(scene.sessions)
            found = await client.call("daemon/doctor", workDoneToken="t")
            assert everything(scene.sessions) == before
            assert (found["files"], found["problems"], found["leftOut"]) == (5, 5, 0)
            rows = by_name(found)
            assert {name: (row["kind"], row["repair"], row["status"]) for name, row in rows.items()} == {
                "torn.jsonl": ("halfWritten", "repair", "found"),
                "broken.jsonl": ("damaged", "repair", "found"),
                ".x.jsonl.0123abcd": ("leftover", "putAway", "found"),
                "one.jsonl": ("duplicated", None, "found"),
                "empty.jsonl": ("empty", None, "found"),
                "notes.txt": ("foreign", None, "found"),
            }
            told = [one["params"]["value"]["kind"] for one in client.told if one["method"] == "$/progress"]
            assert (told[0], told[-1]) == ("begin", "end")
            fixed = await client.call("daemon/doctor", fix=True)
            assert fixed["problems"] == 2
            for path in (torn, broken, left):
                row = by_name(fixed)[path.name]
                assert row["status"] == "fixed" and Path(row["keptAt"]).read_bytes() == before[str(path)][0]
                assert Path(row["keptAt"]).is_relative_to(scene.path / "state")
            assert not left.exists()
            assert torn.read_bytes() == before[str(torn)][0].removesuffix(b'{"half')
            untouched = {name for name in before if Path(name) not in (torn, broken, left)}
            after = everything(scene.sessions)
            assert {name: after[name] for name in untouched} == {name: before[name] for name in untouched}
            again = await client.call("daemon/doctor")
            assert {one["kind"] for one in again["findings"]} == {"duplicated", "empty", "foreign"}

    asyncio.run(main())


def test_what_somebody_has_open_or_has_just_written_is_skipped(scene: Scene) -> None:
    opened = write(scene.sessions / "open.jsonl", "open", b"no JSON\n")
    fresh = write(scene.sessions / "fresh.jsonl", "fresh", b'{"half')
    idle = write(scene.sessions / "idle.jsonl", "idle", b"no JSON\n")
    os.utime(fresh)

    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            await client.call("session/open", sessionId="open")
            await client.call("session/stats", sessionId="idle")
            rows = by_name(await client.call("daemon/doctor", fix=True))
            assert (rows["open.jsonl"]["status"], rows["fresh.jsonl"]["status"]) == ("skipped", "skipped")
            assert "open" in rows["open.jsonl"]["outcome"] and "minute" in rows["fresh.jsonl"]["outcome"]
            assert rows["idle.jsonl"]["status"] == "fixed" and b"no JSON" not in idle.read_bytes()
            assert b"no JSON" in opened.read_bytes() and b"half" in fresh.read_bytes()
            await client.call("session/append", sessionId="open", entries=[user()])

    asyncio.run(main())


def test_it_can_be_cancelled_between_two_files(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [write(scene.sessions / f"{number}.jsonl", f"s{number}", b"no JSON\n") for number in range(3)]

    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            repair, begun, on = scene.daemon.hub.repair, asyncio.Event(), asyncio.Event()

            async def slow(path: str) -> Any:
                begun.set()
                await on.wait()
                return await repair(path)

            monkeypatch.setattr(scene.daemon.hub, "repair", slow)
            answer = client.ask("daemon/doctor", {"fix": True})
            await begun.wait()
            number = next(id for id, future in client._waiting.items() if future is answer)
            cancel = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": number}}
            client.connection.receive(json.dumps(cancel).encode())
            await client.call("daemon/status")
            on.set()
            assert (await answer)["error"]["data"]["reason"] == "cancelled"
            assert [b"no JSON" in path.read_bytes() for path in paths] == [False, True, True]

    asyncio.run(main())


def test_others_are_served_meanwhile(scene: Scene) -> None:
    for number in range(300):
        write(scene.sessions / f"{number}.jsonl", f"s{number}")

    async def main() -> None:
        async with scene.running():
            client, other = await scene.client(), await scene.client()
            answer = client.ask("daemon/doctor", {"workDoneToken": 1})
            await other.call("daemon/status")
            assert not answer.done()
            assert (await answer)["result"]["files"] == 300

    asyncio.run(main())
