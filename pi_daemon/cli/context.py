"""`pi-daemon context`: what the model is sent at a leaf, message by message."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from pi_daemon_client import ABSENT, dumps
from pi_daemon_client.types import ContextResult, Problem

from pi_daemon.cli import safe
from pi_daemon.cli.naming import Opened, entry_id, with_session
from pi_daemon.cli.output import Output, plural
from pi_daemon.cli.reach import Where

if TYPE_CHECKING:
    from rich.text import Text

LINES = 12
"""Lines of a text that are shown without --full."""

ARGUMENTS = 200
"""Characters of a tool call's arguments that are shown without --full."""

CALLS = 5
"""Tool calls with the same problem that are named without --full."""

_MEANINGS = {
    "resultWithoutCall": ("a tool result without its call", "tool results without their calls"),
    "callWithoutResult": ("a call without a result", "calls without a result"),
}
"""Of one, and of several."""

_ORDINARY_STOPS = (None, "", "stop", "toolUse")

_ROLE_STYLES = {
    "user": "bold cyan",
    "assistant": "bold green",
    "toolResult": "bold blue",
    "system": "bold magenta",
}


async def context(
    where: Where,
    output: Output,
    name: str,
    *,
    leaf: str | None,
    format: str,
    pairing: str,
    full: bool,
    recover: bool,
) -> None:
    async def show(opened: Opened) -> None:
        async with output.working("Reading the context"):
            leaf_id = ABSENT if leaf is None else await entry_id(opened, leaf)
            found = await opened.client.context(opened.id, leaf_id=leaf_id, format=format, pairing=pairing)  # type: ignore[arg-type]
        if output.as_json:
            output.json({"sessionId": opened.id, **found})
        else:
            draw(output, found, full=full, repaired=pairing == "repair")

    await with_session(where, name, output, show, recover=recover)


def draw(output: Output, found: ContextResult, *, full: bool = False, repaired: bool = False) -> None:
    """`repaired`: the problems are those that were there before."""
    from rich.text import Text

    model = found["model"]
    facts = [
        plural(len(found["messages"]), "message"),
        f"about {plural(found['tokens'], 'token')}",
        f"model {model['provider']}/{model['modelId']}" if model else "no model",
        f"thinking {found['thinkingLevel']}",
        f"leaf {found['leafId']}" if found["leafId"] is not None else "leaf before the first entry",
    ]
    if "compactionId" in found:
        facts.append(f"compacted by {found['compactionId']}")
    count = plural(len(found["problems"]), "problem") + (" mended" if repaired else "")
    output.print(
        Text.assemble(
            (safe.line("  ".join(facts)), "bold"), (f"  {count}" if found["problems"] else "", "bold red"), ""
        )
    )
    problems: defaultdict[str, list[Problem]] = defaultdict(list)
    for problem in found["problems"]:
        problems[problem["entryId"]].append(problem)
    for number, (message, source) in enumerate(zip(found["messages"], found["sources"], strict=True), 1):
        said = problems.pop(source, []) if not repaired else []
        notes = [Text(f"   problem: {one}", "bold red") for one in _by_kind(said, full, with_entries=False)]
        output.print(heading(number, message, source), *body(message, full=full), *notes)
    if found["problems"]:
        _summary(output, found["problems"], count, full=full, repaired=repaired)


def _summary(output: Output, problems: list[Problem], count: str, *, full: bool, repaired: bool) -> None:
    from rich.text import Text

    what = (
        "what was wrong in the session" if repaired else "a provider refuses such a request; --pairing repair mends it"
    )
    output.print(Text(f"{count}: {what}", "bold red"))
    for one in _by_kind(problems, full, with_entries=True):
        output.wrapped(Text(f"    {one}"), 8)


