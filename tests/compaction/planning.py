"""Plans and materials of lines that tests make."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeVar

from pi_daemon.compaction.branch import BranchGathering, branch_portions, branch_sources
from pi_daemon.compaction.gather import Gathering, portions
from pi_daemon.compaction.material import Material, Portion
from pi_daemon.compaction.plan import Plan, Planner
from pi_daemon.compaction.settings import CompactionSettings
from pi_daemon.session.head import Head
from pi_daemon.session.selection import select
from tests.session.entries import Chain, line, text


class Steps(Protocol):
    def wanted(self) -> list[Head]: ...
    def give(self, lines: Sequence[bytes]) -> None: ...


Making = TypeVar("Making", bound=Steps)
Gathers = TypeVar("Gathers", Gathering, BranchGathering)


class Reader:
    """Reads for a plan, and remembers what: `read` are entry ids, in the order in which they were asked for."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.read: list[str] = []

    def plan(self, keep: int, leaf: str | None = None, tokens: int | None = None) -> Plan:
        """Raises NothingToCompact."""
        path = self.chain.tree.path(leaf or self.chain.tree.last_id)
        return self.finish(Planner(path, select(path), CompactionSettings(16_384, keep), tokens)).plan

    def material(self, plan: Plan) -> Material:
        return self.given(Gathering(len(plan.history)), portions(plan)).material

    def branch(self, old: str | None, target: str | None, budget: int = 0) -> BranchGathering:
        return self.given(BranchGathering(budget), branch_portions(branch_sources(self.chain.tree, old, target)))

    def given(self, steps: Gathers, some: Iterable[Portion]) -> Gathers:
        for portion in some:
            self.read += [head.id for head in portion.heads()]
            if not steps.give(portion.use, self.chain.of(portion.heads())):
                break
        return steps

    def finish(self, steps: Making) -> Making:
        while wanted := steps.wanted():
            self.read += [head.id for head in wanted]
            steps.give(self.chain.of(wanted))
        return steps


def plan(keep: int, *lines: bytes) -> Plan:
    return Reader(Chain(*lines)).plan(keep)


def ids(sources: Any) -> list[str]:
    return [source.head.id for source in sources]


def edit(id: str, parent: str | None, target: str, content: Any = None) -> bytes:
    replacement = None if content is None else {"content": content}
    return line("context_edit", id, parent, targetId=target, replacement=replacement)


def result(id: str, parent: str | None, output: str = "out", **members: Any) -> bytes:
    message = {"role": "toolResult", "toolCallId": "c", "toolName": "read", "content": [text(output)], **members}
    return line("message", id, parent, message=message)


def compaction(id: str, parent: str | None, first_kept: str | None, **members: Any) -> bytes:
    return line("compaction", id, parent, summary="before", firstKeptEntryId=first_kept, tokensBefore=9, **members)


def summary(id: str, parent: str | None, said: str = "elsewhere", **members: Any) -> bytes:
    return line("branch_summary", id, parent, fromId="x", summary=said, **members)
