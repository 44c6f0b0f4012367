"""A client that goes while its requests are under way: nothing stays with it."""

from __future__ import annotations

import asyncio

import pytest

from tests.methods.conftest import Scene, user

TURNS = range(6)


@pytest.mark.parametrize("after", TURNS)
@pytest.mark.parametrize("method", ["open", "subscribe", "create", "fork"])
def test_a_session_that_was_being_opened_is_left(scene: Scene, method: str, after: int) -> None:
    async def main() -> None:
        async with scene.running():
            client, other = await scene.client("a"), await scene.client("b")
            session_id = (await other.call("session/create", cwd="/p", persist="immediate"))["sessionId"]
            await other.call("session/append", sessionId=session_id, entries=[user()])
            await other.call("session/close", sessionId=session_id)
            asked = {"cwd": "/p"} if method == "create" else {"sessionId": session_id}
            client.ask(f"session/{method}", asked)
            for _ in range(after):
                await asyncio.sleep(0)
            client.connection.lost()
            await client.connection.settled()
            await scene.daemon.service.settled()
            await scene.daemon.hub.settled()
            sessions = scene.daemon.hub.sessions
            assert [session.subscribers for session in sessions] == [{} for _ in sessions]
            assert all(session.log.persisted for session in sessions)
            await other.call("session/delete", sessionId=session_id)

    asyncio.run(main())
