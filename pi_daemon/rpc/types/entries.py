"""Parameters and results about entries, the tree, the leaf and the context."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from pi_daemon.rpc.types.base import Durability, Filter, Model, Raw, TreeNode, Wire


class AppendParams(Wire, kw_only=True):
    """`entries` are drafts: an entry without `parentId` and `timestamp`, `id` optional. Several form a chain.
    `parent_id` absent: under the leaf; null: as a root."""

    session_id: str
    entries: list[Raw]
    parent_id: str | UnsetType | None = UNSET
    expected_leaf_id: str | UnsetType | None = UNSET


class AppendedEntry(Wire, kw_only=True):
    id: str
    parent_id: str | None
    timestamp: str


class AppendResult(Wire, kw_only=True):
    """`raced`: another process had written to the file before these entries. `should_compact` is null while no
    context window is known."""

    entries: list[AppendedEntry]
    leaf_id: str | None
    revision: int
    durability: Durability
    raced: bool | UnsetType = UNSET
    context_tokens: int
    should_compact: bool | None


class EntriesParams(Wire, kw_only=True):
    """`ids` or `since`, or neither: from the first entry.

    `since`: the entry after which to begin.
    `limit`: at most 10,000, which is also the default.
    """

    session_id: str
    ids: list[str] | UnsetType = UNSET
    since: str | UnsetType = UNSET
    limit: int | UnsetType = UNSET
    work_done_token: str | int | UnsetType = UNSET


class EntriesResult(Wire, kw_only=True):
    """In file order. `next_since` where there is more."""

    entries: list[Raw]
    leaf_id: str | None
    revision: int
    next_since: str | UnsetType = UNSET


class TreeParams(Wire, kw_only=True):
    """`fold` joins straight stretches of the tree into their last entry."""

    session_id: str
    filter: Filter = "default"
    fold: bool = False
    cursor: str | UnsetType = UNSET
    work_done_token: str | int | UnsetType = UNSET


class TreeResult(Wire, kw_only=True):
    """Flat: parents before their children, siblings by time. A hidden entry's children hang under its nearest
    visible ancestor."""

    nodes: list[TreeNode]
    leaf_id: str | None
    revision: int
    next_cursor: str | UnsetType = UNSET


class PathOfParams(Wire, kw_only=True):
    """`leaf_id` absent: the session's leaf; null: before the first entry."""

    session_id: str
    leaf_id: str | UnsetType | None = UNSET


class PathResult(Wire, kw_only=True):
    entry_ids: list[str]
    leaf_id: str | None


class CompareParams(Wire, kw_only=True):
    session_id: str
    a: str
    b: str


class CompareResult(Wire, kw_only=True):
    """`a` and `b`: the entries of each path after the common ancestor, root first."""

    ancestor_id: str | None
    a: list[str]
    b: list[str]


class ContextParams(Wire, kw_only=True):
    """What to project, and how.

    `leaf_id`: absent: the session's leaf; null: before the first entry.
    `format`: `agent`, messages as the agent holds them, or `llm`, as a provider is sent them.
    `pairing`: `repair` leaves out tool results without a call, and answers calls without a result as aborted.
    """

    session_id: str
    leaf_id: str | UnsetType | None = UNSET
    format: Literal["agent", "llm"] = "agent"
    pairing: Literal["report", "repair"] = "report"


class Problem(Wire, kw_only=True):
    """`resultWithoutCall` or `callWithoutResult`: a provider would refuse this request."""

    kind: Literal["resultWithoutCall", "callWithoutResult"]
    entry_id: str
    tool_call_id: str


class ContextResult(Wire, kw_only=True):
    """`sources[i]` is the entry that `messages[i]` comes from."""

    messages: list[Raw]
    sources: list[str]
    model: Model | None
    thinking_level: str
    tokens: int
    compaction_id: str | UnsetType = UNSET
    leaf_id: str | None
    problems: list[Problem]


class MoveLeafParams(Wire, kw_only=True):
    """`entry_id` null: before the first entry. `before` moves to the parent of a user or custom message and gives
    its text as `editorText`. `summary` appends a branch summary with that text at the target. `label` labels the
    summary if there is one, else the target."""

    session_id: str
    entry_id: str | None
    position: Literal["at", "before"] = "at"
    summarize: bool = False
    instructions: str | UnsetType = UNSET
    summary: str | UnsetType = UNSET
    label: str | UnsetType = UNSET
    expected_leaf_id: str | UnsetType | None = UNSET


class MoveLeafResult(Wire, kw_only=True):
    leaf_id: str | None
    previous_leaf_id: str | None
    summary_entry_id: str | UnsetType = UNSET
    editor_text: str | UnsetType = UNSET
    revision: int


class LabelParams(Wire, kw_only=True):
    """null or an empty `label` clears."""

    session_id: str
    entry_id: str
    label: str | None


class RenameParams(Wire, kw_only=True):
    """An empty `name` clears."""

    session_id: str
    name: str


class Replacement(Wire, kw_only=True):
    content: Raw


class EditContextParams(Wire, kw_only=True):
    """`replacement` null omits the target from the context, from here on, on this path."""

    session_id: str
    target_id: str
    replacement: Replacement | None


class ChangeResult(Wire, kw_only=True):
    entry_id: str
    revision: int
