"""Long answers in pages: entries as they are stored, and the tree as rows."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from msgspec import Struct

from pi_daemon.engine.live import LiveSession
from pi_daemon.engine.offload import HEAD_BYTES, offload
from pi_daemon.engine.snapshot import TreeSnapshot
from pi_daemon.session.errors import EntryNotFound, InvalidParams
from pi_daemon.session.head import IN_MEMORY, Head
from pi_daemon.session.view import TreeRow, preview, tree_rows

ENTRIES = 10_000
"""Entries in one page at most."""

NODES = 20_000
"""Nodes in one page of a tree at most: some 6 MB of JSON."""

PAGE_BYTES = 8 * 1024 * 1024
"""Bodies in one page at most, but for a single larger one: some ms of work, so that nobody else waits long."""


SNAPSHOTS = 4
"""Trees of one session that clients may page through at a time; each costs some 100 bytes a node."""


class EntriesPage(Struct):
    """`next_since` names the last entry of a page that has another one after it."""

    lines: list[bytes]
    next_since: str | None


async def by_ids(session: LiveSession, ids: Sequence[str], limit: int, reply_bytes: int) -> EntriesPage:
    """The entries named, in file order. Raises EntryNotFound, InvalidParams where they are more than one page."""
    wanted = [(_position(session, entry_id), session.tree.get(entry_id)) for entry_id in dict.fromkeys(ids)]
    heads = [head for _, head in sorted(wanted, key=lambda found: found[0]) if head is not None]
    page = _fitting(heads, limit, min(reply_bytes, PAGE_BYTES))
    if len(page) < len(heads):
        raise InvalidParams(f"These entries don't fit one reply; ask for {len(page)} of them at a time.", path="ids")
    return EntriesPage(await session.lines(page), None)


async def since(session: LiveSession, entry_id: str | None, limit: int, reply_bytes: int) -> EntriesPage:
    """The entries after `entry_id` in the file, or all. Raises EntryNotFound."""
    start = 0 if entry_id is None else _position(session, entry_id) + 1
    heads = session.tree.entries[start : start + limit]
    page = _fitting(heads, limit, min(reply_bytes, PAGE_BYTES))
    more = start + len(page) < len(session.tree.entries)
    return EntriesPage(await session.lines(page), page[-1].id if page and more else None)


def _position(session: LiveSession, entry_id: str) -> int:
    """Where the entry stands in the file. Raises EntryNotFound."""
    head = session.tree.get(entry_id)
    if head is None:
        raise EntryNotFound("The session has no such entry; ask for entries without `since`.", entryId=entry_id)
    entries = session.tree.entries
    if head.offset == IN_MEMORY:
        return entries.index(head)
    return bisect_left(entries, head.offset, key=lambda other: other.offset)


def _fitting(heads: Sequence[Head], limit: int, size: int) -> list[Head]:
    """As many as fit, at least one."""
    page: list[Head] = []
    total = 0
    for head in heads[:limit]:
        total += head.length
        if page and total > size:
            break
        page.append(head)
    return page


class TreePage(Struct):
    rows: list[TreeRow]
    previews: list[str]
    leaf_id: str | None
    revision: int
    next_cursor: str | None


async def tree(session: LiveSession, filter_name: str, fold: bool, cursor: str | None) -> TreePage:
    """Raises InvalidParams for a cursor whose snapshot is gone, StorageFailed."""
    snapshot, start = await _snapshot(session, filter_name, fold, cursor)
    rows = snapshot.rows[start : start + NODES]
    rows = rows[: len(_fitting([row.head for row in rows], NODES, PAGE_BYTES))]
    end = start + len(rows)
    more = end < len(snapshot.rows)
    heads = [row.head for row in rows]
    lines = await session.lines(heads, of=snapshot.instance_id)
    _keep(session.snapshots, snapshot, more)
    previews = await offload(sum(map(len, lines)), lambda: list(map(preview, heads, lines)))
    next_cursor = f"{snapshot.key}:{end}" if more else None
    return TreePage(rows, previews, snapshot.leaf_id, snapshot.revision, next_cursor)


async def _snapshot(session: LiveSession, filter_name: str, fold: bool, cursor: str | None) -> tuple[TreeSnapshot, int]:
    if cursor is not None:
        key, _, index = cursor.rpartition(":")
        kept = session.snapshots.get(key)
        if kept is None or not index.isdecimal():
            raise InvalidParams("This cursor is not valid any more; ask for the tree from the start.", path="cursor")
        return kept, int(index)
    instance_id = session.instance_id
    key = f"{instance_id}:{session.revision}:{filter_name}:{fold}"
    if (kept := session.snapshots.get(key)) is not None:
        return kept, 0
    leaf_id, revision, tree = session.leaf_id, session.revision, session.tree.frozen()
    rows = await offload(HEAD_BYTES * len(tree), lambda: tree_rows(tree, leaf_id, filter_name, fold))
    return TreeSnapshot(instance_id, key, rows, leaf_id, revision), 0


def _keep(snapshots: dict[str, TreeSnapshot], snapshot: TreeSnapshot, more: bool) -> None:
    """The last few that clients are still paging through."""
    snapshots.pop(snapshot.key, None)
    if more:
        snapshots[snapshot.key] = snapshot
    while len(snapshots) > SNAPSHOTS:
        del snapshots[next(iter(snapshots))]
