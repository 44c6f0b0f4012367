"""A summary is questioned before it counts: what of the facts did it keep?"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from pi_daemon.compaction.brief import Brief
from pi_daemon.compaction.form import with_files
from pi_daemon.compaction.retention import REFUSED_BELOW, Policy, Retention, amend, check
from pi_daemon.engine.offload import offload
from pi_daemon.session.errors import SummarizerFailed

QUESTION_COST = 64
"""What it takes to put the questions to a character of a summary, in bytes that are read."""


class Verdict(Struct, frozen=True):
    """`retention` is what the summary kept as it came, `text` is the summary with what the policy added, of which
    `score_after` holds."""

    policy: Policy
    text: str
    retention: Retention
    score_after: float

    def stored(self) -> dict[str, Any]:
        """As details and notifications have it."""
        bounded = self.retention.bounded()
        return {
            "policy": self.policy,
            "score": bounded.pop("score"),
            "scoreAfter": round(self.score_after, 3),
            **bounded,
        }


async def questioned(text: str, brief: Brief, policy: Policy) -> Verdict:
    """Raises SummarizerFailed where the policy refuses."""
    verdict = await offload(QUESTION_COST * len(text), lambda: _questioned(text, brief, policy))
    if policy == "refuse" and verdict.retention.score < REFUSED_BELOW:
        raise SummarizerFailed(
            "The summary lacks too many of the facts, and nothing was written: see `retention`; summarize again with "
            "instructions, or use the policy `amend`.",
            retention=verdict.stored(),
        )
    return verdict


def _questioned(text: str, brief: Brief, policy: Policy) -> Verdict:
    def put_to(summary: str) -> Retention:
        # Written it has the file lists, which nobody has to name a second time.
        return check(with_files(summary, brief.read_files, brief.modified_files), brief.questions)

    retention = put_to(text)
    if policy != "amend" or not retention.missing:
        return Verdict(policy, text, retention, retention.score)
    amended = amend(text, retention)
    return Verdict(policy, amended, retention, put_to(amended).score)
