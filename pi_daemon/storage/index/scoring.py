"""How well an entry fits what is looked for, and what is shown of it."""

from __future__ import annotations

import math
import re
from itertools import accumulate

from pi_daemon.storage.index.query import Query

SNIPPET = 160
"""Code points of a snippet."""

_BEFORE = 48
"""Of them before the first term, at most."""

_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

_WEIGHTS = {"user": 1.5, "assistant": 1.2, "toolResult": 0.8, "bashExecution": 0.8}


def weight(role: str | None) -> float:
    """What people and models say counts for more than what tools print."""
    return _WEIGHTS.get(role or "", 1.0)


def score(folded: str, query: Query) -> float:
    """More for each term that occurs, for whole words, and for a text that is about little else."""
    score = 0.0
    for term in query.terms:
        score += 1 + math.log(folded.count(term)) / 2
        at = folded.find(term)
        end = at + len(term)
        if (at == 0 or not folded[at - 1].isalnum()) and (end == len(folded) or not folded[end].isalnum()):
            score += 1
    return score / (1 + math.log1p(len(folded) / 500) / 4)


def snippet(text: str, query: Query) -> str:
    """One line around the term that occurs first."""
    folded = text.casefold()
    at = min(folded.find(term) for term in query.terms)
    if len(folded) != len(text):  # some characters fold to two
        lengths = accumulate(len(character.casefold()) for character in text)
        at = next((place for place, length in enumerate(lengths) if length > at), 0)
    start = max(0, at - _BEFORE)
    if start:
        space = text.find(" ", start, at)
        start = space + 1 if space >= 0 else start
    end = min(len(text), start + SNIPPET)
    shown = _UNFIT.sub(" ", text[start:end])
    return ("…" if start else "") + shown + ("…" if end < len(text) else "")
