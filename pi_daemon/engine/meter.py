"""How large the context at the leaf is, kept up as entries are appended so that an append need not count anew."""

from __future__ import annotations

from pi_daemon.compaction.tokens import contribution
from pi_daemon.session.glance import Json
from pi_daemon.session.head import AssistantFacts, CompactionFacts, EditFacts, Head


class Meter:
    """The estimate for one leaf. It is unknown after anything but an append at that leaf.

    `folded`: no usage counts, so the estimate is a sum in which system messages stand once, folded; another system
    message then makes it unknown."""

    def __init__(self) -> None:
        self.leaf_id: str | None = None
        self.tokens: int | None = 0
        self._folded = True

    def set(self, leaf_id: str | None, tokens: int, *, folded: bool) -> None:
        self.leaf_id, self.tokens, self._folded = leaf_id, tokens, folded

    def at(self, leaf_id: str | None) -> int | None:
        return self.tokens if leaf_id == self.leaf_id else None

    def note(self, head: Head, look: Json, tokens_after: int | None = None) -> None:
        """An entry was appended, `look` is what was decoded of it. `tokens_after`: what a compaction leaves."""
        known = self.tokens is not None and head.parent_id == self.leaf_id
        self.leaf_id = head.id
        facts = head.facts
        if isinstance(facts, CompactionFacts):
            self.tokens, self._folded = tokens_after, True
        elif isinstance(facts, EditFacts) or not known or (self._folded and head.role == "system"):
            self.tokens = None
        elif isinstance(facts, AssistantFacts) and facts.usage_tokens > 0:
            self.tokens, self._folded = int(facts.usage_tokens), False
        elif self.tokens is not None:
            self.tokens += contribution(look)
