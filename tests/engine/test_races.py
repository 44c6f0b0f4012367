"""What several clients do to one session at the same time, in every order that a hub can be met in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from pi_daemon.engine import explaining, pages, reading, shown
from pi_daemon.engine import hub as hubs
from pi_daemon.engine.hub import Hub
from pi_daemon.engine.live import LiveSession
from pi_daemon.engine.operations import MoveLeaf
from pi_daemon.engine.pages import since
from pi_daemon.session.errors import Overloaded, PiDaemonError, SessionCorrupted, SessionNotFound, StorageFailed
from tests.engine.conftest import ALICE, Listener, World, append, assistant, user

TURNS = range(14)
"""Turns of the loop after which the second one comes; the work takes some ten."""


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def opened(hub: Hub, session_id: str) -> LiveSession:
    """As soon as its file is there."""
    async with asyncio.timeout(10):
        while True:
            try:
                return await hub.open(await hub.find(session_id))
            except SessionNotFound:
                await asyncio.sleep(0)


@pytest.mark.parametrize("persist", ["immediate", "firstAssistant"])
def test_who_opens_what_is_being_created_gets_that(world: World, persist: str) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            for _ in range(20):
                header = world.header()
                creating = asyncio.create_task(hub.create(header, persist=persist))
                if persist == "immediate":
                    other = await opened(hub, header.id)
                    assert await creating is other
                made = await creating
                hub.subscribe(made, "alice", Listener())
                await append(made, user())
                assert len(hub.sessions) == len({s.log.ref.location for s in hub.sessions})

    asyncio.run(main())


@pytest.mark.parametrize("after", TURNS)
def test_a_cancelled_create_leaves_a_session_that_can_be_used(world: World, after: int) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            header = world.header()
            creating = asyncio.create_task(hub.create(header, persist="immediate"))
            await turns(after)
            creating.cancel()
            result = await asyncio.gather(creating, return_exceptions=True)
            await hub.settled()
            if isinstance(result[0], asyncio.CancelledError):
                assert not list(world.sessions.glob("*"))
            else:
                async with hub.use(header.id) as session:
                    await append(session, user())

    asyncio.run(main())


@pytest.mark.parametrize("after", TURNS)
def test_an_append_is_cancelled_or_answered_but_not_both(world: World, after: int) -> None:
    async def main() -> None:
        async with world.hub("synced") as hub:
            made = await hub.create(world.header(), persist="immediate")
            first = asyncio.create_task(append(made, user("first")))
            second = asyncio.create_task(append(made, user("second")))
            await turns(after)
            first.cancel()
            second.cancel()
            results = await asyncio.gather(first, second, return_exceptions=True)
            await made.settled()
            answered = [result for result in results if not isinstance(result, BaseException)]
            assert all(isinstance(r, asyncio.CancelledError) for r in results if isinstance(r, BaseException))
            assert len(made.tree) == len(answered)

    asyncio.run(main())


@pytest.mark.parametrize("after", TURNS)
def test_who_subscribes_while_the_last_one_closes_hears_everything(world: World, after: int) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            made = await hub.create(world.header(), persist="immediate")
            hub.subscribe(made, "alice", Listener())
            closing = asyncio.create_task(hub.unsubscribe(made, "alice", close=True))
            await turns(after)
            listener = Listener()
            async with hub.use(made.session_id) as session:
                hub.subscribe(session, "bob", listener)
            await closing
            async with hub.use(made.session_id) as session:
                await append(session, user())
            assert listener.told == ["Appended", "LeafChanged"]

    asyncio.run(main())


@pytest.mark.parametrize("after", TURNS)
def test_a_deleted_session_is_gone_for_all(world: World, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(world.path / "data"))

    async def use(hub: Hub, session_id: str, work: Callable[[LiveSession], Awaitable[Any]]) -> Any:
        async with hub.use(session_id) as session:
            return await work(session)

    async def main() -> None:
        async with world.hub() as hub:
            made = await hub.create(world.header(), persist="immediate")
            session_id = made.session_id
            deleting = asyncio.create_task(hub.delete(session_id, "alice", ALICE))
            await turns(after)
            others = [asyncio.create_task(use(hub, session_id, lambda s: append(s, user()))) for _ in range(5)]
            results = await asyncio.gather(deleting, *others, return_exceptions=True)
            await hub.settled()
            if isinstance(results[0], BaseException):
                assert all(not isinstance(result, BaseException) for result in results[1:])
            else:
                assert hub.sessions == []
                for result in results[1:]:
                    assert not isinstance(result, BaseException) or isinstance(result, PiDaemonError)
                with pytest.raises(SessionNotFound):
                    await hub.find(session_id)

    asyncio.run(main())


def test_a_client_that_leaves_leaves_all_its_sessions(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            made = [await hub.create(world.header(), persist="firstAssistant") for _ in range(3)]
            for session in made:
                hub.subscribe(session, "alice", Listener())
                await append(session, user())

            async def full() -> None:
                raise StorageFailed("no space", errno="ENOSPC")

            monkeypatch.setattr(made[0], "flush", full)
            await hub.leave("alice")
            assert all(not session.subscribers for session in made)
            assert len(list(world.sessions.glob("*.jsonl"))) == 2

    asyncio.run(main())


def test_sessions_in_which_nothing_was_said_go_with_their_client(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            silent = await hub.create(world.header(), persist="firstAssistant")
            begun = await hub.create(world.header(), persist="firstAssistant")
            hub.subscribe(silent, "alice", Listener())
            hub.subscribe(begun, "alice", Listener())
            await append(begun, {"type": "thinking_level_change", "thinkingLevel": "high"})
            await hub.leave("alice")
            assert hub.sessions == [begun]

    asyncio.run(main())


def test_open_sessions_are_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs, "OPEN_SESSIONS", 3)

    async def main() -> None:
        async with world.hub() as hub:
            made = [await hub.create(world.header(), persist="immediate") for _ in range(3)]
            for session in made:
                hub.subscribe(session, "alice", Listener())
            with pytest.raises(Overloaded):
                await hub.create(world.header(), persist="immediate")
            await hub.unsubscribe(made[0], "alice")
            more = await hub.create(world.header(), persist="immediate")
            assert set(hub.sessions) == {*made[1:], more}
            with pytest.raises(Overloaded):
                hub.subscribe(more, "alice", Listener())
                await hub.open(await hub.find(made[0].session_id))

    asyncio.run(main())


def test_entries_of_a_session_that_was_kept_in_memory_first(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            session = await hub.create(world.header(), persist="firstAssistant")
            await append(session, user("0"), user("1"))
            await append(session, user("2"))
            await append(session, assistant("3"))
            await append(session, user("4"), user("5"))
            ids = [head.id for head in session.tree.entries]
            for place, entry_id in enumerate(ids):
                page = await since(session, entry_id, 100, 10**6)
                assert [json.loads(line)["id"] for line in page.lines] == ids[place + 1 :]

    asyncio.run(main())


@pytest.mark.parametrize("content", [b"", b"garbage\n" * 30])
def test_a_file_that_is_no_session_any_more(world: World, content: bytes) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            made = await hub.create(world.header(), persist="immediate")
            await append(made, user(), user())
            listener = Listener()
            hub.subscribe(made, "bob", listener)
            ref = made.log.ref
            whole = Path(ref.location).read_bytes()
            Path(ref.location).write_bytes(content)
            hub.files_changed([ref.location])
            await hub.settled()
            assert listener.told[0] == "Failed"
            with pytest.raises(SessionCorrupted):
                await hub.open(ref)
            with pytest.raises(PiDaemonError):
                await append(made, user())
            Path(ref.location).write_bytes(whole)
            hub.files_changed([ref.location])
            await hub.settled()
            assert listener.told[-1] == "Replaced"
            assert await hub.open(ref) is made
            await append(made, user())
            await made.perform(MoveLeaf(ALICE, None))

    asyncio.run(main())


@pytest.mark.parametrize("after", TURNS)
def test_who_opens_a_file_while_it_is_looked_at_hears_what_is_wrong(world: World, after: int) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            made = await hub.create(world.header(), persist="immediate")
            await append(made, user(), user())
            ref = made.log.ref
            Path(ref.location).write_bytes(b"garbage\n" * 30)
            hub.files_changed([ref.location])
            await turns(after)
            with pytest.raises(PiDaemonError) as refused:
                await hub.open(ref)
            assert refused.value.reason == "sessionCorrupted"

    asyncio.run(main())


@pytest.mark.parametrize("what", ["tree", "page", "one", "search", "path"])
def test_what_was_begun_before_a_file_was_replaced_is_not_read_from_the_new_one(
    world: World, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """With the same ids, as many entries, and other texts."""

    async def main() -> None:
        async with world.hub() as hub:
            session = await hub.create(world.header(), persist="immediate")
            ids = [head.id for head in (await append(session, user("a" * 90), assistant(), user("b"))).entries]
            replaced = False

            async def meanwhile(size: int, work: Callable[[], Any]) -> Any:
                nonlocal replaced
                made = work()
                if not replaced:
                    replaced = True
                    (path,) = world.sessions.glob("*.jsonl")
                    staged = path.with_suffix(".staged")
                    staged.write_text(path.read_text().replace("a" * 90, "c" * 30))
                    staged.replace(path)
                    await session.look()
                return made

            for module in (pages, explaining, shown):
                monkeypatch.setattr(module, "offload", meanwhile)
            before = session.instance_id
            if what == "path":
                session._trail = None
                await session.look_up_path()
                assert session.instance_id != before
                assert all(head is session.tree.get(head.id) for head in session.trail.path)
                return
            with pytest.raises(StorageFailed, match="ask again"):
                if what == "tree":
                    await pages.tree(session, "all", False, None)
                else:
                    snapshot = await explaining.begin(session, session.leaf_id)
                    if what == "page":
                        await explaining.page(session, snapshot, 0, 1, True)
                    elif what == "one":
                        await explaining.one(session, snapshot, ids[1])
                    else:
                        await explaining.search(session, snapshot, "b", 0, 9, lambda done, total: None)
            assert session.instance_id != before and not session.snapshots and not session.explanations
            assert (await pages.tree(session, "all", False, None)).rows[0].head.id == ids[0]

    asyncio.run(main())


@pytest.mark.parametrize("what", ["tree", "explanation"])
def test_what_is_put_together_in_a_thread_is_of_one_revision(
    world: World, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Appends, labels and moves come in while rows are made."""

    async def main() -> None:
        async with world.hub() as hub:
            session = await hub.create(world.header(), persist="immediate")
            first = (await append(session, user(), assistant())).entries
            revision, leaf_id = session.revision, session.leaf_id

            async def meanwhile(size: int, work: Callable[[], Any]) -> Any:
                await append(session, user("more"), assistant())
                await append(session, {"type": "label", "targetId": first[0].id, "label": "x"})
                await session.perform(MoveLeaf(ALICE, first[0].id))
                return work()

            for module in (pages, explaining):
                monkeypatch.setattr(module, "offload", meanwhile)
            if what == "tree":
                made = await pages.tree(session, "all", False, None)
                told = [row.head.id for row in made.rows]
                assert made.rows[0].child_count == 1 and all(row.on_path for row in made.rows)
                assert (made.revision, made.leaf_id) == (revision, leaf_id)
            else:
                snapshot = await explaining.begin(session, session.leaf_id)
                page = await explaining.page(session, snapshot, 0, 100, False)
                told = [row.head.id for row in page.rows if row.head is not None]
                assert [row.why.reason for row in page.rows] == ["asStored", "asStored"]
                assert (page.revision, page.leaf_id) == (revision, leaf_id)
            assert told == [head.id for head in first]

    asyncio.run(main())


@pytest.mark.parametrize("what", ["context", "size"])
def test_what_was_counted_of_a_file_is_not_taken_for_its_successor(
    world: World, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            session = await hub.create(world.header(), persist="immediate")
            await append(session, user("a" * 900), user("b" * 400))
            (path,) = world.sessions.glob("*.jsonl")
            session.meter.tokens = None  # as after a move
            before = session.instance_id

            async def meanwhile(size: int, work: Callable[[], Any]) -> Any:
                made = work()
                if session.instance_id == before:
                    staged = path.with_suffix(".staged")
                    staged.write_text(path.read_text().replace("a" * 900, "c" * 100))
                    staged.replace(path)
                    await session.look()
                return made

            monkeypatch.setattr(reading, "offload", meanwhile)
            counted = reading.size(session) if what == "size" else reading.context(session, session.leaf_id)
            await counted
            assert session.instance_id != before
            assert await reading.size(session) == 25 + 100
            context = await reading.context(session, session.leaf_id)
            assert context.tokens == 25 + 100 and b"c" * 100 in context.messages

    asyncio.run(main())
