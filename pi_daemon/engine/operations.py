"""What can be asked of a session, one class each. An operation stages its entries and its leaf, or refuses.

They run in the session's writer task, in the order they were asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from pi_daemon.engine.compacting import compaction_members, tokens_after
from pi_daemon.engine.events import Cause, Origin
from pi_daemon.engine.staging import Staging
from pi_daemon.session.draft import Draft, same_content
from pi_daemon.session.errors import DuplicateEntry, EntryNotFound, InvalidEntry, LeafMoved
from pi_daemon.session.head import Head
from pi_daemon.session.rawjson import dumps, loads

if TYPE_CHECKING:
    from pi_daemon.engine.live import LiveSession

Durability: TypeAlias = Literal["memory", "written", "synced"]

BESIDE_THE_CONVERSATION = frozenset({"label", "session_info", "usage", "custom", "compaction"})
"""Entries that another client may have put between an expected leaf and the leaf without harm."""

EDITABLE_ROLES = frozenset({"user", "assistant", "toolResult"})
"""Whose content a context edit may change (pi 1.6.0), beside custom_message."""


class Outcome(Struct):
    """What an operation did. `entries` are those asked for, those that were there already included."""

    entries: list[Head]
    leaf_id: str | None
    previous_leaf_id: str | None
    revision: int
    durability: Durability = "memory"
    raced: bool = False


class Operation:
    """`cause` is what notifications say moved the leaf. `first`, `last`: which staged entries are its own.
    Even where nothing is staged, `moves` sets the leaf, `takes` wants the writer lease, `flushes` has storage write,
    `repeats` answers for what was written before."""

    cause: Cause = "append"
    flushes = False
    moves = False
    takes = False
    repeats = False

    def __init__(self, origin: Origin | None) -> None:
        self.origin = origin
        self.done: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self.entries: list[Head] = []
        self.first = self.last = 0
        self.leaf_id: str | None = None

    async def stage(self, staging: Staging, session: LiveSession) -> None:
        """Raises what the request is refused with; whatever it staged is then taken back."""
        raise NotImplementedError

    def finish(self, outcome: Outcome) -> None:
        if not self.done.done():
            self.done.set_result(outcome)

    def fail(self, error: Exception) -> None:
        if not self.done.done():
            self.done.set_exception(error)


class Append(Operation):
    """Drafts, as a chain. An id that is there already with the same content is answered as before."""

    def __init__(
        self,
        origin: Origin | None,
        drafts: Sequence[Draft],
        parent_id: str | UnsetType | None = UNSET,
        expected_leaf_id: str | UnsetType | None = UNSET,
    ) -> None:
        super().__init__(origin)
        self.drafts = drafts
        self.parent_id = parent_id
        self.expected_leaf_id = expected_leaf_id

    async def stage(self, staging: Staging, session: LiveSession) -> None:
        repeated = await self._repeated(staging, session)
        drafts = self.drafts[len(repeated) :]
        self.entries.extend(repeated)
        self.repeats = bool(repeated)
        if not drafts:
            return
        if repeated:
            parent_id: str | None = repeated[-1].id
            if self.expected_leaf_id is not UNSET and not leaf_holds(staging, parent_id):
                raise leaf_moved(staging.leaf_id)
        else:
            if self.expected_leaf_id is not UNSET and not leaf_holds(staging, self.expected_leaf_id):
                raise leaf_moved(staging.leaf_id)
            parent_id = staging.leaf_id if self.parent_id is UNSET else self.parent_id
            if parent_id is not None:
                staging.head(parent_id)
        for index, draft in enumerate(drafts, len(repeated)):
            if draft.id is not None and draft.id in staging:
                raise DuplicateEntry(
                    "An entry has this id already, here or in this request; give a fresh id or none.",
                    entryId=draft.id,
                    index=index,
                )
            extra = await _checked(draft, index, parent_id, staging, session)
            head = staging.add(draft, parent_id, extra)
            if head.type == "compaction":
                staging.tokens_after[head.id] = await tokens_after(head, staging, session)
            self.entries.append(head)
            parent_id = head.id

    async def _repeated(self, staging: Staging, session: LiveSession) -> list[Head]:
        """The leading drafts that the session holds already, from a request whose answer was lost."""
        found: list[Head] = []
        for draft in self.drafts:
            if draft.id is None or draft.id not in staging or any(draft.id == head.id for head in found):
                break
            staged = staging.staged(draft.id)
            head = staging.head(draft.id)
            line = staged.line if staged is not None else (await session.lines([head]))[0]
            if not same_content(draft, line):
                raise DuplicateEntry(
                    "An entry has this id already, with other content; give a fresh id or none.", entryId=draft.id
                )
            found.append(head)
        return found


def leaf_holds(staging: Staging, expected: str | None) -> bool:
    """Is the leaf the one expected, but for entries beside the conversation that came after it?"""
    if staging.leaf_id == expected:
        return True
    for head in staging.ancestors(staging.leaf_id):
        if head.id == expected:
            return True
        if head.type not in BESIDE_THE_CONVERSATION:
            return False
    return expected is None


def leaf_moved(leaf_id: str | None) -> LeafMoved:
    return LeafMoved("The leaf is another by now; read what was appended, then try again with it.", leafId=leaf_id)


async def _checked(
    draft: Draft, index: int, parent_id: str | None, staging: Staging, session: LiveSession
) -> dict[str, bytes]:
    """What only the tree can tell about a draft, and the members that the daemon adds to it."""
    if draft.type == "label":
        staging.head(loads(draft.members["targetId"]))
    elif draft.type == "context_edit":
        _check_edit(loads(draft.members["targetId"]), index, parent_id, staging)
    elif draft.type == "compaction":
        return await compaction_members(draft, parent_id, staging, session)
    return {}


def _check_edit(target_id: str, index: int, parent_id: str | None, staging: Staging) -> None:
    target = staging.head(target_id)
    if not any(head.id == target_id for head in staging.ancestors(parent_id)):
        raise InvalidEntry(
            "A context edit changes an entry on its own path; move the leaf there first.", index=index, path="targetId"
        )
    if target.type != "custom_message" and target.role not in EDITABLE_ROLES:
        raise InvalidEntry(
            "Only user, assistant, toolResult and custom messages can be edited in the context.",
            index=index,
            path="targetId",
        )


class MoveLeaf(Operation):
    """Put the leaf at `target_id`; with `summary` a branch summary of what was left is appended there, with
    `label` a label for the summary or the target."""

    cause = "move"
    moves = True

    def __init__(
        self,
        origin: Origin | None,
        target_id: str | None,
        *,
        before: bool = False,
        summary: Draft | None = None,
        label: str | None = None,
        expected_leaf_id: str | UnsetType | None = UNSET,
    ) -> None:
        super().__init__(origin)
        self.target_id = target_id
        self.before = before
        self.summary = summary
        self.label = label
        self.expected_leaf_id = expected_leaf_id

    def target(self, staging: Staging) -> str | None:
        """Where the leaf goes. Raises LeafMoved, EntryNotFound."""
        if self.expected_leaf_id is not UNSET and not leaf_holds(staging, self.expected_leaf_id):
            raise leaf_moved(staging.leaf_id)
        if self.target_id is None:
            return None
        head = staging.head(self.target_id)
        if not self.before:
            return head.id
        return head.parent_id if head.parent_id is not None and head.parent_id in staging else None

    async def stage(self, staging: Staging, session: LiveSession) -> None:
        left = staging.leaf_id
        target_id = self.target(staging)
        staging.leaf_id = target_id
        named = target_id
        if self.summary is not None:
            from_id = dumps(left if left is not None else "root")
            head = staging.add(self.summary, target_id, {"fromId": from_id})
            self.entries.append(head)
            named = head.id
        if self.label is not None:
            if named is None:
                raise EntryNotFound("There is no entry before the first to put a label on.", entryId=None)
            self.entries.append(staging.add(label_draft(named, self.label), staging.leaf_id))


def label_draft(target_id: str, label: str | None) -> Draft:
    """pi leaves `label` out where it is cleared."""
    members = {"targetId": dumps(target_id)} | ({"label": dumps(label)} if label else {})
    return Draft("label", None, members)


def name_draft(name: str) -> Draft:
    """As pi writes it: one line, no space around it; an empty name clears."""
    return Draft("session_info", None, {"name": dumps(" ".join(name.splitlines()).strip())})


def edit_draft(target_id: str, replacement: bytes) -> Draft:
    return Draft("context_edit", None, {"targetId": dumps(target_id), "replacement": replacement})


def summary_draft(summary: str, details: Any = None, usage: Any = None) -> Draft:
    """A branch summary without its `fromId`, which is known when the leaf is left."""
    members = {"fromId": b'"root"', "summary": dumps(summary)}
    if details is not None:
        members["details"] = dumps(details)
    if usage is not None:
        members["usage"] = dumps(usage)
    return Draft("branch_summary", None, members)


class Flush(Operation):
    """Appends nothing; has storage write what is kept."""

    flushes = True

    async def stage(self, staging: Staging, session: LiveSession) -> None:
        return


class Look(Operation):
    """Appends nothing; the writer looks at the file before every batch."""

    async def stage(self, staging: Staging, session: LiveSession) -> None:
        return


class TakeWriter(Operation):
    """Appends nothing; takes the writer lease."""

    takes = True

    async def stage(self, staging: Staging, session: LiveSession) -> None:
        return


class ReleaseWriter(Operation):
    """Appends nothing; lets go of the writer lease once its batch is written, whether more is queued or not.
    `released`: there was one to let go."""

    released = False

    async def stage(self, staging: Staging, session: LiveSession) -> None:
        return
