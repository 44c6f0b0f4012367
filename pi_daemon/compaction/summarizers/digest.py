"""What was done earlier, told shorter the older it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pi_daemon.compaction.labels import ALL, Labels
from pi_daemon.compaction.words import clip

KEPT = 16
"""Requests of earlier summaries that keep a line of their own; older ones share one."""

QUOTED, OUTCOME = 90, 110
"""Characters of a request, and of what came of it, in a line of an earlier summary."""

NAMED = 48
"""Characters of a request in the line that they share."""

SHARED = 1600
"""Characters of that line: the newest are named, the others counted."""

_TOLD = re.compile(r"“(?P<asked>.*?)”(?P<note>[^→]{0,200}) → (?P<came>.*)\Z", re.DOTALL)
_QUOTED = re.compile(r"“([^”]*)”")
_COUNT = re.compile(r"\+(\d+)")
_NOTES = re.compile(r" \((?:[^()]|\([^()]*\))*\)\Z")


def is_told(item: str) -> bool:
    """Whether an item tells of a request and what came of it."""
    return _TOLD.match(item) is not None


def shorter(item: str) -> str:
    """Such an item as a line of an earlier summary."""
    told = _TOLD.match(item)
    if told is None:
        return item
    came = _NOTES.sub("", told["came"], count=1)
    return f"“{clip(told['asked'], QUOTED)}” → {clip(came, OUTCOME)}"


def digested(items: Sequence[str], digests: Iterable[str], labels: Labels) -> tuple[str | None, list[str]]:
    """The line that the oldest share, and the others. `digests` are such lines of earlier summaries."""
    old, kept = (items[:-KEPT], items[-KEPT:]) if len(items) > KEPT else ([], items)
    named: list[str] = []
    left_out = 0
    for digest in digests:
        named += _QUOTED.findall(digest)
        left_out += sum(int(count) for count in _COUNT.findall(_QUOTED.sub("", digest)))
    named += [clip(told["asked"], NAMED) for item in old if (told := _TOLD.match(item))]
    if not named and not left_out:
        return None, [shorter(item) for item in kept]
    room = SHARED
    chosen: list[str] = []
    for name in reversed(list(dict.fromkeys(named))):
        room -= len(name) + 4
        if room < 0:
            left_out += 1
        else:
            chosen.append(f"“{name}”")
    text = labels.digest + "; ".join(reversed(chosen))
    return f"{text} +{left_out}" if left_out else text, [shorter(item) for item in kept]


def is_digest(item: str) -> bool:
    return any(item.startswith(labels.digest) for labels in ALL)
