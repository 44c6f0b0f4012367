"""One daemon asks another to hand a session over."""

from __future__ import annotations

import asyncio

from pi_daemon_client import AsyncClient, ClientError

from pi_daemon.session.errors import WriterBusy

HANDOVER_SECONDS = 10.0
"""How long the other daemon may take: it finishes the batch that it is writing."""


async def ask_owner(contact: str, session_id: str) -> None:
    """Have the daemon whose Unix socket is at `contact` let go of the session. Raises WriterBusy."""
    try:
        async with asyncio.timeout(HANDOVER_SECONDS):
            async with await AsyncClient.connect_unix(contact, name="pi-daemon", reconnect=None) as other:
                await other.request("session/requestWriter", {"sessionId": session_id, "release": True})
    except (ClientError, OSError, TimeoutError) as error:
        raise WriterBusy(
            "The daemon that holds this session did not hand it over: close the session there, or try again.",
            owner={"contact": contact},
        ) from error
