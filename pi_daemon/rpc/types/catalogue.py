"""Parameters and results about all sessions: searching them, sums over them, hearing of them."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from pi_daemon.rpc.types.base import Wire
from pi_daemon.rpc.types.stats import TokenTotals


class SearchParams(Wire, kw_only=True):
    """What to look for.

    `query`: words, and "phrases" in quotation marks; an entry has to say all of them. They are found within other
        words, in names and in paths, upper and lower case alike. Nothing in it is an operator.
    `cwd`: in sessions whose agent works there.
    `role`: in messages of that role, or in entries of that type.
    `model`: in answers of models whose name has that, as `provider/model` or `model`, in upper or lower case.
    `label`: in entries with that label.
    `after`: in entries of that time or later, ISO 8601.
    `before`: in entries before that time, ISO 8601.
    `cursor`: `nextCursor` of the page before.
    `limit`: at most 100.
    """

    query: str
    cwd: str | UnsetType = UNSET
    role: str | UnsetType = UNSET
    model: str | UnsetType = UNSET
    label: str | UnsetType = UNSET
    after: str | UnsetType = UNSET
    before: str | UnsetType = UNSET
    cursor: str | UnsetType = UNSET
    limit: int = 20


class SearchHit(Wire, kw_only=True):
    """An entry that says what was looked for.

    `session_id`: its session.
    `path`: the session's file.
    `name`: the session's name; null without one.
    `cwd`: the directory that its agent works in.
    `entry_id`: the entry.
    `type`: the kind of entry.
    `role`: of a message.
    `timestamp`: the entry's.
    `snippet`: one line of its text around what was found, never longer than a preview by much.
    `on_path`: whether it lies on the path to the last entry of the file.
    `tip_id`: the last entry of the file that descends from it, so the end of the branch on which it lies; null where
        that can't be told.
    """

    session_id: str
    path: str
    name: str | None
    cwd: str
    entry_id: str
    type: str
    role: str | UnsetType = UNSET
    timestamp: str
    snippet: str
    on_path: bool
    tip_id: str | None


class SearchResult(Wire, kw_only=True):
    """What was found.

    `hits`: by relevance among what is about as old, and newer before older. May be empty though there is more.
    `complete`: whether the text of all sessions was searched; false while it is being indexed.
    `indexed`: 0 to 1: the share of the text that was searched.
    `next_cursor`: where there is more.
    """

    hits: list[SearchHit]
    complete: bool
    indexed: float
    next_cursor: str | UnsetType = UNSET


class CatalogParams(Wire, kw_only=True):
    """Which sessions.

    `cwd`: those whose agent works there; absent: all.
    """

    cwd: str | UnsetType = UNSET


class CatalogTotals(Wire, kw_only=True):
    """Sums over sessions. An answer that a fork has copied is counted once.

    `sessions`: how many sessions there are.
    `messages`: how many messages they have, copies included.
    `replies`: how many answers of models they have.
    `repeated`: how many copies of those there are beside, in forks.
    `tokens`: sums over `replies`.
    """

    sessions: int
    messages: int
    replies: int
    repeated: int
    tokens: TokenTotals


class CatalogStatus(Wire, kw_only=True):
    """Whether the client hears of session files that come, change and go.

    `subscribed`: whether it does now.
    """

    subscribed: bool


class SessionFile(Wire, kw_only=True):
    """A session file.

    `session_id`: the session.
    `path`: its file.
    `cwd`: the directory that its agent works in.
    """

    session_id: str
    path: str
    cwd: str


class CatalogChanged(Wire, kw_only=True):
    """Session files that have come, changed or gone, some of them perhaps more than once.

    `created`: those that have come.
    `changed`: those that were written to.
    `deleted`: those that have gone.
    `missed`: true: others were left out because the client did not read, or there were too many; list anew.
    """

    created: list[SessionFile]
    changed: list[SessionFile]
    deleted: list[SessionFile]
    missed: bool = False
