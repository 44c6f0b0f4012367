"""What whoever asked for the summary wants looked after."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pi_daemon.compaction.labels import Labels
from pi_daemon.compaction.summarizers.picking import Item
from pi_daemon.compaction.summarizers.turns import Turn, announces
from pi_daemon.compaction.words import TOPIC_LETTERS, clip, one_line, sentences, topics, without_fences

QUOTED = 6
"""Sentences that are quoted because they are about it."""

SENTENCES = 4000
"""That are looked through, the last ones."""

WORTH = 15
"""What an item is worth more when the instructions name what it is about: enough to pass its neighbours, not enough
for an old step to pass a constraint."""

_ASKING = frozenset(
    word[:TOPIC_LETTERS]
    for word in re.findall(
        r"\w+",
        "focu focus keep remember attention summary summariz summary detail especially include mention preserv note"
        " important look care mainly mostly only record write everything information context conversation found"
        " 关注 注意 重点 保留 总结 摘要 请关 一下 关于 有关",
    )
)


class Focus:
    """`instructions` may be None or empty: then nothing is in it."""

    def __init__(self, instructions: str | None) -> None:
        self._asked = one_line(instructions or "")
        self._words = topics(self._asked) - _ASKING

    def raised(self, items: Sequence[Item]) -> list[Item]:
        """The items, those about it worth more."""
        if self._words:
            for item in items:
                if self._words & topics(item.text):
                    item.worth += WORTH
        return list(items)

    def touches(self, text: str) -> bool:
        return bool(self._words) and bool(self._words & topics(text))

    def items(self, made: Sequence[Turn], labels: Labels) -> Iterator[Item]:
        """The instructions, and the sentences that have most to do with them."""
        if not self._asked:
            return
        yield Item(
            "critical", labels.look_after + clip(self._asked, 300), 97, short=labels.look_after + clip(self._asked, 100)
        )
        said = [
            line for turn in made for text in turn.texts for line in sentences(without_fences(text)) if len(line) > 20
        ]
        found: dict[str, tuple[int, int]] = {}
        for place, line in enumerate(said[-SENTENCES:]):
            shared = 0 if announces(line) or line.endswith((":", "：")) else len(self._words & topics(line))
            if shared:
                found[clip(line, 300)] = (shared, place)
        best = sorted(found, key=lambda line: found[line], reverse=True)[:QUOTED]
        for line in sorted(best, key=lambda line: found[line][1]):
            yield Item("critical", f"{labels.found}{line}", 66 + found[line][0])
