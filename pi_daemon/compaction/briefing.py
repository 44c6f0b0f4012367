"""The portions of a material → a Brief."""

from __future__ import annotations

from collections.abc import Sequence

from pi_daemon.compaction.branch import BranchGathering
from pi_daemon.compaction.brief import Brief, Order
from pi_daemon.compaction.gather import Gathering
from pi_daemon.compaction.material import Material, Use
from pi_daemon.compaction.prompts import Request
from pi_daemon.compaction.questions import Question, draw
from pi_daemon.compaction.summarizers.asking import requests
from pi_daemon.compaction.summarizers.extractive import BUDGET_TOKENS, extracted


class Briefing:
    """A Brief in the making: given the portions of the material until it wants no more."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._gathering: Gathering | BranchGathering = (
            BranchGathering(order.budget) if order.kind == "branch" else Gathering(order.history)
        )

    def give(self, use: Use, lines: Sequence[bytes]) -> bool:
        """Whether more is wanted."""
        return self._gathering.give(use, lines)

    def brief(self) -> Brief:
        """To be asked for when all is given, or no more is wanted."""
        order, material = self._order, self._gathering.material
        if order.kind == "branch" and not material.history:
            return _brief(material, [])
        if order.form == "summary":
            tokens = min(BUDGET_TOKENS, order.max_tokens)
            summary, questions = extracted(material, tokens, order.instructions, kind=order.kind)
            return _brief(material, questions, summary=summary)
        questions = draw(material, results_left_out=order.kind == "branch")
        if order.form == "requests":
            wanted = requests(material, order.max_tokens, order.instructions, kind=order.kind)
            return _brief(material, questions, wanted)
        return _brief(material, questions)


def _brief(
    material: Material, questions: list[Question], wanted: Sequence[Request] = (), summary: str | None = None
) -> Brief:
    return Brief(
        len(material.all),
        material.previous,
        material.read_files,
        material.modified_files,
        questions,
        list(wanted),
        summary,
    )
