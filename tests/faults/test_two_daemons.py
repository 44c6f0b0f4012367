"""Two daemons on one sessions directory, pi beside them, and three clients, against the lines of the file.

Both daemons are hubs of this process with state directories of their own; flock keeps their descriptors apart as it
does those of two processes. What the watcher would say is said by rules: late, in any order, or not at all.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from msgspec import UNSET

from pi_daemon.engine.hub import Hub
from pi_daemon.engine.live import LiveSession
from pi_daemon.engine.operations import (
    Append,
    MoveLeaf,
    Operation,
    Outcome,
    label_draft,
    name_draft,
    summary_draft,
)
from pi_daemon.session.draft import Draft, parse_draft
from pi_daemon.session.errors import EntryNotFound, LeafMoved, PiDaemonError, WriterBusy
from pi_daemon.session.head import Header
from tests.faults.support import LONG
from tests.faults.two_daemons import Book, Client, Daemon, Line, Pi, holds, labels_of, name_of, pick, shape
from tests.storage.support import Place, dump

EXAMPLES, STEPS = (400, 80) if LONG else (25, 30)

CLIENTS = st.sampled_from([0, 1, 2])
DAEMONS = st.sampled_from([0, 1])
KINDS = st.sampled_from(["message", "label", "session_info"])
PICKS = st.integers(0, 40)
CUTS = st.floats(0, 1)


class TwoDaemons(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp())
        (self.base / "sessions").mkdir()
        self.runner = asyncio.Runner()
        one, other = self.daemons = [Daemon(self.base, "a", "written"), Daemon(self.base, "b", "synced")]
        self.clients = [Client("alice", one), Client("bob", one), Client("carol", other)]
        self.holder: Daemon | None = None
        self.acknowledged: list[str] = []
        self.repeatable: list[dict[str, Any]] = []
        self.numbers = itertools.count()

    def teardown(self) -> None:
        try:
            if hasattr(self, "book"):
                self.everything_is_looked_at([0, 1])
        finally:
            for daemon in self.daemons:
                self.run(daemon.hub.close())
            self.runner.close()
            shutil.rmtree(self.base)

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(work)

    @initialize()
    def create(self) -> None:
        one = self.daemons[0]
        header = Header("s", one.hub.environment.timestamp(), "/home/u/p")
        one.session = self.run(one.hub.create(header, persist="immediate"))
        self.holder = one
        self.ref = one.session.log.ref
        self.book = Book(Path(self.ref.location))
        self.pi = Pi(self.book)
        for number in range(3):
            self.open(number)

    # -- clients

    @rule(client=CLIENTS)
    def open(self, client: int) -> None:
        who = self.clients[client]
        daemon = who.daemon
        if who.here:
            return
        session = self.run(daemon.hub.open(self.ref, recover=True))
        if daemon.session is not None:
            assert session is daemon.session
            daemon.look(self.book)
        else:
            lines = self.book.lines
            leaf, size = daemon.remembered or (None, -1)
            daemon.seen = len(lines)
            daemon.leaf = leaf if size == self.book.size else pick(lines, 0)
        daemon.session = session
        who.come(session)

    @rule(client=CLIENTS, close=st.booleans())
    def leave(self, client: int, close: bool) -> None:
        """Without `close` it is as if its connection broke."""
        who = self.clients[client]
        if not who.here or who.daemon.session is None:
            return
        who.take_in()
        self.run(who.daemon.hub.unsubscribe(who.daemon.session, who.origin.client_id, close=close))
        who.here = False
        if close and not any(other.here for other in self.clients if other.daemon is who.daemon):
            who.daemon.session = None
            if self.holder is who.daemon:
                self.holder = None

    def perform(
        self,
        who: Client,
        make: Callable[[LiveSession], Awaitable[Any]],
        *,
        writes: bool,
        refusal: Callable[[list[Line]], type[PiDaemonError] | None] = lambda lines: None,
    ) -> tuple[Outcome, list[Line]] | None:
        """What was done and the lines it added, or None where it was refused as it had to be."""
        daemon = who.daemon
        assert daemon.session is not None
        before = daemon.look(self.book)
        leaf = daemon.leaf
        expected = refusal(before)
        if expected is None and writes:
            if self.holder is None:
                self.holder = daemon
            elif self.holder is not daemon:
                expected = WriterBusy
        size = self.book.size
        try:
            outcome = self.run(self._awaited(make, daemon.session))
        except PiDaemonError as error:
            assert type(error) is expected, (error, expected)
            if isinstance(error, WriterBusy):
                self._names_the_holder(error)
            elif isinstance(error, LeafMoved):
                assert error.data == {"leafId": leaf}
            assert self.book.size == size
            return None
        assert expected is None, expected
        after = self.book.lines
        assert after[: len(before)] == before
        return outcome, after[len(before) :]

    @staticmethod
    async def _awaited(make: Callable[[LiveSession], Awaitable[Any]], session: LiveSession) -> Any:
        return await make(session)

    def _names_the_holder(self, error: WriterBusy) -> None:
        owner = error.data["owner"]
        assert owner["pid"] == os.getpid()
        assert owner["client"] in {None, *(c.origin.name for c in self.clients if c.daemon is self.holder)}

    def _done(self, who: Client, outcome: Outcome, parents: list[str | None], new: list[Line]) -> None:
        """`new` are the entries that were asked for, below `parents`; the leaf is the last of them."""
        ids = [line.id for line in new]
        assert [head.id for head in outcome.entries] == ids
        assert [line.parent_id for line in new] == parents
        assert outcome.leaf_id == ids[-1]
        assert outcome.durability == who.daemon.hub.defaults.durability
        self.acknowledged += ids
        who.daemon.seen, who.daemon.leaf = len(self.book.lines), ids[-1]

    def _drafts(self, count: int, kind: str) -> list[dict[str, Any]]:
        made = []
        for _ in range(count):
            value: dict[str, Any] = {"type": kind, "id": f"c{next(self.numbers)}"}
            if kind == "message":
                value["message"] = {"role": "user", "content": "hello", "timestamp": 1}
            else:
                value["customType"] = "note"
            made.append(value)
        return made

    @rule(
        client=CLIENTS,
        count=st.integers(1, 3),
        kind=st.sampled_from(["message", "custom"]),
        parent=st.one_of(st.none(), PICKS),
        expects=st.sampled_from(["nothing", "as told", "another"]),
        other=PICKS,
        race=st.sampled_from([None, None, None, "whole", "torn"]),
        kinds=st.lists(KINDS, min_size=1, max_size=2),
        cut=CUTS,
    )
    def append(
        self,
        client: int,
        count: int,
        kind: str,
        parent: int | None,
        expects: str,
        other: int,
        race: str | None,
        kinds: list[str],
        cut: float,
    ) -> None:
        """`race`: pi writes between our last look and our write."""
        who = self.clients[client]
        if not who.here:
            return
        who.take_in()
        lines, daemon = self.book.lines, who.daemon
        given: Any = UNSET if expects == "nothing" else who.leaf if expects == "as told" else pick(lines, other)
        parent_id = UNSET if parent is None else pick(lines, parent)
        values = self._drafts(count, kind)

        def refusal(lines: list[Line]) -> type[PiDaemonError] | None:
            return None if given is UNSET or holds(lines, daemon.leaf, given) else LeafMoved

        if race is not None:
            self.pi.finish()
            meddle = (lambda: self.pi.write(kinds)) if race == "whole" else (lambda: self.pi.tear(kinds[0], cut))
            daemon.files.before["write"] = [meddle]
        drafts = [parse_draft(dump(value), 0) for value in values]
        done = self.perform(
            who, lambda s: s.perform(Append(who.origin, drafts, parent_id, given)), writes=True, refusal=refusal
        )
        meddled = race is not None and not daemon.files.before["write"]
        daemon.files.before.clear()
        if done is None:
            assert not meddled
            return
        outcome, new = done
        assert meddled is (race is not None)
        theirs = new[: len(new) - count]
        assert outcome.raced is bool(theirs)
        assert all(line.id.startswith("pi") for line in theirs)
        first = daemon.leaf if parent_id is UNSET else parent_id
        ids = [value["id"] for value in values]
        self._done(who, outcome, [first, *ids[:-1]], new[len(theirs) :])
        self.repeatable += values

    @rule(client=CLIENTS, number=PICKS)
    def append_again(self, client: int, number: int) -> None:
        """Its answer was lost, perhaps with the other daemon."""
        who = self.clients[client]
        if not who.here or not self.repeatable:
            return
        value = self.repeatable[number % len(self.repeatable)]
        draft = parse_draft(dump(value), 0)
        done = self.perform(who, lambda s: s.perform(Append(who.origin, [draft])), writes=False)
        assert done is not None
        assert [head.id for head in done[0].entries] == [value["id"]]
        assert done[1] == []

    def _one(self, client: int, make: Callable[[list[Line]], Draft | None]) -> None:
        who = self.clients[client]
        draft = make(self.book.lines)
        if not who.here or draft is None:
            return
        done = self.perform(who, lambda s: s.perform(Append(who.origin, [draft])), writes=True)
        if done is not None:
            self._done(who, done[0], [who.daemon.leaf], done[1])

    @rule(client=CLIENTS, number=PICKS, label=st.sampled_from(["one", "two", None]))
    def label(self, client: int, number: int, label: str | None) -> None:
        def make(lines: list[Line]) -> Draft | None:
            target = pick(lines, number)
            return None if target is None else label_draft(target, label)

        self._one(client, make)

    @rule(client=CLIENTS, name=st.sampled_from(["plan", " other ", ""]))
    def rename(self, client: int, name: str) -> None:
        self._one(client, lambda lines: name_draft(name))

    @rule(
        client=CLIENTS,
        number=PICKS,
        before=st.booleans(),
        summary=st.booleans(),
        label=st.sampled_from([None, None, "here"]),
    )
    def move(self, client: int, number: int, before: bool, summary: bool, label: str | None) -> None:
        who = self.clients[client]
        if not who.here:
            return
        lines, daemon = self.book.lines, who.daemon
        target = to = pick(lines, number)
        if before and target is not None:
            parents = {line.id: line.parent_id for line in lines}
            to = parents[target] if parents[target] in parents else None

        def make(session: LiveSession) -> Awaitable[Outcome]:
            drafted = summary_draft("was there") if summary else None
            operation: Operation = MoveLeaf(who.origin, target, before=before, summary=drafted, label=label)
            return session.perform(operation)

        nowhere = label is not None and to is None and not summary
        done = self.perform(
            who,
            make,
            writes=summary or label is not None,
            refusal=lambda lines: EntryNotFound if nowhere else None,
        )
        if done is None:
            return
        outcome, new = done
        if not new:
            assert outcome.leaf_id == to
            if daemon.leaf != to:
                daemon.remembered = (to, self.book.size)
            daemon.leaf = to
            return
        assert [line.type for line in new] == ["branch_summary"] * summary + ["label"] * (label is not None)
        self._done(who, outcome, [to, *(line.id for line in new[:-1])], new)

    # -- the writer

    @rule(client=CLIENTS)
    def take_writer(self, client: int) -> None:
        who = self.clients[client]
        if who.here:
            self.perform(who, lambda s: s.take_writer(who.origin), writes=True, refusal=lambda lines: None)

    @rule(daemon=DAEMONS)
    def release_writer(self, daemon: int) -> None:
        released = self.daemons[daemon]
        if released.session is not None:
            assert self.run(released.session.release_writer()) is (self.holder is released)
            released.look(self.book)
            self.holder = None if self.holder is released else self.holder

    @rule(client=CLIENTS)
    def hand_over(self, client: int) -> None:
        who = self.clients[client]
        if who.here:
            self.release_writer(1 - self.daemons.index(who.daemon))
            self.take_writer(client)
            assert self.holder is who.daemon

    # -- pi

    @rule(kinds=st.lists(KINDS, min_size=1, max_size=4))
    def pi_appends(self, kinds: list[str]) -> None:
        self.pi.write(kinds)

    @rule(kind=KINDS, cut=CUTS)
    def pi_is_in_the_middle_of_a_line(self, kind: str, cut: float) -> None:
        self.pi.tear(kind, cut)

    @rule()
    def pi_ends_its_line(self) -> None:
        self.pi.finish()

    @rule()
    def pi_opens_the_session(self) -> None:
        self.pi.open()

    # -- looking

    @rule(order=st.lists(DAEMONS, min_size=1, max_size=3))
    def the_watcher_tells(self, order: list[int]) -> None:
        async def tell() -> None:
            for number in order:
                self.daemons[number].hub.files_changed([self.ref.location])
            for daemon in self.daemons:
                await daemon.hub.settled()

        self.run(tell())
        for number in order:
            self.daemons[number].look(self.book)

    @rule()
    def time_passes(self) -> None:
        """What was written some seconds ago is looked for in the file."""
        for daemon in self.daemons:
            daemon.files.time += 6
            looks = daemon.session is not None and daemon.session.log.unseen
            self.run(look_for_unseen(daemon.hub))
            if looks:
                daemon.look(self.book)
                assert daemon.session is not None and not daemon.session.log.unseen

    @rule(
        work=st.lists(st.tuples(CLIENTS, st.integers(1, 2)), min_size=2, max_size=6),
        release=st.booleans(),
        told=st.lists(DAEMONS, max_size=2),
        meddle=st.sampled_from([None, 0, 1]),
        kinds=st.lists(KINDS, min_size=1, max_size=2),
    )
    def all_at_once(
        self, work: list[tuple[int, int]], release: bool, told: list[int], meddle: int | None, kinds: list[str]
    ) -> None:
        """Who is first isn't known; who is refused had reason to be, and everything else is there."""
        self.pi.finish()
        before = self.book.lines
        could_hold = {self.holder} if self.holder is not None and not release else set(self.daemons)
        asked = [(self.clients[n], self._drafts(count, "message")) for n, count in work if self.clients[n].here]
        if meddle is not None:
            self.daemons[meddle].files.before["write"] = [lambda: self.pi.write(kinds)]

        async def one(who: Client, values: list[dict[str, Any]]) -> Any:
            assert who.daemon.session is not None
            drafts = [parse_draft(dump(value), 0) for value in values]
            return await who.daemon.session.perform(Append(who.origin, drafts))

        async def let_go() -> None:
            if release and self.holder is not None and self.holder.session is not None:
                await self.holder.session.release_writer()

        async def together() -> list[Any]:
            for number in told:
                self.daemons[number].hub.files_changed([self.ref.location])
            *results, _ = await asyncio.gather(*(one(*each) for each in asked), let_go(), return_exceptions=True)
            for daemon in self.daemons:
                await daemon.hub.settled()
            return results

        results = self.run(together())
        new = [line.id for line in self.book.lines[len(before) :]]
        expected: list[str] = []
        for (who, values), result in zip(asked, results, strict=True):
            ids = [value["id"] for value in values]
            if isinstance(result, WriterBusy):
                assert could_hold - {who.daemon}
                continue
            assert [head.id for head in result.entries] == ids
            at = new.index(ids[0])
            assert new[at : at + len(ids)] == ids
            expected += ids
        ours = [entry_id for entry_id in new if not entry_id.startswith("pi")]
        assert sorted(ours) == sorted(expected)
        self.acknowledged += ours
        holders = [daemon for daemon in self.daemons if daemon.session is not None and daemon.session.log.held]
        assert len(holders) < 2
        self.holder = holders[0] if holders else None
        for daemon in self.daemons:
            daemon.files.before.clear()
        self.the_watcher_tells([0, 1])

    # -- what holds

    @rule(order=st.permutations([0, 1]))
    def everything_is_looked_at(self, order: list[int]) -> None:
        self.the_watcher_tells(order)
        loaded, log = self.run(self.daemons[0].repository.open(self.ref, recover=True))
        self.run(log.close())
        lines = self.book.lines
        assert [(head.id, head.parent_id) for head in loaded.heads] == [(line.id, line.parent_id) for line in lines]
        assert dict(loaded.tree.labels) == labels_of(lines)
        assert loaded.tree.name == name_of(lines)
        for daemon in self.daemons:
            if daemon.session is not None:
                assert shape(daemon.session.tree) == shape(loaded.tree)
                broken = [(d.kind, d.offset) for d in loaded.damage if d.kind == "notJson"]
                assert [(d.kind, d.offset) for d in daemon.session.damage if d.kind == "notJson"] == broken

    @invariant()
    def nothing_is_lost_or_doubled(self) -> None:
        if not hasattr(self, "book"):
            return
        ids = [line.id for line in self.book.lines]
        assert len(set(ids)) == len(ids)
        assert set(self.acknowledged) <= set(ids)
        assert [entry_id for entry_id in ids if not entry_id.startswith("pi")] == self.acknowledged
        assert set(self.pi.whole) <= set(ids)

    @invariant()
    def a_daemon_knows_what_it_has_seen(self) -> None:
        if not hasattr(self, "book"):
            return
        lines = self.book.lines
        for daemon in self.daemons:
            session = daemon.session
            assert daemon.hub.sessions == ([] if session is None else [session])
            if session is None:
                continue
            seen = [(line.id, line.parent_id) for line in lines[: daemon.seen]]
            assert [(head.id, head.parent_id) for head in session.tree.entries] == seen
            assert session.leaf_id == daemon.leaf
            assert session.log.held is (self.holder is daemon)
            for client in self.clients:
                if client.here and client.daemon is daemon:
                    client.take_in()
                    assert client.revision == session.revision
                    assert client.entries == seen
                    assert client.leaf == session.leaf_id
                    assert client.labels == dict(session.tree.labels)
                    assert client.name == session.tree.name


async def look_for_unseen(hub: Hub) -> None:
    await hub.look_for_unseen()
    await hub.settled()


TwoDaemons.TestCase.settings = settings(max_examples=EXAMPLES, stateful_step_count=STEPS, deadline=None)
TestTwoDaemons = TwoDaemons.TestCase


def test_whoever_waits_for_looks_waits_for_those_that_came_during_one(place: Place) -> None:
    async def main() -> None:
        daemon = Daemon(place.base, "a", "written")
        session = await daemon.hub.create(Header("s", "2026-01-01T00:00:00.000Z", "/home/u/p"), persist="immediate")
        look, looks = session.log.look, [0, 0]

        async def slowly() -> Any:
            looks[0] += 1
            for _ in range(10):
                await asyncio.sleep(0)
            found = await look()
            looks[1] += 1
            return found

        session.log.look = slowly  # type: ignore[method-assign]
        daemon.hub.files_changed([session.log.ref.location] * 2)
        await daemon.hub.settled()
        assert looks == [2, 2]
        await daemon.hub.close()

    asyncio.run(main())
