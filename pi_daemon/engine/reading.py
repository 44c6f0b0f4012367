"""What a session shows of its bodies: the context at a leaf, its size, a message's text for editing, sums."""

from __future__ import annotations

from functools import partial

from msgspec import Struct, structs

from pi_daemon.compaction.tokens import context_tokens, measure
from pi_daemon.engine.bodies import bodies
from pi_daemon.engine.kept import KeptContext
from pi_daemon.engine.live import LiveSession
from pi_daemon.engine.offload import HEAD_BYTES, offload
from pi_daemon.session.errors import EntryNotFound, InvalidParams
from pi_daemon.session.llm import to_llm
from pi_daemon.session.pairing import ProblemKind, problems, repair
from pi_daemon.session.projection import message_starts, project
from pi_daemon.session.selection import Trail
from pi_daemon.session.tally import Tally
from pi_daemon.session.view import message_text


class Context(Struct):
    """`messages` are raw JSON, joined by commas; `sources[i]` is the entry of the i-th. `problems`: (kind, entry,
    tool call)."""

    messages: bytes
    sources: list[str]
    model: tuple[str, str] | None
    thinking_level: str
    tokens: int
    compaction_id: str | None
    problems: list[tuple[ProblemKind, str, str]]


async def context(session: LiveSession, leaf_id: str | None, *, llm: bool = False, fix: bool = False) -> Context:
    """What the model is sent at `leaf_id`. `fix` leaves out results without a call and answers calls without a
    result. Raises EntryNotFound, StorageFailed."""
    at_leaf = leaf_id == session.leaf_id
    trail = session.trail if at_leaf else Trail(session.tree.path(leaf_id))
    path, selection = list(trail.path), trail.selection()
    meter, instance_id = session.meter, session.instance_id  # those of the file as it is now
    known = meter.at(leaf_id) if at_leaf else None
    if not at_leaf or fix or known is None:
        kept = KeptContext(trail, trail.turn)
    else:
        kept = session.contexts.take(instance_id, llm, trail)
    wanted = structs.replace(selection, sources=selection.sources[kept.count :])
    starts = message_starts(wanted)
    lines = await session.lines(wanted.heads(), starts)
    now = session.environment.now_ms()

    def make() -> tuple[KeptContext, int, list[tuple[ProblemKind, str, str]]]:
        projection = project(wanted, lines, starts)
        tokens = known if known is not None else context_tokens(path, projection)
        found = problems(projection) if fix else []
        shown = repair(projection, now) if found else projection
        shown = to_llm(shown) if llm else shown
        made = kept.extended(len(wanted.sources), projection, shown)
        return made, tokens, found if fix else made.problems

    made, tokens, found = await offload(sum(map(len, lines)), make)
    if at_leaf and not fix and session.instance_id == instance_id:
        session.contexts.put(instance_id, llm, made)
        if session.leaf_id == leaf_id and known is None:
            meter.set(leaf_id, tokens, folded=measure(path, selection).folded)
    return Context(
        made.joined,
        made.sources,
        selection.model,
        selection.thinking_level,
        tokens,
        selection.compaction.id if selection.compaction is not None else None,
        found,
    )


async def size(session: LiveSession) -> int:
    """The tokens of the context at the session's leaf; from the meter, where it knows. Raises StorageFailed."""
    leaf_id, meter = session.leaf_id, session.meter  # of the file as it is now: another one has another meter
    known = meter.at(leaf_id)
    if known is not None:
        return known
    found = measure(session.trail.path, session.trail.selection())
    lines = await session.lines(found.selection.heads())
    tokens = await offload(sum(map(len, lines)), lambda: found.tokens(project(found.selection, lines)))
    if session.leaf_id == leaf_id:
        meter.set(leaf_id, tokens, folded=found.folded)
    return tokens


async def editor_text(session: LiveSession, entry_id: str) -> str:
    """The text of a user or custom message, to be edited and sent again. Raises EntryNotFound, InvalidParams."""
    head = session.tree.get(entry_id)
    if head is None:
        raise EntryNotFound("The session has no such entry; read session/tree.", entryId=entry_id)
    if head.role != "user" and head.type != "custom_message":
        raise InvalidParams("Only before a user or a custom message: name one of those, or use `at`.", path="position")
    return message_text(head, (await session.lines([head]))[0])


async def stats(session: LiveSession) -> Tally:
    """Sums over the whole file. Raises StorageFailed."""
    heads, leaf_id, instance_id = list(session.tree.entries), session.leaf_id, session.instance_id
    tally = await offload(HEAD_BYTES * len(heads), lambda: Tally(heads, leaf_id))
    async for portion, lines in bodies(session, heads, instance_id):
        await offload(sum(map(len, lines)), partial(tally.add, portion, lines))
    return tally
