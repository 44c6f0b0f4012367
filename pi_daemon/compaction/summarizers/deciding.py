"""What was decided and not turned down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pi_daemon.compaction.evidence import Evidence
from pi_daemon.compaction.speech import decisions, refutes, request_words
from pi_daemon.compaction.summarizers.picking import Item
from pi_daemon.compaction.summarizers.turns import Turn
from pi_daemon.compaction.words import topics

DECISIONS = 20
REFUTED_TURNS = 4
"""Turns before one that turns something down: what they decided about it was turned down with it."""

REFUTED_SHARE = 2
"""Topics that a decision and the words that turn it down share."""


def decided(made: Sequence[Turn], asked_next: str | None, evidence: Evidence) -> Iterator[Item]:
    """What the user turned down afterwards was not decided. `asked_next`: what they say after these turns."""
    refuting = [(number, turn.request) for number, turn in enumerate(made) if turn.request and refutes(turn.request)]
    if asked_next is not None and refutes(asked_next):
        refuting.append((len(made), asked_next))
    against = [(number, topics(request_words(text))) for number, text in refuting]
    found: list[str] = []
    for number, turn in enumerate(made):
        for line in dict.fromkeys(line for text in turn.texts for line in decisions(text)):
            about = topics(line)
            if not any(
                at == number + 1 or (0 < at - number <= REFUTED_TURNS and len(about & words) >= REFUTED_SHARE)
                for at, words in against
            ) and not evidence.overtakes(line, turn.place):
                found.append(line)
    found = list(dict.fromkeys(found))[-DECISIONS:]
    for number, line in enumerate(found):
        yield Item("decisions", line, 44 + 12 * (number + 1) / len(found))
