"""session/requestWriter."""

from __future__ import annotations

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
        asked: WriterBusy | None = None
        if owner is not None and owner.contact is not None and not session.log.held:
            try:
                await shared.ask_owner(owner.contact, session.session_id)
            except WriterBusy as error:
                asked = error
        try:
            await session.take_writer(origin)
        except WriterBusy as error:
            # Who doesn't answer may be gone by now, and who holds it then is named by whoever tries.
            raise _refused(error) if asked is not None else error from None
        return s.RequestWriterResult(status="held")


def _refused(busy: WriterBusy) -> WriterBusy:
    """It has just been asked for, so that is no advice."""
    owner = busy.data.get("owner")
    who = "another process" if owner is None else f"process {owner['pid']} on {owner['host']}"
    words = f"{who} holds the session and did not let go of it when it was asked: close the session there, or end it"
    return WriterBusy(words, **busy.data)
