"""session/moveLeaf."""

from __future__ import annotations

from msgspec import UNSET

from pi_daemon.engine import reading
from pi_daemon.engine.operations import MoveLeaf, summary_draft
from pi_daemon.methods.shared import Shared
from pi_daemon.rpc.call import Call
from pi_daemon.rpc.types import entries as e
from pi_daemon.session.errors import InvalidParams, SummarizerFailed


async def move_leaf(shared: Shared, call: Call, params: e.MoveLeafParams) -> e.MoveLeafResult:
    if params.summarize and params.summary is UNSET:
        raise SummarizerFailed("This daemon has no summarizer of its own; send the text as `summary`.")
    if params.entry_id is None and params.position == "before":
        raise InvalidParams("There is nothing before the first entry; leave `position` out.", path="position")
    async with shared.hub.use(params.session_id) as session:
        await session.look()
        editor_text = None
        if params.entry_id is not None and params.position == "before":
            editor_text = await reading.editor_text(session, params.entry_id)
        operation = MoveLeaf(
            shared.origin(call),
            params.entry_id,
            before=params.position == "before",
            summary=summary_draft(params.summary) if params.summary is not UNSET and params.summary else None,
            label=params.label if params.label is not UNSET and params.label else None,
            expected_leaf_id=params.expected_leaf_id,
        )
        outcome = await session.perform(operation)
        made = [head.id for head in outcome.entries if head.type == "branch_summary"]
        return e.MoveLeafResult(
            leaf_id=outcome.leaf_id,
            previous_leaf_id=outcome.previous_leaf_id,
            summary_entry_id=made[0] if made else UNSET,
            editor_text=editor_text if editor_text is not None else UNSET,
            revision=outcome.revision,
            durability=outcome.durability if outcome.entries else UNSET,
        )
