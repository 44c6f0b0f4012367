"""A path of one session → the header and the entries of a new one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pi_daemon.session.head import CompactionFacts, Head, Header
from pi_daemon.session.rawjson import dumps, join, members
from pi_daemon.session.tree import SessionTree


def header_line(header: Header) -> bytes:
    """The header as pi writes it: compact, what is absent left out."""
    line: dict[str, object] = {
        "type": "session",
        "version": 3,
        "id": header.id,
        "timestamp": header.timestamp,
        "cwd": header.cwd,
    }
    if header.parent_session is not None:
        line["parentSession"] = header.parent_session
    return dumps(line)


def fork_lines(
    tree: SessionTree, path: Sequence[Head], lines: Sequence[bytes], new_id: Callable[[set[str]], str]
) -> list[bytes]:
    """The entry lines of a session that holds `path` alone; `lines[i]` is the line of `path[i]`. `new_id` gives an id
    that isn't in the set it gets."""
    forking = Forking(tree, new_id)
    return [*forking.take(path, lines), *forking.labels()]


class Forking:
    """The same for a path that comes in portions, root first.

    pi 1.6.0: label entries are dropped and their children hung on the entry before them; a compaction that kept
    from a label on keeps from the entry after it; the labels of the entries that stay are made again at the end,
    with their times, whichever branch they were set on.
    """

    def __init__(self, tree: SessionTree, new_id: Callable[[set[str]], str]) -> None:
        self._tree = tree
        self._new_id = new_id
        self._kept_after: dict[str, str] = {}  # a dropped label → the entry after it
        self._dropped: list[str] = []
        self._parent: str | None = None
        self._taken: set[str] = set()

    def take(self, path: Sequence[Head], lines: Sequence[bytes]) -> list[bytes]:
        """The next entries of the path, as they will be."""
        found: list[bytes] = []
        for head, line in zip(path, lines, strict=True):
            if head.type == "label":
                self._dropped.append(head.id)
                continue
            self._kept_after.update(dict.fromkeys(self._dropped, head.id))
            self._dropped.clear()
            found.append(_moved(head, line, self._parent, self._kept_after))
            self._parent = head.id
            self._taken.add(head.id)
        return found

    def labels(self) -> list[bytes]:
        """What comes after the path."""
        found: list[bytes] = []
        targets = [(target, entry) for target, entry in self._tree.label_entries.items() if target in self._taken]
        for target, entry in targets:
            name = self._new_id(self._taken)
            self._taken.add(name)
            parts = {
                "type": "label",
                "id": name,
                "parentId": self._parent,
                "timestamp": entry.timestamp,
                "targetId": target,
                "label": self._tree.labels[target],
            }
            found.append(dumps(parts))
            self._parent = name
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
