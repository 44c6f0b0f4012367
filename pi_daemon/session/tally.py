"""Sums over a session by model and by branch, and how long it was worked on."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from pi_daemon.session.branches import TRUNK, Branch, split
from pi_daemon.session.dates import to_ms
from pi_daemon.session.head import Head, ToolResultFacts
from pi_daemon.session.stats import Measure, Model, Sums, Usage, measure
from pi_daemon.session.tree import SessionTree

ACTIVE_GAP_MS = 5 * 60 * 1000
"""The longest time between an entry and its parent that counts as work: a longer one is a user who was away. Most
answers and tools take less."""

BRANCHES = 100
"""Branches that are told one by one."""

MODELS = 100
"""Models that are told one by one: a session has a handful."""


class Span(Struct):
    """How many entries, from when to when, and how long of that was work. Times in ms since 1970.

    `active_ms` adds up the time between each entry and its parent, where that is no more than ACTIVE_GAP_MS: it is the
    same whichever way the tree is cut into branches."""

    entries: int = 0
    first_ms: int | None = None
    last_ms: int | None = None
    active_ms: int = 0

    def add(self, at: int | None, gap: int) -> None:
        self.entries += 1
        self.active_ms += gap
        if at is not None:
            self.first_ms = at if self.first_ms is None else min(self.first_ms, at)
            self.last_ms = at if self.last_ms is None else max(self.last_ms, at)


class Part(Struct):
    """One branch (`branch` is None for the trunk), or those that are not told one by one (`branches` of them)."""

    branch: Branch | None = None
    branches: int = 1
    span: Span = field(default_factory=Span)
    sums: Sums = field(default_factory=Sums)


class ModelPart(Struct):
    """What one model did; `model` is None for what names none (summaries, tools that were billed), and for the last
    row, of `models` that are not told one by one. Tool results count with the model that called."""

    model: Model | None = None
    models: int = 1
    sums: Sums = field(default_factory=Sums)


class Tally:
    """Of the tree as it is now: give it all of `heads` with their lines, in any portions.

    `parts` has the trunk first, then branches from the newest tip back; entries whose id was used again, which no path
    shows, are in the last part. `repeated` is the part of the total that stands in copies of a reply counted before.
    """

    def __init__(self, heads: Sequence[Head], leaf_id: str | None) -> None:
        """Raises EntryNotFound."""
        tree = SessionTree(heads)
        self._tree = tree
        self.leaf_id = leaf_id
        split_up = split(tree, leaf_id)
        self._numbers = split_up.numbers
        self._times: dict[str, int | None] = {}
        self._callers: dict[str, Model] = {}
        self._replies: set[object] = set()
        self.total = Sums()
        self.span = Span()
        self.parts = [Part(), *(Part(branch) for branch in split_up.rows[:BRANCHES])]
        self._others = Part(branches=max(0, len(split_up.rows) - BRANCHES))
        self._models: dict[Model | None, ModelPart] = {}
        self._other_models = ModelPart(models=0)
        self._other_names: set[Model] = set()
        self.repeated = Usage()
        self.repeated_replies = 0

    def add(self, heads: Sequence[Head], lines: Sequence[bytes]) -> None:
        for head, line in zip(heads, lines, strict=True):
            self._add(head, measure(head, line))

    def finished(self) -> tuple[list[Part], list[ModelPart]]:
        """The parts, and the models by cost, then tokens."""
        parts = [*self.parts, self._others] if self._others.span.entries else self.parts
        models = sorted(self._models.values(), key=_weight, reverse=True)
        return parts, [*models, self._other_models] if self._other_names else models

    def _add(self, head: Head, one: Measure) -> None:
        at, gap = self._time(head)
        part = self._part(head)
        for span in (self.span, part.span):
            span.add(at, gap)
        model = self._model(head, one)
        for sums in (self.total, part.sums):
            sums.count(one)
        if one.usage is not None or one.role in ("assistant", "toolResult"):
            self._row(model).sums.count(one)
        if one.reply is not None:
            if one.reply in self._replies and one.usage is not None:
                self.repeated.add(one.usage)
                self.repeated_replies += 1
            self._replies.add(one.reply)

    def _part(self, head: Head) -> Part:
        if self._tree.get(head.id) is not head:
            return self._others
        number = self._numbers.get(head.id, TRUNK)
        return self.parts[number] if number < len(self.parts) else self._others

    def _time(self, head: Head) -> tuple[int | None, int]:
        """When the entry was made, and how much of the time since its parent counts as work."""
        at = self._ms(head)
        parent = self._tree.parent(head) if self._tree.get(head.id) is head else None
        before = self._ms(parent) if parent is not None else None
        gap = at - before if at is not None and before is not None else 0
        return at, gap if 0 < gap <= ACTIVE_GAP_MS else 0

    def _ms(self, head: Head) -> int | None:
        if self._tree.get(head.id) is not head:
            return to_ms(head.timestamp)
        if head.id not in self._times:
            self._times[head.id] = to_ms(head.timestamp)
        return self._times[head.id]

    def _model(self, head: Head, one: Measure) -> Model | None:
        if one.model is not None:
            self._callers.update(dict.fromkeys(one.calls, one.model))
            return one.model
        return self._callers.get(head.facts.call_id) if isinstance(head.facts, ToolResultFacts) else None

    def _row(self, model: Model | None) -> ModelPart:
        row = self._models.get(model)
        if row is None and model is not None and len(self._models) >= MODELS:
            self._other_names.add(model)
            self._other_models.models = len(self._other_names)
            return self._other_models
        if row is None:
            row = self._models[model] = ModelPart(model)
        return row


def _weight(part: ModelPart) -> tuple[float, float]:
    usage = part.sums.usage
    return usage.cost, usage.input + usage.output + usage.cache_read + usage.cache_write
