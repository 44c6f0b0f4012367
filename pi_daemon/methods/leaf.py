"""session/moveLeaf."""

from __future__ import annotations

from msgspec import UNSET

from pi_daemon.engine import reading
from pi_daemon.engine.branching import branch_summary
from pi_daemon.engine.compactions import Wanted
from pi_daemon.engine.live import LiveSession
from pi_daemon.engine.operations import MoveLeaf, Outcome
from pi_daemon.methods.shared import Shared
from pi_daemon.rpc.call import Call
from pi_daemon.rpc.types import entries as e
from pi_daemon.session.errors import InvalidParams, Superseded


async def move_leaf(shared: Shared, call: Call, params: e.MoveLeafParams) -> e.MoveLeafResult:
    before = params.position == "before"
    if params.entry_id is None and before:
        raise InvalidParams("There is nothing before the first entry; leave `position` out.", path="position")
    async with shared.use(call, params.session_id) as session:
        await session.look()
        editor_text = None
        if params.entry_id is not None and before:
            editor_text = await reading.editor_text(session, params.entry_id)
        if params.summarize or params.summary is not UNSET:
            with shared.hub.compactions.alone(session, shared.origin(call)):
                outcome = await _move_with_summary(shared, call, params, session)
        else:
            outcome = await session.perform(_move(shared, call, params))
        made = [head.id for head in outcome.entries if head.type == "branch_summary"]
        return e.MoveLeafResult(
            leaf_id=outcome.leaf_id,
            previous_leaf_id=outcome.previous_leaf_id,
            summary_entry_id=made[0] if made else UNSET,
            editor_text=editor_text if editor_text is not None else UNSET,
            revision=outcome.revision,
            durability=outcome.durability if outcome.entries else UNSET,
        )


async def _move_with_summary(shared: Shared, call: Call, params: e.MoveLeafParams, session: LiveSession) -> Outcome:
    """The leaf that is summarized is the one that is left: where it moves meanwhile, nothing is written."""
    move = _move(shared, call, params)
    left, instance_id = session.leaf_id, session.instance_id
    target_id = move.target(session.staging())
    wanted = Wanted(
        instructions=None if params.instructions is UNSET else params.instructions,
        summary=None if params.summary is UNSET else params.summary,
        summarizer=None if params.summarizer is UNSET else params.summarizer,
    )
    origin = shared.origin(call)
    session.check_writable(origin)
    move.summary = await branch_summary(shared.hub.compactions, session, target_id, wanted, origin, call.stage)
    await session.look(wait=True)
    if session.instance_id != instance_id:
        raise Superseded("The file was rewritten or replaced meanwhile; move again.")
    if move.summary is not None and move.expected_leaf_id is UNSET:
        move.expected_leaf_id = left
    return await session.perform(move)


def _move(shared: Shared, call: Call, params: e.MoveLeafParams) -> MoveLeaf:
    return MoveLeaf(
        shared.origin(call),
        params.entry_id,
        before=params.position == "before",
        label=params.label if params.label is not UNSET and params.label else None,
        expected_leaf_id=params.expected_leaf_id,
    )
