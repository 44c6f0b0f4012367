"""What the daemon tells clients without being asked. Each session notification carries `sessionId`, `instanceId`,
`revision` and `origin` (null where the change came from outside). One change makes one revision; where it makes
several notifications, all carry it."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from pi_daemon.rpc.types.base import Cause, DamageInfo, Origin, Raw, TreeNode, Wire


class SessionNotification(Wire, kw_only=True):
    """A change of a session.

    `session_id`: the session.
    `instance_id`: this loading of the session.
    `revision`: one change makes one revision; where it makes several notifications, all carry it.
    `origin`: the client that caused it; null where it came from outside.
    """

    session_id: str
    instance_id: str
    revision: int
    origin: Origin | None


class LeafChanged(SessionNotification, kw_only=True):
    """The leaf is another.

    `leaf_id`: where it is.
    `previous_leaf_id`: where it was.
    `cause`: what moved it.
    """

    leaf_id: str | None
    previous_leaf_id: str | None
    cause: Cause


class Appended(SessionNotification, kw_only=True):
    """Entries were appended.

    `entries`: each as a tree shows it, in file order.
    `cause`: what appended them.
    """

    entries: list[TreeNode]
    cause: Cause


class Compacted(SessionNotification, kw_only=True):
    """A compaction was appended.

    `entry_id`: the compaction.
    `first_kept_entry_id`: the first entry that the context keeps.
    `tokens_before`: the context's size before.
    `tokens_after`: an estimate of its size now; null where another process appended the compaction.
    `retention`: what the summary kept of the facts, where the daemon made the compaction: see Retention.
    `cause`: what appended it.
    """

    entry_id: str
    first_kept_entry_id: str | None
    tokens_before: float
    tokens_after: int | None
    retention: Raw | UnsetType = UNSET
    cause: Cause


class Compaction(SessionNotification, kw_only=True):
    """A compaction that the daemon makes has begun or ended. All of one carry the same id.

    `compaction_id`: names it; no entry's id.
    `status`: `started`, then one of the others.
    `reason`: why it failed or was cancelled: the name of an error, or `cancelled` where who asked for it took it back.
    `automatic`: nobody asked for it: `autoCompact` is on, and an append of `origin`'s passed the trigger.
    """

    compaction_id: str
    status: Literal["started", "completed", "failed", "cancelled"]
    reason: str | UnsetType = UNSET
    automatic: bool


class LabelChanged(SessionNotification, kw_only=True):
    """An entry's label was set or cleared.

    `target_id`: the entry.
    `label`: its label; null: cleared.
    `entry_id`: the entry that says so.
    """

    target_id: str
    label: str | None
    entry_id: str


class Renamed(SessionNotification, kw_only=True):
    """The session's name was set or cleared.

    `name`: its name; null: cleared.
    `entry_id`: the entry that says so.
    """

    name: str | None
    entry_id: str


class Replaced(SessionNotification, kw_only=True):
    """The file isn't the one that was open. `instance_id` is a new one, whose revisions begin anew; the subscription
    goes on with it, and what the client knows of the session is to be read again.

    `reason`: what happened to it.
    """

    reason: str


class Damaged(SessionNotification, kw_only=True):
    """Damage was found.

    `damage`: what is wrong.
    `lost`: ids of entries that were acknowledged and are not in the file any more.
    """

    damage: list[DamageInfo]
    lost: list[str] | UnsetType = UNSET


class Failed(SessionNotification, kw_only=True):
    """The session takes no more appends. Close it and open it again: where that can't be done, the error says why.

    `reason`: the name of an error: `sessionFailed` where a write failed; `sessionCorrupted` where another process
        rewrote the file and it can't be opened as it is now, being empty, say. When it can again, `session/replaced`
        follows.
    `errno`: the system's name for it, such as EIO, if it has one.
    """

    reason: str
    errno: str | None


class Deleted(SessionNotification, kw_only=True):
    """The session was deleted, or its file is no longer there: another process deleted it, moved it or gave it another
    name. Under another name in the sessions directory `session/open` with the id finds it.

    `trashed_to`: where its file went, if this daemon deleted it and the system tells.
    """

    trashed_to: str | UnsetType = UNSET


class Resync(Wire, kw_only=True):
    """Notifications were left out because the client did not read. Subscribe again, then `session/entries`.

    `session_id`: the session.
    `instance_id`: this loading of the session.
    `revision`: its revision now.
    """

    session_id: str
    instance_id: str
    revision: int


class DaemonReplaced(Wire, kw_only=True):
    """Another process serves this connection now. Subscribe again, and set options again: nothing of the old one's
    subscriptions is left, nor of what sessions were set to.

    `daemon_id`: names the new process.
    `client_id`: names this connection from now on, as in `origin`.
    `version`: the new daemon's version.
    """

    daemon_id: str
    client_id: str
    version: str


class ProgressValue(Wire, kw_only=True, omit_defaults=True):
    """LSP's work done progress.

    `kind`: `begin`, `report` or `end`.
    `title`: the method, at the beginning.
    `message`: what is being done.
    `percentage`: 0 to 100.
    """

    kind: str
    title: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
    percentage: int | UnsetType = UNSET


class Progress(Wire, kw_only=True):
    """How far a request has come.

    `token`: the request's `workDoneToken`.
    `value`: how far.
    """

    token: str | int
    value: ProgressValue
