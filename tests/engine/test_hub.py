"""Which sessions are open, and who listens."""

from __future__ import annotations

import asyncio
import errno
import json
from pathlib import Path

import pytest
from msgspec import structs

from pi_daemon.engine import resting
from pi_daemon.engine.events import Appended
from pi_daemon.engine.operations import MoveLeaf
from pi_daemon.session.errors import (
    AmbiguousSession,
    Busy,
    LeafMoved,
    SessionExists,
    SessionNotFound,
    WriterBusy,
)
from tests.engine.conftest import ALICE, Listener, World, append, assistant, user
from tests.storage.support import FaultyFiles


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
    monkeypatch.setattr(resting, "IDLE_SESSIONS", 3)

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


def line(entry_id: str, parent_id: str | None) -> bytes:
    return json.dumps({"type": "custom", "id": entry_id, "parentId": parent_id, "customType": "c"}).encode() + b"\n"


def test_what_others_append_is_told_when_the_file_is_said_to_have_changed(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            made = await hub.create(world.header(), persist="immediate")
            await append(made, user(id="u1"))
            listener = Listener()
            hub.subscribe(made, "bob", listener)
            assert made.path is not None
            with open(made.path, "ab") as file:
                file.write(line("x1", "u1"))
            hub.files_changed([made.path, "/nobody/knows/this"])
            await made.settled()
            assert listener.told == ["Appended", "LeafChanged"]
            assert made.leaf_id == "x1"
            hub.files_changed([made.path])
            await made.settled()
            assert len(listener.changes) == 1

    asyncio.run(main())


def test_what_others_append_during_a_write_is_not_overlooked(world: World) -> None:
    async def main() -> None:
        async with world.hub("synced") as hub:
            made = await hub.create(world.header(), persist="immediate")
            listener = Listener()
            hub.subscribe(made, "bob", listener)
            assert made.path is not None
            appending = asyncio.create_task(append(made, user(id="u1")))
            await asyncio.sleep(0)  # it is with the disk now
            with open(made.path, "ab") as file:
                file.write(line("x1", None))
            hub.files_changed([made.path])
            await appending
            await made.settled()
            assert {head.id for head in made.tree.entries} == {"u1", "x1"}
            told = [
                node.head.id for c in listener.changes for e in c.events if isinstance(e, Appended) for node in e.nodes
            ]
            assert sorted(told) == ["u1", "x1"]

    asyncio.run(main())


def test_a_file_that_is_replaced_is_a_new_instance(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            made = await hub.create(world.header(), persist="immediate")
            await append(made, user(id="u1"), user(id="u2"))
            listener = Listener()
            hub.subscribe(made, "bob", listener)
            before = made.instance_id
            assert made.path is not None
            kept = Path(made.path).read_bytes().splitlines(keepends=True)[:2]
            aside = world.path / "aside"
            aside.write_bytes(b"".join(kept))
            aside.rename(made.path)
            hub.files_changed([made.path])
            await made.settled()
            assert listener.told == ["Replaced", "Damaged"]
            assert made.instance_id != before
            assert (made.revision, made.leaf_id) == (1, "u1")
            await append(made, user(id="u3"))
            assert Path(made.path).read_bytes().count(b"\n") == 3

    asyncio.run(main())


def test_a_file_that_is_deleted_is_not_made_again(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            made = await hub.create(world.header(), persist="immediate")
            await append(made, user(id="u1"))
            listener = Listener()
            hub.subscribe(made, "bob", listener)
            assert made.path is not None
            content = Path(made.path).read_bytes()
            Path(made.path).unlink()
            for _ in range(2):  # before anybody has told of it, and after
                with pytest.raises(SessionNotFound):
                    await append(made, user())
                with pytest.raises(SessionNotFound):
                    await made.lines(made.tree.entries)
                hub.files_changed([made.path])
                await made.settled()
                assert listener.told == ["Deleted"]
            assert not Path(made.path).exists()
            Path(made.path).write_bytes(content)
            hub.files_changed([made.path])
            await made.settled()
            assert listener.told == ["Deleted", "Replaced"]
            await append(made, user())
            Path(made.path).unlink()
            await hub.unsubscribe(made, "bob")
            hub.files_changed([made.path])
            await hub.settled()
            assert hub.sessions == []

    asyncio.run(main())


def test_a_file_that_can_be_read_again_is_found(world: World) -> None:
    """Who may read a file shows neither in its size nor in its time: nobody says that it has changed."""

    async def main() -> None:
        system = FaultyFiles()
        async with world.hub("written", system) as hub:
            made = await hub.create(world.header(), persist="immediate")
            await append(made, user(id="u1"))
            listener = Listener()
            hub.subscribe(made, "bob", listener)
            system.time += 60
            await hub.look_for_unseen()
            await hub.settled()
            assert made.path is not None and not made.log.unseen
            path = Path(made.path)
            beside = path.with_suffix(".new")
            beside.write_bytes(path.read_bytes() + line("x1", "u1"))
            beside.rename(path)
            system.fail["open"] = [errno.EACCES] * 2
            hub.files_changed([str(path)])
            await hub.settled()
            assert listener.told == ["Failed"]
            await hub.look_for_unseen()
            await hub.settled()
            assert listener.told == ["Failed", "Replaced"]
            await append(made, user(id="u2"))

    asyncio.run(main())


def test_what_strangers_do_to_open_files_is_in_the_log(world: World, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            made = await hub.create(world.header(), persist="immediate")
            await append(made, user("a secret", id="u1"))
            hub.subscribe(made, "bob", Listener())
            path = Path(made.log.ref.location)
            whole = path.read_bytes()
            for content in (whole + b"{secret\n", whole[:-4] + b"\n", b"", whole):
                path.write_bytes(content)
                hub.files_changed([str(path)])
                await hub.settled()
            path.unlink()
            hub.files_changed([str(path)])
            await hub.settled()

    with caplog.at_level("INFO"):
        asyncio.run(main())
    said = [record for record in caplog.records if record.name == "pi_daemon.engine.logged"]
    words = {record.getMessage().split(":")[0] for record in said}
    assert words == {"session damaged", "session replaced", "entries lost", "session failed", "session deleted"}
    assert all(record.fields["path"].endswith(".jsonl") for record in said)  # type: ignore[attr-defined]
    assert "secret" not in "".join(str(vars(record)) for record in said)


def test_what_is_idle_for_long_is_let_go(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            used = await hub.create(world.header(), persist="immediate")
            hub.subscribe(used, "bob", Listener())
            idle = await hub.create(world.header(), persist="immediate")
            async with hub.use(idle.session_id):
                pass
            await hub.tidy()
            assert hub.sessions == [used, idle]
            hub.environment = structs.replace(hub.environment, now_ms=lambda: 10**15)
            await hub.tidy()
            assert hub.sessions == [used]
            async with hub.use(idle.session_id) as again:
                assert again is not idle

    asyncio.run(main())


def test_what_is_idle_is_let_go_after_the_clock_was_set_back(world: World) -> None:
    clock = [10 * resting.IDLE_MS]
    world.environment = structs.replace(world.environment, now_ms=lambda: clock[0])

    async def main() -> None:
        async with world.hub() as hub:
            made = await hub.create(world.header(), persist="immediate")
            async with hub.use(made.session_id):
                pass
            await hub.tidy()
            assert hub.sessions == [made]
            clock[0] -= 5 * resting.IDLE_MS
            await hub.tidy()
            assert hub.sessions == []

    asyncio.run(main())


def test_two_daemons_take_turns_at_a_session(world: World) -> None:
    async def main() -> None:
        async with world.hub() as one, world.hub() as other:
            mine = await one.create(world.header(), persist="immediate")
            await append(mine, user(id="u1"))
            theirs = await other.open(await other.find(mine.session_id))
            assert len(theirs.tree) == 1
            with pytest.raises(WriterBusy) as refused:
                await append(theirs, user(id="u2"))
            assert refused.value.data["owner"]["client"] == ALICE.name
            moved = await theirs.perform(MoveLeaf(ALICE, None))
            assert moved.leaf_id is None
            await append(mine, user(id="u3"))
            assert await mine.release_writer()
            assert not await mine.release_writer()
            with pytest.raises(LeafMoved):
                await append(theirs, user(id="u2"), expected_leaf_id="u1")
            outcome = await append(theirs, user(id="u2"), expected_leaf_id="u3")
            assert outcome.entries[0].parent_id == "u3"
            with pytest.raises(WriterBusy):
                await mine.take_writer(ALICE)
            await mine.look()
            assert mine.leaf_id == "u2"

    asyncio.run(main())


def test_a_moved_leaf_survives_a_restart(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            made = await hub.create(world.header(), persist="immediate")
            await append(made, user(id="u1"), user(id="u2"))
            await made.perform(MoveLeaf(ALICE, "u1"))
        async with world.hub() as hub:
            again = await hub.open(await hub.find(made.session_id))
            assert again.leaf_id == "u1"
            await again.perform(MoveLeaf(ALICE, None))
        async with world.hub() as hub:
            again = await hub.open(await hub.find(made.session_id))
            assert again.leaf_id is None
            await append(again, user(id="u3"))
        async with world.hub() as hub:
            again = await hub.open(await hub.find(made.session_id))
            assert again.leaf_id == "u3"
            await again.perform(MoveLeaf(ALICE, "u1"))
        with open(again.log.ref.location, "ab") as file:
            file.write(line("x1", "u2"))
        async with world.hub() as hub:
            again = await hub.open(await hub.find(made.session_id))
            assert again.leaf_id == "x1"

    asyncio.run(main())


def test_a_session_is_handed_over_by_one_whose_clients_never_pause(world: World) -> None:
    async def main() -> None:
        async with world.hub() as one, world.hub() as other:
            mine = await one.create(world.header(), persist="immediate")
            await append(mine, user())
            theirs = await other.open(await other.find(mine.session_id))
            under_way = asyncio.Event()

            async def keep_on() -> None:
                while True:
                    await append(mine, user())
                    if len(mine.tree) > 20:
                        under_way.set()
                    await asyncio.sleep(0)

            busy = [asyncio.create_task(keep_on()) for _ in range(3)]
            await under_way.wait()
            assert await mine.release_writer()
            await theirs.take_writer(ALICE)
            assert [type(end) for end in await asyncio.gather(*busy, return_exceptions=True)] == [WriterBusy] * 3
            await append(theirs, user())

    asyncio.run(main())


@pytest.mark.parametrize("persist", ["immediate", "firstAssistant"])
def test_a_leaf_that_was_moved_with_the_last_write_survives_a_restart(world: World, persist: str) -> None:
    """In one batch with an append, or before what was kept in memory is written."""

    async def main() -> None:
        async with world.hub("synced") as hub:
            made = await hub.create(world.header(), persist=persist)
            await append(made, user(id="u0"))
            work = [append(made, user(id="u1")), append(made, user(id="u2")), made.perform(MoveLeaf(ALICE, "u1"))]
            await asyncio.gather(*work)
            await made.flush()
            assert made.leaf_id == "u1"
        async with world.hub() as hub:
            again = await hub.open(await hub.find(made.session_id))
            assert again.leaf_id == "u1"

    asyncio.run(main())


def test_what_a_rewrite_loses_is_told_and_kept(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            made = await hub.create(world.header(), persist="immediate")
            await append(made, user(id="u1"))
            assert made.path is not None
            stale = Path(made.path).read_bytes()
            await append(made, user("precious", id="u2"))
            listener = Listener()
            hub.subscribe(made, "bob", listener)
            Path(made.path).write_bytes(stale)
            hub.files_changed([made.path])
            await hub.settled()
            assert listener.told == ["Replaced", "Damaged"]
            damaged = listener.changes[0].events[1]
            assert damaged.lost == ["u2"]  # type: ignore[union-attr]
            kept = [path.read_bytes() for path in (world.path / "state").rglob("*") if path.is_file()]
            assert any(b"precious" in content for content in kept)

    asyncio.run(main())
