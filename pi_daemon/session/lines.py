"""What the fast way through a session file decodes of each line.

A role that isn't among these, or another type in one of these members, makes the whole block's decoding fail, and
the careful way takes over.
"""

from __future__ import annotations

from sys import intern

import msgspec
from msgspec import Raw, Struct

from pi_daemon.session.facts import MAX_USAGE, NO_USAGE
from pi_daemon.session.head import AssistantFacts, Facts, MessageFacts, ShellFacts, ToolResultFacts

_NULL = Raw(b"null")
_QUOTE = 0x22
_BACKSLASH = 0x5C


class _Part(Struct, gc=False):
    type: str = ""
    text: Raw = _NULL


class _Usage(Struct, gc=False):
    totalTokens: float | None = None


class _Message(Struct, tag_field="role", gc=False):
    content: Raw = _NULL


class _User(_Message, tag="user", gc=False): ...


class _System(_Message, tag="system", gc=False): ...


class _Custom(_Message, tag="custom", gc=False): ...


class _BranchSummary(_Message, tag="branchSummary", gc=False): ...


class _CompactionSummary(_Message, tag="compactionSummary", gc=False): ...


class _ToolResult(_Message, tag="toolResult", gc=False):
    toolCallId: str = ""


class _Shell(_Message, tag="bashExecution", gc=False):
    excludeFromContext: bool | None = None


class _Assistant(Struct, tag_field="role", tag="assistant", gc=False):
    content: list[_Part] | None = None
    provider: str | None = None
    model: str | None = None
    stopReason: str | None = None
    usage: _Usage | None = None


class _Line(Struct, gc=False):
    type: str
    id: str
    parentId: str | None = None
    timestamp: str = ""
    message: (
        _User | _Assistant | _ToolResult | _Shell | _System | _Custom | _BranchSummary | _CompactionSummary | None
    ) = None


decode_lines = msgspec.json.Decoder(_Line).decode_lines
"""The values in a block. Lax about line ends: see HeadReader."""

_PLAIN: dict[type, tuple[MessageFacts, MessageFacts]] = {
    kind: (MessageFacts(role), MessageFacts(role, True))
    for kind, role in (
        (_User, "user"),
        (_System, "system"),
        (_Custom, "custom"),
        (_BranchSummary, "branchSummary"),
        (_CompactionSummary, "compactionSummary"),
    )
}


def message_facts(message: _Message | _Assistant) -> Facts | None:
    """The facts of a message; None where only a closer look at the line can tell."""
    if isinstance(message, _Assistant):
        return _assistant(message)
    empty = message.content == _NULL
    if isinstance(message, _ToolResult):
        return ToolResultFacts(message.toolCallId, empty)
    if isinstance(message, _Shell):
        return ShellFacts(bool(message.excludeFromContext), empty)
    return _PLAIN[message.__class__][empty]


def _assistant(message: _Assistant) -> AssistantFacts | None:
    """None where it takes a closer look: no total in the usage, or a text that begins with white space or an escape."""
    content = message.content
    stop = message.stopReason
    usage = message.usage
    tokens = 0.0
    if usage is not None and stop not in NO_USAGE:
        tokens = usage.totalTokens or 0.0
        if not 0 < tokens <= MAX_USAGE:
            return None
    shows = False
    for part in content or ():
        if part.type == "text":
            text = memoryview(part.text)
            first = text[1] if len(text) > 1 else 0
            if text[0] != _QUOTE or not 0x20 < first < 0x7F or first == _BACKSLASH:
                return None
            if first != _QUOTE:
                shows = True
                break
    return AssistantFacts(
        message.provider and intern(message.provider),
        message.model and intern(message.model),
        stop and intern(stop),
        tokens,
        content is None,
        shows,
    )
