"""session/stats."""

from __future__ import annotations

from pi_daemon.engine import reading
from pi_daemon.methods import wire
from pi_daemon.methods.shared import Shared
from pi_daemon.rpc.call import Call
from pi_daemon.rpc.types import sessions as s
from pi_daemon.rpc.types import stats as t
from pi_daemon.session.dates import from_ms
from pi_daemon.session.stats import Sums, Usage
from pi_daemon.session.tally import ModelPart, Part, Span


async def stats(shared: Shared, call: Call, params: s.SessionParams) -> t.StatsResult:
    async with shared.use(call, params.session_id) as session:
        await session.look()
        revision, entry_count = session.revision, len(session.tree)
        tally = await reading.stats(session)
        tokens = await reading.size(session)
        parts, models = tally.finished()
        window = session.options.context_window
        total = tally.total
        return t.StatsResult(
            session_id=session.session_id,
            entry_count=entry_count,
            message_count=total.messages,
            messages_by_role=total.messages_by_role,
            tool_calls=total.tool_calls,
            failures=_failures(total),
            tokens=_tokens(total.usage),
            repeated=t.RepeatedReplies(count=tally.repeated_replies, tokens=_tokens(tally.repeated)),
            time=_time(tally.span),
            models=[_model(part) for part in models],
            branches=[_branch(part, part is parts[0], tally.leaf_id) for part in parts],
            context_tokens=tokens,
            context_window=window,
            context_share=tokens / window if window is not None else None,
            context_threshold=max(0, window - session.compaction_settings.reserve_tokens)
            if window is not None
            else None,
            should_compact=session.should_compact(tokens),
            revision=revision,
        )


def _tokens(usage: Usage) -> t.TokenTotals:
    return t.TokenTotals(
        input=usage.input,
        output=usage.output,
        cache_read=usage.cache_read,
        cache_write=usage.cache_write,
        cost=usage.cost,
    )


def _failures(sums: Sums) -> t.Failures:
    return t.Failures(tool_results=sums.failed_results, errors=sums.errors, aborted=sums.aborted)


def _time(span: Span) -> t.TimeSpan:
    first = from_ms(span.first_ms) if span.first_ms is not None else None
    last = from_ms(span.last_ms) if span.last_ms is not None else None
    return t.TimeSpan(first=first, last=last, active=span.active_ms / 1000)


def _model(part: ModelPart) -> t.ModelStats:
    return t.ModelStats(
        model=wire.model(part.model),
        models=part.models,
        answers=part.sums.messages_by_role.get("assistant", 0),
        tool_calls=part.sums.tool_calls,
        failures=_failures(part.sums),
        tokens=_tokens(part.sums.usage),
    )


def _branch(part: Part, main: bool, leaf_id: str | None) -> t.BranchStats:
    branch = part.branch
    return t.BranchStats(
        tip=branch.tip.id if branch is not None else leaf_id if main else None,
        left_at=branch.left_at if branch is not None else None,
        main=main,
        branches=part.branches,
        entry_count=part.span.entries,
        message_count=part.sums.messages,
        tool_calls=part.sums.tool_calls,
        failures=_failures(part.sums),
        tokens=_tokens(part.sums.usage),
        time=_time(part.span),
    )
