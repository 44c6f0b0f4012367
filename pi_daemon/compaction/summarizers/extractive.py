"""A summary made of the messages themselves: no model, no network, the same each time.

It quotes. What it adds are a few words that say what a quotation is. Each section takes its items from where they
can't be wrong: requests and rules from the user, results from results, decisions and plans from the assistant's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from pi_daemon.compaction.acts import Act, acts, short_command, standing_failures, text_of
from pi_daemon.compaction.failures import error_line
from pi_daemon.compaction.form import Summary, parse, without_files
from pi_daemon.compaction.labels import CHINESE, ENGLISH, Labels, last_request
from pi_daemon.compaction.material import Material, Said
from pi_daemon.compaction.questions import Question, draw
from pi_daemon.compaction.speech import asks_nothing, decisions, drops_goal, to_do
from pi_daemon.compaction.summarizers.carrying import Evidence, carried
from pi_daemon.compaction.summarizers.picking import Item, focused, pick
from pi_daemon.compaction.summarizers.turns import Turn, gist, turns
from pi_daemon.compaction.words import clip, is_cjk, one_line

Kind = Literal["compaction", "split", "branch"]

BUDGET_TOKENS = 6000
"""A summary's size where nobody says another. Below it, long sessions lose what was done; above it, they gain little
more than old steps, which the session still has."""

SPLIT_SHARE = 0.35
"""Of the budget, what the beginning of a split turn may take. It is part of one turn; the rest is all before it."""

REQUEST_CHARACTERS = 1200
STEP_CHARACTERS = 240
DECISIONS = 20
COMMANDS = 10
RECENT_TURNS = 3
"""A failure that came earlier and that nothing overcame is no longer in the way of what is done now."""

_LOOKS = re.compile(
    r"(?:grep|rg|ls|cat|find|head|tail|sed -n|wc|tree|pwd|echo|which|sleep|git (?:status|log|diff|show|branch))\b"
)
"""Commands that only look: what they found is in the context or isn't."""

_SAID_ALREADY = re.compile(r"\bgit commit\b|…")
"""Commits stand under Done; what had to be cut can't be run again from here."""

_COMMIT = re.compile(r"^\[([^\s\]]+)(?: \([^)\n]{0,40}\))? ([0-9a-f]{7,40})\] (.+)$", re.MULTILINE)


def extract(
    material: Material,
    budget_tokens: int = BUDGET_TOKENS,
    instructions: str | None = None,
    kind: Kind = "compaction",
) -> str:
    """The summary in its form, file lists included, within the budget.

    A `compaction` joins what the history and the prefix say each; a `split` is made of the prefix alone (or of the
    history where there is none); in a `branch` calls without results say nothing, as results are left out of it.
    `instructions` make what they name more likely to stay.
    """
    if kind == "split":
        whole = Material(material.prefix or material.history)
        text = _one(whole, draw(whole), budget_tokens, instructions, going_on=True)
        return without_files(text)[0].strip()
    questions = draw(material, results_left_out=kind == "branch")
    if not material.prefix or not (material.history or material.previous):
        whole = msgspec.structs.replace(material, history=material.all, prefix=())
        return _one(whole, questions, budget_tokens, instructions, going_on=bool(material.prefix))
    text = extract(Material((), material.prefix), int(budget_tokens * SPLIT_SHARE), instructions, "split")
    split = parse(text)
    split.split = None
    whole = msgspec.structs.replace(material, prefix=())
    later = {one.entry_id for one in material.prefix} - {one.entry_id for one in material.history}
    earlier = [question for question in questions if question.entry_id not in later]
    return _one(whole, earlier, budget_tokens, instructions, going_on=False, split=split)


