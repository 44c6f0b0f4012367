"""What a summarizer is asked for, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from pi_daemon.compaction.brief import Brief, Form

Tell: TypeAlias = Callable[[str], None]
"""Is told what is going on, for whoever waits."""


MOST_CHARACTERS = 1_000_000
"""Of a summary. It is to make a context smaller, and models' windows end about there; the questions that are put to one
take time with its length."""


class Made(Struct, frozen=True):
    """A summary. `usage` is as pi's entries have it, where a model was asked; `model` is what it calls itself."""

    text: str
    usage: dict[str, Any] | None = None
    model: str | None = None


class Summarizer(Protocol):
    """One way to come by a summary."""

    @property
    def name(self) -> str: ...

    @property
    def form(self) -> Form:
        """What of a brief it needs."""
        ...

    async def summarize(self, brief: Brief, tell: Tell) -> Made:
        """Raises SummarizerFailed. Cancelled, it stops what it has under way."""
        ...
