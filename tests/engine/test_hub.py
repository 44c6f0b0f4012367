"""Which sessions are open, and who listens."""

from __future__ import annotations

import asyncio

import pytest

from pi_daemon.engine import hub as hubs
from pi_daemon.engine.operations import MoveLeaf
from pi_daemon.session.errors import AmbiguousSession, Busy, SessionExists, SessionNotFound
from tests.engine.conftest import ALICE, Listener, World, append, assistant, user


def test_one_session_is_loaded_once(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            made = await hub.create(world.header(), persist="immediate")
            ref = made.log.ref
            await append(made, user())
            assert await hub.open(ref) is made
            await hub.unsubscribe(made, "nobody", close=True)
            first, second = await asyncio.gather(hub.open(ref), hub.open(ref))
            assert first is second is not made
            assert first.instance_id != made.instance_id

    asyncio.run(main())


def test_calls_on_a_closed_session_run_in_the_order_they_came(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            made = await hub.create(world.header(), persist="immediate")
            await append(made, user("0"))
            await hub.unsubscribe(made, "nobody", close=True)

            async def one(text: str) -> None:
                async with hub.use(made.session_id) as session:
                    await append(session, user(text))

            await asyncio.gather(*(one(str(n)) for n in range(1, 20)))
            async with hub.use(made.session_id) as session:
                stored = await session.lines(session.tree.entries)
                assert [f'"{n}"'.encode() in line for n, line in enumerate(stored)] == [True] * 20

    asyncio.run(main())


def test_what_came_to_the_file_meanwhile_is_there_when_it_is_used_again(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            made = await hub.create(world.header(), persist="immediate")
            first = await append(made, user())
            listener = Listener()
            hub.subscribe(made, "bob", listener)
            assert made.path is not None
            with open(made.path, "ab") as file:
                file.write(
                    b'{"type":"session_info","id":"x1","parentId":"%s","timestamp":"","name":"theirs"}\n'
                    % first.entries[0].id.encode()
                )
            async with hub.use(made.session_id) as session:
                await session.look()
                assert session is made
                assert session.leaf_id == "x1"
            assert listener.told == ["Appended", "LeafChanged", "Renamed"]
            assert listener.changes[0].origin is None
            assert listener.changes[0].events[1].cause == "external"  # type: ignore[union-attr]
            mine = await append(made, user("mine"))
            assert mine.entries[0].parent_id == "x1"
            assert not mine.raced

    asyncio.run(main())


def test_idle_sessions_are_bounded_and_unwritten_ones_stay(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs, "IDLE_SESSIONS", 3)

    async def main() -> None:
        async with world.hub() as hub:
            ids = []
            for _ in range(6):
                session = await hub.create(world.header(), persist="immediate")
                ids.append(session.session_id)
            unwritten = await hub.create(world.header(), persist="firstAssistant")
            await append(unwritten, user())
            for session_id in ids:
                async with hub.use(session_id):
                    pass
            assert {session.session_id for session in hub.sessions} == {*ids[-3:], unwritten.session_id}

    asyncio.run(main())


def test_ids_that_clash(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            header = world.header()
            made = await hub.create(header, persist="immediate")
            with pytest.raises(SessionExists):
                await hub.create(header, persist="immediate")
            with pytest.raises(SessionNotFound):
                await hub.find("nobody")
            assert made.path is not None
            twin = world.sessions / "twin.jsonl"
            with open(made.path, "rb") as file:
                twin.write_bytes(file.read())
            await hub.unsubscribe(made, "nobody", close=True)
            with pytest.raises(AmbiguousSession) as refused:
                await hub.find(header.id)
            assert len(refused.value.data["paths"]) == 2
            one = await hub.open(await hub.find(path=str(twin)))
            hub.subscribe(one, "bob", Listener())
            async with hub.use(header.id) as session:
                assert session is one
            hub.subscribe(await hub.open(await hub.find(path=made.path)), "bob", Listener())
            with pytest.raises(AmbiguousSession):
                async with hub.use(header.id):
                    pass

    asyncio.run(main())


def test_a_session_that_others_have_open_is_not_deleted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(world.path / "data"))

    async def main() -> None:
        async with world.hub() as hub:
            made = await hub.create(world.header(), persist="immediate")
            mine, theirs = Listener(), Listener()
            hub.subscribe(made, "alice", mine)
            hub.subscribe(made, "bob", theirs)
            with pytest.raises(Busy):
                await hub.delete(made.session_id, "alice", ALICE)
            await hub.unsubscribe(made, "bob")
            await hub.delete(made.session_id, "alice", ALICE)
            assert mine.told == ["Deleted"]
            assert not list(world.sessions.glob("*"))
            assert hub.sessions == []

    asyncio.run(main())


def test_history_replays_or_says_that_it_can_not(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            session = await hub.create(world.header(), persist="never")
            listener = Listener()
            hub.subscribe(session, "bob", listener)
            first = await append(session, user(), assistant())
            await session.perform(MoveLeaf(ALICE, first.entries[0].id))
            await append(session, user())
            assert session.history.since(0) == listener.changes
            assert session.history.since(2) == listener.changes[2:]
            assert session.history.since(3) == []
            assert session.history.since(4) is None
            assert session.history.since(-1) is None

    asyncio.run(main())
