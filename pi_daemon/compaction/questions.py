"""Questions with definite answers, drawn from what a summary stands for. The same material gives the same questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec
from msgspec import Struct

from pi_daemon.compaction.acts import Act, acts, open_acts, standing_failures, text_of
from pi_daemon.compaction.commits import commits
from pi_daemon.compaction.evidence import SURE, Evidence
from pi_daemon.compaction.failures import error_line, symbols
from pi_daemon.compaction.form import parse
from pi_daemon.compaction.labels import bare, overtaken, settled
from pi_daemon.compaction.material import Material, Said
from pi_daemon.compaction.speech import asks_nothing, constraints, own_words, request_words
from pi_daemon.compaction.words import clip, key, one_line

Kind = Literal[
    "request",
    "constraint",
    "unfinished",
    "superseded",
    "openCall",
    "error",
    "modified",
    "commit",
    "reference",
    "overcome",
    "read",
]

WEIGHTS: dict[Kind, int] = {
    "request": 5,
    "constraint": 4,
    "unfinished": 3,
    "superseded": 3,
    "openCall": 3,
    "error": 3,
    "modified": 3,
    "commit": 2,
    "reference": 2,
    "overcome": 1,
    "read": 1,
}
"""What a kind counts in a score, in the order of what its loss costs: without the request the wrong thing is done,
a broken constraint has to be undone; a file that was only read is read again. An `error` is of a call after which none
of its kind went well; one that was `overcome` is at most made again. What was `superseded` (a rule that a later word
overtook, a step that was done or whose files are gone) is the one kind that is asked the other way round: a summary
that still states it loses, and one that doesn't gains nothing. Kinds are weighed, not questions: forty
paths don't outweigh what the user asked for."""

MOST: dict[Kind, int] = {
    "request": 1,
    "constraint": 24,
    "unfinished": 24,
    "superseded": 12,
    "openCall": 8,
    "error": 12,
    "modified": 60,
    "commit": 8,
    "reference": 16,
    "overcome": 8,
    "read": 40,
}
"""Questions of a kind. More would ask a summary to be a transcript: the newest are asked, since older ones have had
the chance to matter or not. Of paths there may be more, as a list of them is cheap and is what is lost first."""

MOST_RULES = 400
"""Constraints that are held against what was said after them: among so many there are as many as are asked about."""

TEXT_CHARACTERS = 400
"""Of a fact. The longest are requests; who has the first 400 characters of one knows what it is about."""


class Question(Struct, frozen=True):
    """`text` is the fact, on one line: a summary that has it word for word answers. `needles` are names in it that
    must be spelled as they are where the wording differs. `entry_id` is the entry it comes from, "" where that is an
    earlier summary or a file list."""

    kind: Kind
    text: str
    needles: tuple[str, ...] = ()
    entry_id: str = ""


def draw(material: Material, results_left_out: bool = False, evidence: Evidence | None = None) -> list[Question]:
    """In the order of `WEIGHTS`. `results_left_out`: calls without a result say nothing, as none of them has one.
    `evidence`: that of the material, where it is at hand."""
    said = material.all
    done = acts(said)
    evidence = evidence or Evidence(said, done)
    rules, past = _rules(material, evidence)
    steps = list(_unfinished(material.previous))
    found: list[Question] = []
    found += _request(said)
    found += _newest(rules, "constraint")
    open_steps = (one for one in steps if not evidence.outdates(one.text) and not evidence.shows(one.text))
    found += _newest(open_steps, "unfinished")
    past += [one for one in steps if evidence.outdates(one.text) or evidence.shows(one.text, SURE)]
    found += _newest((msgspec.structs.replace(one, kind="superseded") for one in past), "superseded")
    if not results_left_out:
        found += _newest(_open_calls(done, evidence), "openCall")
    errors = list(_errors(done))
    found += _newest((one for one in errors if one.kind == "error"), "error")
    touched = _touched(done)
    modified, read_only = material.modified_files, material.read_files
    if not modified and not read_only:
        modified = [path for path, act in touched.items() if act.changes_file]
        read_only = [path for path, act in touched.items() if not act.changes_file]
    found += _newest(_paths("modified", modified, touched), "modified")
    found += _newest(_commits(done), "commit")
    found += _newest(_references(said, done), "reference")
    standing = {key(one.text) for one in found if one.kind == "error"}
    found += _newest((one for one in errors if one.kind == "overcome" and key(one.text) not in standing), "overcome")
    found += _newest(_paths("read", read_only, touched), "read")
    return found


def _newest(questions: Iterable[Question], kind: Kind) -> list[Question]:
    """The last ones that differ, oldest first."""
    different: dict[str, Question] = {}
    for question in questions:
        same = question.text if kind in ("modified", "read", "reference") else key(question.text)
        different.pop(same, None)
        different[same] = question
    return list(different.values())[-MOST[kind] :]


def _request(said: Iterable[Said]) -> Iterator[Question]:
    last = last_request(said)
    if last is not None:
        yield Question("request", clip(request_words(text_of(last.message)), TEXT_CHARACTERS), entry_id=last.entry_id)


def last_request(said: Iterable[Said]) -> Said | None:
    """The last message of the user that asks for something."""
    asked = [one for one in said if one.role == "user" and not asks_nothing(text_of(one.message))]
    return asked[-1] if asked else None


