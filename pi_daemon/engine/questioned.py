"""A summary is questioned before it counts: what of the facts did it keep?"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from pi_daemon.compaction.form import with_files
from pi_daemon.compaction.material import Material
from pi_daemon.compaction.questions import draw
from pi_daemon.compaction.retention import REFUSED_BELOW, Policy, Retention, amend, check
from pi_daemon.compaction.summarizing import Made
from pi_daemon.engine.offload import OFFLOAD_BYTES, offload
from pi_daemon.session.errors import SummarizerFailed


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


async def questioned(made: Made, material: Material, policy: Policy, *, branch: bool = False) -> Verdict:
    """Raises SummarizerFailed where the policy refuses. `branch`: the material is that of a branch."""
    # Drawing the questions reads all of the material, so it goes to a thread whatever its size.
    verdict = await offload(OFFLOAD_BYTES, lambda: _questioned(made, material, policy, branch))
    if policy == "refuse" and verdict.retention.score < REFUSED_BELOW:
        raise SummarizerFailed(
            "The summary lacks too many of the facts, and nothing was written: see `retention`; summarize again with "
            "instructions, or use the policy `amend`.",
            retention=verdict.stored(),
        )
    return verdict


def _questioned(made: Made, material: Material, policy: Policy, branch: bool) -> Verdict:
    text = made.text
    questions = draw(material, results_left_out=branch) if made.questions is None else made.questions

    def put_to(summary: str) -> Retention:
        # Written it has the file lists, which nobody has to name a second time.
        return check(with_files(summary, material.read_files, material.modified_files), questions)

    retention = put_to(text)
    if policy != "amend" or not retention.missing:
        return Verdict(policy, text, retention, retention.score)
    amended = amend(text, retention)
    return Verdict(policy, amended, retention, put_to(amended).score)