def _one(
    material: Material,
    questions: Sequence[Question],
    budget_tokens: int,
    instructions: str | None,
    going_on: bool,
    split: Summary | None = None,
) -> str:
    """The summary of `history`. `going_on`: its last turn goes on after it. `questions` may ask about more."""
    said = material.history
    done = acts(said)
    made = turns(said, done)
    spoken = " ".join((turn.request or "")[:400] for turn in made) or (material.previous or "")[:4000]
    labels = CHINESE if is_cjk(spoken) else ENGLISH
    requests = [turn for turn in made if turn.request and not asks_nothing(turn.request)]
    dropped = max((at for at, turn in enumerate(requests) if drops_goal(turn.request or "")), default=None)
    items: list[Item] = []
    steps: list[Item] = []
    opening: str | None = None
    if material.previous is not None:
        before = parse(material.previous).folded()
        opening = last_request(before.next_steps)
        evidence = Evidence(made, done)
        kept = list(carried(before, evidence, labels, dropped is not None, bool(requests)))
        steps = [item for item in kept if item.place == "next_steps"]  # what was asked for since comes first
        items += [item for item in kept if item.place != "next_steps"]
    valid = requests[dropped:] if dropped is not None else requests
    items += _goal(valid, labels, fresh=not any(item.place == "goal" for item in items))
    items += [Item("constraints", one.text, 92) for one in questions if one.kind == "constraint" and one.entry_id]
    items += _done(made, done, opening, labels, going_on)
    items += _in_progress(made, questions, opening, labels, going_on)
    items += _blocked(made, done, labels)
    items += _decisions(made)
    items += [*_next_steps(made, requests, labels), *steps]
    items += _critical(said, done, questions, labels)
    for place, paths, worth in (
        ("modified_files", material.modified_files, 75),
        ("read_files", material.read_files, 42),
    ):
        asked = {question.text for question in questions if question.kind in ("modified", "read")}
        items += [Item(place, path, worth + 3 * (path in asked)) for path in paths]
    return pick(focused(items, instructions), budget_tokens, split)


def _goal(valid: Sequence[Turn], labels: Labels, fresh: bool) -> Iterator[Item]:
    """`fresh`: no earlier summary names one."""
    if not valid:
        return
    if fresh:
        yield Item("goal", clip(one_line(valid[0].request or ""), 500), 99)
    if len(valid) > 1 or not fresh:
        yield Item("goal", labels.latest + clip(one_line(valid[-1].request or ""), STEP_CHARACTERS), 88)


def _done(
    made: Sequence[Turn], done: Sequence[Act], opening: str | None, labels: Labels, going_on: bool
) -> Iterator[Item]:
    """`opening`: what was asked for where the first turn began before these messages."""
    names = _short_names(made)
    for number, turn in enumerate(made):
        if number == len(made) - 1 and (going_on or not turn.ended):
            continue
        idle = turn.request is None or asks_nothing(turn.request)
        changed = ", ".join(f"`{names[path]}`" for path in turn.changed[:6])
        if len(turn.changed) > 6:
            changed += f" +{len(turn.changed) - 6}"
        if idle and not changed and len(turn.acts) < 2:
            continue
        asked = _asked(turn, opening, labels, 180)
        text = f"{asked} → {gist(turn.answer, STEP_CHARACTERS)}" if turn.answer else asked
        notes = [labels.changed + changed] if changed else []
        notes += [labels.cut_short] if not turn.ended else []
        worth = 40 + 20 * (number + 1) / len(made) + (3 if changed else 0)
        yield Item("done", f"{text} ({'; '.join(notes)})" if notes else text, worth)
    runs: dict[str, list[Act]] = {}
    for act in done:
        if act.result is not None and not act.failed and act.command and "commit" in act.command:
            for branch, commit, title in _COMMIT.findall(act.result):
                yield Item("done", f"git commit `{commit}` ({branch}): {clip(one_line(title), 160)}", 57)
        if act.command and act.result is not None and not _LOOKS.match(_what(act)):
            runs.setdefault(short_command(act.command), []).append(act)
    for command, each in runs.items():
        if len(each) > 2 and len(command) <= 200:
            outcome = labels.badly if each[-1].failed else labels.well
            yield Item("done", f"{labels.ran}`{command}` {len(each)}{labels.times}: {outcome}", 41)


def _short_names(made: Sequence[Turn]) -> dict[str, str]:
    """Each changed path by its last part where no other has the same; the lists have the whole paths."""
    paths = list(dict.fromkeys(path for turn in made for path in turn.changed))
    ends = [re.split(r"[/\\]", path)[-1] or path for path in paths]
    return {path: end if ends.count(end) == 1 else path for path, end in zip(paths, ends, strict=True)}


def _asked(turn: Turn, opening: str | None, labels: Labels, limit: int) -> str:
    if turn.request is not None:
        return f"“{clip(one_line(turn.request), limit)}”"
    return f"“{clip(opening, 300)}” {labels.earlier}" if opening else labels.earlier


