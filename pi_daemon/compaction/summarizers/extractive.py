"""A summary made of the messages themselves: no model, no network, the same each time.

It quotes. What it adds are a few words that say what a quotation is. Each section takes its items from where they
can't be wrong: requests and rules from the user, results from results, decisions and plans from the assistant's words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from pi_daemon.compaction.acts import Act, acts, short_command, standing_failures, text_of
from pi_daemon.compaction.commits import commits
from pi_daemon.compaction.evidence import Evidence
from pi_daemon.compaction.failures import error_line
from pi_daemon.compaction.form import Summary, joined, parse
from pi_daemon.compaction.labels import ALL, CHINESE, ENGLISH, Labels, last_request, overtaken, waiting_for
from pi_daemon.compaction.material import Material, Said
from pi_daemon.compaction.questions import Question, draw
from pi_daemon.compaction.speech import asks_nothing, drops_goal, request_words, to_do
from pi_daemon.compaction.summarizers.carrying import carried
from pi_daemon.compaction.summarizers.deciding import decided
from pi_daemon.compaction.summarizers.focus import Focus
from pi_daemon.compaction.summarizers.picking import Item, pick
from pi_daemon.compaction.summarizers.runs import LONGEST, LOOKS, once, runs
from pi_daemon.compaction.summarizers.telling import STEP_CHARACTERS, Course, in_progress, left, told
from pi_daemon.compaction.summarizers.turns import Turn, turns
from pi_daemon.compaction.words import clip, is_cjk, one_line

Kind = Literal["compaction", "branch"]

BUDGET_TOKENS = 6000
"""A summary's size where nobody says another. Below it, long sessions lose what was done; above it, they gain little
more than old steps, which the session still has."""

SPLIT_SHARE = 0.35
"""Of the budget, what the beginning of a split turn may take. It is part of one turn; the rest is all before it."""

REQUEST_CHARACTERS = 1200
COMMANDS = 5
ELSEWHERE = 3
"""Items of a section of a branch that was left."""

RECENT_TURNS = 3
"""A failure that came earlier and that nothing overcame is no longer in the way of what is done now."""


def extracted(
    material: Material,
    budget_tokens: int = BUDGET_TOKENS,
    instructions: str | None = None,
    kind: Kind = "compaction",
) -> tuple[str, list[Question]]:
    """The summary in its form, file lists included, within the budget; and the questions that it was made by.

    A `compaction` joins what the history and the prefix say each; in a `branch` calls without results say nothing, as
    results are left out of it. `instructions` are quoted, with what was said of what they name, and make what they
    name more likely to stay.
    """
    branch = kind == "branch"
    evidence = Evidence(material.all, acts(material.all))
    questions = draw(material, results_left_out=branch, evidence=evidence)
    if not material.prefix or not (material.history or material.previous):
        whole = msgspec.structs.replace(material, history=material.all, prefix=())
        # Of a branch nothing tells how its calls went: they count as if they had gone well.
        known = None if branch else evidence
        going_on = bool(material.prefix)
        return _one(whole, questions, budget_tokens, instructions, going_on, branch=branch, evidence=known), questions
    split = _split(material, int(budget_tokens * SPLIT_SHARE))
    asked = next((text_of(one.message) for one in material.prefix if one.role == "user"), None)
    later = {one.entry_id for one in material.prefix} - {one.entry_id for one in material.history}
    whole = msgspec.structs.replace(material, prefix=())
    earlier = [question for question in questions if question.entry_id not in later]
    text = _one(whole, earlier, budget_tokens, instructions, split=split, asked_next=asked, evidence=evidence)
    return text, questions


def _split(material: Material, budget_tokens: int) -> Summary:
    """How the turn began that the cut splits."""
    before = turns(material.history, ())
    whole = Material(material.prefix)
    reply_to = before[-1].question if before else ""
    made = parse(_one(whole, draw(whole), budget_tokens, None, going_on=True, reply_to=reply_to))
    made.split = None
    return made


def _one(
    material: Material,
    questions: Sequence[Question],
    budget_tokens: int,
    instructions: str | None,
    going_on: bool = False,
    split: Summary | None = None,
    asked_next: str | None = None,
    branch: bool = False,
    evidence: Evidence | None = None,
    reply_to: str = "",
) -> str:
    """The summary of `history`. `going_on`: its last turn goes on after it. `questions` may ask about more.
    `asked_next`: what the user says right after it. `evidence`: of more than the history. `reply_to`: the question
    that it begins by answering."""
    said = material.history
    done = acts(said)
    if branch:
        for act in done:
            act.result = act.result or ""
    made = turns(said, done)
    labels = _language(made, material.previous)
    focus = Focus(instructions)
    evidence = evidence or Evidence(said, done)
    requests = [turn for turn in made if not turn.nods]
    dropped = max((at for at, turn in enumerate(requests) if drops_goal(turn.request or "")), default=None)
    elsewhere = [parse(text).folded() for one in said if (text := _summary(one, "branchSummary")) is not None]
    previous = material.previous if material.previous is not None else _summed_up(said)
    before = parse(previous).folded() if previous is not None else None
    if before is None and elsewhere and not requests:  # nothing else was asked for: it goes on where those ended
        before, elsewhere = joined(elsewhere), []
    opening = last_request(before.next_steps) if before is not None else None
    if made and made[0].request is not None:
        made[0].reply_to = reply_to or (waiting_for(before.next_steps) if before is not None else "")
    if asked_next is not None and asks_nothing(asked_next) and made and not made[-1].ended:
        asked_next, going_on = None, True  # told to go on, the last turn does
    course = Course(made, done, opening, going_on, asked_next is not None)
    items: list[Item] = []
    if before is not None:
        went_on = bool(made) and (len(made) > 1 or made[0].ended)
        items += carried(before, evidence, labels, dropped is not None, went_on)
    steps = [item for item in items if item.place == "next_steps"]  # what was asked for since comes first
    items = [item for item in items if item.place != "next_steps"]
    valid = requests[dropped:] if dropped is not None else requests
    fresh = not any(item.place == "goal" for item in items)
    items += _goal(valid, labels, fresh, latest=asked_next is None)
    items += [Item("constraints", one.text, 92) for one in questions if one.kind == "constraint" and one.entry_id]
    items += told(course, labels, focus, evidence)
    often = list(runs(before.done if before is not None else (), () if branch else done, labels))
    often = [(line, count) for line, count in often if not evidence.outdates(line)]
    items += [Item("done", line, 41 + min(count, 9) / 10) for line, count in often]
    items += in_progress(course, questions, labels)
    items += _blocked(made, done, labels)
    items += decided(made, asked_next, evidence)
    items += [*_next_steps(course, labels, asked_next, evidence), *steps]
    items += _elsewhere(elsewhere, labels)
    items += _critical(course, said, questions, labels, evidence)
    if not branch:
        items += _ran(done, labels, {line.split("`")[1] for line, _ in often}, evidence)
    items += focus.items(made, labels)
    for place, paths, worth in (
        ("modified_files", material.modified_files, 75),
        ("read_files", material.read_files, 42),
    ):
        asked = {question.text for question in questions if question.kind in ("modified", "read")}
        items += [Item(place, path, worth + 3 * (path in asked)) for path in paths]
    return pick(focus.raised(items), budget_tokens, labels, split)


def _summed_up(said: Sequence[Said]) -> str | None:
    """What the last compaction among messages says: on a branch it is one of them."""
    return next((text for one in reversed(said) if (text := _summary(one, "compactionSummary")) is not None), None)


def _summary(one: Said, role: str) -> str | None:
    text = one.message.get("summary") if one.role == role else None
    return text if isinstance(text, str) else None


def _language(made: Sequence[Turn], previous: str | None) -> Labels:
    spoken = " ".join((turn.request or "")[:400] for turn in made) or (previous or "")[:4000]
    return CHINESE if is_cjk(spoken) else ENGLISH


def _goal(valid: Sequence[Turn], labels: Labels, fresh: bool, latest: bool) -> Iterator[Item]:
    """`fresh`: no earlier summary names one. `latest`: nothing was asked for after these."""
    if not valid:
        return
    if fresh:
        text = clip(request_words(valid[0].request or ""), 500)
        yield Item("goal", text, 99, short=clip(text, 160))
    if latest and (len(valid) > 1 or not fresh):
        text = labels.latest + clip(request_words(valid[-1].request or ""), 500)
        yield Item("goal", text, 88, short=clip(text, 200))


def _blocked(made: Sequence[Turn], done: Sequence[Act], labels: Labels) -> Iterator[Item]:
    recent = made[-RECENT_TURNS].place if len(made) > RECENT_TURNS else 0
    for act in standing_failures(done):
        line = error_line(act.result or "") if act.place >= recent else None
        if line is not None and not (act.command and LOOKS.match(short_command(act.command))):
            yield Item("blocked", f"`{_what(act)}` {labels.fails}{line}", 83)


def _what(act: Act) -> str:
    return clip(short_command(act.command) if act.command else act.path or act.name, 200)


def _next_steps(course: Course, labels: Labels, asked_next: str | None, evidence: Evidence) -> Iterator[Item]:
    made = course.turns
    last = made[-1] if made else None
    if last is None or asked_next is not None:
        return
    if last is course.open and last.request is not None and not (last.nods and not last.reply_to):
        text = request_words(last.request)
        if last.nods:
            text = f"{text} ({labels.in_reply_to}: {last.reply_to})"
        came = labels.goes_on if course.going_on else labels.no_answer
        yield Item(
            "next_steps",
            f"{labels.last_request}“{clip(text, REQUEST_CHARACTERS)}” ({came})",
            98,
            short=f"{labels.last_request}“{clip(text, 200)}” ({came})",
        )
    if last.question and not course.going_on:
        yield Item("next_steps", labels.asked_user + clip(last.question, STEP_CHARACTERS), 80)
    for line in list(dict.fromkeys(to_do(last.answer)))[-5:]:
        if line != last.question:
            yield Item("next_steps", line, 70)
    yield from (Item("next_steps", line, 66) for line in left(made, evidence))


def _elsewhere(summaries: Iterable[Summary], labels: Labels) -> Iterator[Item]:
    """What was tried on other branches: of each section the last, which is where that branch had got to. A rule of the
    user's is one wherever it was stated."""
    for body in summaries:
        for text in body.constraints:
            if not overtaken(text):
                yield Item("constraints", clip(one_line(text), 300), 70)
        for name in ("goal", "done", "in_progress", "blocked", "decisions", "critical", "next_steps"):
            for text in body.items(name)[-ELSEWHERE:]:
                bare_text = one_line(text)
                for one in ALL:
                    bare_text = bare_text.removeprefix(one.branch)
                yield Item("critical", labels.branch + clip(bare_text, 300), 58)


