"""session/requestWriter."""

from __future__ import annotations

import contextlib

from pi_daemon.methods.shared import Shared
from pi_daemon.rpc.call import Call
from pi_daemon.rpc.types import sessions as s
from pi_daemon.session.errors import WriterBusy


async def request_writer(shared: Shared, call: Call, params: s.RequestWriterParams) -> s.RequestWriterResult:
    async with shared.use(call, params.session_id) as session:
        if params.release:
            return s.RequestWriterResult(status="released" if await session.release_writer() else "free")
        origin = shared.origin(call)
        owner = await session.writer()
        if owner is not None and owner.contact is not None and not session.log.held:
            # Who doesn't answer may be gone by now, and who holds it then is named by whoever tries.
            with contextlib.suppress(WriterBusy):
                await shared.ask_owner(owner.contact, session.session_id)
        await session.take_writer(origin)
        return s.RequestWriterResult(status="held")
