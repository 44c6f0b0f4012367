"""Parameters and results about compactions, and what a client is asked that offers to make summaries."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from pi_daemon.rpc.types.base import Durability, Json, Policy, Raw, Retention, Wire


class CompactionPlanParams(Wire, kw_only=True):
    """What a compaction at the leaf would be. Numbers that are absent are as the session, the daemon or pi's
    settings.json have them.

    `session_id`: the session.
    `reserve_tokens`: tokens of the window that are kept free for the answer.
    `keep_recent_tokens`: about how many tokens of the newest messages stay as they are.
    `context_window`: the model's context window in tokens; absent: as the session is set to.
    `requests`: also what a model would be asked.
    `instructions`: for the summarizer, with `requests`.
    """

    session_id: str
    reserve_tokens: int | UnsetType = UNSET
    keep_recent_tokens: int | UnsetType = UNSET
    context_window: int | UnsetType = UNSET
    requests: bool = False
    instructions: str | UnsetType = UNSET


class SummarizeParams(Wire, kw_only=True):
    """A summary is wanted.

    `kind`: `first`: of what leaves the context; `update`: of that together with `previousSummary`, which it
        replaces; `split`: of the beginning of a turn whose rest is kept; `branch`: of a branch that was left.
    `system_prompt`: what to tell the model it is.
    `prompt`: what to ask it for, to be put after the conversation.
    `conversation`: what is to be summarized, as text. It is data: nothing in it is meant for who summarizes.
    `previous_summary`: the summary that this one updates.
    `instructions`: what whoever asked wants looked after; they are in `prompt` already.
    `max_tokens`: what the summary may have at most.
    """

    kind: Literal["first", "update", "split", "branch"]
    system_prompt: str
    prompt: str
    conversation: str
    previous_summary: str | UnsetType = UNSET
    instructions: str | UnsetType = UNSET
    max_tokens: int


class SummarizeResult(Wire, kw_only=True):
    """The summary.

    `summary`: Markdown. Nothing, a refusal, headings alone, and a line that names nothing count as a failure.
    `usage`: what it cost, as entries of pi have it.
    `model`: which model made it.
    """

    summary: str
    usage: Json | UnsetType = UNSET
    model: str | UnsetType = UNSET


class OpenCall(Wire, kw_only=True):
    """A tool call without a result, after which nothing but its result may come.

    `entry_id`: the answer that makes it.
    `tool_call_id`: its id.
    `tool_name`: the tool.
    """

    entry_id: str
    tool_call_id: str
    tool_name: str


class CompactionPlanResult(Wire, kw_only=True):
    """What a compaction would do.

    `leaf_id`: the leaf that this holds for.
    `first_kept_entry_id`: the first entry that stays in the context.
    `is_split_turn`: the cut lies within a turn, whose beginning is summarized by itself.
    `tokens_before`: the context's size now.
    `tokens_kept`: an estimate of what stays of it, without the summary.
    `context_window`: as it counts; null: unknown.
    `reserve_tokens`: as it counts.
    `keep_recent_tokens`: as it counts.
    `should_compact`: whether it is time to; null while no context window is known.
    `summarized_entry_ids`: the entries of whole turns that would be summarized, oldest first.
    `prefix_entry_ids`: those of the turn that the cut splits.
    `previous_compaction_id`: the compaction whose summary this one would update.
    `read_files`: files that were read, and not modified.
    `modified_files`: files that were modified.
    `summarizer`: which summarizer would be asked; null: none is there.
    `open_calls`: tool calls at the leaf that a compaction waits for: without a result, less than an hour old, and of an
        answer that was neither broken off nor edited since.
    `requests`: what a model would be asked, one after the other.
    `revision`: the revision that this shows.
    """

    leaf_id: str | None
    first_kept_entry_id: str
    is_split_turn: bool
    tokens_before: int
    tokens_kept: int
    context_window: int | None
    reserve_tokens: int
    keep_recent_tokens: int
    should_compact: bool | None
    summarized_entry_ids: list[str]
    prefix_entry_ids: list[str]
    previous_compaction_id: str | None
    read_files: list[str]
    modified_files: list[str]
    summarizer: str | None
    open_calls: list[OpenCall]
    requests: list[SummarizeParams] | UnsetType = UNSET
    revision: int


class CompactParams(Wire, kw_only=True):
    """A compaction to make at the leaf. Numbers that are absent are as the session, the daemon or pi's settings.json
    have them.

    `session_id`: the session.
    `reserve_tokens`: tokens of the window that are kept free for the answer.
    `keep_recent_tokens`: about how many tokens of the newest messages stay as they are.
    `context_window`: taken as in `session/compactionPlan`, and checked; what is asked for is done at any size, so it
        changes nothing.
    `instructions`: what the summary is to look after.
    `summary`: the summary itself, made by the client: no summarizer is asked. At most 1,000,000 characters.
    `summarizer`: `client`, `model` or `extractive`; absent: as the session is set to, else the first that is there.
    `retention`: what to do where the summary lacks facts: `report` them, `amend` the summary with them, or `refuse` it.
    `open_calls`: while a tool call at the leaf has no result, to `wait` for it (an hour at most after the call, then it
        counts as given up), to `refuse` with `callOpen`, or to `ignore` it, where nobody is left who would answer it.
    `work_done_token`: where to report progress.
    """

    session_id: str
    reserve_tokens: int | UnsetType = UNSET
    keep_recent_tokens: int | UnsetType = UNSET
    context_window: int | UnsetType = UNSET
    instructions: str | UnsetType = UNSET
    summary: str | UnsetType = UNSET
    summarizer: str | UnsetType = UNSET
    retention: Policy = "amend"
    open_calls: Literal["wait", "refuse", "ignore"] = "wait"
    work_done_token: str | int | UnsetType = UNSET


class CompactResult(Wire, kw_only=True):
    """The compaction was appended.

    `entry_id`: its entry.
    `summary`: the summary as it is stored.
    `first_kept_entry_id`: the first entry that stays in the context.
    `tokens_before`: the context's size before.
    `tokens_after`: an estimate of its size now.
    `details`: the entry's `details`.
    `retention`: what the summary kept of the facts.
    `summarizer`: who made the summary; `request` where it came with the request.
    `model`: which model was asked, if one was.
    `revision`: the session's revision with it.
    `durability`: what is promised for the entry.
    """

    entry_id: str
    summary: str
    first_kept_entry_id: str
    tokens_before: int
    tokens_after: int
    details: Raw
    retention: Retention
    summarizer: str
    model: str | UnsetType = UNSET
    revision: int
    durability: Durability
