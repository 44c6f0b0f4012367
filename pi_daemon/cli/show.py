"""`pi-daemon show`: entries in full, as a person reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pi_daemon.cli import safe
from pi_daemon.cli.compaction import KINDS
from pi_daemon.cli.listing import when
from pi_daemon.cli.naming import Opened, entry_id, with_session
from pi_daemon.cli.output import Output, size
from pi_daemon.cli.reach import Where

if TYPE_CHECKING:
    from rich.text import Text

_HEAD = frozenset({"type", "id", "parentId", "timestamp"})
"""Members of every entry, which its first lines say."""

_MEMBERS = frozenset(
    {"label", "session_info", "model_change", "thinking_level_change", "context_edit", "custom", "usage"}
)
"""Kinds of entries that are no more than a few members."""

_SUMMARIES = frozenset({"compaction", "branch_summary"})

_ROLES = frozenset({"user", "assistant", "toolResult", "system", "bashExecution", "custom"})
"""Roles of which it is known where the words are; another message is shown as JSON."""

_STYLES = {"user": "bold cyan", "assistant": "bold green", "toolResult": "bold blue", "system": "bold magenta"}


async def show(where: Where, output: Output, name: str, entries: Sequence[str], *, recover: bool) -> None:
    """Text in the order in which they were named, JSON in the file's."""

    async def do(opened: Opened) -> None:
        async with output.working("Reading entries") as progress:
            ids = list(dict.fromkeys([await entry_id(opened, entry) for entry in entries]))
            found = await opened.client.entries(opened.id, ids=ids)
            if output.as_json:
                output.json({"sessionId": opened.id, **found})
                return
            labelled = await opened.client.whole_tree(opened.id, filter="labeledOnly", progress=progress)
        labels = {node["id"]: node.get("label", "") for node in labelled["nodes"]}
        stored = {entry["id"]: entry for entry in found["entries"]}
        for number, one in enumerate(ids):
            output.print(*([""] if number else []), *drawn(stored[one], labels.get(one)))

    await with_session(where, name, output, do, recover=recover)


def drawn(entry: dict[str, Any], label: str | None) -> Iterator[Text | str]:
    """The lines of an entry, safe for a terminal."""
    yield _heading(entry, label)
    yield _about(entry)
    kind, message = str(entry.get("type")), entry.get("message")
    if kind == "message" and isinstance(message, dict) and message.get("role") in _ROLES:
        yield from _message(message)
    elif kind in _SUMMARIES:
        yield from _summary(entry)
    elif kind == "custom_message":
        yield from _content(entry.get("content"))
        yield from _rest(entry, "content")
    elif kind in _MEMBERS:
        yield from _rest(entry)
    else:
        yield from _json(entry)


def _heading(entry: dict[str, Any], label: str | None) -> Text:
    from rich.text import Text

    text = Text.assemble((safe.line(str(entry.get("type"))), "bold"), f" {safe.line(str(entry.get('id')))}")
    message = entry.get("message")
    if isinstance(message, dict) and (role := str(message.get("role", ""))):
        text.append(f"  {safe.line(role)}", _STYLES.get(role, "bold"))
        if role == "toolResult":
            failed = ", failed" if message.get("isError") else ""
            text.append(f" {safe.line(str(message.get('toolName', '')))}{failed}")
    if label is not None:
        text.append(f"  [{safe.line(label)}]", "bold yellow")
    return text


def _about(entry: dict[str, Any]) -> Text:
    """Where it hangs, when it came, and who made it."""
    from rich.text import Text

    parent, message = entry.get("parentId"), entry.get("message")
    said = [f"parent {parent}" if parent is not None else "no parent", when(str(entry.get("timestamp")))]
    if isinstance(message, dict):
        if "model" in message:
            said.append(f"model {message.get('provider', '?')}/{message['model']}")
        if "toolCallId" in message:
            said.append(f"of the call {message['toolCallId']}")
        usage = message.get("usage")
        sent, made = (usage.get("input"), usage.get("output")) if isinstance(usage, dict) else (None, None)
        if isinstance(sent, int | float) and isinstance(made, int | float):
            said.append(f"{sent:,} tokens in, {made:,} out")
    return Text(f"    {safe.line('  '.join(said))}", "dim")


