"""How a newer daemon takes the place of an older one: it asks it to leave, and then waits for its lock."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

from pi_daemon.daemon.errors import NotResponding
from pi_daemon.daemon.version import newer
from pi_daemon.rpc.framing import Framer, frame
from pi_daemon.rpc.limits import Limits
from pi_daemon.transports.lock import told
from pi_daemon.transports.unix import lock_path

logger = logging.getLogger(__name__)

ASKING_SECONDS = 10.0
"""How long the older daemon may take to take note. It answers at once, and finishes its work after that."""


async def replace_older(socket: Path, version: str) -> int | None:
    """Ask the daemon at the socket to leave, if it is older than `version`; its process id. Raises NotResponding."""
    holder = told(lock_path(socket))
    if holder is None or not newer(version, holder.version):
        return None
    logger.info("taking over", extra={"fields": {"olderVersion": holder.version, "olderPid": holder.pid}})
    try:
        async with asyncio.timeout(ASKING_SECONDS):
            await _ask(socket)
    except (OSError, TimeoutError) as error:
        words = f"The older daemon (version {holder.version}, process {holder.pid}) does not answer: "
        raise NotResponding(f"{words}end it with `kill {holder.pid}`.", pid=holder.pid) from error
    return holder.pid


async def _ask(socket: Path) -> None:
    """It may speak another version of the protocol: no version is named, and no answer understood."""
    reader, writer = await asyncio.open_unix_connection(socket)
    try:
        writer.write(
            frame(
                _request(1, "initialize", {"processId": None, "clientInfo": {"name": "take-over"}, "capabilities": {}}),
                _request(2, "daemon/stop", {"drain": True}),
            )
        )
        framer = Framer(Limits())
        while data := await reader.read(65536):
            if any(isinstance(answer, bytes) and b'"id":2' in answer for answer in framer.feed(data)):
                return
    finally:
        writer.close()


def _request(id: int, method: str, params: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode()
