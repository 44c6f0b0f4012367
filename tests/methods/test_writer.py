"""session/requestWriter: who holds a session for writing, and what is said of one who doesn't let go."""

from __future__ import annotations

import asyncio

import pytest

from pi_daemon.session.errors import WriterBusy
from pi_daemon.storage.protocols import Owner
from tests.methods.conftest import Refused, Scene, assistant, user

OWNER = Owner(pid=4711, host="elsewhere", since="2026-01-01T00:00:00.000Z", client="editor", contact="/its/socket")


@pytest.mark.parametrize("contact", [None, "/its/socket"])
def test_one_that_was_asked_in_vain_is_not_to_be_asked(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, contact: str | None
) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id = (await client.call("session/create", cwd="/p"))["sessionId"]
            await client.call("session/append", sessionId=session_id, entries=[user(), assistant()])
            session = scene.daemon.hub.loaded(session_id)
            assert session is not None
            await client.call("session/requestWriter", sessionId=session_id, release=True)

            async def owner() -> Owner:
                return Owner(OWNER.pid, OWNER.host, OWNER.since, OWNER.client, contact)

            async def refuse(*_: object) -> None:
                raise WriterBusy("close the session there, or ask for it", owner={"pid": 4711, "host": "elsewhere"})

            monkeypatch.setattr(session, "writer", owner)
            monkeypatch.setattr(session, "take_writer", refuse)
            scene.daemon.shared.ask_owner = refuse
            with pytest.raises(Refused) as refused:
                await client.call("session/requestWriter", sessionId=session_id)
            assert (refused.value.reason, refused.value.data["owner"]["pid"]) == ("writerBusy", 4711)
            assert ("ask for it" in str(refused.value)) is (contact is None)
            assert ("when it was asked" in str(refused.value)) is (contact is not None)

    asyncio.run(main())
