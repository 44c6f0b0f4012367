"""Parameters and result of session/explain."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from pi_daemon.rpc.types.base import RetentionFact, Wire
from pi_daemon.session.why import Reason


class ExplainParams(Wire, kw_only=True):
    """What is to be explained: one entry, the entries in which a text occurs, or all.

    `session_id`: the session.
    `entry_id`: this entry.
    `query`: entries that have this text, in any case of letters: in what was said or thought, in tool calls' arguments,
        in results, summaries and details; in entries that never enter a context, and on damaged lines, anywhere.
    `leaf_id`: absent: in the context at the session's leaf; null: before the first entry.
    `previews`: with the text of `TreeNode.preview` where all entries are explained; it has to be read.
    `cursor`: `nextCursor` of the page before, with the same `query` and `previews`.
    `limit`: at most 20,000, which is also the default; with `query` at most 1,000, default 100.
    `work_done_token`: where to report progress.
    """

    session_id: str
    entry_id: str | UnsetType = UNSET
    query: str | UnsetType = UNSET
    leaf_id: str | UnsetType | None = UNSET
    previews: bool = False
    cursor: str | UnsetType = UNSET
    limit: int | UnsetType = UNSET
    work_done_token: str | int | UnsetType = UNSET


class FactsKept(Wire, kw_only=True):
    """What the summary that stands for an entry says of it. Facts are paths, errors, open calls, requests,
    constraints and what was unfinished.

    `summary_id`: the compaction or branch summary that was asked.
    `asked`: how many facts the entry has.
    `kept`: how many of them the summary names.
    `missing`: the others, at most 20.
    """

    summary_id: str
    asked: int
    kept: int
    missing: list[RetentionFact]


class ExplainedEntry(Wire, kw_only=True, omit_defaults=True):
    """One entry, or one line that can't be read, and why the model knows it or not.

    `id`: the entry's id; null for a line that can't be read, unless it was asked for by an id that stands on it.
    `type`: the entry's kind.
    `role`: the message's role, for messages.
    `in_context`: whether a provider is sent something of it: whether it is among the `sources` of `session/context`
        with `format: "llm"`.
    `reason`: how it is in the context: `asStored`; `edited` (its content is that of `byId`); `summary` (as a
        summary message).
        Or why it never is, at any leaf: `neverEnters` (its kind makes no message), `emptySummary`, `excluded`
        (output of a command that was kept out), `unknownRole`, `sameIdLater` (a later line has its id), `damagedLine`.
        Or where it lies: `noLeaf` (the leaf is before the first entry), `otherBranch` (it left the path at `leftAtId`
        and begins with `branchId`), `afterLeaf` (the same, below the leaf), `orphaned` (the parents end at `rootId`,
        whose parent `missingId` isn't in the file), `loop` (they end in a loop, cut at `rootId`), `pathCut` (the path
        itself ends so at `rootId`, and the entry isn't below it).
        Or what the path made of it: `compacted` (`compactionId` covers it; an older one, `firstCompactionId`, did so
        first), `olderCompaction` (`compactionId` came after it), `foldedSystem` (a system message, carried on by
        `compactionId`), `droppedSystem` (one that it doesn't carry on), `omitted` (by the edit `byId`), `setting` (it
        sets the model or the level, now), `overridden` (it set something that `byId` set anew), `edit` (it changes what
        `targetId` contributes), `editsNothing` (`targetId` contributes nothing that it could change).
    `message_index`: the place of its message in `session/context` as an agent holds it; of a compaction that carries
        a system message, which makes two, that of the first.
    `sent_index`: the same among the messages that a provider is sent.
    `by_id`: the entry that edits, omits or overrides it; of what a compaction covers, the edit that omits the
        compaction's summary.
    `compaction_id`: the compaction that the context begins with.
    `first_compaction_id`: the one that covered it before.
    `branch_id`: the first entry of the branch that it lies on.
    `left_at_id`: the last entry that this branch shares with the path; absent where it has a root of its own.
    `summary_id`: a branch summary in the context that was made of its branch.
    `root_id`: the entry at which a broken chain of parents ends.
    `missing_id`: the parent that it names and that isn't there.
    `target_id`: the entry that a context edit is about.
    `line`: the damaged line, counted from 1; of an orphan the one that its ancestors may have stood on.
    `damage`: what is wrong with that line.
    `facts`: what the summary in the context says of it; with `entryId` and `query`.
    `preview`: as in `TreeNode`.
    `found_in`: with `query`, where: `text`, `thinking`, `arguments`, `result`, `summary`, `command` (and its output),
        `details` (which no model reads), or `other`.
    `snippet`: with `query`, what stands around it, on one line.
    `text_in_context`: with `query`, whether what is sent in the entry's place has the text: the entry itself, what an
        edit put there, or the summary that stands for it.
    """

    id: str | None
    type: str | UnsetType = UNSET
    role: str | UnsetType = UNSET
    in_context: bool
    reason: Reason
    message_index: int | UnsetType = UNSET
    sent_index: int | UnsetType = UNSET
    by_id: str | UnsetType = UNSET
    compaction_id: str | UnsetType = UNSET
    first_compaction_id: str | UnsetType = UNSET
    branch_id: str | UnsetType = UNSET
    left_at_id: str | UnsetType = UNSET
    summary_id: str | UnsetType = UNSET
    root_id: str | UnsetType = UNSET
    missing_id: str | UnsetType = UNSET
    target_id: str | UnsetType = UNSET
    line: int | UnsetType = UNSET
    damage: str | UnsetType = UNSET
    facts: FactsKept | UnsetType = UNSET
    preview: str | UnsetType = UNSET
    found_in: str | UnsetType = UNSET
    snippet: str | UnsetType = UNSET
    text_in_context: bool | UnsetType = UNSET


class ExplainResult(Wire, kw_only=True):
    """Entries in file order, each with its reason.

    `entries`: one page of them.
    `leaf_id`: the leaf that the context belongs to.
    `revision`: the revision that this shows.
    `next_cursor`: where there is more.
    """

    entries: list[ExplainedEntry]
    leaf_id: str | None
    revision: int
    next_cursor: str | UnsetType = UNSET