def _message(message: dict[str, Any]) -> Iterator[Text | str]:
    role = message["role"]
    if role == "bashExecution":
        yield from _block(f"$ {message.get('command', '')}\n{message.get('output', '')}")
    yield from _content(message.get("content"))
    sections = message.get("sections")
    if sections is not None:
        yield from _members(sections) if isinstance(sections, dict) else _json(sections)
    if message.get("details") is not None:
        yield _note("details:")
        yield from _json(message["details"], 8)
    if role == "assistant" and (reason := message.get("stopReason")) is not None:
        why = message.get("errorMessage")
        yield _note(f"ended: {reason}" + (f": {why}" if why else ""))


def _content(content: Any) -> Iterator[Text | str]:
    if isinstance(content, str):
        yield from _block(content)
    elif isinstance(content, list):
        for part in content:
            yield from _part(part)
    elif content is not None:
        yield from _json(content)


def _part(part: Any) -> Iterator[Text | str]:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "text" and isinstance(part.get("text"), str):
        yield from _block(part["text"])
    elif kind == "thinking" and isinstance(part.get("thinking"), str):
        yield _note("thinking:")
        yield from _block(part["thinking"], 8)
    elif kind == "image":
        yield _note(f"[image, {size(len(str(part.get('data', ''))) * 3 // 4)}, {part.get('mimeType') or 'no type'}]")
    elif kind == "toolCall":
        yield _note(f"calls {part.get('name')}  (id {part.get('id')})")
        arguments = part.get("arguments")
        yield from _members(arguments, 8) if isinstance(arguments, dict) else _json(arguments, 8)
    else:
        yield from _json(part)


def _summary(entry: dict[str, Any]) -> Iterator[Text | str]:
    """What it stands for, what it kept, and its text."""
    from rich.text import Text

    summary, details, told = entry.get("summary"), entry.get("details"), ""
    if isinstance(details, dict) and isinstance(details.get("retention"), dict):
        told = _retention(details["retention"])
    if told and isinstance(details, dict):
        yield Text(f"    {safe.line(told)}")
        details = {name: value for name, value in details.items() if name != "retention"}
    yield from _block(summary) if isinstance(summary, str) else _json(summary)
    yield from _rest({**entry, "details": details}, "summary", *([] if details else ["details"]))


def _retention(retention: dict[str, Any]) -> str:
    """What a summary kept of its facts, in a line; "" where that isn't as the daemon writes it."""
    kinds, score = retention.get("kinds"), retention.get("score")
    if not isinstance(kinds, dict) or not isinstance(score, int | float):
        return ""
    tallies = {
        kind: (tally["kept"], tally["asked"])
        for kind, tally in kinds.items()
        if isinstance(tally, dict) and isinstance(tally.get("kept"), int) and isinstance(tally.get("asked"), int)
    }
    kept, asked = (sum(tally[at] for tally in tallies.values()) for at in (0, 1))
    parts = ", ".join(f"{KINDS.get(kind, kind)} {one[0]}/{one[1]}" for kind, one in tallies.items())
    return f"kept {kept} of {asked} facts (score {score:.2f})" + (f": {parts}" if parts else "")


def _rest(entry: dict[str, Any], *shown: str) -> Iterator[Text | str]:
    """The members that nothing above says."""
    yield from _members({name: value for name, value in entry.items() if name not in _HEAD and name not in shown})


def _members(members: dict[str, Any], indent: int = 4) -> Iterator[Text | str]:
    """A line each; what has several lines stands below its name."""
    space = " " * indent
    for name, value in members.items():
        called = safe.line(name)
        if isinstance(value, str) and "\n" in value:
            yield f"{space}{called}:"
            yield from _block(value, indent + 4)
        elif isinstance(value, str):
            yield f"{space}{called}: {safe.line(value)}"
        elif isinstance(value, dict | list) and value:
            yield f"{space}{called}:"
            yield from _json(value, indent + 4)
        else:
            yield f"{space}{called}: {_dumped(value)}"


def _json(value: Any, indent: int = 4) -> Iterator[str]:
    yield from _block(_dumped(value), indent)


def _dumped(value: Any) -> str:
    return safe.block(json.dumps(value, ensure_ascii=False, indent=2))


def _block(text: str, indent: int = 4) -> Iterator[str]:
    space = " " * indent
    for line in safe.block(text).strip("\n").split("\n"):
        yield f"{space}{line}" if line else ""


def _note(what: str) -> Text:
    from rich.text import Text

    return Text(f"    {safe.line(what)}", "italic")
