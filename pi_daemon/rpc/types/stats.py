"""Results about what sessions amount to."""

from __future__ import annotations

from pi_daemon.rpc.types.base import Model, Wire


class TokenTotals(Wire, kw_only=True):
    """Sums of what was billed.

    `input`: tokens sent.
    `output`: tokens made.
    `cache_read`: tokens read from the provider's cache.
    `cache_write`: tokens written to it.
    `cost`: in the currency that the agent counts in.
    """

    input: float
    output: float
    cache_read: float
    cache_write: float
    cost: float


class Failures(Wire, kw_only=True):
    """What went wrong.

    `tool_results`: tool results that say they are errors.
    `errors`: answers that ended in an error.
    `aborted`: answers that were aborted.
    """

    tool_results: int
    errors: int
    aborted: int


class TimeSpan(Wire, kw_only=True):
    """When a session, or a branch, was worked on.

    `first`: the time of its first entry; null: none has a time.
    `last`: the time of its last one.
    `active`: seconds of work: what lies between each entry and its parent, where that is at most five minutes. It
        adds up over branches.
    """

    first: str | None
    last: str | None
    active: float


class RepeatedReplies(Wire, kw_only=True):
    """What stands in copies of a reply that was counted before: the same `responseId`, or without one the same model,
    time and tokens. It is part of the totals, as pi counts it too; take it away to have each reply once.

    `count`: how many copies there are.
    `tokens`: what they say was billed.
    """

    count: int
    tokens: TokenTotals


class ModelStats(Wire, kw_only=True):
    """What one model did. Over all rows this adds up to the totals.

    `model`: the model; null for what names none (summaries, tools that were billed).
    `models`: how many models the row stands for: 1, or in the last row all that are not told one by one.
    `answers`: its assistant messages.
    `tool_calls`: how many tools it called.
    `failures`: its answers that failed, and results of its calls.
    `tokens`: what was billed.
    """

    model: Model | None
    models: int
    answers: int
    tool_calls: int
    failures: Failures
    tokens: TokenTotals


class BranchStats(Wire, kw_only=True):
    """What a branch has to itself. Every entry is in exactly one row, so the rows add up to the totals.

    `tip`: its last entry; null in the row of the rest.
    `left_at`: the entry under which it hangs, on whichever branch that is; null: it has a root of its own.
    `main`: whether this is the path to the leaf. A stretch that several other branches share counts with the newest.
    `branches`: how many branches the row stands for: 1, or in the last row all that are not told one by one. Entries
        whose id was used again are there too.
    `entry_count`: its entries.
    `message_count`: how many of them are messages.
    `tool_calls`: how many tools were called.
    `failures`: what went wrong.
    `tokens`: what was billed.
    `time`: when it was worked on.
    """

    tip: str | None
    left_at: str | None
    main: bool
    branches: int
    entry_count: int
    message_count: int
    tool_calls: int
    failures: Failures
    tokens: TokenTotals
    time: TimeSpan


class StatsResult(Wire, kw_only=True):
    """What a session amounts to.

    `session_id`: the session.
    `entry_count`: how many entries it has.
    `message_count`: how many of them are messages.
    `messages_by_role`: the same by role.
    `tool_calls`: how many tools were called.
    `failures`: what went wrong.
    `tokens`: sums over all branches, as pi has them.
    `repeated`: the part of them that stands in copies of replies.
    `time`: when it was worked on.
    `models`: the same by model, the costliest first.
    `branches`: the same by branch: the path to the leaf, then the others, the newest first.
    `context_tokens`: the size of the context at the leaf.
    `context_window`: what the session is set to; null: unknown.
    `context_share`: `context_tokens` over `context_window`; null while that is unknown.
    `context_threshold`: more tokens than this are too many, and a compaction is due; null while the window is unknown.
    `should_compact`: whether that is so now; null while the window is unknown.
    `revision`: the revision that this shows.
    """

    session_id: str
    entry_count: int
    message_count: int
    messages_by_role: dict[str, int]
    tool_calls: int
    failures: Failures
    tokens: TokenTotals
    repeated: RepeatedReplies
    time: TimeSpan
    models: list[ModelStats]
    branches: list[BranchStats]
    context_tokens: int
    context_window: int | None
    context_share: float | None
    context_threshold: int | None
    should_compact: bool | None
    revision: int
