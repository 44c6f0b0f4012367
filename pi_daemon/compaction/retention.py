"""What of the facts a summary kept, and what to do about those it didn't."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, get_args

from msgspec import Struct

from pi_daemon.compaction.form import without_files
from pi_daemon.compaction.headings import HEADINGS, heading_of, is_split_heading
from pi_daemon.compaction.matching import NO_LONGER, Text
from pi_daemon.compaction.questions import WEIGHTS, Kind, Question
from pi_daemon.compaction.words import clip, tokens_of

Policy = Literal["report", "amend", "refuse"]
"""`report`: the summary counts as it is. `amend`: what is missing is added to it. `refuse`: one that scores less than
`REFUSED_BELOW` doesn't count."""

POLICIES: tuple[Policy, ...] = get_args(Policy)

REFUSED_BELOW = 0.5
"""Half of what counts is lost. Where each kind is asked about, one that names the request, the constraints, open work
and the files, but no error, commit or reference, scores 0.70; one that has the file lists alone, 0.15."""

AMEND_TOKENS = 2000
"""What is added at most: a tenth of what a compaction keeps word for word."""

NOTED = 20
"""Missing facts that are told and stored; who wants all can ask again."""

NOTED_CHARACTERS = 160


class Tally(Struct, frozen=True):
    kept: int
    asked: int


class Retention(Struct, frozen=True):
    """`score` is from 0 to 1: of each kind that was asked about the share that was kept, weighed by `WEIGHTS`. Nothing
    to ask: 1. `kept` and `missing` are in the order they were asked in."""

    score: float
    kept: tuple[Question, ...]
    missing: tuple[Question, ...]

    def tallies(self) -> dict[Kind, Tally]:
        found: dict[Kind, Tally] = {}
        for kind in WEIGHTS:
            kept = sum(question.kind == kind for question in self.kept)
            asked = kept + sum(question.kind == kind for question in self.missing)
            if asked:
                found[kind] = Tally(kept, asked)
        return found

    def bounded(self) -> dict[str, Any]:
        """As JSON for `details` and notifications: some 6 KB at most."""
        noted = [
            {
                "kind": question.kind,
                "text": clip(question.text, NOTED_CHARACTERS),
                **({"entryId": clip(question.entry_id, NOTED_CHARACTERS)} if question.entry_id else {}),
            }
            for question in self.missing[:NOTED]
        ]
        return {
            "score": round(self.score, 3),
            "kinds": {kind: {"kept": tally.kept, "asked": tally.asked} for kind, tally in self.tallies().items()},
            "missing": noted,
            "missingLeftOut": len(self.missing) - len(noted),
        }


def check(summary: str, questions: Sequence[Question]) -> Retention:
    """Put the questions to a summary."""
    text = Text(summary)
    kept: list[Question] = []
    missing: list[Question] = []
    for question in questions:
        (kept if text.answers(question) else missing).append(question)
    if all(question.kind != "superseded" for question in missing):  # saying nothing earns nothing
        kept = [question for question in kept if question.kind != "superseded"]
    made = Retention(1.0, tuple(kept), tuple(missing))
    tallies = made.tallies()
    if not tallies:
        return made
    weight = sum(WEIGHTS[kind] for kind in tallies)
    score = sum(WEIGHTS[kind] * tally.kept / tally.asked for kind, tally in tallies.items()) / weight
    return Retention(score, made.kept, made.missing)


_LABELS: dict[Kind, str] = {
    "request": "Last request",
    "constraint": "The user said",
    "unfinished": "Was still open",
    "superseded": NO_LONGER,
    "openCall": "Call without a result",
    "error": "Error",
    "overcome": "Error, overcome since",
    "modified": "Modified",
    "commit": "Committed",
    "reference": "From a result",
    "read": "Read",
}


def amend(summary: str, retention: Retention, limit: int = AMEND_TOKENS) -> str:
    """`summary` with what `retention` found missing under Critical Context, in at most `limit` tokens more: the most
    valuable first, and how many were left out. The rest of the text stays as it is."""
    if not retention.missing:
        return summary
    opening = f"## {HEADINGS['critical'][0]}\n"
    room = limit - tokens_of(opening) - 2
    lines: list[str] = []
    left_out = 0
    for number, question in enumerate(retention.missing):
        line = f"- {_LABELS[question.kind]}: {_quoted(question)}"
        rest = len(retention.missing) - number - 1
        needed = tokens_of(line + "\n") + (tokens_of(_left_out(rest + left_out)) if rest or left_out else 0)
        if needed > room:
            left_out += 1
            continue
        lines.append(line)
        room -= tokens_of(line + "\n")
    if left_out and lines:
        lines.append(_left_out(left_out))
    return _under_critical(summary, "\n".join(lines)) if lines else summary


def _left_out(count: int) -> str:
    return f"- ({count} more of what the summary should have kept left out)"


def _quoted(question: Question) -> str:
    return (
        question.text
        if question.kind in ("constraint", "request", "unfinished", "superseded")
        else f"`{question.text}`"
    )


_RULE = re.compile(r"\n---\s*\Z")


def _under_critical(summary: str, added: str) -> str:
    """At the end of that section if there is one in the first part, else as such a section at its end."""
    body, _, _ = without_files(summary)
    body = body.rstrip("\n")
    if not summary.startswith(body):
        body = summary.rstrip("\n")  # lists in the middle: they stay where they are
    lines = body.split("\n")
    end = next((at for at, line in enumerate(lines) if is_split_heading(line)), len(lines))
    headings = [
        (at, found[0])
        for at, line in enumerate(lines[:end])
        if line.lstrip().startswith("#") and (found := heading_of(line))
    ]
    start = next((at for at, name in reversed(headings) if name == "critical"), None)
    if start is not None:
        end = next((at for at, _ in headings if at > start), end)
    before = "\n".join(lines[:end]).rstrip("\n")
    rule = ""
    if end < len(lines) and (found_rule := _RULE.search(before)):
        rule, before = "\n\n---", before[: found_rule.start()].rstrip("\n")
    after = "\n".join(lines[end:])
    opening = "\n" if start is not None else f"\n\n## {HEADINGS['critical'][0]}\n"
    if start is not None and before.endswith("(none)"):
        before = before[: -len("(none)")].rstrip("- \n")
    made = before + opening + added + rule + (f"\n\n{after}" if after else "")
    return (made + summary[len(body) :]).lstrip("\n")
