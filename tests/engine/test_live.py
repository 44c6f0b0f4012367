"""One session: what appends, moves and reads do, in every order that clients can force."""

from __future__ import annotations

import asyncio
import json

import pytest

from pi_daemon.engine import reading
from pi_daemon.engine.events import Compacted
from pi_daemon.engine.operations import Append, MoveLeaf, label_draft, name_draft, summary_draft
from pi_daemon.session.errors import DuplicateEntry, EntryNotFound, InvalidEntry, LeafMoved, ReadOnly
from tests.engine.conftest import ALICE, Listener, World, append, assistant, draft, user


def messages(context: reading.Context) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(b"[" + context.messages + b"]")
    return found


def lines(world: World) -> list[dict[str, object]]:
    (path,) = world.sessions.glob("*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("persist", ["immediate", "never"])
def test_a_conversation(world: World, persist: str) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            session = await hub.create(world.header(), persist=persist)
            listener = Listener()
            hub.subscribe(session, "bob", listener)
            first = await append(session, user(), assistant(tokens=7))
            assert [head.parent_id for head in first.entries] == [None, first.entries[0].id]
            assert (first.leaf_id, first.revision) == (first.entries[1].id, 1)
            assert first.durability == ("written" if persist == "immediate" else "memory")
            assert listener.told == ["Appended", "LeafChanged"]
            assert {change.revision for change in listener.changes} == {1}
            context = await reading.context(session, session.leaf_id)
            assert [message["role"] for message in messages(context)] == ["user", "assistant"]
            assert context.tokens == 7 == await reading.size(session)

    asyncio.run(main())


def test_nothing_is_written_before_the_first_answer(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            session = await hub.create(world.header(), persist="firstAssistant")
            outcome = await append(session, user())
            assert outcome.durability == "memory"
            assert not list(world.sessions.glob("*"))
            outcome = await append(session, assistant())
            assert outcome.durability == "written"
            assert [line["type"] for line in lines(world)] == ["session", "message", "message"]
            await append(session, user("again"))
            assert len(lines(world)) == 4

    asyncio.run(main())


def test_the_last_close_writes_what_the_user_said(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            session = await hub.create(world.header(), persist="firstAssistant")
            hub.subscribe(session, "alice", Listener())
            await append(session, user())
            await hub.unsubscribe(session, "alice", close=True)
            assert len(lines(world)) == 2
            again = await hub.open(await hub.find(session.session_id))
            assert again is not session
            assert len(again.tree) == 1

    asyncio.run(main())


def test_a_session_without_a_user_message_leaves_no_file(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            session = await hub.create(world.header(), persist="firstAssistant")
            hub.subscribe(session, "alice", Listener())
            await append(session, {"type": "thinking_level_change", "thinkingLevel": "high"})
            await hub.unsubscribe(session, "alice", close=True)
            assert not list(world.sessions.glob("*"))
            assert hub.sessions == []

    asyncio.run(main())


def test_queued_appends_keep_their_order_and_share_a_write(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            session = await hub.create(world.header(), persist="immediate")
            await append(session, user("0"))
            outcomes = await asyncio.gather(*(append(session, user(str(n))) for n in range(1, 50)))
            assert [outcome.revision for outcome in outcomes] == list(range(2, 51))
            texts = [line["message"]["content"] for line in lines(world)[1:]]  # type: ignore[index]
            assert texts == [str(n) for n in range(50)]
            parents = [line["parentId"] for line in lines(world)[2:]]
            assert parents == [line["id"] for line in lines(world)[1:-1]]

    asyncio.run(main())


def test_a_branch_grows_where_it_is_asked_for(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            session = await hub.create(world.header(), persist="immediate")
            trunk = await append(session, user("a"), assistant("b"), user("c"))
            a, b, c = (head.id for head in trunk.entries)
            branch = await append(session, user("d"), parent_id=b)
            assert branch.entries[0].parent_id == b
            assert session.leaf_id == branch.entries[0].id
            root = await append(session, user("e"), parent_id=None)
            assert [head.id for head in session.tree.children(None)] == [a, root.entries[0].id]
            with pytest.raises(EntryNotFound):
                await append(session, user("f"), parent_id="nowhere")
            assert [head.id for head in session.tree.children(b)] == [c, branch.entries[0].id]

    asyncio.run(main())


def test_an_expected_leaf_refuses_what_would_become_an_invisible_branch(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            session = await hub.create(world.header(), persist="immediate")
            first = await append(session, user(), expected_leaf_id=None)
            leaf = first.leaf_id
            await append(session, user("somebody else"))
            with pytest.raises(LeafMoved) as refused:
                await append(session, assistant(), expected_leaf_id=leaf)
            assert refused.value.data == {"leafId": session.leaf_id}
            assert len(session.tree) == 2

    asyncio.run(main())


def test_entries_beside_the_conversation_do_no_harm_to_an_expected_leaf(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            session = await hub.create(world.header(), persist="immediate")
            await session.perform(Append(None, [name_draft("before anything")]))
            await append(session, user(), expected_leaf_id=None)
            leaf = session.leaf_id
            assert leaf is not None
            await session.perform(Append(None, [label_draft(leaf, "here"), name_draft("n")]))
            await append(session, {"type": "custom", "customType": "x"})
            await append(session, {"type": "compaction", "summary": "s", "tokensBefore": 1})
            await append(session, assistant(), expected_leaf_id=leaf)
            await append(session, {"type": "thinking_level_change", "thinkingLevel": "low"})
            with pytest.raises(LeafMoved):
                await append(session, user(), expected_leaf_id=leaf)

    asyncio.run(main())


def test_an_append_can_be_repeated(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            session = await hub.create(world.header(), persist="immediate")
            batch = (user("q", id="u1"), assistant("a", id="a1"))
            first = await append(session, *batch, expected_leaf_id=None)
            again = await append(session, *batch, expected_leaf_id=None)
            assert [head.id for head in again.entries] == ["u1", "a1"]
            assert (again.revision, again.leaf_id) == (first.revision, first.leaf_id)
            more = await append(session, *batch, user("r", id="u2"), expected_leaf_id=None)
            assert [head.id for head in more.entries] == ["u1", "a1", "u2"]
            assert more.entries[2].parent_id == "a1"
            assert len(session.tree) == 3

    asyncio.run(main())


def test_an_id_in_use_is_refused(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            session = await hub.create(world.header(), persist="immediate")
            await append(session, user("q", id="u1"))
            with pytest.raises(DuplicateEntry):
                await append(session, user("other", id="u1"))
            with pytest.raises(DuplicateEntry):
                await append(session, user("x", id="n1"), user("x", id="n1"))
            with pytest.raises(DuplicateEntry):
                await append(session, user("new"), user("q", id="u1"))
            assert [head.id for head in session.tree.entries] == ["u1"]
            assert session.revision == 1

    asyncio.run(main())


def test_a_moved_leaf_changes_no_file_and_counts_as_a_revision(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            session = await hub.create(world.header(), persist="immediate")
            trunk = await append(session, user("a"), assistant("b"), user("c"))
            a, b, c = (head.id for head in trunk.entries)
            before = lines(world)
            listener = Listener()
            hub.subscribe(session, "bob", listener)
            moved = await session.perform(MoveLeaf(ALICE, a))
            assert (moved.leaf_id, moved.previous_leaf_id, moved.revision) == (a, c, 2)
            moved = await session.perform(MoveLeaf(ALICE, None))
            assert session.leaf_id is None
            moved = await session.perform(MoveLeaf(ALICE, c, before=True))
            assert moved.leaf_id == b
            assert lines(world) == before
            assert listener.told == ["LeafChanged"] * 3
            same = await session.perform(MoveLeaf(ALICE, b))
            assert same.revision == 4
            assert len(listener.changes) == 3
            with pytest.raises(EntryNotFound):
                await session.perform(MoveLeaf(ALICE, "nowhere"))
            with pytest.raises(LeafMoved):
                await session.perform(MoveLeaf(ALICE, a, expected_leaf_id=c))

    asyncio.run(main())


def test_a_summary_names_the_leaf_that_was_left(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            session = await hub.create(world.header(), persist="immediate")
            trunk = await append(session, user("a"), assistant("b"))
            a, b = (head.id for head in trunk.entries)
            listener = Listener()
            hub.subscribe(session, "bob", listener)
            moved = await session.perform(MoveLeaf(ALICE, a, summary=summary_draft("tried b"), label="back"))
            summary, label = moved.entries
            stored = lines(world)[-2:]
            assert stored[0] | {"timestamp": ""} == {
                "type": "branch_summary",
                "id": summary.id,
                "parentId": a,
                "timestamp": "",
                "fromId": b,
                "summary": "tried b",
            }
            assert stored[1]["targetId"] == summary.id
            assert stored[1]["parentId"] == summary.id
            assert moved.leaf_id == label.id
            assert listener.told == ["Appended", "LeafChanged", "LabelChanged"]
            assert len(listener.changes) == 1

    asyncio.run(main())


def test_labels_and_names(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            session = await hub.create(world.header(), persist="immediate")
            first = await append(session, user())
            listener = Listener()
            hub.subscribe(session, "bob", listener)
            target = first.entries[0].id
            await session.perform(Append(ALICE, [label_draft(target, "here")]))
            assert dict(session.tree.labels) == {target: "here"}
            await session.perform(Append(ALICE, [label_draft(target, None)]))
            assert dict(session.tree.labels) == {}
            await session.perform(Append(ALICE, [name_draft(" two\nlines ")]))
            assert session.tree.name == "two lines"
            assert listener.told == ["Appended", "LeafChanged", "LabelChanged"] * 2 + [
                "Appended",
                "LeafChanged",
                "Renamed",
            ]
            with pytest.raises(EntryNotFound):
                await session.perform(Append(ALICE, [label_draft("nowhere", "x")]))

    asyncio.run(main())


def test_a_context_edit_stays_on_its_path(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            session = await hub.create(world.header(), persist="immediate")
            trunk = await append(session, user("a"), assistant("b", tokens=50), user("c"))
            a, b, c = (head.id for head in trunk.entries)
            edit = {"type": "context_edit", "targetId": a, "replacement": {"content": "A"}}
            await append(session, edit)
            context = await reading.context(session, session.leaf_id)
            assert messages(context)[0]["content"] == "A"
            assert context.tokens == await reading.size(session) < 50
            with pytest.raises(EntryNotFound):
                await append(session, edit | {"targetId": "nowhere"})
            with pytest.raises(InvalidEntry):
                await append(session, edit | {"targetId": c}, parent_id=b)
            named = await session.perform(Append(None, [name_draft("n")]))
            with pytest.raises(InvalidEntry):
                await append(session, edit | {"targetId": named.entries[0].id})

    asyncio.run(main())


def test_a_compaction_carries_the_system_messages(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            session = await hub.create(world.header(), persist="immediate")
            system = {"type": "message", "message": {"role": "system", "content": "Be brief.", "timestamp": 1}}
            more = {"type": "message", "message": {"role": "system", "content": "In French.", "timestamp": 2}}
            await append(session, system, user("a"), assistant("b", tokens=5000), more, user("c"))
            kept = session.leaf_id
            listener = Listener()
            hub.subscribe(session, "bob", listener)
            compaction = {"type": "compaction", "summary": "so far", "firstKeptEntryId": kept, "tokensBefore": 5000}
            outcome = await append(session, compaction, user("d"))
            stored = next(line for line in lines(world) if line["type"] == "compaction")
            assert stored["systemMessage"]["content"] == "Be brief.\n\nIn French."  # type: ignore[index]
            assert listener.told == ["Appended", "LeafChanged", "Compacted"]
            compacted = listener.changes[0].events[2]
            assert compacted.entry_id == outcome.entries[0].id  # type: ignore[union-attr]
            assert 0 < compacted.tokens_after < 100  # type: ignore[union-attr,operator]
            context = await reading.context(session, session.leaf_id)
            roles = [message["role"] for message in messages(context)]
            assert roles == ["system", "compactionSummary", "user", "user"]
            assert context.tokens == await reading.size(session)

    asyncio.run(main())


def test_a_client_that_opened_to_read_can_not_write(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            session = await hub.create(world.header(), persist="immediate")
            hub.subscribe(session, "alice", Listener(), read_only=True)
            with pytest.raises(ReadOnly):
                await append(session, user())
            await session.perform(Append(None, [draft(user())]))
            hub.subscribe(session, "alice", Listener())
            with pytest.raises(ReadOnly):
                await append(session, user())
            hub.subscribe(session, "alice", Listener(), read_only=False)
            await append(session, user())

    asyncio.run(main())


def test_calls_without_a_result_are_reported_or_answered(world: World) -> None:
    async def main() -> None:
        async with world.hub() as hub:
            session = await hub.create(world.header(), persist="immediate")
            call = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {}}
            asking = {"type": "message", "message": {"role": "assistant", "content": [call]}}
            stray = {"type": "message", "message": {"role": "toolResult", "toolCallId": "c0", "content": []}}
            outcome = await append(session, user(), asking, stray)
            wanted = [
                ("callWithoutResult", outcome.entries[1].id, "c1"),
                ("resultWithoutCall", outcome.entries[2].id, "c0"),
            ]
            told = await reading.context(session, session.leaf_id)
            assert sorted(told.problems) == wanted
            mended = await reading.context(session, session.leaf_id, fix=True)
            assert sorted(mended.problems) == wanted
            roles = [(m["role"], m.get("toolCallId")) for m in messages(mended)]
            assert roles == [("user", None), ("assistant", None), ("toolResult", "c1")]
            assert mended.sources == [head.id for head in outcome.entries[:2]] + [outcome.entries[1].id]

    asyncio.run(main())


@pytest.mark.parametrize("where", ["leaf", "staged", "elsewhere"])
def test_what_a_compaction_leaves_is_estimated_wherever_it_stands(world: World, where: str) -> None:
    """At the leaf, behind entries of the same request, and on another branch."""

    async def main() -> None:
        async with world.hub() as hub:
            session = await hub.create(world.header(), persist="immediate")
            listener = Listener()
            hub.subscribe(session, "bob", listener)
            first = await append(session, user("a" * 400), assistant(), user("b" * 800))
            ids = [head.id for head in first.entries]
            before = [user("c" * 40)] if where == "staged" else []
            if where == "elsewhere":
                await append(session, user("d" * 4_000), parent_id=ids[0])
            entry = {"type": "compaction", "summary": "s" * 100, "firstKeptEntryId": ids[2], "tokensBefore": 1}
            await append(session, *before, entry, **({"parent_id": ids[2]} if where == "elsewhere" else {}))
            events = [event for change in listener.changes for event in change.events]
            (compacted,) = [event for event in events if isinstance(event, Compacted)]
            assert compacted.tokens_after == 25 + 200 + (10 if where == "staged" else 0)
            assert await reading.size(session) == compacted.tokens_after

    asyncio.run(main())
