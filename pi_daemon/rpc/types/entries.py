"""Parameters and results about entries, the tree, the leaf and the context."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from pi_daemon.rpc.types.base import Durability, Filter, Model, Raw, TreeNode, Wire


class AppendParams(Wire, kw_only=True):
    """Entries to append. Several form a chain, each under the one before.

    `session_id`: the session.
    `entries`: drafts, at most `limits.draftsInAppend`. A draft is an entry without `parentId` and `timestamp`. It may
        bring its `id`: the same id with the same content again is answered as before, so a retry is safe.
    `parent_id`: the entry to append under; null: as a root; absent: under the leaf.
    `expected_leaf_id`: refuse with `leafMoved` where the leaf is another by now. Entries that don't belong to the
        conversation (label, session_info, usage, custom) or a compaction in between do no harm.
    """

    session_id: str
    entries: list[Raw]
    parent_id: str | UnsetType | None = UNSET
    expected_leaf_id: str | UnsetType | None = UNSET


class AppendedEntry(Wire, kw_only=True):
    """What the daemon gave a draft.

    `id`: its id.
    `parent_id`: the entry that it hangs under.
    `timestamp`: when it was appended.
    """

    id: str
    parent_id: str | None
    timestamp: str


class AppendResult(Wire, kw_only=True):
    """The entries are in the session.

    `entries`: what each draft was given, in their order.
    `leaf_id`: the last of them.
    `revision`: the session's revision with them.
    `durability`: what is promised for them: `memory` (not on disk yet), `written` (survives kill −9) or `synced`
        (survives a loss of power).
    `raced`: true where another process had written to the file before them.
    `context_tokens`: the size of the context at the leaf; an estimate until the next valid usage.
    `should_compact`: whether it is time to; null while no context window is known.
    """

    entries: list[AppendedEntry]
    leaf_id: str | None
    revision: int
    durability: Durability
    raced: bool | UnsetType = UNSET
    context_tokens: int
    should_compact: bool | None


class EntriesParams(Wire, kw_only=True):
    """Which entries: those of `ids`, those after `since`, or all.

    `session_id`: the session.
    `ids`: the entries wanted; each must be there.
    `since`: the entry after which to begin, in file order.
    `limit`: at most 10,000, which is also the default.
    `work_done_token`: where to report progress.
    """

    session_id: str
    ids: list[str] | UnsetType = UNSET
    since: str | UnsetType = UNSET
    limit: int | UnsetType = UNSET
    work_done_token: str | int | UnsetType = UNSET


class EntriesResult(Wire, kw_only=True):
    """Entries in file order.

    `entries`: each as it is stored, byte for byte.
    `leaf_id`: the leaf now.
    `revision`: the revision that this shows.
    `next_since`: where there is more: what to give as `since` for it.
    """

    entries: list[Raw]
    leaf_id: str | None
    revision: int
    next_since: str | UnsetType = UNSET


class TreeParams(Wire, kw_only=True):
    """Which nodes.

    `session_id`: the session.
    `filter`: which entries, as in pi's own tree: `default` leaves out labels and settings, `noTools` tool results
        too; `userOnly` shows users' messages, `labeledOnly` what bears a label, `all` everything.
    `fold`: join straight stretches into their last entry.
    `cursor`: `nextCursor` of the page before.
    `work_done_token`: where to report progress.
    """

    session_id: str
    filter: Filter = "default"
    fold: bool = False
    cursor: str | UnsetType = UNSET
    work_done_token: str | int | UnsetType = UNSET


class TreeResult(Wire, kw_only=True):
    """The tree as a flat list.

    `nodes`: parents before their children, siblings by time. A hidden entry's children hang under its nearest visible
        ancestor.
    `leaf_id`: the leaf now.
    `revision`: the revision that this shows.
    `next_cursor`: where there is more.
    """

    nodes: list[TreeNode]
    leaf_id: str | None
    revision: int
    next_cursor: str | UnsetType = UNSET


class PathOfParams(Wire, kw_only=True):
    """Which path.

    `session_id`: the session.
    `leaf_id`: where it ends; absent: at the session's leaf; null: before the first entry.
    """

    session_id: str
    leaf_id: str | UnsetType | None = UNSET


class PathResult(Wire, kw_only=True):
    """A path.

    `entry_ids`: root first.
    `leaf_id`: where it ends.
    """

    entry_ids: list[str]
    leaf_id: str | None


class CompareParams(Wire, kw_only=True):
    """Two entries.

    `session_id`: the session.
    `a`: one entry.
    `b`: the other.
    """

    session_id: str
    a: str
    b: str


class CompareResult(Wire, kw_only=True):
    """Where two paths part.

    `ancestor_id`: the last entry that both have; null where they have none.
    `a`: the entries of the one path after it, root first.
    `b`: those of the other.
    """

    ancestor_id: str | None
    a: list[str]
    b: list[str]


class ContextParams(Wire, kw_only=True):
    """What to project, and how.

    `session_id`: the session.
    `leaf_id`: absent: the session's leaf; null: before the first entry.
    `format`: `agent`: messages as an agent holds them; `llm`: as a provider is sent them.
    `pairing`: `report` names calls without results and results without calls; `repair` leaves the results out and
        answers the calls as aborted.
    """

    session_id: str
    leaf_id: str | UnsetType | None = UNSET
    format: Literal["agent", "llm"] = "agent"
    pairing: Literal["report", "repair"] = "report"


class Problem(Wire, kw_only=True):
    """Something for which a provider would refuse the request.

    `kind`: a tool result without its call, or a call without its result.
    `entry_id`: the entry that has it.
    `tool_call_id`: the call's id.
    """

    kind: Literal["resultWithoutCall", "callWithoutResult"]
    entry_id: str
    tool_call_id: str


class ContextResult(Wire, kw_only=True):
    """What the model sees at a leaf.

    `messages`: as they are stored, wherever the projection neither makes nor changes them.
    `sources`: `sources[i]` is the entry that `messages[i]` comes from.
    `model`: the model that the path has selected.
    `thinking_level`: the level that the path has selected.
    `tokens`: the context's size; an estimate until the next valid usage.
    `compaction_id`: the compaction that the context begins with.
    `leaf_id`: the leaf that it belongs to.
    `problems`: what a provider would refuse; with `repair` what was repaired.
    """

    messages: list[Raw]
    sources: list[str]
    model: Model | None
    thinking_level: str
    tokens: int
    compaction_id: str | UnsetType = UNSET
    leaf_id: str | None
    problems: list[Problem]


class MoveLeafParams(Wire, kw_only=True):
    """Where to go on from.

    `session_id`: the session.
    `entry_id`: the entry to go to; null: before the first.
    `position`: `at` the entry, or `before`: to the parent of a user or custom message, whose text comes back as
        `editorText`.
    `summarize`: have the branch that is left summarized.
    `instructions`: for the summarizer.
    `summary`: a summary of the branch that is left, made by the client; it is appended at the target.
    `summarizer`: `client`, `model` or `extractive`; absent: as the session is set to, else the first that is there.
    `label`: labels the summary if there is one, else the target.
    `expected_leaf_id`: refuse with `leafMoved` where the leaf is another by now.
    `work_done_token`: where to report progress.
    """

    session_id: str
    entry_id: str | None
    position: Literal["at", "before"] = "at"
    summarize: bool = False
    instructions: str | UnsetType = UNSET
    summary: str | UnsetType = UNSET
    summarizer: str | UnsetType = UNSET
    label: str | UnsetType = UNSET
    expected_leaf_id: str | UnsetType | None = UNSET
    work_done_token: str | int | UnsetType = UNSET


class MoveLeafResult(Wire, kw_only=True):
    """The leaf was moved.

    `leaf_id`: where it is.
    `previous_leaf_id`: where it was.
    `summary_entry_id`: the summary that was appended.
    `editor_text`: the text of the message before which the leaf is now.
    `revision`: the session's revision with it.
    `durability`: what the entries survive that were appended; absent without a summary and a label.
    """

    leaf_id: str | None
    previous_leaf_id: str | None
    summary_entry_id: str | UnsetType = UNSET
    editor_text: str | UnsetType = UNSET
    revision: int
    durability: Durability | UnsetType = UNSET


class LabelParams(Wire, kw_only=True):
    """What to call an entry.

    `session_id`: the session.
    `entry_id`: the entry.
    `label`: its label; null or empty clears it.
    """

    session_id: str
    entry_id: str
    label: str | None


class RenameParams(Wire, kw_only=True):
    """What to call a session.

    `session_id`: the session.
    `name`: its name; empty clears it.
    """

    session_id: str
    name: str


class Replacement(Wire, kw_only=True):
    """What stands for an entry in the context.

    `content`: a string, or an array of content parts.
    """

    content: Raw


class EditContextParams(Wire, kw_only=True):
    """What an entry contributes to the context from here on, on this path.

    `session_id`: the session.
    `target_id`: the entry.
    `replacement`: what stands for it; null: nothing does.
    """

    session_id: str
    target_id: str
    replacement: Replacement | None


class ChangeResult(Wire, kw_only=True):
    """An entry was appended for the change; the leaf is that entry now.

    `entry_id`: that entry.
    `revision`: the session's revision with it.
    `durability`: what it survives.
    """

    entry_id: str
    revision: int
    durability: Durability
