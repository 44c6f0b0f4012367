"""A session as it will be once the batch that is being put together is written.

Operations of one batch see what those before them have staged; nothing of it shows outside until storage has
taken it, and a failed write drops it whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from pi_daemon.engine.environment import Environment
from pi_daemon.session.draft import Draft, draft_head, entry_line
from pi_daemon.session.errors import EntryNotFound
from pi_daemon.session.glance import Json
from pi_daemon.session.head import Head
from pi_daemon.session.tree import SessionTree

_SHORT_ID_TRIES = 100
"""pi tries as often before it falls back to a full UUID."""


class Staged(Struct, frozen=True):
    """`look` is what was decoded of the draft."""

    head: Head
    line: bytes
    look: Json


class Staging:
    """Entries in the order they will have in the file, and where the leaf will be.

    `tokens_after` estimates, for each staged compaction, the context that it leaves."""

    def __init__(self, tree: SessionTree, leaf_id: str | None, environment: Environment) -> None:
        self.tree = tree
        self.leaf_id = leaf_id
        self.entries: list[Staged] = []
        self.tokens_after: dict[str, int] = {}
        self._by_id: dict[str, Staged] = {}
        self._environment = environment

    def __contains__(self, entry_id: str) -> bool:
        return entry_id in self._by_id or entry_id in self.tree

    def head(self, entry_id: str) -> Head:
        """Raises EntryNotFound."""
        staged = self._by_id.get(entry_id)
        head = staged.head if staged is not None else self.tree.get(entry_id)
        if head is None:
            raise EntryNotFound("The session has no such entry; read session/tree.", entryId=entry_id)
        return head

    def staged(self, entry_id: str) -> Staged | None:
        """The entry if it belongs to this batch."""
        return self._by_id.get(entry_id)

    def ancestors(self, entry_id: str | None) -> Iterator[Head]:
        """The entry and those above it, leaf first."""
        while entry_id is not None and (staged := self._by_id.get(entry_id)) is not None:
            yield staged.head
            entry_id = staged.head.parent_id
        head = self.tree.get(entry_id) if entry_id is not None else None
        seen = 0
        while head is not None and seen <= len(self.tree.entries):
            yield head
            head = self.tree.parent(head)
            seen += 1

    def add(self, draft: Draft, parent_id: str | None, extra: Mapping[str, bytes] | None = None) -> Head:
        """Stage `draft` as a child of `parent_id` and move the leaf to it."""
        entry_id = draft.id if draft.id is not None else self.fresh_id()
        timestamp = self._environment.timestamp()
        line = entry_line(draft, entry_id, parent_id, timestamp, extra or {})
        head = draft_head(draft, entry_id, parent_id, timestamp, line)
        staged = Staged(head, line, draft.look)
        self.entries.append(staged)
        self._by_id[entry_id] = staged
        self.leaf_id = entry_id
        return head

    def fresh_id(self) -> str:
        """An id that no entry has: 8 hex digits, or a longer one where those keep clashing."""
        for _ in range(_SHORT_ID_TRIES):
            entry_id = self._environment.entry_id()
            if entry_id not in self:
                return entry_id
        return self._environment.session_id()

    def mark(self) -> tuple[int, str | None]:
        return len(self.entries), self.leaf_id

    def rollback(self, mark: tuple[int, str | None]) -> None:
        """Drop what was staged since `mark`."""
        count, self.leaf_id = mark
        for staged in self.entries[count:]:
            del self._by_id[staged.head.id]
        del self.entries[count:]
