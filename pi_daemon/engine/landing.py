"""Where a compaction that took its time may still be appended.

While a summary is being made, others go on. It lands at the leaf if the leaf has only grown meanwhile; what came in
between stays in the context after it. Otherwise what it says isn't true of where it would stand, and it is dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from pi_daemon.compaction.plan import Plan
from pi_daemon.engine.compacting import compaction_members, tokens_after
from pi_daemon.engine.events import Origin
from pi_daemon.engine.operations import Operation, leaf_moved
from pi_daemon.engine.staging import Staging
from pi_daemon.session.dates import to_ms
from pi_daemon.session.draft import Draft
from pi_daemon.session.errors import CallOpen, Superseded
from pi_daemon.session.head import (
    BROKEN_OFF,
    AssistantFacts,
    CompactionFacts,
    EditFacts,
    Head,
    ShellFacts,
    ToolResultFacts,
)
from pi_daemon.session.pairing import Call, calls
from pi_daemon.session.rawjson import members
from pi_daemon.session.view import one_line

if TYPE_CHECKING:
    from pi_daemon.engine.live import LiveSession


class Land(Operation):
    """Append `draft` at the leaf, as it was planned when the session was loaded as `instance_id`. Refused with
    LeafMoved, Superseded, and CallOpen unless `anyhow`; `seen` is then the revision that it saw."""

    cause = "compact"

    def __init__(self, origin: Origin | None, draft: Draft, plan: Plan, instance_id: str, *, anyhow: bool) -> None:
        super().__init__(origin)
        self.anyhow = anyhow
        self.draft = draft
        self.planned_at = plan.leaf_id
        self.instance_id = instance_id
        self.covered = frozenset([*plan.covered, *([plan.compaction.id] if plan.compaction is not None else ())])
        self.tokens_after = 0
        self.seen = 0

    async def stage(self, staging: Staging, session: LiveSession) -> None:
        self.seen = session.revision
        if session.instance_id != self.instance_id:
            # Its ids may be there again, with other contents or without what was to be kept.
            raise Superseded("The file was rewritten or replaced meanwhile; compact again.")
        for head in staging.ancestors(staging.leaf_id):
            if head.id == self.planned_at:
                break
            self._check_between(head)
        else:
            raise leaf_moved(staging.leaf_id)
        if not self.anyhow:
            await check_answered(staging, session)
        extra = await compaction_members(self.draft, staging.leaf_id, staging, session)
        head = staging.add(self.draft, staging.leaf_id, extra)
        self.tokens_after = await tokens_after(head, staging, session)
        staging.tokens_after[head.id] = self.tokens_after
        self.entries.append(head)

    def _check_between(self, head: Head) -> None:
        facts = head.facts
        if isinstance(facts, CompactionFacts):
            raise Superseded("Another compaction came first; read session/context.", entryId=head.id)
        if isinstance(facts, EditFacts) and facts.target in self.covered:
            words = "An entry that was being summarized was edited meanwhile; compact again."
            raise Superseded(words, entryId=head.id)


GIVEN_UP_MS = 60 * 60 * 1000
"""A call without a result for so long belongs to an agent that is gone. Without a limit, a session that was left in the
middle of a turn could never be compacted."""


class OpenCalls(Struct, frozen=True):
    """Those of one answer. `left_ms`: after so long they are given up on."""

    entry_id: str
    calls: list[Call]
    left_ms: int

    def told(self) -> list[dict[str, str]]:
        """As the protocol shows them."""
        return [{"entryId": self.entry_id, "toolCallId": call.id, "toolName": call.name} for call in self.calls]


async def check_answered(staging: Staging, session: LiveSession) -> None:
    """Raises CallOpen."""
    found = await open_calls(staging, session)
    if found is not None:
        names = ", ".join(dict.fromkeys(one_line(call.name, 40) or "a tool" for call in found.calls[:3]))
        raise CallOpen(
            f"A call of {names} at the leaf has no result yet, and nothing may come between: append the result, "
            "or a user's message, which gives it up; or say `openCalls: ignore`.",
            openCalls=found.told(),
            leftMs=found.left_ms,
        )


async def open_calls(staging: Staging, session: LiveSession) -> OpenCalls | None:
    """The calls of an answer at the end of the path that wait for results. A user's message after it gives up on
    them; nobody runs those of an answer that was broken off, or edited since, or that is from no time near now."""
    answered: set[str] = set()
    edited: set[str] = set()
    for head in staging.ancestors(staging.leaf_id):
        facts = head.facts
        if isinstance(facts, ToolResultFacts):
            answered.add(facts.call_id)
        elif isinstance(facts, EditFacts):
            edited.add(facts.target)
        elif isinstance(facts, AssistantFacts):
            called, now = to_ms(head.timestamp), session.environment.now_ms()
            if called is None or abs(now - called) >= GIVEN_UP_MS or head.id in edited:
                return None
            if facts.stop_reason in BROKEN_OFF or (head.calls is not None and answered.issuperset(head.calls)):
                return None
            left_ms = min(called - now, 0) + GIVEN_UP_MS
            made = await _calls(head, staging, session)
            head.calls = tuple(call.id for call in made)
            waiting = [call for call in made if call.id not in answered]
            return OpenCalls(head.id, waiting, left_ms) if waiting else None
        elif isinstance(facts, ShellFacts):
            if not facts.excluded:
                return None
        elif head.role == "user" or head.type in ("custom_message", "branch_summary", "compaction"):
            return None
    return None


async def _calls(head: Head, staging: Staging, session: LiveSession) -> list[Call]:
    staged = staging.staged(head.id)
    line = staged.line if staged is not None else (await session.lines([head]))[0]
    return calls(members(line).get("message", b""))
