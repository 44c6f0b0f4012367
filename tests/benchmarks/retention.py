"""`python -m tests.benchmarks.retention [DIRECTORY]`: what summaries of recorded sessions keep, as a table.

For each session: all but the last 20,000 tokens of its last path are summarized, by the extractive summarizer and by
a deliberately bad one, before and after it is amended. Where a session was compacted, so is what each compaction
covers, and its own summary is put to the same questions. Without a directory: ../shared/sessions beside the repository,
or PI_DAEMON_SHARED.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from pi_daemon.compaction.acts import text_of
from pi_daemon.compaction.form import with_files
from pi_daemon.compaction.matching import Text
from pi_daemon.compaction.material import Material
from pi_daemon.compaction.questions import Question, draw
from pi_daemon.compaction.retention import amend, check
from pi_daemon.compaction.speech import asks_nothing, request_words
from pi_daemon.compaction.summarizers.extractive import BUDGET_TOKENS
from pi_daemon.compaction.tokens import estimate
from pi_daemon.compaction.words import clip, tokens_of
from tests.compaction.recorded import KEPT_TOKENS, RECORDED, compactions_of, material_of
from tests.compaction.talk import extract

TRACED_CHARACTERS = 60

BAD = "The user and the assistant worked on some code and made progress. We talked about code."


class Judged(Struct):
    """A summary: its size in tokens and its score from 0 to 1, as it is and amended. `traced` is the share of all
    requests of the user that it has something of, which none of the questions asks."""

    size: int
    score: float
    traced: float
    amended_size: int
    amended_score: float


class Row(Struct):
    """`covered` names the range; sizes in tokens; `milliseconds` for the extractive summary with its questions.

    The extractive summarizer draws the same questions, so what its score tells is whether they fit its budget;
    `traced` is what tells of it and of the others alike.
    `own` is the summary that the session itself has of the range, file lists included.
    """

    session: str
    covered: str
    messages: int
    transcript: int
    questions: int
    milliseconds: float
    extractive: Judged
    bad: Judged
    own: Judged | None = None


def judged(summary: str, material: Material, questions: list[Question]) -> Judged:
    """As it would be written: with the file lists that every summary gets."""
    written = with_files(summary, material.read_files, material.modified_files)
    kept = check(written, questions)
    amended = amend(written, kept)
    return Judged(
        tokens_of(written),
        kept.score,
        traced(written, material),
        tokens_of(amended),
        check(amended, questions).score,
    )


def traced(summary: str, material: Material) -> float:
    """1 where nothing was asked for. The beginning of a request is looked for: a summary has no room for more."""
    texts = [text_of(one.message) for one in material.all if one.role == "user"]
    asked = [clip(request_words(text), TRACED_CHARACTERS) for text in texts if not asks_nothing(text)]
    found = Text(summary)
    return sum(found.answers(Question("request", text)) for text in asked) / len(asked) if asked else 1.0


def measured(session: str, covered: str, material: Material, budget: int, own: str | None = None) -> Row:
    began = time.perf_counter()
    summary = extract(material, budget)
    questions = draw(material)
    check(summary, questions)
    took = time.perf_counter() - began
    return Row(
        session,
        covered,
        len(material.all),
        sum(estimate(one.message) for one in material.all),
        len(questions),
        took * 1e3,
        judged(summary, material, questions),
        judged(BAD, material, questions),
        None if own is None else judged(own, material, questions),
    )


def rows(directory: Path, keep: int, budget: int) -> Iterable[Row]:
    """A session that is shorter than what is kept has nothing to summarize and is left out."""
    for file in sorted(directory.glob("*.jsonl")):
        material = material_of(file, keep)
        if material.history:
            yield measured(file.stem, f"all but {keep:,} tokens", material, budget)
        for number, (covered, summary) in enumerate(compactions_of(file), 1):
            if len(covered.history) >= LEAST_MESSAGES:
                yield measured(file.stem, f"its compaction {number}", covered, budget, summary)


LEAST_MESSAGES = 20
"""Compactions of fewer are made up for tests of the format."""


def markdown(found: Iterable[Row]) -> str:
    lines = [
        "| session | covered | messages | transcript | questions | extractive: tokens | score | requests | ms "
        "| bad: score | amended | tokens | own: tokens | score | requests | amended | tokens |",
        "| --- | --- " + "| --: " * 15 + "|",
    ]
    for row in found:
        cells = [
            row.session,
            row.covered,
            f"{row.messages:,}",
            f"{row.transcript:,}",
            str(row.questions),
            f"{row.extractive.size:,}",
            f"{row.extractive.score:.2f}",
            f"{row.extractive.traced:.2f}",
            f"{row.milliseconds:.0f}",
            f"{row.bad.score:.2f}",
            f"{row.bad.amended_score:.2f}",
            f"{row.bad.amended_size:,}",
        ]
        own = row.own
        cells += (
            [
                f"{own.size:,}",
                f"{own.score:.2f}",
                f"{own.traced:.2f}",
                f"{own.amended_score:.2f}",
                f"{own.amended_size:,}",
            ]
            if own is not None
            else [""] * 5
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    """0 when the table was printed, 2 where there are no sessions to measure."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.retention", description=__doc__)
    parser.add_argument("directory", type=Path, nargs="?", default=RECORDED)
    parser.add_argument("--keep", type=int, default=KEPT_TOKENS, help="tokens at the end that stay (default 20000)")
    parser.add_argument("--budget", type=int, default=BUDGET_TOKENS, help="tokens of an extractive summary")
    options = parser.parse_args()
    if not options.directory.is_dir():
        print(f"skipped: there is no directory {options.directory}", file=sys.stderr)
        return 2
    found = list(rows(options.directory, options.keep, options.budget))
    if not found:
        print(f"skipped: no session in {options.directory} is longer than what is kept", file=sys.stderr)
        return 2
    print(markdown(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
