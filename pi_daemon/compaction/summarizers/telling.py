"""What the turns came to: finished work, questions that were answered, what was cut short, what goes on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from pi_daemon.compaction.acts import Act, short_command
from pi_daemon.compaction.commits import commits
from pi_daemon.compaction.evidence import Evidence
from pi_daemon.compaction.labels import Labels
from pi_daemon.compaction.questions import Question
from pi_daemon.compaction.removals import file_names
from pi_daemon.compaction.speech import finished, request_words, to_do
from pi_daemon.compaction.summarizers.focus import Focus
from pi_daemon.compaction.summarizers.picking import Item
from pi_daemon.compaction.summarizers.turns import Turn, gist
from pi_daemon.compaction.words import clip

STEP_CHARACTERS = 240
RECENT = 12
"""Turns whose outcome is told at length."""

OLDER_CHARACTERS = 130
STEPS_FROM = 4
"""Answers before the last one whose open steps still count."""

TRACE_CHARACTERS = 64
"""Of a request that there is no room to tell more of."""

SMALL_TALK = 60
"""Characters of an answer that nothing was done for and that isn't worth a line."""


class Course(Struct, frozen=True):
    """The turns, oldest first. `opening`: what was asked for where the first one began before these messages.
    `going_on`: the last one goes on after them; `interrupted`: it doesn't, as the user said something else."""

    turns: Sequence[Turn]
    acts: Sequence[Act]
    opening: str | None
    going_on: bool
    interrupted: bool

    @property
    def open(self) -> Turn | None:
        """The turn that isn't at its end."""
        last = self.turns[-1] if self.turns else None
        if last is None or self.interrupted or not (self.going_on or not last.ended):
            return None
        return last if last.acts or last.texts or last.request else None


def told(course: Course, labels: Labels, focus: Focus, evidence: Evidence) -> Iterator[Item]:
    """An item for each turn that asked for something or did something, then the commits."""
    names = _short_names(course.turns)
    made = course.turns
    for number, turn in enumerate(made):
        if turn is course.open or (number == len(made) - 1 and course.going_on):
            continue
        recent = number >= len(made) - RECENT or focus.touches(turn.answer)
        length = STEP_CHARACTERS if recent else OLDER_CHARACTERS
        asked = _asked(turn, course.opening, labels, length * 3 // 4)
        changed = _changed(turn, names, 6 if recent else 3)
        age = (number + 1) / len(made)
        short = f"“{clip(request_words(turn.request), TRACE_CHARACTERS)}”" if turn.request is not None else ""
        if not turn.ended:
            if changed or not turn.nods:
                text = f"{labels.cut_short}{asked}" + (f" ({labels.changed}{changed})" if changed else "")
                worth = 70 if number == len(made) - 1 else 28 + 20 * age
                yield Item("critical", text, worth, labels.cut_short + short if short else "", trace=not turn.nods)
            continue
        if turn.nods and not changed and len(turn.acts) < 2:
            continue
        came = gist(turn.answer, length)
        text = f"{asked} → {came}" if came else asked
        if turn.acts or (finished(came) and not turn.question and not any(to_do(turn.answer))):
            text = f"{text} ({labels.changed}{changed})" if changed else text
            later = evidence.sets_otherwise(request_words(turn.request), turn.place) if turn.request else None
            if later is not None:
                text = f"{text} ({labels.superseded}“{clip(later, 100)}”)"
            worth = 40 + 20 * age + (3 if changed else 0)
            yield Item("done", text, worth, short, trace=not turn.nods)
        elif len(turn.answer) > SMALL_TALK:
            yield Item("critical", labels.answered + text, 30 + 14 * age, labels.answered + short, trace=not turn.nods)
    for commit in commits(course.acts):
        where = f" `{commit.id}` ({commit.branch})" if commit.id else ""
        yield Item("done", f"git commit{where}: {clip(commit.subject, 160)}", 72)


def left(made: Sequence[Turn], evidence: Evidence) -> Iterator[str]:
    """What the answers before the last one said was still to be done about a file that nothing has touched since."""
    for number, turn in enumerate(made[:-1][-STEPS_FROM:], max(0, len(made) - 1 - STEPS_FROM)):
        since = " ".join(act.subject for later in made[number + 1 :] for act in later.acts)
        for line in to_do(turn.answer):
            names = [re.split(r"[/\\]", name)[-1] for name in file_names(line)]
            if names and not any(name in since for name in names) and not evidence.shows(line):
                yield line


def _changed(turn: Turn, names: dict[str, str], most: int) -> str:
    changed = ", ".join(f"`{names[path]}`" for path in turn.changed[:most])
    return f"{changed} +{len(turn.changed) - most}" if len(turn.changed) > most else changed


def _short_names(made: Sequence[Turn]) -> dict[str, str]:
    """Each changed path by its last part where no other has the same; the lists have the whole paths."""
    paths = list(dict.fromkeys(path for turn in made for path in turn.changed))
    ends = [re.split(r"[/\\]", path)[-1] or path for path in paths]
    return {path: end if ends.count(end) == 1 else path for path, end in zip(paths, ends, strict=True)}


def _asked(turn: Turn, opening: str | None, labels: Labels, limit: int) -> str:
    if turn.request is None:
        return f"“{clip(opening, 300)}” {labels.earlier}" if opening else labels.earlier
    asked = f"“{clip(request_words(turn.request), limit)}”"
    if turn.nods and turn.reply_to:
        return f"{asked} ({labels.in_reply_to} “{clip(turn.reply_to, limit)}”)"
    return asked


def in_progress(course: Course, questions: Sequence[Question], labels: Labels) -> Iterator[Item]:
    last = course.open
    if last is not None:
        asked = _asked(last, course.opening, labels, 160)
        said = (
            gist(last.answer, STEP_CHARACTERS)
            if last.answer
            else labels.goes_on
            if course.going_on
            else labels.no_answer
        )
        calls = [f"`{_called(act)}`" for act in last.acts if act.result is not None and act.name][-4:]
        text = f"{labels.got_to}{asked} → {said}"
        yield Item("in_progress", f"{text} ({', '.join(calls)})" if calls else text, 94, short=text)
    for question in questions:
        if question.kind == "openCall":
            yield Item("in_progress", f"{labels.open_call}`{question.text}`", 86)


def _called(act: Act) -> str:
    subject = short_command(act.command) if act.command else act.subject
    return f"{act.name} {clip(subject, 100)}" if subject else act.name
