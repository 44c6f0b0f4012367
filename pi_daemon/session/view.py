"""The tree as a person looks at it: flat rows, hidden kinds left out, a line of text for each entry."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from pi_daemon.session.glance import Json, glance_at
from pi_daemon.session.head import BROKEN_OFF, AssistantFacts, Head
from pi_daemon.session.rawjson import loads
from pi_daemon.session.tree import SessionTree

_BOOKKEEPING = frozenset({"label", "context_edit", "custom", "model_change", "thinking_level_change", "session_info"})
_ORDINARY_STOPS = frozenset({None, "", "stop", "toolUse"})


class TreeRow(Struct, gc=False):
    """An entry that shows. `parent_id` is its nearest ancestor that shows, `child_count` counts the rows below it
    directly; `run` is how many entries it stands for (1 without folding)."""

    head: Head
    parent_id: str | None
    child_count: int
    on_path: bool
    run: int = 1


def tree_rows(tree: SessionTree, leaf_id: str | None, filter: str = "default", fold: bool = False) -> list[TreeRow]:
    """Parents before children, siblings by time; a hidden entry's children hang under its nearest visible ancestor.

    What each filter shows is pi's: usage entries never; answers of tool calls alone only at the leaf or where they
    failed; without bookkeeping kinds (default), without tool results too (noTools), users' messages (userOnly),
    entries with a label (labeledOnly), everything else (all). With `fold` a straight stretch is its last entry;
    the leaf, labels and the end of the path end a stretch. Raises EntryNotFound for an unknown leaf.
    """
    path = {head.id for head in tree.path(leaf_id)}
    shows = _shows(tree, filter)
    rows: list[TreeRow] = []
    waiting: list[tuple[Head, TreeRow | None]] = [(root, None) for root in reversed(tree.children(None))]
    while waiting:
        head, above = waiting.pop()
        if (head.id == leaf_id or not _calls_alone(head)) and head.type != "usage" and shows(head):
            row = TreeRow(head, above.head.id if above is not None else None, 0, head.id in path)
            if above is not None:
                above.child_count += 1
            rows.append(row)
            above = row
        for child in reversed(tree.children(head.id)):
            waiting.append((child, above))
    return _folded(rows, tree, leaf_id) if fold else rows


def _calls_alone(head: Head) -> bool:
    facts = head.facts
    return isinstance(facts, AssistantFacts) and not facts.has_text and facts.stop_reason in _ORDINARY_STOPS


def _shows(tree: SessionTree, filter: str) -> Callable[[Head], bool]:
    labels = tree.labels
    choices: dict[str, Callable[[Head], bool]] = {
        "default": lambda head: head.type not in _BOOKKEEPING,
        "noTools": lambda head: head.type not in _BOOKKEEPING and head.role != "toolResult",
        "userOnly": lambda head: head.role == "user",
        "labeledOnly": lambda head: head.id in labels,
        "all": lambda head: True,
    }
    return choices[filter]


def _folded(rows: list[TreeRow], tree: SessionTree, leaf_id: str | None) -> list[TreeRow]:
    """A row goes into its only child, which is the next one, unless it is the leaf or the last of the path or has
    a label."""
    labels = tree.labels
    kept: list[TreeRow] = []
    for row, below in zip(rows, [*rows[1:], None], strict=True):
        alone = below is not None and row.child_count == 1 and row.head.id != leaf_id and row.head.id not in labels
        if below is not None and alone and below.on_path == row.on_path:
            below.run += row.run
            below.parent_id = row.parent_id
        else:
            kept.append(row)
    return kept


MAX_PREVIEW = 120
"""Code points of a preview: about a line of a terminal."""

MAX_ARGUMENT = 60
"""Code points of a tool call's argument in a preview."""

TELLING = ("path", "file_path", "command", "pattern", "query", "url", "name")
"""The arguments that say what a tool call is about, the best first."""

