"""What the daemon tells clients without being asked. Each session notification carries `sessionId`, `instanceId`,
`revision` and `origin` (null where the change came from outside). One change makes one revision; where it makes
several notifications, all carry it."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from pi_daemon.rpc.types.base import Cause, DamageInfo, Origin, Raw, TreeNode, Wire


class SessionNotification(Wire):
    session_id: str
    instance_id: str
    revision: int
    origin: Origin | None


class LeafChanged(SessionNotification):
    leaf_id: str | None
    previous_leaf_id: str | None
    cause: Cause


class Appended(SessionNotification):
    entries: list[TreeNode]
    cause: Cause


class Compacted(SessionNotification):
    """`tokens_after` is an estimate."""

    entry_id: str
    first_kept_entry_id: str | None
    tokens_before: float
    tokens_after: int
    retention: Raw | UnsetType = UNSET
    cause: Cause


class LabelChanged(SessionNotification):
    target_id: str
    label: str | None
    entry_id: str


class Renamed(SessionNotification):
    name: str | None
    entry_id: str


class Replaced(SessionNotification):
    """The file isn't the one that was open: `instanceId` is the new one. Subscribe again."""

    reason: str


class Damaged(SessionNotification):
    """`lost`: ids of entries that were acknowledged and are not in the file any more."""

    damage: list[DamageInfo]
    lost: list[str] | UnsetType = UNSET


class Failed(SessionNotification):
    """The session takes no more appends. `errno` is its name, such as EIO."""

    reason: str
    errno: str | None


class Deleted(SessionNotification):
    trashed_to: str | UnsetType = UNSET


class Resync(Wire):
    """Notifications were left out because the client did not read. Subscribe again, then `session/entries`."""

    session_id: str
    instance_id: str
    revision: int


class ProgressValue(Wire, omit_defaults=True):
    """LSP's work done progress. `percentage` is 0 to 100."""

    kind: str
    title: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
    percentage: int | UnsetType = UNSET


class Progress(Wire):
    token: str | int
    value: ProgressValue
