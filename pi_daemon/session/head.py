"""What the daemon keeps of an entry: its head. The body stays in the file until somebody asks.

A head is the four members that every entry has, where its line lies, and the few facts that the tree,
a projection and the token estimate need. One object an entry, 100,000 of them in some tens of MB. What is kept of
large sessions over restarts are these objects as arrays: a change of their fields is another version of that file.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

BROKEN_OFF = ("aborted", "error")
"""Stop reasons of answers that aren't whole (pi 1.6.0): their usage isn't the size of their context, they are left out
of requests, and their calls aren't run."""

IN_MEMORY = -1
"""`Head.offset` of a line that isn't in the file (not written yet, or a session that never is)."""


class MessageFacts(Struct, gc=False, frozen=True, array_like=True, tag=0):
    """A message of any role that needs no more than its role. `empty`: its content is null or absent."""

    role: str
    empty: bool = False


class AssistantFacts(Struct, gc=False, frozen=True, array_like=True, tag=1):
    """`usage_tokens`: the context size that a valid usage reports, else 0 (aborted, error, zero, absent).
    `has_text`: its content shows text, and not thinking and tool calls alone."""

    provider: str | None
    model: str | None
    stop_reason: str | None
    usage_tokens: float
    empty: bool = False
    has_text: bool = False
    role: str = "assistant"


class ToolResultFacts(Struct, gc=False, frozen=True, array_like=True, tag=2):
    call_id: str
    empty: bool = False
    role: str = "toolResult"


class ShellFacts(Struct, gc=False, frozen=True, array_like=True, tag=3):
    """A bashExecution message. `excluded`: its `excludeFromContext`."""

    excluded: bool
    empty: bool = False
    role: str = "bashExecution"


class ThinkingFacts(Struct, gc=False, frozen=True, array_like=True, tag=4):
    level: str


class ModelFacts(Struct, gc=False, frozen=True, array_like=True, tag=5):
    provider: str
    model: str


class CompactionFacts(Struct, gc=False, frozen=True, array_like=True, tag=6):
    first_kept: str | None
    has_system: bool


class BranchSummaryFacts(Struct, gc=False, frozen=True, array_like=True, tag=7):
    from_id: str | None
    empty: bool


class LabelFacts(Struct, gc=False, frozen=True, array_like=True, tag=8):
    """`label` is None where the entry clears it."""

    target: str
    label: str | None


class NameFacts(Struct, gc=False, frozen=True, array_like=True, tag=9):
    """`name` is None where the entry clears it."""

    name: str | None


class EditFacts(Struct, gc=False, frozen=True, array_like=True, tag=10):
    """`omit`: the replacement is null."""

    target: str
    omit: bool


Facts: TypeAlias = (
    MessageFacts
    | AssistantFacts
    | ToolResultFacts
    | ShellFacts
    | ThinkingFacts
    | ModelFacts
    | CompactionFacts
    | BranchSummaryFacts
    | LabelFacts
    | NameFacts
    | EditFacts
)


class Head(Struct, gc=False, eq=False, array_like=True):
    """One entry, without its body.

    `offset` and `length` are in bytes and leave out the newline; `offset` is `IN_MEMORY` for a line
    that is kept whole. `facts` is None for kinds that contribute nothing but their place in the tree
    (custom, usage, unknown), and for custom_message.

    Two notes are made when the body is first read, so that it need not be taken apart again: `message_at` is where
    in its line the message begins that ends one byte before the line does (0: not known, or it lies otherwise), and
    `calls` are the ids of its tool calls (None: not known).
    """

    type: str
    id: str
    parent_id: str | None
    timestamp: str
    offset: int
    length: int
    facts: Facts | None
    message_at: int = 0
    calls: tuple[str, ...] | None = None

    @property
    def role(self) -> str | None:
        """The role of a message entry, None for every other kind."""
        facts = self.facts
        return facts.role if facts.__class__ in _WITH_ROLE else None


_WITH_ROLE = frozenset({MessageFacts, AssistantFacts, ToolResultFacts, ShellFacts})


class Header(Struct, frozen=True):
    """The first line of a session file. `version` is 1 where the file names none."""

    id: str
    timestamp: str
    cwd: str
    version: int = 3
    parent_session: str | None = None


class Damage(Struct, frozen=True, rename="camel"):
    """One thing that is wrong with a session file, as the protocol shows it.

    `kind`: notJson, glued, notObject, noId, tooDeep, notUtf8 (broken lines) · tornTail (a last line without an
    end) · orphan, duplicateId, loop (the tree) · lateHeader, byteOrderMark, unversioned, newerVersion
    (read-only) · noHeader, empty (refused) · extraHeader · lost (entries that we had written and a rewrite
    dropped). `line` counts from 1; `offset` and `length` are bytes; `entry_ids` are the entries concerned:
    themselves, or those that lost an ancestor.
    """

    kind: str
    message: str
    line: int | None = None
    offset: int | None = None
    length: int | None = None
    entry_ids: list[str] = []
