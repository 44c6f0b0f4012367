"""session/export."""

from __future__ import annotations

from typing import cast

import msgspec
from msgspec import UNSET, Raw

from pi_daemon.engine import exporting
from pi_daemon.engine.exporting import Text, Wanted, too_large
from pi_daemon.engine.live import LiveSession
from pi_daemon.engine.offload import offload
from pi_daemon.engine.uninterrupted import uninterrupted
from pi_daemon.methods.shared import Shared
from pi_daemon.rpc.call import Call
from pi_daemon.rpc.types import sessions as s
from pi_daemon.session.document import Look
from pi_daemon.session.errors import InvalidParams

_ENVELOPE = 1_000
"""Bytes of an answer around the text."""


async def export(shared: Shared, call: Call, params: s.ExportParams) -> s.ExportResult:
    if params.format == "tree" and params.leaf_id is not UNSET:
        raise InvalidParams("A tree has all leaves: leave `leafId` out, or take the format `jsonl`.", path="leafId")
    async with shared.use(call, params.session_id) as session:
        await session.look()
        leaf_id = session.leaf_id if params.leaf_id is UNSET else params.leaf_id
        wanted = Wanted(params.format, leaf_id, Look(params.thinking, params.full))
        if params.path is UNSET:
            return s.ExportResult(text=await _text(shared, call, session, wanted))
        return s.ExportResult(path=await _file(shared, call, session, wanted, params.path))


async def _file(shared: Shared, call: Call, session: LiveSession, wanted: Wanted, path: str) -> str:
    file = await uninterrupted(shared.hub.files.new_file(path))
    try:
        await exporting.export(shared.hub, session, wanted, file, lambda done, total: _tell(call, done, total))
        await uninterrupted(file.finish())
    except BaseException:
        await uninterrupted(file.drop())
        raise
    return file.path


async def _text(shared: Shared, call: Call, session: LiveSession, wanted: Wanted) -> str:
    limit = call.connection.limits.reply_bytes
    sink = Text(limit)
    await exporting.export(shared.hub, session, wanted, sink, lambda done, total: _tell(call, done, total))
    try:
        encoded = await offload(sum(map(len, sink.parts)), lambda: _encoded(sink))
    except UnicodeDecodeError:
        words = "The file holds bytes that are no UTF-8, and no answer can: give a `path` to have it written there."
        raise InvalidParams(words, path="path") from None
    if len(encoded) > limit - _ENVELOPE:
        raise too_large(limit)
    return cast("str", Raw(encoded))  # encoded already: that of a large text takes long


def _encoded(sink: Text) -> bytes:
    return msgspec.json.encode(b"".join(sink.parts).decode())


def _tell(call: Call, done: int, total: int) -> None:
    call.progress("Exporting", done, total)