def _in_progress(
    made: Sequence[Turn], questions: Sequence[Question], opening: str | None, labels: Labels, going_on: bool
) -> Iterator[Item]:
    last = made[-1] if made else None
    if last is not None and (going_on or not last.ended) and (last.acts or last.texts or last.request):
        asked = _asked(last, opening, labels, 300)
        said = gist(last.answer, STEP_CHARACTERS) if last.answer else labels.no_answer
        calls = [f"`{act.name} {clip(act.subject, 100)}`" for act in last.acts if act.result is not None][-4:]
        text = f"{labels.got_to}{asked} → {said}"
        yield Item("in_progress", f"{text} ({', '.join(calls)})" if calls else text, 94)
    for question in questions:
        if question.kind == "openCall":
            yield Item("in_progress", f"{labels.open_call}`{question.text}`", 86)


def _blocked(made: Sequence[Turn], done: Sequence[Act], labels: Labels) -> Iterator[Item]:
    recent = made[-RECENT_TURNS].place if len(made) > RECENT_TURNS else 0
    for act in standing_failures(done):
        line = error_line(act.result or "") if act.place >= recent else None
        if line is not None:
            yield Item("blocked", f"`{_what(act)}` {labels.fails}{line}", 83)


def _what(act: Act) -> str:
    return clip(short_command(act.command) if act.command else act.path or act.name, 200)


def _decisions(made: Sequence[Turn]) -> Iterator[Item]:
    found = list(dict.fromkeys(line for turn in made for text in turn.texts for line in decisions(text)))[-DECISIONS:]
    for number, line in enumerate(found):
        yield Item("decisions", line, 44 + 12 * (number + 1) / len(found))


def _next_steps(made: Sequence[Turn], requests: Sequence[Turn], labels: Labels) -> Iterator[Item]:
    if requests:
        last = requests[-1]
        answer = "" if last.ended else f" ({labels.no_answer})"
        yield Item(
            "next_steps", f"{labels.last_request}“{clip(one_line(last.request or ''), REQUEST_CHARACTERS)}”{answer}", 98
        )
    if not made:
        return
    answer = made[-1].answer
    if made[-1].ended and answer.rstrip().endswith(("?", "？")):
        yield Item(
            "next_steps", labels.asked_user + clip(one_line(answer.rstrip().split("\n")[-1]), STEP_CHARACTERS), 80
        )
    for line in list(dict.fromkeys(to_do(answer)))[-5:]:
        yield Item("next_steps", line, 70)


def _critical(
    said: Sequence[Said], done: Sequence[Act], questions: Sequence[Question], labels: Labels
) -> Iterator[Item]:
    for one in said:
        if one.role in ("branchSummary", "compactionSummary") and isinstance(
            summary := one.message.get("summary"), str
        ):
            body = parse(summary).folded()
            for text in [*body.goal, *body.done, *body.in_progress, *body.blocked, *body.decisions, *body.critical][
                :12
            ]:
                yield Item("critical", labels.branch + clip(one_line(text), 300), 58)
        elif one.role == "custom" and (text := one_line(text_of(one.message))):
            yield Item("critical", labels.note + clip(text, 300), 50)
    results = {act.result_entry: act for act in done if act.result}
    for question in questions:
        act = results.get(question.entry_id)
        if question.kind in ("error", "overcome") and act is not None:
            yield Item("critical", f"{labels.overcome}`{clip(_what(act), 120)}`: {question.text}", 62)
        elif question.kind == "reference" and act is not None:
            line = _line_with(act.result or "", question.text)
            yield Item("critical", f"`{question.text}`: {line}" if line else f"`{question.text}`", 60)
    ran = [act for act in done if act.command and act.result is not None]
    commands = {what: act for act in ran if not _LOOKS.match(what := _what(act)) and not _SAID_ALREADY.search(what)}
    for what, act in list(commands.items())[-COMMANDS:]:
        yield Item("critical", f"{labels.ran}`{what}`: {labels.badly if act.failed else labels.well}", 43)


def _line_with(result: str, name: str) -> str:
    """What the result says around a name, if it says more than the name."""
    at = result.find(name)
    start = result.rfind("\n", 0, at) + 1
    end = result.find("\n", at)
    line = one_line(result[max(start, at - 80) : min(end if end >= 0 else len(result), at + len(name) + 120)])
    return line if line != name else ""
