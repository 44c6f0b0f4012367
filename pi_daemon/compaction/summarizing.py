"""What a summarizer is asked for, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct

from pi_daemon.compaction.material import Material
from pi_daemon.compaction.questions import Question

Tell: TypeAlias = Callable[[str], None]
"""Is told what is going on, for whoever waits."""


MOST_CHARACTERS = 1_000_000
"""Of a summary. It is to make a context smaller, and models' windows end about there; the questions that are put to one
take time with its length."""


class Work(Struct, frozen=True):
    """`kind`: `compaction` replaces the material in the context, `branch` tells of a branch that was left.
    `instructions`: what whoever asked wants looked after. `max_tokens`: of the summary."""

    kind: Literal["compaction", "branch"]
    material: Material
    instructions: str | None
    max_tokens: int


class Made(Struct, frozen=True):
    """A summary. `usage` is as pi's entries have it, where a model was asked; `model` is what it calls itself.
    `questions` are those that the material gives, if whoever made the summary has drawn them."""

    text: str
    usage: dict[str, Any] | None = None
    model: str | None = None
    questions: Sequence[Question] | None = None


class Summarizer(Protocol):
    """One way to come by a summary."""

    @property
    def name(self) -> str: ...

    async def summarize(self, work: Work, tell: Tell) -> Made:
        """Raises SummarizerFailed. Cancelled, it stops what it has under way."""
        ...
