"""What is made of a material once, so that whoever goes on with a summary needs the material no more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from pi_daemon.compaction.prompts import Request
from pi_daemon.compaction.questions import Question

Form = Literal["questions", "requests", "summary"]
"""What is wanted: the questions alone, what to ask somebody for a summary besides, or a summary itself."""


class Order(Struct, frozen=True):
    """What is wanted of the material of a summary.

    `kind`: `compaction` replaces the material in the context, `branch` tells of a branch that was left. `history`: of
    the messages of a compaction, how many are whole turns. `budget`: tokens of a branch that are told at most, 0 for
    all. `instructions`: what whoever asked wants looked after. `max_tokens`: of the summary.
    """

    kind: Literal["compaction", "branch"]
    form: Form
    max_tokens: int
    instructions: str | None = None
    history: int = 0
    budget: int = 0


class Brief(Struct, frozen=True):
    """`said` is how many messages there are, `previous` the summary that is updated. `requests` and `summary` are there
    where the order names them, and where there is something to summarize."""

    said: int
    previous: str | None
    read_files: Sequence[str]
    modified_files: Sequence[str]
    questions: list[Question]
    requests: list[Request]
    summary: str | None
