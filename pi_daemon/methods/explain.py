"""session/explain."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import Any, TypeVar

from msgspec import UNSET, UnsetType

from pi_daemon.engine import explaining
from pi_daemon.methods.shared import Shared
from pi_daemon.rpc.call import Call
from pi_daemon.rpc.types import explain as x
from pi_daemon.rpc.types.base import RetentionFact
from pi_daemon.session.errors import InvalidParams
from pi_daemon.session.why import Explained

T = TypeVar("T")


async def explain(shared: Shared, call: Call, params: x.ExplainParams) -> x.ExplainResult:
    query, entry_id = params.query, params.entry_id
    limit = _limit(params)
    if query is not UNSET and entry_id is not UNSET:
        raise InvalidParams("Give entryId or query, not both.", path="query")
    if query is not UNSET and not query:
        raise InvalidParams("Give a text to search, or leave `query` out.", path="query")
    async with shared.use(call, params.session_id) as session:
        await session.look()
        start = 0
        if params.cursor is not UNSET and entry_id is UNSET:
            snapshot, start = explaining.resume(session, params.cursor)
        else:
            leaf_id = session.leaf_id if params.leaf_id is UNSET else params.leaf_id
            snapshot = await explaining.begin(session, leaf_id)
        if entry_id is not UNSET:
            page = await explaining.one(session, snapshot, entry_id)
        elif query is not UNSET:

            def progress(done: int, total: int) -> None:
                call.progress("Searching", done, total)

            page = await explaining.search(session, snapshot, query, start, limit, progress)
        else:
            page = await explaining.page(session, snapshot, start, limit, params.previews)
        return x.ExplainResult(
            entries=list(map(_entry, page.rows, page.details or repeat(None))),
            leaf_id=page.leaf_id,
            revision=page.revision,
            next_cursor=_given(page.next_cursor),
        )


def _limit(params: x.ExplainParams) -> int:
    searches = params.query is not UNSET
    most = explaining.MOST_HITS if searches else explaining.ROWS
    limit = (explaining.HITS if searches else most) if params.limit is UNSET else params.limit
    if not 1 <= limit <= most:
        raise InvalidParams(f"Give a limit from 1 to {most}.", path="limit")
    return limit


def _given(value: T | None) -> T | UnsetType:
    return UNSET if value is None else value


def _entry(row: Explained, detail: explaining.Detail | None) -> x.ExplainedEntry:
    head, why = row.head, row.why
    made = x.ExplainedEntry(
        id=head.id if head is not None else None,
        type=head.type if head is not None else UNSET,
        role=head.role or UNSET if head is not None else UNSET,
        in_context=why.in_context,
        reason=why.reason,
        message_index=_given(row.message),
        sent_index=_given(row.sent),
    )
    if not why.in_context:
        made.compaction_id = _given(why.compaction)
        made.first_compaction_id = _given(why.first_compaction)
        made.branch_id = _given(why.branch)
        made.left_at_id = _given(why.left_at)
        made.root_id = _given(why.root)
        made.missing_id = _given(why.missing)
        made.target_id = _given(why.target)
        made.summary_id = _given(row.summary)
        made.line = _given(why.line)
    made.by_id = _given(why.by)
    if row.damage is not None:
        made.damage = row.damage.message
    if detail is not None:
        _add(made, detail)
    return made


def _add(made: x.ExplainedEntry, detail: explaining.Detail) -> None:
    made.id = made.id if made.id is not None else detail.id
    made.preview = _given(detail.preview)
    if detail.found is not None:
        made.found_in, made.snippet = detail.found.place, detail.found.snippet
    made.text_in_context = _given(detail.known)
    if detail.facts is not None and detail.asked is not None:
        bounded: dict[str, Any] = detail.facts.bounded()
        missing: Iterable[dict[str, Any]] = bounded["missing"]
        made.facts = x.FactsKept(
            summary_id=detail.asked,
            asked=len(detail.facts.kept) + len(detail.facts.missing),
            kept=len(detail.facts.kept),
            missing=[
                RetentionFact(kind=one["kind"], text=one["text"], entry_id=one.get("entryId", UNSET)) for one in missing
            ],
        )
