"""A path of one session → the entries of a new one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pi_daemon.session.head import CompactionFacts, Head
from pi_daemon.session.rawjson import dumps, join, members
from pi_daemon.session.tree import SessionTree


def fork_lines(
    tree: SessionTree, path: Sequence[Head], lines: Sequence[bytes], new_id: Callable[[set[str]], str]
) -> list[bytes]:
    """The entry lines of a session that holds `path` alone; `lines[i]` is the line of `path[i]`.

    pi 1.6.0: label entries are dropped and their children hung on the entry before them; a compaction that kept
    from a label on keeps from the entry after it; the labels of the entries that stay are made again at the end,
    with their times, whichever branch they were set on. `new_id` gives an id that isn't in the set it gets.
    """
    kept_after: dict[str, str] = {}  # a dropped label → the entry after it
    dropped: list[str] = []
    found: list[bytes] = []
    parent: str | None = None
    taken: set[str] = set()
    for head, line in zip(path, lines, strict=True):
        if head.type == "label":
            dropped.append(head.id)
            continue
        kept_after.update(dict.fromkeys(dropped, head.id))
        dropped.clear()
        found.append(_moved(head, line, parent, kept_after))
        parent = head.id
        taken.add(head.id)
    for target, entry in tree.label_entries.items():
        if target not in taken:
            continue
        name = new_id(taken)
        taken.add(name)
        parts = {
            "type": "label",
            "id": name,
            "parentId": parent,
            "timestamp": entry.timestamp,
            "targetId": target,
            "label": tree.labels[target],
        }
        found.append(dumps(parts))
        parent = name
    return found


def _moved(head: Head, line: bytes, parent: str | None, kept_after: dict[str, str]) -> bytes:
    """The line under another parent; as it is where nothing changes."""
    first = head.facts.first_kept if isinstance(head.facts, CompactionFacts) else None
    keeps = kept_after.get(first) if first is not None and first != head.id else None
    if parent is not None and head.parent_id == parent and keeps is None:
        return line
    parts = members(line)
    if parts.get("parentId") == dumps(parent) and keeps is None:
        return line
    parts["parentId"] = dumps(parent)
    if keeps is not None:
        parts["firstKeptEntryId"] = dumps(keeps)
    return join(parts)
