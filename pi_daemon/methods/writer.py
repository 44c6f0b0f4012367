"""session/requestWriter."""

from __future__ import annotations

from pi_daemon.methods.shared import Shared
from pi_daemon.rpc.call import Call
from pi_daemon.rpc.types import sessions as s


async def request_writer(shared: Shared, call: Call, params: s.RequestWriterParams) -> s.RequestWriterResult:
    async with shared.hub.use(params.session_id) as session:
        if params.release:
            return s.RequestWriterResult(status="released" if await session.release_writer() else "free")
        origin = shared.origin(call)
        owner = await session.writer()
        if owner is not None and owner.contact is not None and not session.log.held:
            await shared.ask_owner(owner.contact, session.session_id)
        await session.take_writer(origin)
        return s.RequestWriterResult(status="held")
