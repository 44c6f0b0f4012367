"""Tool calls and their results: a provider refuses a request in which one lacks the other.

As pi-ai 1.6.0 accounts for them: the results of an answer's calls stand between it and the next message that a
provider takes for a user's or an assistant's; system messages between them don't matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec
from msgspec import Struct

from pi_daemon.session.head import Head, ShellFacts, ToolResultFacts
from pi_daemon.session.projection import Projection
from pi_daemon.session.rawjson import dumps, join, loads, members

ProblemKind = Literal["resultWithoutCall", "callWithoutResult"]


class _Block(Struct, gc=False):
    type: str = ""
    id: str = ""
    name: str = ""


class _Answer(Struct, gc=False):
    content: list[_Block] | None = None


_decode = msgspec.json.Decoder(_Answer).decode


class Call(Struct, frozen=True):
    id: str
    name: str


def calls(message: bytes) -> list[Call]:
    """The tool calls of an assistant message, raw."""
    if b"toolCall" not in message:
        return []
    try:
        blocks = _decode(message).content or []
        return [Call(block.id, block.name) for block in blocks if block.type == "toolCall"]
    except (msgspec.DecodeError, RecursionError):
        content = loads(message).get("content")
        found = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        return [
            Call(str(block.get("id") or ""), str(block.get("name") or ""))
            for block in found
            if block.get("type") == "toolCall"
        ]


class _Step(Struct, frozen=True):
    """A message in its turn: `place` in the projection, or None at the end. `dangling`: a result without its call.
    `unanswered`: the calls that are given up before this message, `caller` their entry."""

    place: int | None
    dangling: bool
    unanswered: list[Call]
    caller: Head | None


def _steps(projection: Projection) -> Iterator[_Step]:
    open_calls: dict[str, Call] = {}
    caller: Head | None = None
    for place, role in enumerate(projection.roles):
        head = projection.source_heads[place]
        if role == "toolResult":
            answered = _answered(head, projection.messages[place])
            yield _Step(place, open_calls.pop(answered, None) is None, [], None)
        elif role == "assistant":
            yield _Step(place, False, list(open_calls.values()), caller)
            open_calls = {call.id: call for call in calls(projection.messages[place])}
            caller = head
        elif role in _USERS and not (isinstance(head.facts, ShellFacts) and head.facts.excluded):
            yield _Step(place, False, list(open_calls.values()), caller)
            open_calls = {}
        else:
            yield _Step(place, False, [], None)
    yield _Step(None, False, list(open_calls.values()), caller)


def _answered(head: Head, message: bytes) -> str:
    """The id of the call that a result answers. One that repair made comes from the entry that called."""
    if isinstance(head.facts, ToolResultFacts):
        return head.facts.call_id
    return str(loads(members(message).get("toolCallId", b'""')))


_USERS = frozenset({"user", "custom", "bashExecution", "branchSummary", "compactionSummary"})
"""Roles that a provider is sent as a user's."""


def problems(projection: Projection) -> list[tuple[ProblemKind, str, str]]:
    """(kind, entry id, tool call id) of each result without a call and each call without a result, in order."""
    found: list[tuple[ProblemKind, str, str]] = []
    for step in _steps(projection):
        if step.caller is not None:
            found += [("callWithoutResult", step.caller.id, call.id) for call in step.unanswered]
        if step.dangling and step.place is not None:
            head = projection.source_heads[step.place]
            answered = _answered(head, projection.messages[step.place])
            found.append(("resultWithoutCall", head.id, answered))
    return found


def repair(projection: Projection, timestamp_ms: int) -> Projection:
    """The projection without results that no call asked for, and with an answer to each call that has none.

    The answers follow the results that there are, and come from the entry that called.
    """
    made = Projection([], [], [])
    after_results = 0

    def put(place: int, message: bytes, role: str, head: Head) -> None:
        made.messages.insert(place, message)
        made.roles.insert(place, role)
        made.source_heads.insert(place, head)

    for step in _steps(projection):
        if step.caller is not None:
            for call in step.unanswered:
                put(after_results, _aborted(call, timestamp_ms), "toolResult", step.caller)
                after_results += 1
        if step.place is not None and not step.dangling:
            role = projection.roles[step.place]
            put(len(made.messages), projection.messages[step.place], role, projection.source_heads[step.place])
            if role in ("assistant", "toolResult"):
                after_results = len(made.messages)
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
