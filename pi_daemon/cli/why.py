"""`pi-daemon why`: why the model knows an entry, a text or all there is, or why it doesn't."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pi_daemon_client import ABSENT, Absent, ServerError
from pi_daemon_client.types import ExplainedEntry, ExplainResult

from pi_daemon.cli import safe
from pi_daemon.cli.exits import Exit, Failure
from pi_daemon.cli.naming import LEAF, Opened, entry_id, with_session
from pi_daemon.cli.output import Output, plural
from pi_daemon.cli.reach import Where
from pi_daemon.cli.reasons import groups, phrase

if TYPE_CHECKING:
    from rich.text import Text

MARKS = ("●", "×")
"""In the context and not; what both mean is said under the table."""

ASCII_MARKS = ("*", "x")

_ID = 8
"""Characters of an entry's id in the table: all of those that pi makes."""


async def why(
    where: Where,
    output: Output,
    name: str,
    *,
    entry: str | None,
    query: str | None,
    leaf: str | None,
    recover: bool,
) -> Exit | None:
    if entry is not None and query is not None:
        raise Failure(Exit.USAGE, "Name an entry, or search a text with --query: not both.", reason="invalidParams")
    if query == "":
        raise Failure(Exit.USAGE, "Give --query a text.", reason="invalidParams")

    async def show(opened: Opened) -> Exit | None:
        leaf_id = ABSENT if leaf is None else await entry_id(opened, leaf)
        async with output.working("Looking through the session") as progress:
            if entry is not None:
                found = await _one(opened, entry, leaf_id)
            else:
                searched = ABSENT if query is None else query
                found = await opened.client.whole_explanation(
                    opened.id, query=searched, leaf_id=leaf_id, previews=True, progress=progress
                )
        if output.as_json:
            output.json({"sessionId": opened.id, **found})
        elif entry is not None:
            for one in found["entries"]:
                draw_entry(output, one)
        elif query is not None:
            draw_hits(output, found, query)
        else:
            draw_table(output, found)
        return Exit.NOT_FOUND if query is not None and not found["entries"] else None

    return await with_session(where, name, output, show, recover=recover)


async def _one(opened: Opened, name: str, leaf_id: str | Absent) -> ExplainResult:
    """By its id first, which may stand on a damaged line, else as entries are named."""
    if name != LEAF:
        try:
            return await opened.client.explain(opened.id, entry_id=name, leaf_id=leaf_id)
        except ServerError as error:
            if error.reason != "entryNotFound":
                raise
    return await opened.client.explain(opened.id, entry_id=await entry_id(opened, name), leaf_id=leaf_id)


def sentence(entry: ExplainedEntry) -> str:
    """One sentence, safe for a terminal."""
    name = safe.line(entry["id"]) if entry["id"] is not None else f"line {entry.get('line', '?')}"
    said = safe.line(phrase(entry))
    return f"{name} is in the context: {said}" if entry["inContext"] else f"{name} is not in the context: {said}"


def draw_entry(output: Output, entry: ExplainedEntry) -> None:
    from rich.text import Text

    output.wrapped(Text(sentence(entry), "bold"), 4)
    if shown := entry.get("preview"):
        output.print(Text(f"    {_kind(entry)}: {safe.line(shown)}", "dim"))
    if "facts" in entry:
        missing = entry["facts"]["missing"]
        for fact in missing:
            output.print(Text(f"    not in the summary: {fact['kind']}: {safe.line(fact['text'])}"))
        rest = entry["facts"]["asked"] - entry["facts"]["kept"] - len(missing)
        if rest > 0:
            output.print(Text(f"    ... {rest} more", "dim"))


def draw_hits(output: Output, found: ExplainResult, query: str) -> None:
    from rich.text import Text

    hits = found["entries"]
    wanted = safe.line(query)
    if not hits:
        output.print(f"No entry has {wanted!r}.")
        return
    known = [hit for hit in hits if hit.get("textInContext")]
    has = "has" if len(hits) == 1 else "have"
    if not known:
        verdict = "it is in the file, but the model doesn't know it"
    elif len(hits) == 1:
        verdict = (
            "the model is sent it" if hits[0]["inContext"] else "the model is sent it in what stands for the entry"
        )
    else:
        inside = sum(hit["inContext"] for hit in known)
        ways = [f"with {inside} of them"] if inside else []
        ways += [f"in what stands for {len(known) - inside} of them"] if inside < len(known) else []
        verdict = f"the model is sent it {' and '.join(ways)}"
    output.print(Text(f"{plural(len(hits), 'entry', 'entries')} {has} {wanted!r}: {verdict}", "bold"))
    for hit in hits:
        output.wrapped(Text(sentence(hit) + _instead(hit), "" if hit.get("textInContext") else "dim"), 4)
        output.print(Text.assemble(f"    {_kind(hit)}, {hit.get('foundIn', '')}: ", safe.line(hit.get("snippet", ""))))


def _instead(hit: ExplainedEntry) -> str:
    """Where the text isn't where the entry is, or is although the entry isn't."""
    known = hit.get("textInContext")
    if hit["inContext"] and not known:
        if hit.get("foundIn") == "details":
            return "; its text is in `details`, which is never sent"
        return "; what is sent in its place doesn't have the text"
    if known and not hit["inContext"]:
        return "; it has the text" if hit["reason"] == "edit" else "; what stands for it has the text"
    return ""


def draw_table(output: Output, found: ExplainResult) -> None:
    from rich.text import Text

    entries = found["entries"]
    marks = MARKS if output.unicode else ASCII_MARKS
    width = max((len(_kind(entry)) for entry in entries), default=0)
    for entry in entries:
        output.line(_row(entry, marks, min(width, 21)))
    inside = sum(entry["inContext"] for entry in entries)
    leaf = found["leafId"]
    at = f"at {safe.line(leaf)}" if leaf is not None else "before the first entry"
    there = sum(entry["reason"] != "damagedLine" for entry in entries)
    output.print(Text(f"{plural(there, 'entry', 'entries')}, {inside:,} in the context {at}", "bold"))
    counts = Counter(group for entry in entries if (group := groups(entry)) is not None)
    for group, count in counts.most_common():
        output.print(f"{count:>8,}  {safe.line(group)}")
    if entries:
        output.print(Text(f"{marks[0]} in the context  {marks[1]} not", "dim"))


def _row(entry: ExplainedEntry, marks: tuple[str, str], width: int) -> Text:
    from rich.text import Text

    inside = entry["inContext"]
    name = safe.line(entry["id"] or "")[:_ID]
    text = Text(no_wrap=True)
    text.append(marks[0] if inside else marks[1], "bold" if inside else "dim")
    text.append(f" {name:<{_ID}} {_kind(entry)[:width]:<{width}} ", "" if inside else "dim")
    text.append(safe.line(phrase(entry)), "" if inside else "dim")
    if shown := entry.get("preview"):
        text.append(f"  {safe.line(shown)}", "italic" if inside else "dim italic")
    return text


def _kind(entry: ExplainedEntry) -> str:
    return safe.line(entry.get("role") or entry.get("type") or "damaged")
