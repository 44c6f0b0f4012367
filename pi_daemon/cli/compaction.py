"""`pi-daemon plan` and `compact`: what a compaction would do, and what one did."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from pi_daemon_client import ABSENT, Absent, ServerError
from pi_daemon_client.types import CompactionPlanResult, CompactResult, Retention, SummarizeParams

from pi_daemon.cli import safe
from pi_daemon.cli.exits import Exit, Failure
from pi_daemon.cli.naming import Opened, with_session
from pi_daemon.cli.output import Output, plural
from pi_daemon.cli.reach import Where

if TYPE_CHECKING:
    from rich.text import Text

T = TypeVar("T")

KINDS = {
    "request": "last request",
    "constraint": "rules of the user",
    "unfinished": "open items",
    "superseded": "overtaken items not restated",
    "openCall": "open calls",
    "error": "errors",
    "overcome": "errors overcome",
    "modified": "files modified",
    "commit": "commits",
    "reference": "references",
    "read": "files read",
}
"""The kinds of facts that a summary is asked for, in words."""

FILES = 20
"""Files that are named without --full."""


@dataclass(frozen=True)
class Asked:
    """What was typed of a compaction. `summary`: a file with the text, `-` for stdin."""

    keep_recent_tokens: int | None = None
    reserve_tokens: int | None = None
    instructions: str | None = None
    summary: Path | None = None
    summarizer: str | None = None
    policy: Literal["report", "amend", "refuse"] = "amend"
    open_calls: Literal["wait", "refuse", "ignore"] = "refuse"
    window: int | None = None

    def text(self) -> str | Absent:
        """Raises Failure."""
        if self.summary is None:
            return ABSENT
        try:
            return sys.stdin.read() if str(self.summary) == "-" else self.summary.read_text("utf-8")
        except UnicodeDecodeError:
            raise Failure(Exit.FAILED, f"{self.summary} is no text in UTF-8.", reason="noSummary") from None
        except OSError as error:
            raise Failure(Exit.FAILED, f"{self.summary} can't be read: {error.strerror}.", reason="noSummary") from None


async def plan(where: Where, output: Output, name: str, asked: Asked, *, full: bool) -> None:
    async def show(opened: Opened) -> None:
        async with output.working("Planning"):
            found = await opened.client.compaction_plan(
                opened.id,
                keep_recent_tokens=_given(asked.keep_recent_tokens),
                reserve_tokens=_given(asked.reserve_tokens),
                instructions=_given(asked.instructions),
                context_window=_given(asked.window),
                requests=full,
            )
        if output.as_json:
            output.json({"sessionId": opened.id, **found})
        else:
            _draw_plan(output, found, full)

    await with_session(where, name, output, show)


async def compact(where: Where, output: Output, name: str, asked: Asked, *, full: bool) -> None:
    summary = asked.text()

    async def do(opened: Opened) -> None:
        before = None if output.as_json else await opened.client.context(opened.id)
        try:
            async with output.working("Compacting") as progress:
                done = await opened.client.compact(
                    opened.id,
                    keep_recent_tokens=_given(asked.keep_recent_tokens),
                    reserve_tokens=_given(asked.reserve_tokens),
                    instructions=_given(asked.instructions),
                    summary=summary,
                    summarizer=_given(asked.summarizer),
                    retention=asked.policy,
                    open_calls=asked.open_calls,
                    progress=progress,
                )
        except ServerError as error:
            if "retention" in error.data and not output.as_json:
                output.print(*_facts(error.data["retention"]))
            raise
        if output.as_json:
            output.json({"sessionId": opened.id, **done})
            return
        after = await opened.client.context(opened.id)
        assert before is not None
        draw_compaction(output, done, len(before["messages"]), len(after["messages"]), name, full=full)

    await with_session(where, name, output, do, write=True)


def _given(value: T | None) -> T | Absent:
    return ABSENT if value is None else value


def _draw_plan(output: Output, found: CompactionPlanResult, full: bool) -> None:
    from rich.text import Text

    window = found["contextWindow"]
    share = f" of {window:,}" if window is not None else ""
    due = {True: "it is time to compact", False: "there is room yet", None: "no window is known"}
    leaving = len(found["summarizedEntryIds"]) + len(found["prefixEntryIds"])
    output.print(
        Text(f"{found['tokensBefore']:,}{share} tokens: {due[found['shouldCompact']]}", "bold"),
        f"Summarized: {plural(leaving, 'message')}, about "
        f"{plural(max(0, found['tokensBefore'] - found['tokensKept']), 'token')}"
        + (f", {len(found['prefixEntryIds'])} of them the beginning of a turn that is cut" * found["isSplitTurn"]),
        f"Kept: about {plural(found['tokensKept'], 'token')}, from {safe.line(found['firstKeptEntryId'])} on",
        f"Summarizer: {found['summarizer'] or 'none is there'}",
    )
    if found["openCalls"]:
        tools = ", ".join(dict.fromkeys(safe.line(call["toolName"]) for call in found["openCalls"]))
        output.print(f"A call of {tools} at the leaf has no result yet: `compact` refuses unless told --open-calls.")
    if found["previousCompactionId"] is not None:
        output.print(f"Updates the summary of {safe.line(found['previousCompactionId'])}")
    _draw_files(output, found["readFiles"], found["modifiedFiles"], full)
    for request in found.get("requests", []):
        _draw_request(output, request)


def _draw_files(output: Output, read: list[str], modified: list[str], full: bool) -> None:
    for title, paths in (("Modified", modified), ("Read", read)):
        if not paths:
            continue
        shown = paths if full or len(paths) <= FILES + 1 else paths[:FILES]
        more = [f"    ... {len(paths) - len(shown):,} more (--full shows them)"] if len(shown) < len(paths) else []
        output.print(f"{title}:", *(f"    {safe.line(path)}" for path in shown), *more)


def _draw_request(output: Output, request: SummarizeParams) -> None:
    from rich.text import Text

    output.print("", Text(f"A model would be asked ({request['kind']}, {request['maxTokens']:,} tokens):", "bold"))
    output.print(safe.block(request["systemPrompt"]), "", safe.block(request["conversation"]), "")
    output.print(safe.block(request["prompt"]))


def draw_compaction(
    output: Output,
    done: CompactResult,
    messages_before: int,
    messages_after: int,
    name: str | None = None,
    *,
    full: bool = False,
) -> None:
    """`name`: what the session was called on the command line."""
    from rich.table import Table
    from rich.text import Text

    model = f", {safe.line(done['model'])}" if "model" in done else ""
    output.print(Text(f"Compacted by {safe.line(done['entryId'])} ({done['summarizer']}{model})", "bold"))
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("")
    for heading in ("before", "after"):
        table.add_column(heading, justify="right")
    table.add_row("messages", f"{messages_before:,}", f"{messages_after:,}")
    table.add_row("tokens, about", f"{done['tokensBefore']:,}", f"{done['tokensAfter']:,}")
    output.table(table)
    if done["tokensAfter"] >= done["tokensBefore"]:
        output.warn("The context has not become smaller: what was summarized was no longer than the summary.")
    output.print("", *_facts(done["retention"]))
    if full:
        output.print("", safe.block(done["summary"]))
    elif name is not None:
        output.print(shown_by(name, done["entryId"]))


def shown_by(name: str, entry_id: str) -> Text:
    """How to read a summary later."""
    from rich.text import Text

    return Text(f"`pi-daemon show {safe.line(shlex.quote(name))} {safe.line(entry_id)}` shows the summary.", "dim")


def _facts(retention: Retention) -> list[Text | str]:
    """What the summary kept, and what it didn't."""
    from rich.text import Text

    tallies = retention["kinds"]
    if not tallies:
        return ["There were no facts to ask the summary for."]
    kept = sum(tally["kept"] for tally in tallies.values())
    asked = sum(tally["asked"] for tally in tallies.values())
    lines: list[Text | str] = [
        Text.assemble(
            (f"The summary had {kept} of {asked} facts", "bold"),
            f", which scores {retention['score']:.2f}: what costs most to lose weighs most",
        )
    ]
    parts = [f"{KINDS.get(kind, kind)} {tally['kept']}/{tally['asked']}" for kind, tally in tallies.items()]
    lines.append("    " + safe.line(", ".join(parts)))
    if retention["missing"]:
        added = retention["policy"] == "amend"
        words = "It lacked these, and they were added as far as there is room:" if added else "It lacks:"
        lines.append(words + (f" (score now {retention['scoreAfter']:.2f})" if added else ""))
        for fact in retention["missing"]:
            lines.append(Text(f"    {KINDS.get(fact['kind'], fact['kind'])}: {safe.line(fact['text'])}", "yellow"))
    if retention["missingLeftOut"]:
        lines.append(f"    ... and {retention['missingLeftOut']:,} more")
    return lines
