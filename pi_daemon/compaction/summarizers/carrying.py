"""What an earlier summary says, brought up to date by what was done since."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from pi_daemon.compaction.acts import Act, short_command
from pi_daemon.compaction.form import Summary
from pi_daemon.compaction.labels import Labels, begins
from pi_daemon.compaction.speech import finished
from pi_daemon.compaction.summarizers.picking import OTHER, Item
from pi_daemon.compaction.summarizers.turns import Turn
from pi_daemon.compaction.words import clip, content_words, key, sentences

CARRIED_CHARACTERS = 600
"""Of an item of an earlier summary. Models write a paragraph at times; more is a pasted text."""

OTHER_CHARACTERS = 1500
"""Of an item in a section that the form doesn't know: a model made one for a table, a tree of files, an interface."""

CARRIED_ITEMS = 200
"""Of a section. More never fit a budget, and each is compared with all that was said since."""

STATEMENTS = 1000
"""Of success, the last ones: an item that none of them is about isn't what was worked on."""

CARRIED_STEPS = 12
"""Next steps that are carried: what was planned before and not done after that many others hardly will be."""

ENOUGH = 0.6
"""Of an item's content words, those that one statement of success must have to be about it."""

_TICK = re.compile(r"^[ \t]*[-*+][ \t]*\[[xX]\][ \t]+(.{4,300})$", re.MULTILINE)
_CODE = re.compile(r"`([^`]+)`")


class Evidence:
    """What the messages show to be finished."""

    def __init__(self, turns: Sequence[Turn], acts: Sequence[Act]) -> None:
        self._said: list[set[str]] = []
        for turn in turns:
            for text in turn.texts:
                self._said += [content_words(line) for line in sentences(text) if finished(line)]
        self._last = {act.kin: act for act in acts if act.result is not None}
        self._answered = {f"{act.name}: {act.subject}" for act in acts if act.result is not None}
        for act in acts:
            if act.result is not None and not act.failed:
                written = [value for value in act.arguments.values() if isinstance(value, str) and "[" in value]
                self._said += [content_words(tick) for text in written for tick in _TICK.findall(text[:50_000])]
                if act.command and "git commit" in act.command:
                    self._said.append(content_words(act.command[:400]))

        del self._said[:-STATEMENTS]

    def shows(self, item: str) -> bool:
        """Whether what the item wants was said, ticked or committed as done."""
        wanted = content_words(item)
        return len(wanted) > 1 and any(len(wanted & said) >= ENOUGH * len(wanted) for said in self._said)

    def overcame(self, item: str) -> bool:
        """Whether a command or a file that the item names in backticks went well the last time."""
        for code in _CODE.findall(item):
            for kin in (f"run {short_command(code)}", f"change {code}"):
                if (act := self._last.get(kin)) is not None and not act.failed:
                    return True
        return False

    def answered(self, call: str) -> bool:
        return call in self._answered


def carried(before: Summary, evidence: Evidence, labels: Labels, new_goal: bool, new_request: bool) -> Iterator[Item]:
    """The items of an earlier summary that still hold, with the lower worth of what is older; finished ones are Done.
    `new_goal`: the user took the old one back. `new_request`: there is a later last request."""
    for text in _clipped(before.goal):
        if not new_goal and not (new_request and begins(text, "latest")):
            yield Item("goal", text, 96)
    for text in _clipped(before.constraints):
        yield Item("constraints", text, 90)
    done = list(_clipped(before.done))
    for number, text in enumerate(done):
        yield Item("done", text, 30 + 10 * number / len(done))
    for text in _clipped(before.in_progress):
        if begins(text, "open_call"):
            call = next((text.removeprefix(name) for name in _CALLS if text.startswith(name)), text)
            if evidence.answered(call.strip("`")):
                yield Item("done", labels.resolved + call, 30)
            else:
                yield Item("in_progress", text, 78)
        elif begins(text, "last_request") or begins(text, "got_to"):
            if not new_request:
                yield Item("in_progress", text, 84)
        elif evidence.shows(text):
            yield Item("done", text, 46)
        else:
            yield Item("in_progress", text, 82)
    for text in _clipped(before.blocked):
        if evidence.overcame(text) or evidence.shows(text):
            resolved = text if begins(text, "resolved") else labels.resolved + text
            yield Item("done", clip(resolved, CARRIED_CHARACTERS), 44)
        else:
            yield Item("blocked", text, 80)
    for text in _clipped(before.decisions):
        yield Item("decisions", text, 50)
    steps = [text for text in _clipped(before.next_steps) if not _replaced(text, new_request)]
    for text in steps:
        if evidence.shows(text):
            yield Item("done", text, 46)
    for text in [text for text in steps if not evidence.shows(text)][:CARRIED_STEPS]:
        yield Item("next_steps", text, 62 if new_request else 81)
    context = list(_clipped(before.critical))
    for number, text in enumerate(context):
        yield Item("critical", text, 15 if begins(text, "ran") else 48 + 6 * number / len(context))
    for section in before.others:
        for text in _clipped(section.items, OTHER_CHARACTERS):
            yield Item(OTHER + clip(section.heading, 120), text, 47)


_CALLS = ("Call without a result: ", "没有结果的调用：")


def _replaced(text: str, new_request: bool) -> bool:
    return new_request and (begins(text, "last_request") or begins(text, "asked_user"))


def _clipped(items: Iterable[str], limit: int = CARRIED_CHARACTERS) -> Iterator[str]:
    """Each once, the last `CARRIED_ITEMS` of them."""
    different = {key(item): clip(item, limit) for item in items}
    for same in list(different)[:-CARRIED_ITEMS]:
        del different[same]
    return iter(different.values())
