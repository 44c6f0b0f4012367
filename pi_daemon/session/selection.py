"""Which entries of a path count at its end, from their heads alone.

pi 1.6.0: the last compaction on the path stands for what is before its first kept entry; system messages of the kept
range are left out, its own stands for them. The latest edit of a target in that range wins. Model and level are the
last on the whole path.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy

from msgspec import Struct

from pi_daemon.session.head import (
    AssistantFacts,
    BranchSummaryFacts,
    CompactionFacts,
    EditFacts,
    Head,
    MessageFacts,
    ModelFacts,
    ShellFacts,
    ThinkingFacts,
    ToolResultFacts,
)

_PLAIN = frozenset({ToolResultFacts, MessageFacts, ShellFacts})
MESSAGES = _PLAIN | {AssistantFacts}
"""The facts of message entries."""


class Source(Struct, frozen=True, gc=False):
    """An entry that contributes. `edit` is the context_edit that replaces its content, if one does."""

    head: Head
    edit: Head | None = None

    @property
    def plain(self) -> bool:
        """Its message goes into the context as it is stored."""
        facts = self.head.facts
        return self.edit is None and facts.__class__ in MESSAGES and not facts.empty


class Selection(Struct):
    """What of a path counts. `compaction` is the last one on the path, `model` is (provider, id); `edited`: some
    source has an edit."""

    sources: list[Source]
    compaction: Head | None = None
    model: tuple[str, str] | None = None
    thinking_level: str = "off"
    edited: bool = False

    def heads(self) -> list[Head]:
        """The entries whose lines `project` needs, edits included, each once."""
        if not self.edited:
            return [source.head for source in self.sources]
        found = {id(head): head for source in self.sources for head in (source.head, source.edit) if head}
        return list(found.values())


class Trail:
    """The path to a leaf (root first), and what of it counts, kept up while it grows.

    `turn` changes when the sources are chosen anew: while it stays, new ones only come after the old ones."""

    def __init__(self, path: Sequence[Head] = ()) -> None:
        self.path: list[Head] = []
        self._model: tuple[str, str] | None = None
        self._level = "off"
        self._compaction: Head | None = None
        self._edits: dict[str, Head] = {}
        self._sources: list[Source] | None = []
        self._edited = False
        self.turn = 0
        self.extend(path)

    def branch(self) -> Trail:
        """One that grows by itself."""
        made = copy(self)
        made.path, made._edits = list(self.path), dict(self._edits)
        made._sources = list(self._sources) if self._sources is not None else None
        return made

    @property
    def leaf_id(self) -> str | None:
        return self.path[-1].id if self.path else None

    @property
    def model(self) -> tuple[str, str] | None:
        """(provider, id): the last on the path."""
        return self._model

    def extend(self, heads: Iterable[Head]) -> None:
        """The path goes on with `heads`."""
        path, sources = self.path, self._sources
        for head in heads:
            path.append(head)
            facts = head.facts
            kind = facts.__class__
            if kind is AssistantFacts:
                self._model = (facts.provider or "", facts.model or "")  # type: ignore[union-attr]
            elif kind not in _PLAIN and facts is not None:
                if isinstance(facts, ModelFacts):
                    self._model = (facts.provider, facts.model)
                elif isinstance(facts, ThinkingFacts):
                    self._level = facts.level
                elif isinstance(facts, CompactionFacts):
                    self._compaction, sources = head, None
                elif isinstance(facts, EditFacts):
                    self._edits[facts.target] = head
                    sources = None
            if sources is not None and (kind in MESSAGES or contributes(head)):
                sources.append(Source(head))
        self._sources = sources

    def selection(self) -> Selection:
        if self._sources is None:
            self._sources = self._select()
            self.turn += 1
            self._edited = any(source.edit for source in self._sources)
        return Selection(list(self._sources), self._compaction, self._model, self._level, self._edited)

    def _select(self) -> list[Source]:
        compaction = self._compaction
        edits = self._edits
        chosen: list[Head] = self.path
        if compaction is not None:
            chosen = counting(self.path, compaction)
            edits = {head.facts.target: head for head in chosen if isinstance(head.facts, EditFacts)} if edits else {}
        found: list[Source] = []
        for head in chosen:
            if head is not compaction and not contributes(head):
                continue
            edit = edits.get(head.id) if edits else None
            if edit is None:
                found.append(Source(head))
            elif isinstance(edit.facts, EditFacts) and not edit.facts.omit:
                found.append(Source(head, edit))
        return found


def counting(path: Sequence[Head], compaction: Head) -> list[Head]:
    """The entries of `path` that can count at its end, those without a message too: its last compaction, what that
    keeps from before it (without system messages), and all that came after it."""
    start, at = kept_by(path, compaction)
    kept = [head for head in path[start:at] if head.role != "system"]
    return [compaction, *kept, *path[at + 1 :]]


def kept_by(path: Sequence[Head], compaction: Head) -> tuple[int, int]:
    """Where in `path` the part begins that its last compaction keeps, and where that compaction is, at which the part
    ends. Both are the same where it keeps nothing."""
    at = len(path) - 1
    while path[at] is not compaction:
        at -= 1
    first = compaction.facts.first_kept if isinstance(compaction.facts, CompactionFacts) else None
    start = at
    while start > 0 and path[start].id != first:
        start -= 1
    if first is None or path[start].id != first or start == at:
        start = at
    return start, at


def select(path: Sequence[Head]) -> Selection:
    """What of `path` (root first) counts at its end."""
    return Trail(path).selection()


def contributes(head: Head) -> bool:
    """Whether the entry makes a message where nothing edits it away; a compaction aside."""
    facts = head.facts
    if facts.__class__ in MESSAGES or head.type == "custom_message":
        return True
    return isinstance(facts, BranchSummaryFacts) and not facts.empty
