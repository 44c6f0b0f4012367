"""Which summarizer makes a summary, of those that there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from pi_daemon.compaction.brief import Brief, Form
from pi_daemon.compaction.summarizing import Made, Summarizer, Tell
from pi_daemon.engine.events import Origin
from pi_daemon.session.errors import InvalidParams, SummarizerFailed

Offer: TypeAlias = Callable[[Origin | None], Summarizer | None]
"""The summarizer for whoever asks, None while there is none of this kind."""


class Summarizers:
    """By name, the best first. What is there may change from one moment to the next."""

    def __init__(self, offers: Mapping[str, Offer]) -> None:
        self._offers = offers

    @property
    def names(self) -> list[str]:
        return list(self._offers)

    def check(self, name: str) -> None:
        """Raises InvalidParams for a name that no summarizer has."""
        if name not in self._offers:
            raise InvalidParams(f"Choose one of {', '.join(self._offers)}.", path="summarizer")

    def choose(self, name: str | None, origin: Origin | None) -> Summarizer:
        """The one with that name; without a name the first that is there. Raises InvalidParams, SummarizerFailed."""
        if name is not None:
            self.check(name)
            found = self._offers[name](origin)
            if found is None:
                raise SummarizerFailed(_MISSING.get(name, "This summarizer isn't there now."), summarizer=name)
            return found
        for offer in self._offers.values():
            found = offer(origin)
            if found is not None:
                return found
        raise SummarizerFailed("There is no summarizer: send the text as `summary`.")


class Extractive:
    """The embedded one: from the entries themselves, with no model and no network. Its summary comes with the brief."""

    name = "extractive"
    form: Form = "summary"

    async def summarize(self, brief: Brief, tell: Tell) -> Made:
        return Made(brief.summary or "")


EMBEDDED: Mapping[str, Offer] = {"extractive": lambda origin: Extractive()}
"""What there always is."""

_MISSING = {
    "client": "No client is connected that offers to make summaries: connect one with `summarizer: true`.",
    "model": "No model is configured: start the daemon with --model, and with the provider's key in its environment.",
}
