"""`python -m tests.benchmarks.retention [DIRECTORY]`: what summaries of recorded sessions keep, as a table.

For each session: all but the last 20,000 tokens of its last path are summarized, by the extractive summarizer and by
a deliberately bad one, before and after it is amended. Without a directory: ../shared/sessions beside the repository,
or PI_DAEMON_SHARED.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from pi_daemon.compaction.material import Material
from pi_daemon.compaction.questions import draw
from pi_daemon.compaction.retention import amend, check
from pi_daemon.compaction.summarizers.extractive import BUDGET_TOKENS, extract
from pi_daemon.compaction.tokens import estimate
from pi_daemon.compaction.words import tokens_of
from tests.compaction.recorded import KEPT_TOKENS, RECORDED, material_of

BAD = "The user and the assistant worked on some code and made progress. We talked about code."


class Row(Struct):
    """Sizes in tokens, scores from 0 to 1, `milliseconds` for the extractive summary with its questions."""

    session: str
    messages: int
    transcript: int
    questions: int
    size: int
    score: float
    milliseconds: float
    bad_score: float
    amended_score: float
    amended_size: int


def measured(session: str, material: Material, budget: int = BUDGET_TOKENS) -> Row:
    began = time.perf_counter()
    summary = extract(material, budget)
    questions = draw(material)
    kept = check(summary, questions)
    took = time.perf_counter() - began
    bad = check(BAD, questions)
    amended = amend(BAD, bad)
    return Row(
        session,
        len(material.all),
        sum(estimate(one.message) for one in material.all),
        len(questions),
        tokens_of(summary),
        kept.score,
        took * 1e3,
        bad.score,
        check(amended, questions).score,
        tokens_of(amended),
    )


def rows(directory: Path, keep: int, budget: int) -> Iterable[Row]:
    """A session that is shorter than what is kept has nothing to summarize and is left out."""
    for file in sorted(directory.glob("*.jsonl")):
        material = material_of(file, keep)
        if material.history:
            yield measured(file.stem, material, budget)


def markdown(found: Iterable[Row]) -> str:
    lines = [
        "| session | messages | transcript | questions | extractive: size | score | ms | bad: score | amended | size |",
        "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |",
    ]
    lines += [
        f"| {row.session} | {row.messages:,} | {row.transcript:,} | {row.questions} | {row.size:,} | {row.score:.2f} "
        f"| {row.milliseconds:.0f} | {row.bad_score:.2f} | {row.amended_score:.2f} | {row.amended_size:,} |"
        for row in found
    ]
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
