"""A session under every operation against a plain list: tree, leaf, revisions, notifications and the file agree."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from pi_daemon.engine import reading
from pi_daemon.engine.events import Appended, LeafChanged
from pi_daemon.engine.hub import Hub
from pi_daemon.engine.live import LiveSession
from pi_daemon.engine.operations import Append, MoveLeaf, Operation, label_draft, name_draft, summary_draft
from pi_daemon.session.errors import InvalidEntry, LeafMoved
from tests.engine.conftest import ALICE, Listener, World, append, assistant, draft, user

CALL = {"type": "toolCall", "id": "c1", "name": "n", "arguments": {}}
DRAFTS = st.sampled_from(
    [
        user("x"),
        assistant("y", 10),
        {"type": "custom", "customType": "c"},
        {"type": "usage", "usage": {}},
        {"type": "later_kind", "anything": [1, None]},
        {"type": "compaction", "summary": "s", "tokensBefore": 3},
        {"type": "branch_summary", "fromId": "root", "summary": "there"},
        {"type": "custom_message", "customType": "c", "content": "said", "display": True},
        {"type": "message", "message": {"role": "system", "content": "be", "timestamp": 1}},
        {"type": "message", "message": {"role": "bashExecution", "command": "ls", "output": "a", "exitCode": 1}},
        {"type": "message", "message": {"role": "toolResult", "toolCallId": "c1", "content": []}},
        {
            "type": "message",
            "message": {"role": "assistant", "content": [{"type": "toolCall", "id": "c1", "name": "n"}]},
        },
    ]
)


class SessionMachine(RuleBasedStateMachine):
    entries = Bundle("entries")

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.path = Path(tempfile.mkdtemp())
        (self.path / "sessions").mkdir()
        self.world = World(self.path)
        self.entering = self.world.hub()
        self.hub: Hub = self.runner.run(self.entering.__aenter__())
        self.model: list[tuple[str, str | None]] = []
        self.leaf: str | None = None
        self.listener = Listener()

    def teardown(self) -> None:
        self.runner.run(self.entering.__aexit__(None, None, None))
        self.runner.close()
        shutil.rmtree(self.path)

    @initialize()
    def create(self) -> None:
        async def start() -> LiveSession:
            return await self.hub.create(self.world.header(), persist="immediate")

        self.session = self.runner.run(start())
        self.hub.subscribe(self.session, "bob", self.listener)

    def _perform(self, operation: Callable[[], Operation]) -> Any:
        async def perform() -> Any:
            return await self.session.perform(operation())

        return self.runner.run(perform())

    def _appended(self, outcome: Any) -> Any:
        for head in outcome.entries:
            self.model.append((head.id, head.parent_id))
            self.leaf = head.id
        return multiple(*(head.id for head in outcome.entries))

    @rule(target=entries, values=st.lists(DRAFTS, min_size=1, max_size=4))
    def append_at_the_leaf(self, values: list[dict[str, Any]]) -> Any:
        outcome = self.runner.run(append(self.session, *values, expected_leaf_id=self.leaf))
        assert outcome.entries[0].parent_id == self.leaf
        return self._appended(outcome)

    @rule(target=entries, parent=entries, value=DRAFTS)
    def append_elsewhere(self, parent: str, value: dict[str, Any]) -> Any:
        outcome = self.runner.run(append(self.session, value, parent_id=parent))
        assert outcome.entries[0].parent_id == parent
        return self._appended(outcome)

    @rule(target=entries, values=st.lists(DRAFTS, min_size=2, max_size=6))
    def append_at_the_same_time(self, values: list[dict[str, Any]]) -> Any:
        async def together() -> list[Any]:
            return await asyncio.gather(*(append(self.session, value) for value in values))

        made = []
        for outcome in self.runner.run(together()):
            made.append(outcome.entries[0].id)
            self._appended(outcome)
        return multiple(*made)

    @rule(other=entries)
    def refuse_another_leaf(self, other: str) -> None:
        order = dict(self.model)
        above = self.leaf
        while above is not None:
            if above == other:
                return
            above = order[above]
        try:
            self.runner.run(append(self.session, user(), expected_leaf_id=other))
        except LeafMoved as refused:
            assert refused.data == {"leafId": self.leaf}
        else:
            raise AssertionError("an append went below a leaf that was not expected")

    @rule(to=st.one_of(st.none(), entries))
    def move(self, to: str | None) -> None:
        self._perform(lambda: MoveLeaf(ALICE, to))
        self.leaf = to

    @rule(target=entries, to=st.one_of(st.none(), entries))
    def move_with_a_summary(self, to: str | None) -> Any:
        outcome = self._perform(lambda: MoveLeaf(ALICE, to, summary=summary_draft("was there")))
        assert outcome.entries[0].parent_id == to
        return self._appended(outcome)

    @rule(target=entries, of=entries, label=st.sampled_from(["one", "two", None]))
    def label(self, of: str, label: str | None) -> Any:
        return self._appended(self._perform(lambda: Append(ALICE, [label_draft(of, label)])))

    @rule(target=entries, of=entries, content=st.sampled_from([None, "edited"]))
    def edit(self, of: str, content: str | None) -> Any:
        replacement = None if content is None else {"content": content}
        try:
            return self._appended(
                self.runner.run(
                    append(self.session, {"type": "context_edit", "targetId": of, "replacement": replacement})
                )
            )
        except InvalidEntry:
            return multiple()

    @rule(target=entries, name=st.text(max_size=5))
    def rename(self, name: str) -> Any:
        return self._appended(self._perform(lambda: Append(ALICE, [name_draft(name)])))

    @rule(value=DRAFTS)
    def repeat_an_answered_append(self, value: dict[str, Any]) -> None:
        async def twice() -> tuple[Any, Any]:
            given = draft(value | {"id": self.world.environment.entry_id()})
            first = await self.session.perform(Append(ALICE, [given]))
            return first, await self.session.perform(Append(ALICE, [given]))

        first, second = self.runner.run(twice())
        assert second.entries[0] is first.entries[0]
        assert second.revision == first.revision
        self._appended(first)

    @invariant()
    def the_tree_is_the_model(self) -> None:
        if not hasattr(self, "session"):
            return
        assert [(head.id, head.parent_id) for head in self.session.tree.entries] == self.model
        assert self.session.leaf_id == self.leaf

    @invariant()
    def the_listener_has_heard_everything_once_and_in_order(self) -> None:
        changes = self.listener.changes
        assert [change.revision for change in changes] == list(range(1, len(changes) + 1))
        heard: list[str] = []
        leaf = None
        for change in changes:
            for event in change.events:
                if isinstance(event, Appended):
                    heard.extend(node.head.id for node in event.nodes)
                elif isinstance(event, LeafChanged):
                    assert event.previous_leaf_id == leaf
                    leaf = event.leaf_id
        assert heard == [entry_id for entry_id, _ in self.model]
        assert leaf == self.leaf

    @rule(llm=st.booleans())
    def the_file_reads_back_the_same(self, llm: bool) -> None:
        async def read() -> tuple[LiveSession, reading.Context, reading.Context]:
            kept = await reading.context(self.session, self.leaf, llm=llm)
            async with self.world.hub() as other:
                again = await other.open(await other.find(self.session.session_id))
                return again, kept, await reading.context(again, self.leaf, llm=llm)

        again, kept, fresh = self.runner.run(read())
        assert kept == fresh
        assert [(head.id, head.parent_id) for head in again.tree.entries] == self.model
        assert again.damage == []
        assert dict(again.tree.labels) == dict(self.session.tree.labels)
        assert again.tree.name == self.session.tree.name


SessionMachine.TestCase.settings = settings(max_examples=15, stateful_step_count=25, deadline=None)
TestSession = SessionMachine.TestCase
