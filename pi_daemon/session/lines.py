"""What the fast way through a session file decodes of each line.

A role that isn't among these, or another type in one of these members, makes the whole block's decoding fail, and
the careful way takes over.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import intern
from typing import Any

import msgspec
from msgspec import Raw, Struct

from pi_daemon.session.facts import MAX_USAGE
from pi_daemon.session.head import BROKEN_OFF, AssistantFacts, Facts, MessageFacts, ShellFacts, ToolResultFacts
from pi_daemon.session.rawjson import JS_SPACE

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


def _plain(message: _Message) -> MessageFacts:
    return _PLAIN[message.__class__][message.content == _NULL]


def _tool_result(message: _ToolResult) -> ToolResultFacts:
    return ToolResultFacts(message.toolCallId, message.content == _NULL)


def _shell(message: _Shell) -> ShellFacts:
    return ShellFacts(bool(message.excludeFromContext), message.content == _NULL)


def _assistant(message: _Assistant) -> AssistantFacts | None:
    """None where it takes a closer look: no total in the usage, or a text that may begin with white space."""
    content = message.content
    provider = message.provider
    model = message.model
    stop = message.stopReason
    usage = message.usage
    tokens = 0.0
    if usage is not None and stop not in BROKEN_OFF:
        tokens = usage.totalTokens or 0.0
        if not 0 < tokens <= MAX_USAGE:
            return None
    shows = False
    for part in content or ():
        if part.type == "text":
            text = memoryview(part.text)
            if text[0] != _QUOTE:
                return None
            first = text[1]
            if first != _QUOTE:
                if first <= 0x20 or first == _BACKSLASH or (first > 0x7F and bytes(text[1:3]) in _MAY_BE_SPACE):
                    return None
                shows = True
                break
    return AssistantFacts(
        provider and intern(provider), model and intern(model), stop and intern(stop), tokens, content is None, shows
    )


_MAY_BE_SPACE = frozenset(char.encode()[:2] for char in JS_SPACE if not char.isascii())
"""How white space beyond ASCII begins."""

FACTS_BY_CLASS: dict[type, Callable[[Any], Facts | None]] = {
    **dict.fromkeys(_PLAIN, _plain),
    _Assistant: _assistant,
    _ToolResult: _tool_result,
    _Shell: _shell,
}
"""By the class of a line's message what makes its facts of it; None where only a closer look at the line can tell."""
