"""session/compactionPlan and session/compact."""

from __future__ import annotations

from msgspec import UNSET, Raw, UnsetType, convert

from pi_daemon.compaction.gather import portions
from pi_daemon.compaction.settings import Numbers
from pi_daemon.compaction.summarizing import MOST_CHARACTERS
from pi_daemon.engine import planning
from pi_daemon.engine.compactions import Wanted, order_for
from pi_daemon.engine.landing import open_calls
from pi_daemon.engine.live import LiveSession
from pi_daemon.methods import wire
from pi_daemon.methods.shared import Shared
from pi_daemon.methods.summarizer import wire_request
from pi_daemon.rpc.call import Call
from pi_daemon.rpc.types import compaction as c
from pi_daemon.rpc.types.base import Retention
from pi_daemon.session.errors import InvalidParams, SummarizerFailed


def _numbers(params: c.CompactParams | c.CompactionPlanParams) -> Numbers:
    """Raises InvalidParams."""
    wire.check_tokens(params, "context_window", "reserve_tokens", "keep_recent_tokens")
    return Numbers(
        None if params.reserve_tokens is UNSET else params.reserve_tokens,
        None if params.keep_recent_tokens is UNSET else params.keep_recent_tokens,
    )


async def plan(shared: Shared, call: Call, params: c.CompactionPlanParams) -> c.CompactionPlanResult:
    numbers = _numbers(params)
    compactions = shared.hub.compactions
    async with shared.use(call, params.session_id) as session:
        await session.look()
        settings = await compactions.settings(session, numbers)
        revision, instance_id = session.revision, session.instance_id
        made = await planning.plan(session, settings)
        files = await planning.files(session, made, instance_id)
        window = session.options.context_window if params.context_window is UNSET else params.context_window
        try:
            summarizer = compactions.summarizers.choose(session.options.summarizer, shared.origin(call)).name
        except SummarizerFailed:
            summarizer = None
        instructions = None if params.instructions is UNSET else params.instructions
        requests: list[c.SummarizeParams] | UnsetType = UNSET
        if params.requests:
            order = order_for(made, "requests", settings, instructions)
            brief = await compactions.brief(session, instance_id, portions(made), order, call.stage)
            call.fits(sum(len(one.conversation) for one in brief.requests))
            requests = list(map(wire_request, brief.requests))
        return c.CompactionPlanResult(
            leaf_id=made.leaf_id,
            first_kept_entry_id=made.first_kept_id,
            is_split_turn=made.is_split_turn,
            tokens_before=made.tokens_before,
            tokens_kept=await planning.kept_tokens(session, made, instance_id),
            context_window=window,
            reserve_tokens=settings.reserve_tokens,
            keep_recent_tokens=settings.keep_recent_tokens,
            should_compact=settings.due(made.tokens_before, window),
            summarized_entry_ids=[source.head.id for source in made.history],
            prefix_entry_ids=[source.head.id for source in made.prefix],
            previous_compaction_id=made.compaction.id if made.compaction is not None else None,
            read_files=list(files.read),
            modified_files=list(files.modified),
            summarizer=summarizer,
            open_calls=await _open_calls(session),
            requests=requests,
            revision=revision,
        )


async def _open_calls(session: LiveSession) -> list[c.OpenCall]:
    found = await open_calls(session.staging(), session)
    return convert(found.told(), list[c.OpenCall]) if found is not None else []


async def compact(shared: Shared, call: Call, params: c.CompactParams) -> c.CompactResult:
    if params.summary is not UNSET and not params.summary.strip():
        raise InvalidParams("An empty summary would lose all that it stands for: give its text.", path="summary")
    if params.summary is not UNSET and len(params.summary) > MOST_CHARACTERS:
        raise InvalidParams(f"A summary has at most {MOST_CHARACTERS:,} characters.", path="summary")
    wanted = Wanted(
        _numbers(params),
        None if params.instructions is UNSET else params.instructions,
        None if params.summary is UNSET else params.summary,
        None if params.summarizer is UNSET else params.summarizer,
        params.retention,
        params.open_calls,
    )
    async with shared.use(call, params.session_id) as session:
        await session.look()
        done = await shared.hub.compactions.compact(session, wanted, shared.origin(call), call.stage)
        return c.CompactResult(
            entry_id=done.head.id,
            summary=done.summary,
            first_kept_entry_id=done.plan.first_kept_id,
            tokens_before=done.plan.tokens_before,
            tokens_after=done.tokens_after,
            details=Raw(done.details),
            retention=convert(done.verdict.stored(), Retention),
            summarizer=done.summarizer or "request",
            model=done.model if done.model is not None else UNSET,
            revision=done.revision,
            durability=done.durability,
        )
