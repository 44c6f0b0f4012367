"""What an earlier summary says, brought up to date by what was done since."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pi_daemon.compaction.evidence import SURE, Evidence
from pi_daemon.compaction.form import Summary
from pi_daemon.compaction.labels import ALL, Labels, begins, overtaken
from pi_daemon.compaction.summarizers.digest import digested, is_digest, is_told, shorter
from pi_daemon.compaction.summarizers.picking import OTHER, Item
from pi_daemon.compaction.summarizers.runs import is_run
from pi_daemon.compaction.words import clip, key, one_line, sentences

CARRIED_CHARACTERS = 600
"""Of an item of an earlier summary. Models write a paragraph at times; more is a pasted text."""

DONE_CHARACTERS = 200
"""Of what it says was done: nobody has to do it again."""

OTHER_CHARACTERS = 1500
"""Of an item in a section that the form doesn't know: a model made one for a table, a tree of files, an interface."""

CARRIED_ITEMS = 200
"""Of a section. More never fit a budget, and each is compared with all that was said since."""

CARRIED_STEPS = 12
"""Next steps that are carried: what was planned before and not done after that many others hardly will be."""

CARRIED_DONE = 40
"""Of what was done, the lines that are carried beside those of requests."""

CARRIED_CONTEXT = 30

_CALLS = tuple(labels.open_call for labels in ALL)
_PAST = ("ran", "overcome", "cut_short", "look_after", "found", "gone", "renamed", "resolved")
"""What one summary tells and the next one doesn't: the labels of what was the case at the time."""

_AIM = re.compile(
    r"\b(?:the )?user (?:is|was|wants?|wanted|asked|needs?|would like|requested|intends)\b"
    r"|\b(?:goal|task|aim|objective)\b"
    r"|用户(?:想|要|希望|正在|需要|请求)|目标|任务",
    re.IGNORECASE,
)


def carried(before: Summary, evidence: Evidence, labels: Labels, new_goal: bool, went_on: bool) -> Iterator[Item]:
    """The items of an earlier summary that still hold, with the lower worth of what is older; finished ones are Done.
    `new_goal`: the user took the old one back. `went_on`: the turn that it ends with came to its end."""
    new_request = evidence.asked
    goals = list(_clipped(before.goal)) or _aims(before)
    for text in goals:
        if not new_goal and not (new_request and begins(text, "latest")):
            yield Item("goal", text, 96, short=clip(text, 200))
    for text in _clipped(before.constraints):
        if overtaken(text) or evidence.outdates(text):
            continue
        later = evidence.overtakes(text)
        yield Item("constraints", _marked(text, later, labels) if later else text, 60 if later else 90)
    yield from _done(before, evidence, labels)
    yield from _in_progress(before, evidence, labels, new_request or went_on)
    for text in _clipped(before.blocked):
        if evidence.overcame(text) or evidence.shows(text):
            yield Item("done", clip(labels.resolved + text, DONE_CHARACTERS), 44)
        elif not evidence.outdates(text):
            yield from _aged(text, "blocked", 80, labels, new_request)
    for text in _clipped(before.decisions):
        if not evidence.outdates(text) and not evidence.overtakes(text):
            yield Item("decisions", text, 50)
    yield from _steps(before, evidence, labels, new_request or went_on)
    context = [text for text in _clipped(before.critical) if text not in goals]
    context = [
        text for text in context if not any(begins(text, name) for name in _PAST) and not evidence.outdates(text)
    ]
    context = context[-CARRIED_CONTEXT:]
    for number, text in enumerate(context):
        label = next((one.answered for one in ALL if text.startswith(one.answered)), None)
        if label is not None:
            yield Item("critical", label + shorter(text.removeprefix(label)), 25, short=clip(text, 80))
        else:
            yield Item("critical", text, 48 + 6 * number / len(context))
    for section in before.others:
        for text in _clipped(section.items, OTHER_CHARACTERS):
            if text not in goals and not evidence.outdates(text):
                yield Item(OTHER + clip(section.heading, 120), text, 47)


def _marked(rule: str, later: str, labels: Labels) -> str:
    return f"{rule} ({labels.superseded}“{clip(one_line(later), 160)}”)"


