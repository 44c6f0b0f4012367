"""Which items go into a summary when not all of them fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct

from pi_daemon.compaction.form import Section, Summary, render
from pi_daemon.compaction.headings import Name
from pi_daemon.compaction.labels import Labels
from pi_daemon.compaction.tokens import CHARACTERS_A_TOKEN
from pi_daemon.compaction.words import clip, key, one_line, tokens_of
from pi_daemon.session.jstext import utf16_length

Place = Name | str
"""A section of the form, `read_files`, `modified_files`, or `OTHER` and the heading of another section."""

OTHER = "# "


class Item(Struct):
    """`worth` decides what goes in; the order in which items are given is that in which they stand. `short` says the
    same in fewer words, "" where nothing does: it goes in first, and makes room for others. `trace`: the only one of
    a request; how many of those are left out is said."""

    place: Place
    text: str
    worth: float
    short: str = ""
    trace: bool = False


TRACE = 25
"""What the few words that a request leaves behind are worth more than what is told of it."""

_MARKS = 9
"""Characters that the form adds to an item: a list marker, a box, the line ends."""


def pick(items: Iterable[Item], budget_tokens: int, labels: Labels, split: Summary | None = None) -> str:
    """The text of the summary, in at most `budget_tokens`; what is said twice in a section is said once."""
    ordered = _different(items)
    chosen = _chosen(ordered, budget_tokens, split)
    missing = sum(item.trace and at not in chosen for at, item in enumerate(ordered))
    if missing:
        ordered.insert(0, Item("done", _left_out(missing, labels), 1000))
        chosen = _chosen(ordered, budget_tokens, split)
        missing = sum(item.trace and at not in chosen for at, item in enumerate(ordered))
        if 0 in chosen:
            chosen[0] = _left_out(missing, labels)
    while True:
        places = sorted(chosen)
        text = render(_summary(((ordered[at].place, chosen[at]) for at in places), split))
        if tokens_of(text) <= budget_tokens or not chosen:
            break
        least = sorted(chosen, key=lambda at: (ordered[at].worth, at))
        for at in least[: max(1, len(chosen) // 50)]:
            del chosen[at]
    if tokens_of(text) > budget_tokens:  # not even the empty form fits
        budget = max(budget_tokens, 0) * CHARACTERS_A_TOKEN
        best = max(ordered, key=lambda item: (item.worth < 1000, item.worth), default=None)
        text = clip(one_line(best.text), budget) if best is not None else ""
        while tokens_of(text) > max(budget_tokens, 0):
            text = clip(text, len(text) * 3 // 4)
    return text


def _left_out(count: int, labels: Labels) -> str:
    return f"… {count} {labels.left_out}"


def _different(items: Iterable[Item]) -> list[Item]:
    found: dict[tuple[Place, str], Item] = {}
    for item in items:
        same = (item.place, item.text if item.place.endswith("_files") else key(item.text))
        before = found.get(same)
        if before is None or item.worth > before.worth:
            found[same] = item if before is None else msgspec.structs.replace(before, worth=item.worth)
    return [item for item in found.values() if item.text.strip()]


def _chosen(ordered: Sequence[Item], budget_tokens: int, split: Summary | None) -> dict[int, str]:
    """By place in `ordered`, what of each item goes in: as many as there is room for, then as much of each."""
    room = max(budget_tokens, 0) * CHARACTERS_A_TOKEN - utf16_length(render(Summary(split=split)))
    chosen: dict[int, str] = {}
    headed: set[Place] = set()
    by_worth = sorted(range(len(ordered)), key=lambda at: (-ordered[at].worth, -at))
    for at in sorted(by_worth, key=lambda at: -ordered[at].worth - TRACE * ordered[at].trace):
        item = ordered[at]
        text = item.short or item.text
        cost = _cost(text)
        if item.place.startswith(OTHER) and item.place not in headed:
            cost += utf16_length(item.place) + _MARKS
        if cost <= room:
            chosen[at] = text
            room -= cost
            headed.add(item.place)
    for at in by_worth:
        more = _cost(ordered[at].text) - _cost(chosen[at]) if at in chosen else room + 1
        if more <= room:
            chosen[at] = ordered[at].text
            room -= more
    return chosen


def _cost(text: str) -> int:
    return utf16_length(text) + _MARKS + 2 * text.count("\n")


def _summary(items: Iterable[tuple[Place, str]], split: Summary | None) -> Summary:
    made = Summary(split=split)
    others: dict[str, Section] = {}
    for place, text in items:
        if place.startswith(OTHER):
            heading = place.removeprefix(OTHER)
            others.setdefault(heading, Section(heading, [])).items.append(text)
        else:
            getattr(made, place).append(text)
    made.others = list(others.values())
    return made
