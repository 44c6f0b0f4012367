"""Parameters and results about hearing of a session."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from pi_daemon.rpc.types.base import Raw, Wire


class SubscribeSince(Wire, kw_only=True):
    """What a client knows of a session.

    `instance_id`: the loading that it saw.
    `revision`: the last revision that it saw.
    """

    instance_id: str
    revision: int


class SubscribeParams(Wire, kw_only=True):
    """What to hear of.

    `session_id`: the session.
    `since`: what the client knows already; what it missed is replayed.
    """

    session_id: str
    since: SubscribeSince | UnsetType = UNSET


class SubscribeResult(Wire, kw_only=True):
    """From here on every revision is told, once and in order.

    `instance_id`: this loading of the session.
    `revision`: the revision as of now.
    `leaf_id`: the leaf as of now.
    `fresh`: what lies between can't be replayed: read the session anew.
    `events`: the notifications that were missed, `{method, params}`, oldest first.
    """

    instance_id: str
    revision: int
    leaf_id: str | None
    fresh: bool
    events: list[Raw] | UnsetType = UNSET


class UnsubscribeResult(Wire, kw_only=True):
    """What there was to end.

    `status`: `notOpen`: the session isn't even open.
    """

    status: Literal["unsubscribed", "notSubscribed", "notOpen"]