def _critical(
    course: Course, said: Sequence[Said], questions: Sequence[Question], labels: Labels, evidence: Evidence
) -> Iterator[Item]:
    for one in said:
        if one.role == "custom" and (text := one_line(text_of(one.message))):
            yield Item("critical", labels.note + clip(text, 300), 50)
    results = {act.result_entry: act for act in course.acts if act.result}
    commit_ids = {commit.id for commit in commits(course.acts)}
    for question in questions:
        act = results.get(question.entry_id)
        if question.kind in ("error", "overcome") and act is not None:
            yield Item("critical", f"{labels.overcome}`{clip(_what(act), 120)}`: {question.text}", 62)
        elif question.kind == "reference" and act is not None and question.text not in commit_ids:
            line = _line_with(act.result or "", question.text)
            yield Item("critical", f"`{question.text}`: {line}" if line else f"`{question.text}`", 60)
    for label, pairs in (
        (labels.gone, [f"`{old}`" for old, new in evidence.removed.told() if new is None]),
        (labels.renamed, [f"`{old}` → `{new}`" for old, new in evidence.removed.told() if new is not None]),
    ):
        if pairs:
            yield Item("critical", label + ", ".join(pairs[-12:]), 64)


def _ran(done: Sequence[Act], labels: Labels, told_already: set[str], evidence: Evidence) -> Iterator[Item]:
    """The last commands that went well and may be run again."""
    last = {short_command(act.command): act for act in done if act.command and act.result is not None}
    well = [
        what
        for what, act in last.items()
        if act.went_well
        and len(what) <= LONGEST
        and "`" not in what
        and what not in told_already
        and not once(what)
        and not evidence.outdates(what)
    ]
    for what in well[-COMMANDS:]:
        yield Item("critical", f"{labels.ran}`{what}`: {labels.well}", 43)


def _line_with(result: str, name: str) -> str:
    """What the result says around a name, if it says more than the name."""
    at = result.find(name)
    start = result.rfind("\n", 0, at) + 1
    end = result.find("\n", at)
    line = one_line(result[max(start, at - 80) : min(end if end >= 0 else len(result), at + len(name) + 120)])
    return line if line != name else ""
