"""Which items go into a summary when not all of them fit."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from pi_daemon.compaction.form import Section, Summary, render
from pi_daemon.compaction.headings import Name
from pi_daemon.compaction.tokens import CHARACTERS_A_TOKEN
from pi_daemon.compaction.words import clip, content_words, key, one_line, tokens_of
from pi_daemon.session.jstext import utf16_length

Place = Name | str
"""A section of the form, `read_files`, `modified_files`, or `OTHER` and the heading of another section."""

OTHER = "# "


class Item(Struct):
    """`worth` decides what goes in; the order in which items are given is that in which they stand."""

    place: Place
    text: str
    worth: float


FOCUS = 15
"""What an item is worth more when the instructions name what it is about: enough to pass its neighbours, not enough
for an old step to pass a constraint."""

_MARKS = 9
"""Characters that the form adds to an item: a list marker, a box, the line ends."""


def focused(items: Iterable[Item], instructions: str | None) -> list[Item]:
    wanted = content_words(instructions) if instructions and instructions.strip() else set()
    made = list(items)
    for item in made:
        if wanted and wanted & content_words(item.text):
            item.worth += FOCUS
    return made


def pick(items: Iterable[Item], budget_tokens: int, split: Summary | None = None) -> str:
    """The text of the summary, in at most `budget_tokens`; what is said twice in a section is said once."""
    budget = max(budget_tokens, 0) * CHARACTERS_A_TOKEN
    different: dict[tuple[Place, str], Item] = {}
    for item in items:
        same = (item.place, item.text if item.place.endswith("_files") else key(item.text))
        before = different.get(same)
        if before is None or item.worth > before.worth:
            different[same] = item if before is None else Item(before.place, before.text, item.worth)
    ordered = [item for item in different.values() if item.text.strip()]
    room = budget - utf16_length(render(Summary(split=split)))
    chosen: list[int] = []
    headed: set[Place] = set()
    for at in sorted(range(len(ordered)), key=lambda at: (-ordered[at].worth, -at)):
        item = ordered[at]
        cost = utf16_length(item.text) + _MARKS + 2 * item.text.count("\n")
        if item.place.startswith(OTHER) and item.place not in headed:
            cost += utf16_length(item.place) + _MARKS
        if cost <= room:
            chosen.append(at)
            room -= cost
            headed.add(item.place)
    while True:
        text = render(_summary((ordered[at] for at in sorted(chosen)), split))
        if tokens_of(text) <= budget_tokens or not chosen:
            break
        del chosen[-max(1, len(chosen) // 50) :]
    if tokens_of(text) > budget_tokens:  # not even the empty form fits
        best = max(ordered, key=lambda item: item.worth, default=None)
        text = clip(one_line(best.text), budget) if best is not None else ""
        while tokens_of(text) > max(budget_tokens, 0):
            text = clip(text, len(text) * 3 // 4)
    return text


def _summary(items: Iterable[Item], split: Summary | None) -> Summary:
    made = Summary(split=split)
    others: dict[str, Section] = {}
    for item in items:
        if item.place.startswith(OTHER):
            heading = item.place.removeprefix(OTHER)
            others.setdefault(heading, Section(heading, [])).items.append(item.text)
        else:
            getattr(made, item.place).append(item.text)
    made.others = list(others.values())
    return made
