"""Tool calls and their results: a provider refuses a request in which one lacks the other.

As pi-ai 1.6.0 accounts for them: the results of an answer's calls stand between it and the next message that a
provider takes for a user's or an assistant's; system messages between them don't matter.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from pi_daemon.session.head import Head, ShellFacts, ToolResultFacts
from pi_daemon.session.projection import Projection
from pi_daemon.session.rawjson import dumps, join, loads, members

ProblemKind = Literal["resultWithoutCall", "callWithoutResult"]


class Call(Struct, gc=False):
    """A block of an answer; a tool call if its `type` says so."""

    type: str = ""
    id: str = ""
    name: str = ""


class _Answer(Struct, gc=False):
    content: list[Call] | None = None


_decode = msgspec.json.Decoder(_Answer).decode


def calls(message: bytes) -> list[Call]:
    """The tool calls of an assistant message, raw."""
    if b"toolCall" not in message:
        return []
    try:
        return [block for block in _decode(message).content or () if block.type == "toolCall"]
    except (msgspec.DecodeError, RecursionError):
        content = loads(message).get("content")
        found = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        return [
            Call("toolCall", str(block.get("id") or ""), str(block.get("name") or ""))
            for block in found
            if block.get("type") == "toolCall"
        ]


class _Flaw(Struct, frozen=True):
    """At `place`: a result without its call (`call` is None), or the end of the turn in which `call` was left
    without a result. `call_id` is the id in question."""

    place: int
    head: Head
    call_id: str
    call: Call | None = None


_USERS = frozenset({"user", "custom", "bashExecution", "branchSummary", "compactionSummary"})
"""Roles that a provider is sent as a user's."""


class Turns:
    """Calls and results accounted for as messages come; a context that goes on goes on here."""

    def __init__(self) -> None:
        self._found: list[_Flaw] = []
        self._waiting: set[str] = set()
        self._caller: tuple[Head, bytes] | None = None
        self._count = 0

    def extend(self, projection: Projection) -> None:
        """The messages of `projection` come next."""
        heads, messages, changed = projection.source_heads, projection.messages, projection.changed
        waiting = self._waiting
        for place, (role, head) in enumerate(zip(projection.roles, heads, strict=True)):
            if role == "toolResult":
                facts = head.facts
                answered = facts.call_id if facts.__class__ is ToolResultFacts else _answered(messages[place])
                if answered in waiting:
                    waiting.discard(answered)
                else:
                    self._found.append(_Flaw(self._count + place, head, answered))
            elif role == "assistant":
                if waiting:
                    self._found += self._unanswered(self._count + place)
                self._caller = head, messages[place]
                known = head.calls if place not in changed else None
                waiting = self._waiting = set(_call_ids(projection, place) if known is None else known)
            elif waiting and role in _USERS and not _excluded(head):
                self._found += self._unanswered(self._count + place)
                waiting = self._waiting = set()
        self._count += len(messages)

    def flaws(self) -> list[_Flaw]:
        """What is wrong if nothing comes any more."""
        return self._found + self._unanswered(self._count)

    def problems(self) -> list[tuple[ProblemKind, str, str]]:
        """(kind, entry id, tool call id) of each result without a call and each call without a result, in order."""
        return [
            ("callWithoutResult" if flaw.call else "resultWithoutCall", flaw.head.id, flaw.call_id)
            for flaw in self.flaws()
        ]

    def _unanswered(self, place: int) -> list[_Flaw]:
        if not self._waiting or self._caller is None:
            return []
        head, message = self._caller
        asked = {call.id: call for call in calls(message)}
        return [_Flaw(place, head, name, call) for name, call in asked.items() if name in self._waiting]


def _flaws(projection: Projection) -> list[_Flaw]:
    turns = Turns()
    turns.extend(projection)
    return turns.flaws()


def _call_ids(projection: Projection, place: int) -> tuple[str, ...]:
    """Those of a message that is as it is stored are noted in its head."""
    head = projection.source_heads[place]
    if place in projection.changed:
        return tuple(call.id for call in calls(projection.messages[place]))
    if head.calls is None:
        head.calls = tuple(call.id for call in calls(projection.messages[place]))
    return head.calls


def _answered(message: bytes) -> str:
    """The id of the call that a result answers, where its head doesn't tell: one that repair made comes from the
    entry that called."""
    return str(loads(members(message).get("toolCallId", b'""')))


def _excluded(head: Head) -> bool:
    return isinstance(head.facts, ShellFacts) and head.facts.excluded


def problems(projection: Projection) -> list[tuple[ProblemKind, str, str]]:
    """Those of one projection, see `Turns.problems`."""
    turns = Turns()
    turns.extend(projection)
    return turns.problems()


def repair(projection: Projection, timestamp_ms: int) -> Projection:
    """The projection without results that no call asked for, and with an answer to each call that has none.

    The answers follow the results that there are, and come from the entry that called.
    """
    flaws = _flaws(projection)
    if not flaws:
        return projection
    dangling = {flaw.place for flaw in flaws if flaw.call is None}
    unanswered: dict[int, list[tuple[Call, Head]]] = {}
    for flaw in flaws:
        if flaw.call is not None:
            unanswered.setdefault(flaw.place, []).append((flaw.call, flaw.head))
    made = Projection([], [], [])
    changed = {id(projection.messages[place]) for place in projection.changed}
    after_results = 0
    for place in range(len(projection.messages) + 1):
        for call, head in unanswered.get(place, ()):
            made.messages.insert(after_results, answer := _aborted(call, timestamp_ms))
            changed.add(id(answer))
            made.roles.insert(after_results, "toolResult")
            made.source_heads.insert(after_results, head)
            after_results += 1
        if place in dangling or place == len(projection.messages):
            continue
        made.messages.append(projection.messages[place])
        made.roles.append(projection.roles[place])
        made.source_heads.append(projection.source_heads[place])
        if projection.roles[place] in ("assistant", "toolResult"):
            after_results = len(made.messages)
    made.changed = {place for place, message in enumerate(made.messages) if id(message) in changed}
    return made


def _aborted(call: Call, timestamp_ms: int) -> bytes:
    return join(
        {
            "role": b'"toolResult"',
            "toolCallId": dumps(call.id),
            "toolName": dumps(call.name),
            "content": b'[{"type":"text","text":"Aborted: the call has no result"}]',
            "isError": b"true",
            "timestamp": dumps(timestamp_ms),
        }
    )
