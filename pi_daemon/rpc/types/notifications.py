"""What the daemon tells clients without being asked. Each session notification carries `sessionId`, `instanceId`,
`revision` and `origin` (null where the change came from outside). One change makes one revision; where it makes
several notifications, all carry it."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from pi_daemon.rpc.types.base import Cause, DamageInfo, Origin, Raw, TreeNode, Wire


class SessionNotification(Wire, kw_only=True):
    session_id: str
    instance_id: str
    revision: int
    origin: Origin | None


class LeafChanged(SessionNotification, kw_only=True):
    leaf_id: str | None
    previous_leaf_id: str | None
    cause: Cause


class Appended(SessionNotification, kw_only=True):
    entries: list[TreeNode]
    cause: Cause


class Compacted(SessionNotification, kw_only=True):
    """`tokens_after` is an estimate, null where another process appended the compaction."""

    entry_id: str
    first_kept_entry_id: str | None
    tokens_before: float
    tokens_after: int | None
    retention: Raw | UnsetType = UNSET
    cause: Cause


class LabelChanged(SessionNotification, kw_only=True):
    target_id: str
    label: str | None
    entry_id: str


class Renamed(SessionNotification, kw_only=True):
    name: str | None
    entry_id: str


class Replaced(SessionNotification, kw_only=True):
    """The file isn't the one that was open: `instanceId` is the new one. Subscribe again."""

    reason: str


class Damaged(SessionNotification, kw_only=True):
    """`lost`: ids of entries that were acknowledged and are not in the file any more."""

    damage: list[DamageInfo]
    lost: list[str] | UnsetType = UNSET


class Failed(SessionNotification, kw_only=True):
    """The session takes no more appends. `errno` is its name, such as EIO."""

    reason: str
    errno: str | None


class Deleted(SessionNotification, kw_only=True):
    trashed_to: str | UnsetType = UNSET


class Resync(Wire, kw_only=True):
    """Notifications were left out because the client did not read. Subscribe again, then `session/entries`."""

    session_id: str
    instance_id: str
    revision: int


class ProgressValue(Wire, kw_only=True, omit_defaults=True):
    """LSP's work done progress. `percentage` is 0 to 100."""

    kind: str
    title: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
    percentage: int | UnsetType = UNSET


class Progress(Wire, kw_only=True):
    token: str | int
    value: ProgressValue
