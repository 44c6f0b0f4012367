"""How many tokens a context takes: what the last answer's usage reports, and estimates of what follows it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from msgspec import Struct, structs

from pi_daemon.session.glance import Json
from pi_daemon.session.head import AssistantFacts, CompactionFacts, EditFacts, Head
from pi_daemon.session.jstext import stringify_length, utf16_length
from pi_daemon.session.projection import Projection
from pi_daemon.session.rawjson import loads
from pi_daemon.session.selection import Selection
from pi_daemon.session.system import fold_system

IMAGE_CHARACTERS = 4800
"""What an image counts for (pi 1.6.0)."""

CHARACTERS_A_TOKEN = 4


def estimate(message: bytes | dict[str, Any]) -> int:
    """The tokens of one message: a quarter of the UTF-16 code units that a model is shown of it, rounded up."""
    value = loads(message) if isinstance(message, bytes) else message
    return -(-_characters(value) // CHARACTERS_A_TOKEN) if isinstance(value, dict) else 0


def _characters(message: dict[str, Any]) -> int:
    match message.get("role"):
        case "user" | "toolResult" | "custom":
            return _content(message.get("content"))
        case "assistant":
            content = message.get("content")
            return sum(map(_answer_block, content)) if isinstance(content, list) else 0
        case "system":
            sections = message.get("sections")
            tools = message.get("toolsAdded")
            return (
                _content(message.get("content"))
                + (sum(map(_text, sections.values())) if isinstance(sections, dict) else 0)
                + (stringify_length(tools) if tools or tools == [] else 0)
            )
        case "bashExecution":
            return _text(message.get("command")) + _text(message.get("output"))
        case "branchSummary" | "compactionSummary":
            return _text(message.get("summary"))
        case _:
            return 0


def _text(value: object) -> int:
    return utf16_length(value) if isinstance(value, str) else 0


def _content(content: object) -> int:
    if not isinstance(content, list):
        return _text(content)
    characters = 0
    for block in content:
        if isinstance(block, dict):
            kind = block.get("type")
            if kind == "text":
                characters += _text(block.get("text"))
            elif kind == "image":
                characters += IMAGE_CHARACTERS
    return characters


def _answer_block(block: object) -> int:
    if not isinstance(block, dict):
        return 0
    match block.get("type"):
        case "text":
            return _text(block.get("text"))
        case "thinking":
            return _text(block.get("thinking"))
        case "toolCall":
            arguments = stringify_length(block["arguments"]) if "arguments" in block else 0
            return _text(block.get("name")) + arguments
        case _:
            return 0


def contribution(look: Json) -> int:
    """What an entry adds to an estimate when it is appended, from what was decoded of it."""
    match look.get("type"):
        case "message":
            return estimate(look["message"])
        case "custom_message":
            return estimate({"role": "custom", "content": look.get("content")})
        case "branch_summary":
            return estimate({"role": "branchSummary", "summary": look.get("summary")})
        case _:
            return 0


class Measure(Struct, frozen=True):
    """What has to be read to know the size of a context: `usage` tokens plus estimates of `selection`'s messages.

    `folded`: no usage counts, and system messages count once, folded.
    """

    usage: float
    selection: Selection
    folded: bool

    def tokens(self, projection: Projection) -> int:
        """`projection` is that of `selection`."""
        return math.ceil(self.usage) + _estimates(projection, self.folded)


def measure(path: Sequence[Head], selection: Selection) -> Measure:
    """How to size the context of `path`, `selection` being what `select` made of it.

    pi 1.6.0: the usage of the last answer in the context counts, unless it is not valid (aborted, failed, zero) or
    a compaction or a context edit came after it on the path.
    """
    sources = selection.sources
    at = next((place for place in range(len(sources) - 1, -1, -1) if _reports(sources[place].head)), None)
    if at is None or not _counts(sources[at].head, path):
        return Measure(0, selection, True)
    return Measure(_usage(sources[at].head), structs.replace(selection, sources=sources[at + 1 :]), False)


def context_tokens(path: Sequence[Head], projection: Projection) -> int:
    """The size of a context whose messages are all at hand, `projection` being that of `path`."""
    heads = projection.source_heads
    at = next((place for place in range(len(heads) - 1, -1, -1) if _reports(heads[place])), None)
    if at is None or not _counts(heads[at], path):
        return _estimates(projection, True)
    return math.ceil(_usage(heads[at])) + sum(map(estimate, projection.messages[at + 1 :]))


def _counts(head: Head, path: Sequence[Head]) -> bool:
    """Whether what this answer reports still holds at the end of `path`."""
    for later in reversed(path):
        if later is head:
            return True
        if isinstance(later.facts, CompactionFacts | EditFacts):
            return False
    return False


def _usage(head: Head) -> float:
    return head.facts.usage_tokens if isinstance(head.facts, AssistantFacts) else 0


def _reports(head: Head) -> bool:
    return isinstance(head.facts, AssistantFacts) and head.facts.usage_tokens > 0


def _estimates(projection: Projection, folded: bool) -> int:
    if not folded:
        return sum(map(estimate, projection.messages))
    pairs = list(zip(projection.roles, projection.messages, strict=True))
    system = fold_system(message for role, message in pairs if role == "system")
    tokens = sum(estimate(message) for role, message in pairs if role != "system")
    return tokens + (estimate(system) if system is not None else 0)
