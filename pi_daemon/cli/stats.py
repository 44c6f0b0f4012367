"""`pi-daemon stats`: what a session amounts to, by model and by branch, and how full its context is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pi_daemon_client.types import BranchStats, Failures, ModelStats, StatsResult, TokenTotals

from pi_daemon.cli import columns, safe, titles
from pi_daemon.cli.columns import Column
from pi_daemon.cli.listing import unique, when
from pi_daemon.cli.naming import Opened, with_session
from pi_daemon.cli.output import Output, plural
from pi_daemon.cli.reach import Where
from pi_daemon.session.dates import duration

if TYPE_CHECKING:
    from rich.text import Text

BRANCHES = 20
"""Rows of the table of branches without --full."""

METER = 40
"""Columns of the meter."""


async def stats(where: Where, output: Output, name: str, *, window: int | None, full: bool, recover: bool) -> None:
    """`window` in tokens, where the session isn't set to one."""

    async def show(opened: Opened) -> None:
        async with output.working("Adding up"):
            found = await opened.client.stats(opened.id)
        if window is not None and found["contextWindow"] is None:
            found = _with_window(found, window, opened.state["options"].get("reserveTokens") or 0)
        if output.as_json:
            output.json(found)
        else:
            draw(output, found, title=await titles.of_opened(output, opened.client, opened.state), full=full)

    await with_session(where, name, output, show, recover=recover)


def _with_window(found: StatsResult, window: int, reserve: int) -> StatsResult:
    threshold = max(0, window - reserve)
    found["contextWindow"], found["contextThreshold"] = window, threshold
    found["contextShare"] = found["contextTokens"] / window
    found["shouldCompact"] = found["contextTokens"] > threshold
    return found


def draw(output: Output, found: StatsResult, *, title: str, full: bool) -> None:
    from rich.text import Text

    output.print(Text.assemble((title, "bold"), f"  {safe.line(found['sessionId'])}"))
    for line in _facts(found):
        output.print(line)
    output.print(_meter(output, found))
    if found["models"]:
        output.print("")
        _models(output, found["models"])
    if len(found["branches"]) > 1:
        output.print("")
        _branches(output, found["branches"], full)


def _facts(found: StatsResult) -> list[str]:
    roles, time = found["messagesByRole"], found["time"]
    said = ", ".join(f"{number:,} {safe.line(role) or 'unknown'}" for role, number in roles.items())
    lines = [
        f"entries     {found['entryCount']:,}, {plural(found['messageCount'], 'message')}"
        + (f": {said}" if said else ""),
        f"tool calls  {found['toolCalls']:,}",
        f"failures    {_failures(found['failures'])}",
        f"tokens      {_tokens(found['tokens'])}",
        f"cost        {found['tokens']['cost']:,.4f}",
    ]
    repeated = found["repeated"]
    if repeated["count"]:
        copies = plural(repeated["count"], "copy", "copies")
        lines.append(f"            of that {repeated['tokens']['cost']:,.4f} in {copies} of replies that count already")
    if time["first"] is not None and time["last"] is not None:
        lines.append(f"time        {when(time['first'])} to {when(time['last'])}, {duration(time['active'])} of work")
    return lines


def _failures(found: Failures) -> str:
    parts = [
        plural(found["toolResults"], "tool result") if found["toolResults"] else "",
        plural(found["errors"], "answer") + " with an error" if found["errors"] else "",
        plural(found["aborted"], "answer") + " aborted" if found["aborted"] else "",
    ]
    return ", ".join(filter(None, parts)) or "none"


def _tokens(found: TokenTotals) -> str:
    return (
        f"{found['input']:,.0f} in, {found['output']:,.0f} out, {found['cacheRead']:,.0f} read from cache, "
        f"{found['cacheWrite']:,.0f} written to it"
    )


