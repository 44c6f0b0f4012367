"""How a client behaves beside its address."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypedDict

from ._role import Summarizer


@dataclass(frozen=True, slots=True)
class Backoff:
    """Seconds between the attempts to reach a daemon again: `first`, then twice as long each time up to `most`,
    each shortened at random by up to half, so that the clients of one daemon don't all come at once.
    `give_up_after`: seconds without a connection until the client fails for good; None: never."""

    first: float = 0.05
    most: float = 3.0
    give_up_after: float | None = None

    def delays(self) -> Iterator[float]:
        for attempt in itertools.count():
            yield min(self.most, self.first * 2 ** min(attempt, 30)) * random.uniform(0.5, 1.0)


class Settings(TypedDict, total=False):
    """What all ways to connect take beside the address.

    name: how the daemon names this client to the others (`origin`)
    reconnect: a Backoff; None: a lost connection is the client's end
    wait: seconds that a request waits for a connection when there is none (10)
    summarizer: makes summaries for the daemon, for whichever client wants one compacted
    """

    name: str
    reconnect: Backoff | None
    wait: float
    summarizer: Summarizer
