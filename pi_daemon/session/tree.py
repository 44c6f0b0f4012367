"""A session as the tree of its heads.

Entries only ever come to it. It follows every odd file to an end: of two entries with one id the later is what the
id means, an entry whose parent is missing is a root, and a loop of parents is cut at its entry that comes first in
the file. pi 1.6.0 hangs on loops and takes 2^n steps for n doubled lines; nothing here is worse than linear.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from functools import cmp_to_key
from types import MappingProxyType

from pi_daemon.session.dates import to_ms
from pi_daemon.session.errors import EntryNotFound
from pi_daemon.session.head import Damage, Head, LabelFacts, NameFacts


class SessionTree:
    """All entries of one session, and how they hang together.

    `entries` are all lines in file order, doubled ids included. Adding is O(1); what an addition can make
    uncertain (a doubled id, an entry that others had named as their parent before) is settled at the next question.
    """

    def __init__(self, heads: Iterable[Head] = ()) -> None:
        self.entries: list[Head] = []
        self._by_id: dict[str, Head] = {}
        self._labels: dict[str, str] = {}
        self._label_entries: dict[str, Head] = {}
        self._name: str | None = None
        self._missing: set[str] = set()  # parents that no entry had been when they were named
        self._cut: frozenset[str] | None = frozenset()
        self._children: dict[str | None, list[Head]] | None = None
        self.extend(heads)

    def frozen(self) -> SessionTree:
        """The tree as it is now, for a thread, while entries go on coming to this one."""
        made = copy(self)
        made.entries, made._by_id = list(self.entries), dict(self._by_id)
        made._labels, made._label_entries = dict(self._labels), dict(self._label_entries)
        made._missing, made._children = set(self._missing), None
        return made

    def add(self, head: Head) -> None:
        self.extend((head,))

    def extend(self, heads: Iterable[Head]) -> None:
        """Add entries in file order."""
        entries = self.entries
        known = len(entries)
        entries.extend(heads)
        by_id = self._by_id
        missing = self._missing
        children = self._children
        take = by_id.setdefault
        before = None
        for head in entries[known:]:
            name = head.id
            parent = head.parent_id
            # Most entries hang on the one before and share its id's string.
            if parent is not before and parent is not None and parent not in by_id:
                missing.add(parent)
                if parent == name:
                    self._cut = children = None
                parent = None
            before = name
            if take(name, head) is not head:
                # The id's place in file order is that of its later line.
                del by_id[name]
                by_id[name] = head
                self._cut = children = None
            elif missing and name in missing:
                self._cut = children = None
            if head.type in _NOTED:
                self._note(head)
            if children is not None:
                children.setdefault(parent, []).append(head)
        self._children = children

    def _note(self, head: Head) -> None:
        facts = head.facts
        if isinstance(facts, NameFacts):
            self._name = facts.name
        elif isinstance(facts, LabelFacts):
            if facts.label is None:
                self._labels.pop(facts.target, None)
                self._label_entries.pop(facts.target, None)
            else:
                self._labels[facts.target] = facts.label
                self._label_entries[facts.target] = head

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._by_id

    def get(self, entry_id: str) -> Head | None:
        return self._by_id.get(entry_id)

    def live(self) -> Iterable[Head]:
        """The entry that each id means, in file order."""
        return self._by_id.values()

    @property
    def labels(self) -> Mapping[str, str]:
        """Target id → label, over the whole file; a target need not exist."""
        return MappingProxyType(self._labels)

    @property
    def label_entries(self) -> Mapping[str, Head]:
        """Target id → the label entry that counts."""
        return MappingProxyType(self._label_entries)

    @property
    def name(self) -> str | None:
        """The last session_info counts, on whatever branch; None without one, and where it clears the name."""
        return self._name

    @property
    def last_id(self) -> str | None:
        """The leaf after opening: the last entry of the file, whatever its type."""
        return self.entries[-1].id if self.entries else None

    def parent(self, head: Head) -> Head | None:
        """None for a root: no parent, one that is missing, or a loop cut here."""
        parent = head.parent_id
        if parent is None or head.id in self._cuts():
            return None
        return self._by_id.get(parent)

    def children(self, entry_id: str | None) -> list[Head]:
        """By timestamp, then file order, each once; None asks for the roots, in file order."""
        found = list(self._kids().get(entry_id, ()))
        if entry_id is not None and len(found) > 1:
            _sort(found)
        return found

    def has_children(self, entry_id: str) -> bool:
        return bool(self._kids().get(entry_id))

    def path(self, leaf_id: str | None) -> list[Head]:
        """From the root to the leaf; empty for None. Raises EntryNotFound."""
        if leaf_id is None:
            return []
        get = self._by_id.get
        head = get(leaf_id)
        if head is None:
            raise EntryNotFound("The session has no such entry; read session/tree for those it has.", entryId=leaf_id)
        cuts = self._cuts()
        found: list[Head] = []
        append = found.append
        while head is not None:
            append(head)
            if cuts and head.id in cuts:
                break
            head = get(head.parent_id)  # type: ignore[arg-type]  # no entry is called None
        found.reverse()
        return found

    def compare(self, a: str, b: str) -> tuple[str | None, list[str], list[str]]:
        """The last entry that both paths share, and what each has after it. Raises EntryNotFound."""
        left = [head.id for head in self.path(a)]
        right = [head.id for head in self.path(b)]
        shared = 0
        for one, other in zip(left, right, strict=False):
            if one != other:
                break
            shared += 1
        return (left[shared - 1] if shared else None), left[shared:], right[shared:]

    def damage(self) -> list[Damage]:
        """Orphans, doubled ids and loops, with the offset of the line concerned; empty for a sound tree."""
        if len(self._by_id) == len(self.entries) and not self._missing and not self._cuts():
            return []
        found: list[Damage] = []
        seen: set[str] = set()
        for head in self.entries:
            if head.id in seen:
                found.append(_damage("duplicateId", "an id is used again: the later entry counts", head, [head.id]))
            seen.add(head.id)
        for head in self._by_id.values():
            if head.parent_id is not None and head.parent_id not in self._by_id:
                found.append(_damage("orphan", "the parent is missing: the entry counts as a root", head, [head.id]))
        for loop in self._loops():
            message = "the parents form a loop: it is cut at its first entry, which counts as a root"
            found.append(_damage("loop", message, loop[0], [head.id for head in loop]))
        return found

    def _cuts(self) -> frozenset[str]:
        """The ids whose link to a parent is cut, for else it would close a loop."""
        if self._cut is None:
            self._cut = frozenset(loop[0].id for loop in self._loops())
        return self._cut

    def _loops(self) -> list[list[Head]]:
        """Each loop, beginning at its entry that comes first in the file and going on from parent to parent.

        Each entry is walked over once: a walk ends where an earlier one has been.
        """
        get = self._by_id.get
        order = {name: place for place, name in enumerate(self._by_id)}
        walk_of: dict[str, int] = {}
        loops: list[list[Head]] = []
        for number, start in enumerate(self._by_id.values()):
            head: Head | None = start
            while head is not None and head.id not in walk_of:
                walk_of[head.id] = number
                head = get(head.parent_id) if head.parent_id is not None else None
            if head is None or walk_of[head.id] != number:
                continue
            loop = [head]
            while (up := get(loop[-1].parent_id or "")) is not None and up is not head:
                loop.append(up)
            first = min(range(len(loop)), key=lambda place: order[loop[place].id])
            loops.append(loop[first:] + loop[:first])
        return loops

    def _kids(self) -> dict[str | None, list[Head]]:
        """Children by parent, in file order."""
        if self._children is None:
            by_id = self._by_id
            cuts = self._cuts()
            kids: dict[str | None, list[Head]] = {None: []}
            for head in by_id.values():
                parent = head.parent_id
                if parent is not None and (parent not in by_id or head.id in cuts):
                    parent = None
                siblings = kids.get(parent)
                if siblings is None:
                    kids[parent] = [head]
                else:
                    siblings.append(head)
            self._children = kids
        return self._children


_NOTED = frozenset(("label", "session_info"))


def _damage(kind: str, message: str, head: Head, ids: list[str]) -> Damage:
    known = head.offset >= 0
    return Damage(kind, message, None, head.offset if known else None, head.length if known else None, ids)


def _sort(siblings: list[Head]) -> None:
    """By time. A timestamp that is no time compares equal to every other, as JavaScript's NaN does."""
    times = {head.id: to_ms(head.timestamp) for head in siblings}

    def compare(a: Head, b: Head) -> int:
        left, right = times[a.id], times[b.id]
        return 0 if left is None or right is None else left - right

    siblings.sort(key=cmp_to_key(compare))