def _meter(output: Output, found: StatsResult) -> Text:
    """How much of the window the context takes; a mark where a compaction is due."""
    from rich.text import Text

    tokens, window, threshold = found["contextTokens"], found["contextWindow"], found["contextThreshold"]
    if window is None or threshold is None:
        return Text(f"context     about {plural(tokens, 'token')}; --window N shows how much of a window that is")
    full, empty, mark = ("█", "░", "│") if output.unicode else ("#", ".", "|")
    share = tokens / window
    filled, at = min(METER, round(METER * share)), min(METER - 1, round(METER * threshold / window))
    cells = [full] * filled + [empty] * (METER - filled)
    cells[at] = mark
    due = found["shouldCompact"]
    style = "red" if due else "yellow" if tokens > 0.8 * threshold else "green"
    return Text.assemble(
        "context     ",
        ("".join(cells), style),
        f" {100 * share:.0f} %, about {tokens:,} of {plural(window, 'token')}",
        ("; a compaction is due" if due else f"; compaction from {threshold:,}", style if due else ""),
    )


def _models(output: Output, models: Sequence[ModelStats]) -> None:
    columns.draw(
        output,
        [
            Column("model", [_model(row) for row in models], name=True, style="cyan"),
            Column("answers", [f"{row['answers']:,}" for row in models], 3),
            Column("calls", [f"{row['toolCalls']:,}" for row in models], 4),
            Column("failed", [_failed(row["failures"]) for row in models], 5),
            *_sums([row["tokens"] for row in models]),
        ],
    )


def _model(row: ModelStats) -> str:
    model = row["model"]
    if model is not None:
        return safe.line(f"{model['provider']}/{model['modelId']}")
    return "summaries and tools" if row["models"] == 1 else f"{row['models']:,} others"


def _branches(output: Output, branches: Sequence[BranchStats], full: bool) -> None:
    shown = branches if full or len(branches) <= BRANCHES + 1 else branches[:BRANCHES]
    names = unique([name for row in branches for name in (row["tip"], row["leftAt"]) if name is not None])
    lasts = [row["time"]["last"] for row in shown]
    columns.draw(
        output,
        [
            Column("branch to", [_tip(row, names) for row in shown], name=True, style="cyan"),
            Column("leaves at", [_left(row, names) for row in shown], 3, name=True),
            Column("last entry", [when(last) if last else "" for last in lasts], 9),
            Column("work", [duration(row["time"]["active"]) for row in shown], 8),
            Column("entries", [f"{row['entryCount']:,}" for row in shown]),
            Column("calls", [f"{row['toolCalls']:,}" for row in shown], 4),
            Column("failed", [_failed(row["failures"]) for row in shown], 5),
            *_sums([row["tokens"] for row in shown]),
        ],
    )
    if len(shown) < len(branches):
        output.print(f"{len(branches) - len(shown):,} more (--full shows them)")


def _tip(row: BranchStats, names: Mapping[str, str]) -> str:
    if row["tip"] is not None:
        return safe.line(names[row["tip"]])
    return "(before the first)" if row["main"] else f"{row['branches']:,} others"


def _left(row: BranchStats, names: Mapping[str, str]) -> str:
    if row["main"]:
        return "(the active path)"
    return safe.line(names[row["leftAt"]]) if row["leftAt"] else ""


def _sums(rows: Sequence[TokenTotals]) -> list[Column]:
    return [
        Column("in", [f"{tokens['input']:,.0f}" for tokens in rows], 1),
        Column("out", [f"{tokens['output']:,.0f}" for tokens in rows], 2),
        Column("cache read", [f"{tokens['cacheRead']:,.0f}" for tokens in rows], 6),
        Column("cache write", [f"{tokens['cacheWrite']:,.0f}" for tokens in rows], 7),
        Column("cost", [f"{tokens['cost']:,.4f}" for tokens in rows]),
    ]


def _failed(found: Failures) -> str:
    return f"{found['toolResults'] + found['errors'] + found['aborted']:,}"
