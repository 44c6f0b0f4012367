"""`pi-daemon why`: why the model knows an entry, a text or all there is, or why it doesn't."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from pi_daemon_client import ABSENT, Absent, ServerError
from pi_daemon_client.types import ExplainedEntry, ExplainResult

from pi_daemon.cli import safe
from pi_daemon.cli.exits import Exit, Failure
from pi_daemon.cli.naming import LEAF, Opened, entry_id, with_session
from pi_daemon.cli.output import Output, plural
from pi_daemon.cli.reach import Where
from pi_daemon.cli.reasons import FACT, groups, phrase

if TYPE_CHECKING:
    from rich.text import Text

MARKS = ("●", "×")
"""In the context and not; what both mean is said under the table."""

ASCII_MARKS = ("*", "x")

_ID = 8
"""Characters of an entry's id in the table: all of those that pi makes."""

FACTS = 5
"""Facts of an entry that are named."""

_MANY = 3
"""Hits of a text above which each is told of in few words."""

EXAMPLES = 3
"""Ids that are named of entries which are counted together."""

_RANGES = 3
"""Stretches of the path that are told of them; where there are more, where the first begins and the last ends."""


async def why(
    where: Where,
    output: Output,
    name: str,
    *,
    entry: str | None,
    query: str | None,
    leaf: str | None,
    every: bool,
    recover: bool,
) -> Exit | None:
    """`every`: each entry in a line, where they are summed up by their reasons else. Raises Failure."""
    if every and (entry is not None or query is not None):
        raise Failure(Exit.USAGE, "--all is for all entries: leave out ENTRY and --query.", reason="invalidParams")
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
                previews = every or query is not None or output.as_json
                found = await opened.client.whole_explanation(
                    opened.id, query=searched, leaf_id=leaf_id, previews=previews, progress=progress
                )
        if output.as_json:
            output.json({"sessionId": opened.id, **found})
        elif entry is not None:
            for one in found["entries"]:
                draw_entry(output, one)
        elif query is not None:
            draw_hits(output, found, query)
        elif every:
            draw_table(output, found)
        else:
            path = await opened.client.path(opened.id, leaf_id=found["leafId"])
            draw_reasons(output, found, path["entryIds"])
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


def sentence(entry: ExplainedEntry, *, brief: bool = False) -> str:
    """One sentence, safe for a terminal."""
    name = safe.line(entry["id"]) if entry["id"] is not None else f"line {entry.get('line', '?')}"
    said = safe.line(phrase(entry, brief=brief))
    return f"{name} is in the context: {said}" if entry["inContext"] else f"{name} is not in the context: {said}"


def draw_entry(output: Output, entry: ExplainedEntry) -> None:
    from rich.text import Text

    output.wrapped(Text(sentence(entry), "bold"), 4)
    if shown := entry.get("preview"):
        output.print(Text(f"    {_kind(entry)}: {safe.line(shown)}", "dim"))
    if "facts" in entry:
        facts = entry["facts"]
        missing = facts["missing"][:FACTS]
        if facts["asked"] == 1 and missing and len(missing[0]["text"]) <= FACT:
            return  # the sentence has it whole
        for fact in missing:
            output.print(Text(f"    not in the summary: {fact['kind']}: {safe.line(fact['text'])}"))
        rest = facts["asked"] - facts["kept"] - len(missing)
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
        output.wrapped(
            Text(sentence(hit, brief=len(hits) > _MANY) + _instead(hit), "" if hit.get("textInContext") else "dim"), 4
        )
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
    output.print(_total(found))
    counts = Counter(groups(entry) for entry in entries if not entry["inContext"])
    for group, count in counts.most_common():
        output.print(f"{count:>8,}  {safe.line(group)}")
    if entries:
        output.print(Text(f"{marks[0]} in the context  {marks[1]} not", "dim"))


def draw_reasons(output: Output, found: ExplainResult, path: Sequence[str]) -> None:
    """How many entries are in the context and out of it for the same reason, which part of the path they are, and some
    of their ids."""
    from rich.text import Text

    places = {id: number for number, id in enumerate(path, 1)}
    output.print(_total(found))
    if path:
        output.print(f"The path to it has {plural(len(path), 'entry', 'entries')}.")
    for inside, heading in ((True, "In the context:"), (False, "Not in the context:")):
        alike: defaultdict[str, list[str | None]] = defaultdict(list)
        for entry in found["entries"]:
            if entry["inContext"] == inside:
                alike[groups(entry)].append(entry["id"])
        if alike:
            output.print(Text(heading, "bold"))
        for group, ids in sorted(alike.items(), key=lambda pair: -len(pair[1])):
            named = [id for id in ids if id is not None]
            said = [group, *_stretches([places[id] for id in named if id in places])]
            output.wrapped(Text(f"{len(ids):>8,}  {safe.line('; '.join([*said, *_examples(named)]))}"), 10)
    if found["entries"]:
        output.print(Text("--all lists each of them, `pi-daemon why SESSION ENTRY` says more of one.", "dim"))


def _total(found: ExplainResult) -> Text:
    from rich.text import Text

    entries, leaf = found["entries"], found["leafId"]
    inside = sum(entry["inContext"] for entry in entries)
    at = f"at {safe.line(leaf)}" if leaf is not None else "before the first entry"
    there = sum(entry["reason"] != "damagedLine" for entry in entries)
    return Text(f"{plural(there, 'entry', 'entries')}, {inside:,} in the context {at}", "bold")


def _stretches(places: Sequence[int]) -> Iterator[str]:
    """Which part of the path that is, if any."""
    ordered = sorted(places)
    # What follows without a gap has the same distance to its number.
    runs = [list(run) for _, run in groupby(enumerate(ordered), key=lambda pair: pair[1] - pair[0])]
    ranges = [(run[0][1], run[-1][1]) for run in runs]
    if len(ranges) > _RANGES:
        yield f"path {ordered[0]:,}-{ordered[-1]:,} here and there"
    elif ranges:
        yield "path " + ", ".join(f"{first:,}" if first == last else f"{first:,}-{last:,}" for first, last in ranges)


def _examples(ids: Sequence[str]) -> Iterator[str]:
    if ids:
        yield ", ".join(id[:_ID] for id in ids[:EXAMPLES]) + (", ..." if len(ids) > EXAMPLES else "")


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
