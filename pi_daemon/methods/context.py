"""session/context and the entries that change what it holds or shows: label, rename, editContext."""

from __future__ import annotations

from msgspec import UNSET

from pi_daemon.engine import reading
from pi_daemon.engine.operations import Append, edit_draft, label_draft, name_draft
from pi_daemon.methods import wire
from pi_daemon.methods.shared import Shared
from pi_daemon.rpc.call import Call
from pi_daemon.rpc.types import entries as e
from pi_daemon.rpc.types.base import raw_array
from pi_daemon.session.draft import Draft
from pi_daemon.session.rawjson import compact


async def context(shared: Shared, call: Call, params: e.ContextParams) -> e.ContextResult:
    async with shared.use(call, params.session_id) as session:
        await session.look()
        leaf_id = session.leaf_id if params.leaf_id is UNSET else params.leaf_id
        made = await reading.context(session, leaf_id, llm=params.format == "llm", fix=params.pairing == "repair")
        call.fits(len(made.messages))
        return e.ContextResult(
            messages=raw_array([made.messages]),
            sources=made.sources,
            model=wire.model(made.model),
            thinking_level=made.thinking_level,
            tokens=made.tokens,
            compaction_id=made.compaction_id if made.compaction_id is not None else UNSET,
            leaf_id=leaf_id,
            problems=[e.Problem(kind=kind, entry_id=entry, tool_call_id=tool) for kind, entry, tool in made.problems],
        )


async def label(shared: Shared, call: Call, params: e.LabelParams) -> e.ChangeResult:
    return await _change(shared, call, params.session_id, label_draft(params.entry_id, params.label))


async def rename(shared: Shared, call: Call, params: e.RenameParams) -> e.ChangeResult:
    return await _change(shared, call, params.session_id, name_draft(params.name))


async def edit_context(shared: Shared, call: Call, params: e.EditContextParams) -> e.ChangeResult:
    replacement = b"null"
    if params.replacement is not None:
        replacement = b'{"content":' + compact(bytes(params.replacement.content)) + b"}"
    return await _change(shared, call, params.session_id, edit_draft(params.target_id, replacement))


async def _change(shared: Shared, call: Call, session_id: str, draft: Draft) -> e.ChangeResult:
    async with shared.use(call, session_id) as session:
        outcome = await session.perform(Append(shared.origin(call), [draft]))
        entry_id = outcome.entries[0].id
        return e.ChangeResult(entry_id=entry_id, revision=outcome.revision, durability=outcome.durability)
