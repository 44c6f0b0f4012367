"""daemon/status, daemon/panel and daemon/stop."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

from msgspec import UNSET

from pi_daemon.methods.shared import Shared
from pi_daemon.rpc.call import Call
from pi_daemon.rpc.types import daemon as own
from pi_daemon.rpc.types.lifecycle import PROTOCOL_VERSION, Empty
from pi_daemon.session.errors import Unauthorized


async def status(shared: Shared, call: Call, params: Empty) -> own.StatusResult:
    return own.StatusResult(
        version=shared.version,
        protocol_version=PROTOCOL_VERSION,
        daemon_id=shared.daemon_id,
        pid=os.getpid(),
        uptime=round(time.monotonic() - shared.started, 3),
        sessions_dir=shared.sessions_dir,
        transports=list(shared.transports),
        clients=[connection.statistics() for connection in shared.connections.values()],
        sessions=[
            own.OpenSessionStatus(
                session_id=session.session_id,
                path=session.path,
                revision=session.revision,
                entry_count=len(session.tree),
                subscribers=len(session.subscribers),
                queued=session.queued,
                persisted=session.log.persisted,
                compacting=shared.hub.compactions.under_way(session),
            )
            for session in shared.hub.sessions
        ],
        memory=_resident_bytes(),
    )


async def panel(shared: Shared, call: Call, params: own.PanelParams) -> own.PanelResult:
    if call.connection.transport not in ("unix", "stdio"):
        raise Unauthorized("Ask for the panel over the daemon's own socket: `pi-daemon panel` does.")
    session_id = None if params.session_id is UNSET else params.session_id
    return own.PanelResult(url=await shared.panel(session_id))


async def stop(shared: Shared, call: Call, params: own.StopParams) -> Empty:
    shared.stop(params.drain)
    return Empty()


def _resident_bytes() -> int:
    """What the process has in memory now; what it had at most, where the system doesn't tell that."""
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return pages * os.sysconf("SC_PAGE_SIZE")
