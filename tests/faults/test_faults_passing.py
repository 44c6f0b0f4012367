"""Sessions that come and go, one after the other: the daemon keeps nothing of those that are closed.

Objects and file descriptors are counted, not bytes: what an allocator keeps says little of that."""

from __future__ import annotations

import asyncio
import gc
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.engine.conftest import World, append, environment, user
from tests.faults.support import LONG
from tests.methods.conftest import Client, Scene
from tests.storage.support import FaultyFiles, chain, dump

SESSIONS = 2_000 if LONG else 300
WARM = SESSIONS // 3
"""After so many, everything is there that is made once."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300 if LONG else 60)]


def alive() -> Counter[str]:
    gc.collect()
    return Counter(type(one).__qualname__ for one in gc.get_objects())


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def grown(before: Counter[str], after: Counter[str]) -> dict[str, int]:
    """Kinds of which there are more by a share of the sessions in between."""
    return {name: more for name, more in (after - before).items() if more > (SESSIONS - WARM) // 10}


def put(folder: Path, number: int) -> None:
    first = {"type": "session", "version": 3, "id": f"s{number}", "timestamp": "2026-01-31T12:00:00.000Z", "cwd": "/p"}
    lines = [dump(first), *chain(*(f"e{place}" for place in range(20)))]
    (folder / f"2026-01-31T12-00-00-000Z_s{number}.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))


async def visit(client: Client, session_id: str) -> None:
    async def call(method: str, **params: Any) -> Any:
        return await client.call(f"session/{method}", sessionId=session_id, **params)

    opened = await call("open")
    await call("subscribe", since={"instanceId": opened["instanceId"], "revision": opened["revision"]})
    await call("context")
    await call("tree")
    await call("moveLeaf", entryId="e5")
    await call("context", format="llm")
    await call("requestWriter")
    await call("close")
    client.log.clear()


def test_clients_that_close_what_they_open(tmp_path: Path) -> None:
    async def main() -> None:
        scene = Scene(tmp_path)
        for number in range(SESSIONS):
            put(scene.sessions, number)
        async with scene.running():
            await scene.daemon.following.start()
            client = await scene.client()
            for number in range(WARM):
                await visit(client, f"s{number}")
            before, opened = alive(), descriptors()
            for number in range(WARM, SESSIONS):
                await visit(client, f"s{number}")
            assert grown(before, alive()) == {}
            assert descriptors() <= opened
            assert scene.daemon.hub.sessions == []
            await scene.daemon.following.stop()

    asyncio.run(main())


def test_sessions_that_were_written_to(tmp_path: Path) -> None:
    """Some seconds after they were closed, when what was written has been seen."""
    (tmp_path / "sessions").mkdir()
    world = World(tmp_path)
    world.environment = environment()

    async def main() -> None:
        system = FaultyFiles()
        async with world.hub("written", system) as hub:

            async def write(count: int) -> None:
                for _ in range(count):
                    session = await hub.create(world.header(), persist="immediate")
                    hub.subscribe(session, "alice", lambda change: None)
                    await append(session, user())
                    await hub.unsubscribe(session, "alice", close=True)
                system.time += 60
                await hub.look_for_unseen()
                system.calls.clear()

            await write(WARM)
            before, opened = alive(), descriptors()
            await write(SESSIONS - WARM)
            # The catalogue knows the header of every file that there is.
            assert grown(before, alive()).keys() <= {"tuple"}
            assert descriptors() <= opened

    asyncio.run(main())