def _aims(before: Summary) -> list[str]:
    """What a text in another form gives as the goal: a sentence that says what the user wants, else its first one."""
    texts = [*(text for section in before.others for text in section.items), *before.critical]
    told = [line for text in texts[:20] if "```" not in text for line in sentences(text)]
    aim = next((line for line in told if _AIM.search(line)), None)
    if aim is None and not any((before.done, before.next_steps, before.in_progress)):
        aim = next(iter(told), None)
    return [] if aim is None else [clip(aim, CARRIED_CHARACTERS)]


def _done(before: Summary, evidence: Evidence, labels: Labels) -> Iterator[Item]:
    done = [text for text in _clipped(before.done) if not (evidence.outdates_state(text) or overtaken(text))]
    told = [text for text in done if is_told(text)]
    digest, lines = digested(told, (text for text in done if is_digest(text)), labels)
    if digest is not None:
        yield Item("done", digest, 62, short=clip(digest, 400))
    others = [
        text for text in done if not (is_told(text) or is_digest(text) or is_run(text) or begins(text, "resolved"))
    ]
    others = [text for text in others if not text.startswith("…")][-CARRIED_DONE:]
    for number, text in enumerate(others):
        yield Item("done", clip(text, DONE_CHARACTERS), 30 + 10 * number / len(others))
    for number, text in enumerate(lines):
        yield Item("done", text, 32 + 10 * number / len(lines), short=clip(text, 70), trace=True)


def _in_progress(before: Summary, evidence: Evidence, labels: Labels, past: bool) -> Iterator[Item]:
    """`past`: what was going on isn't any more."""
    for text in _clipped(before.in_progress):
        if begins(text, "open_call"):
            call = next((text.removeprefix(name) for name in _CALLS if text.startswith(name)), text)
            if evidence.answered(call.strip("`")):
                yield Item("done", labels.resolved + call, 30)
            elif not evidence.outdates(call):
                yield from _aged(text, "in_progress", 78, labels, evidence.asked)
        elif begins(text, "last_request") or begins(text, "got_to"):
            if not past:
                yield Item("in_progress", text, 84)
        elif evidence.shows(text):
            yield _finished(text, evidence, labels)
        elif not evidence.outdates(text):
            yield from _aged(text, "in_progress", 82, labels, evidence.asked)


def _steps(before: Summary, evidence: Evidence, labels: Labels, past: bool) -> Iterator[Item]:
    steps = []
    for text in _clipped(before.next_steps):
        if begins(text, "asked_user"):
            if not evidence.spoken:
                steps.append(text)
        elif begins(text, "last_request"):
            if not past:
                steps.append(text)
        elif evidence.shows(text):
            yield _finished(text, evidence, labels)
        elif not evidence.outdates(text):
            steps.append(text)
    for text in steps[:CARRIED_STEPS]:
        yield from _aged(text, "next_steps", 62 if evidence.asked else 81, labels, evidence.asked)


def _finished(text: str, evidence: Evidence, labels: Labels) -> Item:
    """An item that the messages show to be done, or to be done as far as its words tell."""
    bare_text = next((text.removeprefix(one.unseen) for one in ALL if text.startswith(one.unseen)), text)
    said = bare_text if evidence.shows(bare_text, SURE) else labels.seems_done + bare_text
    return Item("done", clip(said, DONE_CHARACTERS), 46)


def _aged(text: str, place: str, worth: float, labels: Labels, new_request: bool) -> Iterator[Item]:
    """What nobody spoke of while the user asked for other things is marked so, and the next time it is gone."""
    if not new_request:
        yield Item(place, text, worth)
    elif not begins(text, "unseen"):
        yield Item(place, labels.unseen + text, worth - 4)


def _clipped(items: Iterable[str], limit: int = CARRIED_CHARACTERS) -> Iterator[str]:
    """Each once, the last `CARRIED_ITEMS` of them."""
    different = {key(item): clip(item, limit) for item in items}
    for same in list(different)[:-CARRIED_ITEMS]:
        del different[same]
    return iter(different.values())
