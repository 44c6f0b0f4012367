"""Whole sessions: create, open, configure, close, delete, fork, list, check, repair."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from pi_daemon.engine import forking, reading
from pi_daemon.engine.listing import list_page
from pi_daemon.engine.operations import Append, name_draft
from pi_daemon.engine.options import SessionOptions
from pi_daemon.methods import wire
from pi_daemon.methods.shared import Shared
from pi_daemon.rpc.call import Call
from pi_daemon.rpc.types import sessions as s
from pi_daemon.rpc.types.base import Options
from pi_daemon.rpc.types.lifecycle import Empty
from pi_daemon.session.errors import InvalidParams
from pi_daemon.session.head import Header

LIST_LIMIT = 1_000
"""Sessions in one page of a list: some 400 KB, a screenful many times over."""


def _options(shared: Shared, current: SessionOptions, changes: Options | UnsetType) -> SessionOptions:
    """Raises InvalidParams for a number that makes no sense."""
    if changes is UNSET:
        return current
    wire.check_tokens(changes, "context_window", "reserve_tokens", "keep_recent_tokens")
    if isinstance(changes.summarizer, str):
        shared.hub.compactions.summarizers.check(changes.summarizer)
    return current.changed(changes, shared.hub.defaults)


async def create(shared: Shared, call: Call, params: s.CreateParams) -> s.SessionState:
    if not params.cwd.startswith("/"):
        raise InvalidParams("Give an absolute path.", path="cwd")
    wire.check_new_id(params.id)
    environment = shared.hub.environment
    header = Header(
        id=params.id if params.id is not UNSET else environment.session_id(),
        timestamp=environment.timestamp(),
        cwd=params.cwd,
        parent_session=params.parent_session if params.parent_session is not UNSET else None,
    )
    options = _options(shared, shared.hub.defaults, params.options)
    session = await shared.hub.create(header, persist=params.persist, options=options)
    shared.subscribe(session, call.connection)
    if params.name is not UNSET and params.name:
        await session.perform(Append(shared.origin(call), [name_draft(params.name)]))
    return await wire.state(session, call.connection.client.client_id)


async def open_session(shared: Shared, call: Call, params: s.OpenParams) -> s.SessionState:
    if (params.session_id is UNSET) == (params.path is UNSET):
        raise InvalidParams("Name the session by sessionId or by path: one of the two.", path="sessionId")
    session_id = None if params.session_id is UNSET else params.session_id
    path = None if params.path is UNSET else params.path
    options = params.options
    ref = await shared.hub.find(session_id, path)
    client_id = call.connection.client.client_id
    session = await shared.hub.open(ref, recover=params.recover == "skip", client_id=client_id)
    if options is not UNSET:
        session.options = _options(shared, session.options, options)
    shared.subscribe(session, call.connection, read_only=params.read_only)
    return await wire.state(session, client_id)


async def configure(shared: Shared, call: Call, params: s.ConfigureParams) -> s.SessionState:
    async with shared.use(call, params.session_id) as session:
        session.options = _options(shared, session.options, params)
        return await wire.state(session, call.connection.client.client_id)


async def close(shared: Shared, call: Call, params: s.SessionParams) -> Empty:
    session = shared.hub.loaded(params.session_id)
    if session is not None:
        await shared.hub.unsubscribe(session, call.connection.client.client_id, close=True)
    return Empty()


async def delete(shared: Shared, call: Call, params: s.SessionParams) -> s.DeleteResult:
    client_id = call.connection.client.client_id
    trashed_to = await shared.hub.delete(params.session_id, client_id, shared.origin(call))
    return s.DeleteResult(trashed_to=trashed_to if trashed_to is not None else UNSET)


async def fork(shared: Shared, call: Call, params: s.ForkParams) -> s.SessionState:
    wire.check_new_id(params.id)
    async with shared.use(call, params.session_id) as source:
        await source.look()
        entry_id = source.leaf_id if params.entry_id is UNSET else params.entry_id
        if params.position == "before" and entry_id is None:
            raise InvalidParams("There is nothing before the first entry; leave `position` out.", path="position")
        editor_text = None
        if params.position == "before" and entry_id is not None:
            editor_text = await reading.editor_text(source, entry_id)
        made = await forking.fork(
            shared.hub,
            source,
            entry_id,
            before=params.position == "before",
            tree=params.scope == "tree",
            cwd=None if params.cwd is UNSET else params.cwd,
            session_id=None if params.id is UNSET else params.id,
        )
    if made.skipped is not None:  # every line was copied, the damaged ones of a source that this client has open too
        made.skippers.add(call.connection.client.client_id)
    shared.subscribe(made, call.connection)
    state = await wire.state(made, call.connection.client.client_id)
    if editor_text is not None:
        state.editor_text = editor_text
    return state


async def list_sessions(shared: Shared, call: Call, params: s.ListParams) -> s.ListResult:
    if not 1 <= params.limit <= LIST_LIMIT:
        raise InvalidParams(f"Give a limit from 1 to {LIST_LIMIT}.", path="limit")
    cwd = None if params.cwd is UNSET else params.cwd
    cursor = None if params.cursor is UNSET else params.cursor

    def progress(done: int, total: int) -> None:
        call.progress("Reading sessions", done, total)

    page = await list_page(shared.hub, cwd, cursor, params.limit, progress)
    rows = [
        s.SessionInfo(
            session_id=row.summary.ref.session_id,
            path=row.summary.ref.location if row.persisted else None,
            cwd=row.summary.cwd,
            name=row.summary.name,
            parent_session=row.summary.parent_session,
            created=row.summary.created,
            modified=row.summary.modified,
            message_count=row.summary.message_count,
            first_message=row.summary.first_message,
            size=row.summary.size,
            open=row.open,
            persisted=row.persisted,
            damaged=row.summary.damaged,
        )
        for row in page.rows
    ]
    return s.ListResult(sessions=rows, next_cursor=page.next_cursor if page.next_cursor is not None else UNSET)


async def check(shared: Shared, call: Call, params: s.PathParams) -> s.CheckResult:
    report = await shared.hub.files.check(params.path)
    return s.CheckResult(
        path=report.path,
        session_id=report.session_id,
        entry_count=report.entry_count,
        opens=report.opens,
        damage=wire.damage(report.damage),
    )


async def repair(shared: Shared, call: Call, params: s.PathParams) -> s.RepairResult:
    report = await shared.hub.repair(params.path)
    return s.RepairResult(
        path=report.path,
        original_kept_at=report.original_kept_at,
        dropped=wire.damage(report.dropped),
        rewritten=wire.damage(report.rewritten),
    )
