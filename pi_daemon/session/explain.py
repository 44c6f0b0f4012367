"""Why an entry of the file is in the context at a leaf, or why it isn't: one reason each, told from heads alone.

Of several reasons the one counts that no other leaf would change: what never enters any context; then where the
entry lies (another branch, a broken chain of parents); then what the path has made of it (a compaction, an edit, a
later setting).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

from pi_daemon.session.head import (
    IN_MEMORY,
    AssistantFacts,
    BranchSummaryFacts,
    CompactionFacts,
    Damage,
    EditFacts,
    Head,
    ModelFacts,
    ThinkingFacts,
)
from pi_daemon.session.projection import EDITABLE
from pi_daemon.session.selection import Source, Trail, contributes, kept_by
from pi_daemon.session.tree import SessionTree
from pi_daemon.session.why import Explained, Reason, Why, lasting

BROKEN_LINES = frozenset({"notJson", "glued", "notObject", "noId", "tooDeep", "notUtf8", "tornTail"})
"""Kinds of damage that are a line without an entry."""

_AS_STORED = Why("asStored", True)
_SUMMARY = Why("summary", True)
_SAME_ID = Why("sameIdLater")
_NO_LEAF = Why("noLeaf")


class Explanation:
    """All entries of `tree` at the end of `trail`, as they are now: `trail` may go on, this doesn't.

    `compaction` is the last one on the path; `omitted_by` is the edit that takes its summary away, if one does.
    `broken` are the lines without an entry; `count` counts all lines.
    """

    def __init__(self, tree: SessionTree, trail: Trail, damage: Sequence[Damage] = ()) -> None:
        self.tree = tree
        self._path = list(trail.path)
        self._place = {head.id: place for place, head in enumerate(self._path)}
        self.broken = _broken_lines(tree, damage)
        self.count = len(tree.entries) + len(self.broken)
        selection = trail.selection()
        self.compaction = selection.compaction
        self._start, self._at = (0, -1) if self.compaction is None else kept_by(self._path, self.compaction)
        self._selected = selection.sources
        omits = self._edits.get(self.compaction.id) if self.compaction is not None else None
        self.omitted_by = omits.id if omits is not None and _omits(omits) else None
        self._beside: dict[str, Why] = {}
        self._merged: list[Head | Damage] | None = None

    def items(self, start: int, stop: int) -> Sequence[Head | Damage]:
        """The lines from `start` to before `stop`, in file order."""
        if not self.broken:
            return self.tree.entries[start : min(stop, self.count)]
        if self._merged is None:
            stored: list[Head | Damage] = list(self.tree.entries[: self.count - len(self.broken)])
            offsets = [head.offset for head in self.tree.entries[: len(stored)] if head.offset != IN_MEMORY]
            merged: list[Head | Damage] = []
            at = 0
            for damage in self.broken:
                before = bisect_left(offsets, damage.offset or 0, at)
                merged += [*stored[at:before], damage]
                at = before
            self._merged = merged + stored[at:]
        return self._merged[start:stop]

    def of(self, item: Head | Damage) -> Explained:
        """The explanation of one line."""
        if isinstance(item, Damage):
            return Explained(None, Why("damagedLine", line=item.line), damage=item)
        head = item
        if self.tree.get(head.id) is not head:
            return Explained(head, _SAME_ID)
        place = self._place.get(head.id)
        why = lasting(head)
        if place is None:
            return Explained(head, why or self._off_path(head), summary=self._told.get(head.id) if not why else None)
        found = self._sources.get(head.id)
        if found is None:
            return Explained(head, why or self._left_out(head, place))
        source, message, sent = found
        if why is not None:  # an agent holds it, no provider is sent it
            return Explained(head, why, message)
        return Explained(head, self._shown(source), message, sent)

    # -- on the path

    @cached_property
    def _sources(self) -> dict[str, tuple[Source, int, int | None]]:
        """The entries that contribute, with the places of their messages, held and sent."""
        found: dict[str, tuple[Source, int, int | None]] = {}
        message = sent = 0
        for source in self._selected:
            head = source.head
            facts = head.facts
            goes = lasting(head) is None
            found[head.id] = (source, message, sent if goes else None)
            several = 2 if facts.__class__ is CompactionFacts and facts.has_system else 1
            message += several
            sent += several if goes else 0
        return found

    @cached_property
    def _edits(self) -> dict[str, Head]:
        """The edits that count, by target."""
        chosen = self._path if self.compaction is None else self._path[self._start :]
        edits = [head for head in chosen if head.facts.__class__ is EditFacts]
        return {head.facts.target: head for head in edits if isinstance(head.facts, EditFacts)}

    def _shown(self, source: Source) -> Why:
        head = source.head
        edit = source.edit
        if edit is not None and (head.type == "custom_message" or head.role in EDITABLE):
            return Why("edited", True, by=edit.id)
        return _SUMMARY if head.type in ("compaction", "branch_summary") else _AS_STORED

    def _left_out(self, head: Head, place: int) -> Why:
        """Of an entry on the path that is no source."""
        facts = head.facts
        compaction = self.compaction
        if isinstance(facts, ModelFacts | ThinkingFacts):
            by = self._settings.get(place)
            return Why("overridden", by=by) if by is not None else Why("setting")
        if compaction is not None:
            if head.type == "compaction" and head is not compaction:
                return Why("olderCompaction", compaction=compaction.id, by=self.omitted_by)
            if head.role == "system" and place < self._at:
                carried = isinstance(compaction.facts, CompactionFacts) and compaction.facts.has_system
                folded = carried and self.omitted_by is None
                return Why("foldedSystem" if folded else "droppedSystem", compaction=compaction.id, by=self.omitted_by)
            if place < self._start:
                return self._covered[place]
        if isinstance(facts, EditFacts):
            return self._edit(head, facts)
        return Why("omitted", by=self._edits[head.id].id)

    def _edit(self, head: Head, facts: EditFacts) -> Why:
        counts = self._edits[facts.target]
        if counts is not head:
            return Why("overridden", by=counts.id, target=facts.target)
        target = self.tree.get(facts.target)
        place = self._place.get(facts.target)
        found = self._sources.get(facts.target)
        if found is not None:
            works = self._shown(found[0]).by is not None
        else:
            inside = target is not None and place is not None and place >= self._start
            works = facts.omit and inside and target is not None and self._could_count(target, place or 0)
        return Why("edit" if works else "editsNothing", target=facts.target)

    def _could_count(self, head: Head, place: int) -> bool:
        """Whether it would be a source without an edit."""
        if head.type == "compaction":
            return head is self.compaction
        return contributes(head) and not (head.role == "system" and place < self._at)

    @cached_property
    def _covered(self) -> list[Why]:
        """For each entry before the part that the last compaction keeps, by its place: what covers it."""
        last = self.compaction
        if last is None:
            return []
        found: list[Why] = []
        for place, head in enumerate(self._path[: self._at + 1]):
            if isinstance(head.facts, CompactionFacts):
                kept_from = self._place.get(head.facts.first_kept or "", place)
                new = min(kept_from, place, self._start) - len(found)
                if new > 0:
                    first = head.id if head is not last else None
                    why = Why("compacted", compaction=last.id, first_compaction=first, by=self.omitted_by)
                    found += [why] * new
        return found

    @cached_property
    def _settings(self) -> dict[int, str]:
        """By the place of a setting: the entry that set something else after it."""
        found: dict[int, str] = {}
        model: tuple[str, str] | None = None
        level: str | None = None
        models: list[int] = []
        levels: list[int] = []
        for place, head in enumerate(self._path):
            facts = head.facts
            if isinstance(facts, AssistantFacts | ModelFacts):
                value = (facts.provider or "", facts.model or "")
                if value != model:
                    found.update(dict.fromkeys(models, head.id))
                    models.clear()
                    model = value
                if isinstance(facts, ModelFacts):
                    models.append(place)
            elif isinstance(facts, ThinkingFacts):
                if facts.level != level:
                    found.update(dict.fromkeys(levels, head.id))
                    levels.clear()
                    level = facts.level
                levels.append(place)
        return found

    # -- beside the path

    @cached_property
    def _told(self) -> dict[str, str]:
        """The entries beside the path that a branch summary in the context stands for, by id; the newest counts."""
        told: dict[str, str] = {}
        for source in reversed(self._selected):
            facts = source.head.facts
            if isinstance(facts, BranchSummaryFacts) and facts.from_id is not None:
                left = self.tree.get(facts.from_id)
                while left is not None and left.id not in self._place and left.id not in told:
                    told[left.id] = source.head.id
                    left = self.tree.parent(left)
        return told

    def _off_path(self, head: Head) -> Why:
        """Walks up to what is known; each entry is walked over once."""
        known, place = self._beside, self._place
        passed: list[Head] = []
        at: Head | None = head
        while at is not None and at.id not in place and at.id not in known:
            passed.append(at)
            at = self.tree.parent(at)
        if at is None:
            why = self._under(passed[-1])
        elif at.id in place:
            after = at is self._path[-1]
            why = Why("afterLeaf" if after else "otherBranch", branch=passed[-1].id, left_at=at.id)
        else:
            why = known[at.id]
        for one in passed:
            known[one.id] = why
        return why

    def _under(self, root: Head) -> Why:
        """Of entries under a root that the path doesn't have."""
        if not self._path:
            return _NO_LEAF
        if root.parent_id is not None:
            return self._cut(root)
        first = self._path[0]
        if first.parent_id is not None:
            return self._cut(first, "pathCut")
        return Why("otherBranch", branch=root.id)

    def _cut(self, root: Head, reason: Reason | None = None) -> Why:
        """The chain of parents ends at `root`, though that names one."""
        missing = root.parent_id if root.parent_id not in self.tree else None
        line = self._taken.get(root.id)
        return Why(reason or ("loop" if missing is None else "orphaned"), root=root.id, missing=missing, line=line)

    @cached_property
    def _taken(self) -> dict[str, int | None]:
        """By the id of an entry whose parent is missing: the first damaged line that may have been that one."""
        return {entry_id: damage.line for damage in reversed(self.broken) for entry_id in damage.entry_ids}


def _omits(edit: Head) -> bool:
    return isinstance(edit.facts, EditFacts) and edit.facts.omit


def _broken_lines(tree: SessionTree, damage: Sequence[Damage]) -> list[Damage]:
    """In file order, without those that have become entries since."""
    broken = [one for one in damage if one.kind in BROKEN_LINES and one.offset is not None]
    if not broken:
        return []
    entries = {head.offset for head in tree.entries}
    different = {one.offset: one for one in broken if one.offset not in entries}
    return [different[offset] for offset in sorted(different, key=lambda offset: offset or 0)]