def _by_kind(problems: list[Problem], full: bool, *, with_entries: bool) -> Iterator[str]:
    """Those of a kind in one line, safe for a terminal: how many there are, and the calls with their entries."""
    alike: defaultdict[str, list[Problem]] = defaultdict(list)
    for problem in problems:
        alike[problem["kind"]].append(problem)
    for kind, those in alike.items():
        one, several = _MEANINGS[kind]
        named = those if full or len(those) <= CALLS + 1 else those[:CALLS]
        calls = [
            ", ".join(problem["toolCallId"] for problem in group) + (f" (in {entry})" if with_entries else "")
            for entry, group in groupby(named, key=lambda problem: problem["entryId"])
        ]
        meaning = one if len(those) == 1 else f"{len(those):,} {several}"
        more = f" and {len(those) - len(named):,} more (--full shows them)" if len(named) < len(those) else ""
        yield safe.line(f"{meaning}: {'; '.join(calls)}{more}")


def heading(number: int, message: Any, source: str) -> Text:
    from rich.text import Text

    role = str(message.get("role", "?")) if isinstance(message, dict) else "?"
    text = Text.assemble((f"{number:>3} ", "dim"), (safe.line(role), _ROLE_STYLES.get(role, "bold")))
    if role == "toolResult":
        failed = ", failed" if message.get("isError") else ""
        text.append(f" {safe.line(str(message.get('toolName', '')))}{failed}")
    text.append(f"  from {safe.line(source)}", "dim")
    usage = message.get("usage") if isinstance(message, dict) else None
    sent, made = (usage.get("input"), usage.get("output")) if isinstance(usage, dict) else (None, None)
    if isinstance(sent, int | float) and isinstance(made, int | float):
        text.append(f"  {sent:,} tokens in, {made:,} out", "dim")
    return text


def body(message: Any, *, full: bool) -> Iterator[Text]:
    """What is in a message, indented. Thinking and images are named, not shown."""
    if not isinstance(message, dict):
        return
    if message.get("role") == "bashExecution":
        yield from _quoted(f"$ {message.get('command', '')}\n{message.get('output', '')}", full)
    for name in ("summary", "content", "sections"):
        value = message.get(name)
        if isinstance(value, str):
            yield from _quoted(value, full)
        elif isinstance(value, dict):
            yield from _quoted("\n".join(f"{key}: {text}" for key, text in value.items()), full)
        elif isinstance(value, list):
            for part in value:
                yield from _part(part, full)
    yield from _end(message)


def _end(message: dict[str, Any]) -> Iterator[Text]:
    """How an answer ended that did not end well."""
    from rich.text import Text

    reason = message.get("stopReason")
    if message.get("role") == "assistant" and reason not in _ORDINARY_STOPS:
        why = message.get("errorMessage")
        yield Text(f"    ended: {safe.line(str(reason))}{f': {safe.line(str(why))}' if why else ''}", "red")


def _part(part: Any, full: bool) -> Iterator[Text]:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "text":
        yield from _quoted(str(part.get("text", "")), full)
    elif kind == "thinking":
        yield _note(f"(thinking, {len(str(part.get('thinking', ''))):,} characters)")
    elif kind == "image":
        yield _note(f"(image {part.get('mimeType', '')}, {len(str(part.get('data', ''))) * 3 // 4:,} bytes)")
    elif kind == "toolCall":
        arguments = dumps(part.get("arguments")).decode()
        if not full and len(arguments) > ARGUMENTS:
            arguments = f"{arguments[:ARGUMENTS]}... ({len(arguments):,} characters)"
        yield _note(f"calls {part.get('name')} {arguments}  (id {part.get('id')})")
    else:
        yield _note(f"({kind or 'something of an unknown kind'})")


def _note(what: str) -> Text:
    from rich.text import Text

    return Text(f"    {safe.line(what)}", "italic")


def _quoted(content: str, full: bool) -> Iterator[Text]:
    from rich.text import Text

    lines = safe.block(content).strip("\n").split("\n")
    shown = lines if full or len(lines) <= LINES + 1 else lines[:LINES]
    for line in shown:
        yield Text(f"    {line}")
    if len(shown) < len(lines):
        yield Text(f"    ... {len(lines) - len(shown):,} more lines (--full shows them)", "dim")
