"""What messages show of what an earlier summary says: that it is finished, overcome, or doesn't hold any more."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from pi_daemon.compaction.acts import Act, short_command, text_of
from pi_daemon.compaction.commits import commits
from pi_daemon.compaction.material import Said
from pi_daemon.compaction.removals import Removals, file_names
from pi_daemon.compaction.speech import asks_nothing, finished, own_words
from pi_daemon.compaction.superseding import Later
from pi_daemon.compaction.words import TOPIC_LETTERS, content_words, sentences

STATEMENTS = 1000
"""Of success, the last ones: an item that none of them is about isn't what was worked on."""

ENOUGH = 0.6
"""Of an item's content words, those that one statement of success must have to be about it."""

SHORT_REQUEST = 120
"""Characters of one that sets a single thing."""

SURE = 0.9
"""The same where it is held against a summary that it still plans the item."""

_TICK = re.compile(r"^[ \t]*[-*+][ \t]*\[[xX]\][ \t]+(.{4,300})$", re.MULTILINE)
_CODE = re.compile(r"`([^`]+)`")
_RUNS = re.compile(r"\W*(?:(?:re-?)?run|execute|test|check|verify|try|运行|执行|跑)", re.IGNORECASE)
_CHANGES = re.compile(
    r"\b(?:update|edit|port|migrate|convert|rewrite|refactor|adapt|change)\b|更新|修改|迁移|改写|移植|重构",
    re.IGNORECASE,
)
_BESIDE = re.compile(r"\b(?:tests?|docs?|documentation|all|imports?)\b|测试|文档|所有", re.IGNORECASE)
"""More than the files that are named."""

_STANDS = re.compile(
    r"\b(?:still|preserved|kept|both|remains?|stays?|in place|unchanged)\b|仍|保留|不变", re.IGNORECASE
)


class Evidence:
    """`removed` are the files that are gone, `asked` says whether the user asked for something in these messages."""

    def __init__(self, said: Sequence[Said], acts: Sequence[Act]) -> None:
        self.removed = Removals(acts)
        made = list(commits(acts))
        asked = [(place, text_of(one.message)) for place, one in enumerate(said) if one.role == "user"]
        self.spoken = bool(asked)
        self.asked = any(not asks_nothing(text) for _, text in asked)
        self._later = Later(
            sorted(
                [
                    *((place, line) for place, text in asked for line in sentences(own_words(text))),
                    *((one.place, one.subject) for one in made),
                ],
                key=lambda pair: pair[0],
            )
        )
        self._said, self._acts, self._commits = said, acts, made
        self._last = {act.kin: act for act in acts if act.result is not None and not act.aborted}
        self._changed = {
            (act.path or "").split("/")[-1]
            for act in acts
            if act.changes_file and act.result is not None and not act.failed
        }
        self._answered = {f"{act.name}: {act.subject}" for act in acts if act.result is not None}

    @cached_property
    def _shown(self) -> list[set[str]]:
        """Words of each statement of success. Asked for only where an earlier summary is to be updated."""
        found = [_short(words) for words in _statements(self._said, self._acts)]
        found += [_short(content_words(one.subject)) for one in self._commits]
        return found[-STATEMENTS:]

    def shows(self, item: str, enough: float = ENOUGH) -> bool:
        """Whether what the item wants (or its title, where it has lines below) was said, ticked or committed as
        done, is a command that went well, or a change of files that were changed."""
        if _RUNS.match(item) and self.overcame(item):
            return True
        if _CHANGES.search(item) and not _BESIDE.search(item):
            names = [name.split("/")[-1] for name in file_names(item)]
            if names and all(name in self._changed for name in names):
                return True
        title, _, rest = item.partition("\n")
        for text in (item, title) if rest else (item,):
            wanted = _short(content_words(text))
            if len(wanted) > 1 and any(len(wanted & said) >= enough * len(wanted) for said in self._shown):
                return True
        return False

    def overcame(self, item: str) -> bool:
        """Whether a command or a file that the item names in backticks went well the last time."""
        for code in _CODE.findall(item):
            kins = {f"run {short_command(code)}", f"change {code}"}
            if "git commit" in code:
                kins.add("run git commit")
            if any((act := self._last.get(kin)) is not None and act.went_well for kin in kins):
                return True
        return False

    def answered(self, call: str) -> bool:
        return call in self._answered

    def outdates(self, item: str) -> bool:
        """Whether an item is about files that are gone."""
        return bool(self.removed.named(item))

    def outdates_state(self, item: str) -> bool:
        """The same of one that says how things are, not what was done; and that is over where they were removed."""
        return _STANDS.search(item) is not None and (self.outdates(item) or self.overtakes(item) is not None)

    def overtakes(self, rule: str, place: int = -1) -> str | None:
        """What was said after `place` (-1: at all) that a rule doesn't hold beside."""
        found = self._later.overtakes(rule, place)
        return found.text if found is not None else None

    def sets_otherwise(self, request: str, place: int) -> str | None:
        """What was said later that sets to another value what a request sets."""
        found = self._later.overtakes(request, place, values_only=True) if len(request) <= SHORT_REQUEST else None
        return found.text if found is not None else None


def _statements(said: Sequence[Said], acts: Sequence[Act]) -> Iterator[set[str]]:
    for one in said:
        if one.role == "assistant":
            for line in sentences(text_of(one.message)):
                if finished(line):
                    yield content_words(line)
    for act in acts:
        if act.result is not None and not act.failed:
            for value in act.arguments.values():
                if isinstance(value, str) and "[" in value:
                    yield from (content_words(tick) for tick in _TICK.findall(value[:50_000]))


def _short(words: set[str]) -> set[str]:
    return {word[:TOPIC_LETTERS] for word in words}