_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def preview(head: Head, line: bytes) -> str:
    """One line of at most `MAX_PREVIEW` code points about an entry; "" where there is nothing to say.

    Holds no control characters and no lone surrogates, so it can go to a terminal and into any JSON.
    """
    return preview_of(head, glance_at(line))


def preview_of(head: Head, look: Json) -> str:
    """The same from what was decoded of it."""
    return one_line(_about(head, look), MAX_PREVIEW)


def one_line(text: str, limit: int) -> str:
    """The beginning of a text in one line of at most `limit` code points, fit for a terminal and any JSON."""
    start = text[: 4 * limit]
    flat = " ".join(_UNFIT.sub(_fit, start).split())
    whole = len(flat) <= limit and len(start) == len(text)
    return flat if whole else flat[: limit - 1] + "…"


def _fit(found: re.Match[str]) -> str:
    return "\ufffd" if found[0] >= "\ud800" else " "


def _about(head: Head, entry: Json) -> str:
    match head.type:
        case "message":
            message = entry.get("message")
            return _about_message(message) if isinstance(message, dict) else ""
        case "custom_message":
            return f"{_string(entry, 'customType')}: {content_text(entry.get('content'))}"
        case "compaction" | "branch_summary":
            return _string(entry, "summary")
        case "model_change":
            return f"{_string(entry, 'provider')}/{_string(entry, 'modelId')}"
        case "thinking_level_change":
            return _string(entry, "thinkingLevel")
        case "custom":
            return _string(entry, "customType")
        case "label":
            return _string(entry, "label") or "(cleared)"
        case "session_info":
            return _string(entry, "name") or "(cleared)"
        case "usage":
            return f"{_string(entry, 'kind')} {_string(entry, 'provider')}/{_string(entry, 'model')}"
        case "context_edit":
            return f"{'omits' if entry.get('replacement') is None else 'replaces'} {_string(entry, 'targetId')}"
        case _:
            return ""


def _about_message(message: Json) -> str:
    content = message.get("content")
    text = content_text(content)
    match message.get("role"):
        case "assistant":
            if text.strip():
                return text
            blocks = content if isinstance(content, list) else []
            calls = [
                call_text(block) for block in blocks if isinstance(block, dict) and block.get("type") == "toolCall"
            ]
            stopped = f"({message['stopReason']})" if message.get("stopReason") in BROKEN_OFF else ""
            return ", ".join(calls) or _string(message, "errorMessage") or stopped
        case "toolResult":
            return f"{_string(message, 'toolName')}: {text or _images(content)}"
        case "bashExecution":
            return f"$ {_string(message, 'command')}"
        case "branchSummary" | "compactionSummary":
            return _string(message, "summary")
        case "system":
            sections = message.get("sections")
            return text or (", ".join(sections) if isinstance(sections, dict) else "")
        case _:
            return text or _images(content)


def call_text(block: Json) -> str:
    """A tool call in a few words: its name, and what it is about."""
    arguments = block.get("arguments")
    values = [_string(arguments, name) for name in TELLING] if isinstance(arguments, dict) else []
    return f"{_string(block, 'name')} {one_line(next(filter(None, values), ''), MAX_ARGUMENT)}".rstrip()


def _images(content: object) -> str:
    blocks = content if isinstance(content, list) else []
    return "[image]" if any(isinstance(block, dict) and block.get("type") == "image" for block in blocks) else ""


def content_text(content: object, separator: str = "") -> str:
    """The texts of a message's content."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return separator.join(
        _string(block, "text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"
    )


def message_text(head: Head, line: bytes) -> str:
    """The text of a user or custom message, for editing it anew; "" for any other entry (pi 1.6.0)."""
    entry = loads(line)
    if head.type == "custom_message":
        return content_text(entry.get("content"))
    return content_text(entry["message"].get("content")) if head.role == "user" else ""


def _string(value: Json, name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""
