"""session/search and catalog/*."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from pi_daemon.methods.shared import Shared
from pi_daemon.rpc.call import Call
from pi_daemon.rpc.types import catalogue as c
from pi_daemon.rpc.types.stats import TokenTotals
from pi_daemon.session.dates import to_ms
from pi_daemon.session.errors import InvalidParams, StorageFailed
from pi_daemon.storage.protocols import Wanted

SEARCH_LIMIT = 100
"""Hits in one page: as many as anybody reads, and as many sessions to look into."""


async def search(shared: Shared, call: Call, params: c.SearchParams) -> c.SearchResult:
    if not 1 <= params.limit <= SEARCH_LIMIT:
        raise InvalidParams(f"Give a limit from 1 to {SEARCH_LIMIT}.", path="limit")
    finder = shared.finder
    if finder is None:
        return c.SearchResult(hits=[], complete=False, indexed=0.0)
    page = await finder.search(
        Wanted(
            params.query,
            _given(params.cwd),
            _given(params.role),
            _given(params.model),
            _given(params.label),
            _time(params.after, "after"),
            _time(params.before, "before"),
            _given(params.cursor),
            params.limit,
        )
    )
    hits = [
        c.SearchHit(
            session_id=hit.ref.session_id,
            path=hit.ref.location,
            name=hit.name,
            cwd=hit.cwd,
            entry_id=hit.entry_id,
            type=hit.type,
            role=hit.role if hit.role is not None else UNSET,
            timestamp=hit.timestamp,
            snippet=hit.snippet,
            on_path=hit.on_path,
            tip_id=hit.tip_id,
        )
        for hit in page.hits
    ]
    share = 1.0 if page.complete else min(0.999, page.done / page.total) if page.total else 0.0
    cursor = page.cursor if page.cursor is not None else UNSET
    return c.SearchResult(hits=hits, complete=page.complete, indexed=round(share, 3), next_cursor=cursor)


async def totals(shared: Shared, call: Call, params: c.CatalogParams) -> c.CatalogTotals:
    if shared.finder is None:
        raise StorageFailed("This daemon keeps no catalogue.")
    found = await shared.finder.totals(_given(params.cwd))
    return c.CatalogTotals(
        sessions=found.sessions,
        messages=found.messages,
        replies=found.replies,
        repeated=found.repeated,
        tokens=TokenTotals(
            input=found.input,
            output=found.output,
            cache_read=found.cache_read,
            cache_write=found.cache_write,
            cost=found.cost,
        ),
    )


async def subscribe(shared: Shared, call: Call, params: c.CatalogParams) -> c.CatalogStatus:
    shared.catalogue.subscribe(call.connection, _given(params.cwd))
    return c.CatalogStatus(subscribed=True)


async def unsubscribe(shared: Shared, call: Call, params: c.CatalogParams) -> c.CatalogStatus:
    left = shared.catalogue.unsubscribe(call.connection, params.cwd)
    return c.CatalogStatus(subscribed=left)


def _given(value: str | UnsetType) -> str | None:
    return None if isinstance(value, UnsetType) else value


def _time(value: str | UnsetType, name: str) -> float | None:
    if isinstance(value, UnsetType):
        return None
    at = to_ms(value)
    if at is None:
        raise InvalidParams("Give a time as ISO 8601, such as 2026-01-31T12:00:00Z or 2026-01-31.", path=name)
    return at
