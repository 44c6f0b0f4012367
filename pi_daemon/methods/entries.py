"""session/append, entries, tree, path, compare."""

from __future__ import annotations

from msgspec import UNSET

from pi_daemon.engine import pages, reading
from pi_daemon.engine.operations import Append
from pi_daemon.methods.shared import Shared
from pi_daemon.rpc.call import Call
from pi_daemon.rpc.types import entries as e
from pi_daemon.rpc.types.base import TreeNode, raw_array
from pi_daemon.session.draft import parse_draft
from pi_daemon.session.errors import InvalidParams


async def append(shared: Shared, call: Call, params: e.AppendParams) -> e.AppendResult:
    limits = call.connection.limits
    if not params.entries:
        raise InvalidParams("Give at least one entry.", path="entries")
    if len(params.entries) > limits.drafts_in_append:
        raise InvalidParams(f"Give at most {limits.drafts_in_append} entries at once.", path="entries")
    drafts = [parse_draft(bytes(raw), index, checked=True) for index, raw in enumerate(params.entries)]
    async with shared.use(call, params.session_id) as session:
        outcome = await session.perform(Append(shared.origin(call), drafts, params.parent_id, params.expected_leaf_id))
        tokens = await reading.size(session)
        full = session.should_compact(tokens)
        if full and session.options.auto_compact:
            shared.hub.compact_by_itself(session, tokens, shared.origin(call))
        return e.AppendResult(
            entries=[
                e.AppendedEntry(id=head.id, parent_id=head.parent_id, timestamp=head.timestamp)
                for head in outcome.entries
            ],
            leaf_id=outcome.leaf_id,
            revision=outcome.revision,
            durability=outcome.durability,
            raced=True if outcome.raced else UNSET,
            context_tokens=tokens,
            should_compact=full,
        )


async def entries(shared: Shared, call: Call, params: e.EntriesParams) -> e.EntriesResult:
    limit = pages.ENTRIES if params.limit is UNSET else params.limit
    if not 1 <= limit <= pages.ENTRIES:
        raise InvalidParams(f"Give a limit from 1 to {pages.ENTRIES}.", path="limit")
    if params.ids is not UNSET and params.since is not UNSET:
        raise InvalidParams("Give ids or since, not both.", path="since")
    async with shared.use(call, params.session_id) as session:
        await session.look()
        reply_bytes = call.connection.limits.reply_bytes
        if params.ids is not UNSET:
            page = await pages.by_ids(session, params.ids, limit, reply_bytes)
        else:
            since = None if params.since is UNSET else params.since
            page = await pages.since(session, since, limit, reply_bytes)
        return e.EntriesResult(
            entries=raw_array(page.lines),
            leaf_id=session.leaf_id,
            revision=session.revision,
            next_since=page.next_since if page.next_since is not None else UNSET,
        )


async def tree(shared: Shared, call: Call, params: e.TreeParams) -> e.TreeResult:
    async with shared.use(call, params.session_id) as session:
        await session.look()
        cursor = None if params.cursor is UNSET else params.cursor
        page = await pages.tree(session, params.filter, params.fold, cursor)
        labels = session.tree.labels
        nodes = [
            TreeNode(
                id=row.head.id,
                parent_id=row.parent_id,
                type=row.head.type,
                role=row.head.role or UNSET,
                preview=preview,
                label=labels.get(row.head.id, UNSET),
                timestamp=row.head.timestamp,
                child_count=row.child_count,
                on_path=row.on_path,
                run=row.run if params.fold else UNSET,
            )
            for row, preview in zip(page.rows, page.previews, strict=True)
        ]
        return e.TreeResult(
            nodes=nodes,
            leaf_id=page.leaf_id,
            revision=page.revision,
            next_cursor=page.next_cursor if page.next_cursor is not None else UNSET,
        )


async def path(shared: Shared, call: Call, params: e.PathOfParams) -> e.PathResult:
    async with shared.use(call, params.session_id) as session:
        await session.look()
        leaf_id = session.leaf_id if params.leaf_id is UNSET else params.leaf_id
        return e.PathResult(entry_ids=[head.id for head in session.tree.path(leaf_id)], leaf_id=leaf_id)


async def compare(shared: Shared, call: Call, params: e.CompareParams) -> e.CompareResult:
    async with shared.use(call, params.session_id) as session:
        await session.look()
        ancestor_id, a, b = session.tree.compare(params.a, params.b)
        return e.CompareResult(ancestor_id=ancestor_id, a=a, b=b)
