"""An append that is repeated since its answer was lost: what is answered then is as durable as the answer says."""

from __future__ import annotations

import asyncio
import errno

import pytest

from pi_daemon.session.errors import SessionFailed
from tests.engine.conftest import World, append, user
from tests.storage.support import FaultyFiles


def test_what_was_written_by_a_killed_daemon_is_synced_before_it_is_said_to_be(world: World) -> None:
    async def main() -> None:
        async with world.hub("written") as hub:  # killed before its fdatasync, as far as the next one can tell
            made = await hub.create(world.header(), persist="immediate")
            await append(made, user(id="u1"), user(id="u2"))
        system = FaultyFiles()
        async with world.hub("synced", system) as hub:
            again = await hub.open(await hub.find(made.session_id))
            assert system.counts["fdatasync"] == 0
            outcome = await append(again, user(id="u1"), user(id="u2"))
            assert outcome.durability == "synced"
            assert system.counts["fdatasync"] == 1
            assert len(again.tree) == 2

    asyncio.run(main())


def test_a_repeated_append_whose_sync_fails_is_refused(world: World) -> None:
    async def main() -> None:
        async with world.hub("written") as hub:
            made = await hub.create(world.header(), persist="immediate")
            await append(made, user(id="u1"))
        system = FaultyFiles()
        system.fail["fdatasync"] = [errno.EIO]
        async with world.hub("synced", system) as hub:
            again = await hub.open(await hub.find(made.session_id))
            for _ in range(2):
                with pytest.raises(SessionFailed):
                    await append(again, user(id="u1"))

    asyncio.run(main())


def test_no_lease_is_needed_to_repeat(world: World) -> None:
    async def main() -> None:
        async with world.hub("synced") as hub, world.hub("synced") as other:
            made = await hub.create(world.header(), persist="immediate")
            await append(made, user(id="u1"))
            again = await other.open(await other.find(made.session_id))
            assert (await append(again, user(id="u1"))).durability == "synced"

    asyncio.run(main())
