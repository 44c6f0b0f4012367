"""session/subscribe and unsubscribe."""

from __future__ import annotations

from msgspec import UNSET

from pi_daemon.methods import wire
from pi_daemon.methods.shared import Shared
from pi_daemon.rpc.call import Call
from pi_daemon.rpc.types import sessions as s
from pi_daemon.rpc.types import subscriptions as u
from pi_daemon.rpc.types.base import raw_array

REPLAY_BYTES = 8 * 1024 * 1024
"""Notifications that are replayed at most: as much as is kept for a client that doesn't read."""


async def subscribe(shared: Shared, call: Call, params: u.SubscribeParams) -> u.SubscribeResult:
    async with shared.use(call, params.session_id) as session:
        await session.look()
        # No await from here on: what is replayed ends exactly where what is pushed begins.
        missed = None
        since = params.since
        if since is not UNSET and since.instance_id == session.instance_id:
            missed = session.history.since(since.revision)
        shared.subscribe(session, call.connection)
        events = [message for change in missed or () for message in wire.messages(change)]
        if sum(map(len, events)) > REPLAY_BYTES:
            missed = None  # reading the session anew costs less
        return u.SubscribeResult(
            instance_id=session.instance_id,
            revision=session.revision,
            leaf_id=session.leaf_id,
            fresh=missed is None,
            events=raw_array(events) if missed is not None else UNSET,
        )


async def unsubscribe(shared: Shared, call: Call, params: s.SessionParams) -> u.UnsubscribeResult:
    session = shared.hub.loaded(params.session_id)
    if session is None:
        return u.UnsubscribeResult(status="notOpen")
    was = await shared.hub.unsubscribe(session, call.connection.client.client_id)
    return u.UnsubscribeResult(status="unsubscribed" if was else "notSubscribed")