def _rules(material: Material, evidence: Evidence) -> tuple[list[Question], list[Question]]:
    """The newest constraints that differ, oldest first: those that hold, and those that were overtaken. One that was
    stated again holds again."""
    different: dict[str, tuple[int, Question]] = {}
    for place, one in _constraints(material):
        different.pop(key(one.text), None)
        different[key(one.text)] = place, one
    hold: list[Question] = []
    past: list[Question] = []
    for place, one in list(different.values())[-MOST_RULES:]:
        (hold if evidence.overtakes(one.text, place) is None else past).append(one)
    return hold, past


def _constraints(material: Material) -> Iterator[tuple[int, Question]]:
    """With the place of the message that states it; -1 where an earlier summary does."""
    if material.previous is not None:
        for item in parse(material.previous).folded().constraints:
            if not overtaken(item):
                yield -1, Question("constraint", clip(one_line(item), TEXT_CHARACTERS))
    for place, one in enumerate(material.all):
        if one.role == "user":
            for sentence in constraints(text_of(one.message)):
                yield place, Question("constraint", clip(sentence, TEXT_CHARACTERS), entry_id=one.entry_id)
        elif one.role == "branchSummary" and isinstance(summary := one.message.get("summary"), str):
            for item in parse(summary).folded().constraints:
                if not overtaken(item):
                    yield place, Question("constraint", clip(one_line(item), TEXT_CHARACTERS), entry_id=one.entry_id)


_UNTICKED = re.compile(r"^[ \t]{0,40}(?:(?:[-*+]|\d{1,3}[.)])[ \t]{1,8})?\[ ?\][ \t]+(.+)$", re.MULTILINE)


def _unfinished(previous: str | None) -> Iterator[Question]:
    if previous is None:
        return
    summary = parse(previous).folded()
    ticked = {key(item) for item in summary.done}
    boxes = [box for box in _UNTICKED.findall(previous) if key(box) not in ticked]
    for item in [*summary.next_steps, *summary.blocked, *boxes, *summary.in_progress]:
        text = bare(one_line(item))
        if text and not settled(one_line(item)):
            yield Question("unfinished", clip(text, TEXT_CHARACTERS))


def _open_calls(done: list[Act], evidence: Evidence) -> Iterator[Question]:
    for act in open_acts(done):
        if (act.name or act.subject) and not (act.path and evidence.outdates(act.path)):
            yield Question(
                "openCall",
                clip(f"{act.name}: {act.subject}" if act.subject else act.name, TEXT_CHARACTERS),
                (act.path,) if act.path else (),
                act.entry_id,
            )


def _errors(done: list[Act]) -> Iterator[Question]:
    standing = {id(act) for act in standing_failures(done)}
    for act in done:
        line = error_line(act.result or "") if act.failed else None
        if line is not None:
            kind: Kind = "error" if id(act) in standing else "overcome"
            yield Question(kind, line, tuple(symbols(line)), act.result_entry)


def _commits(done: list[Act]) -> Iterator[Question]:
    for one in commits(done):
        text = f"{one.id}: {one.subject}" if one.id else one.subject
        yield Question("commit", clip(text, TEXT_CHARACTERS), (one.id,) if one.id else (), one.entry_id)


def _touched(done: Iterable[Act]) -> dict[str, Act]:
    """Paths that calls name, by their last change or else their last reading."""
    found: dict[str, Act] = {}
    for act in done:
        path = act.path
        if path is None or not (act.changes_file or act.reads_file):
            continue
        before = found.pop(path, None)
        found[path] = before if before is not None and before.changes_file and not act.changes_file else act
    return found


def _paths(kind: Kind, paths: Iterable[str], touched: dict[str, Act]) -> Iterator[Question]:
    """Paths that only earlier summaries know come first, the last touched last."""
    place = {path: number for number, path in enumerate(touched)}
    for path in sorted(paths, key=lambda path: (place.get(path, -1), path)):
        text = clip(one_line(path), TEXT_CHARACTERS)
        if text and text == path.strip():
            yield Question(kind, text, (text,), touched[path].entry_id if path in touched else "")


_REFERENCE = re.compile(
    r"https?://[^\s\"'<>)\]}`，。]+[^\s\"'<>)\]}`，。.,:;]"  # addresses
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
    r"|\b(?=[0-9a-f]{0,39}\d)(?=\d{0,39}[a-f])[0-9a-f]{7,40}\b"  # commits
    r"|\bv?\d+\.\d+\.\d+(?:[-+][\w.]+)?\b"  # versions
    r"|(?<![\w&])#\d{1,5}\b"  # tickets
    r"|\btest_\w{3,}\b|\b[\w/]{1,200}\.py::[\w:]+"  # tests
    r"|(?:localhost|127\.0\.0\.1|0\.0\.0\.0):\d{2,5}\b|\b[Pp]ort:? \d{2,5}\b"
)


def _references(said: list[Said], done: list[Act]) -> Iterator[Question]:
    """What a result gave first, and what was said or called after it used; in the order of their last use."""
    results = {act.answered: act for act in done if act.result}
    commands = {act.place: act for act in done if act.command}
    given: dict[str, Act | None] = {}
    used: dict[str, Act] = {}
    for place, one in enumerate(said):
        act = results.get(place)
        if act is not None:
            for name in _REFERENCE.findall(act.result or ""):
                given.setdefault(name, act)
        if one.role == "toolResult" or one.role == "bashExecution":
            continue
        text = text_of(one.message)
        if one.role == "user":
            text = own_words(text)
        call = commands.get(place)
        for name in _REFERENCE.findall(f"{text}\n{call.command}" if call is not None else text):
            source = given.setdefault(name, None)
            if source is not None:
                used.pop(name, None)
                used[name] = source
    for name, source in used.items():
        yield Question("reference", clip(name, TEXT_CHARACTERS), (name,), source.result_entry)
