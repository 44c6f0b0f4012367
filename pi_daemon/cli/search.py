"""`pi-daemon search`: where something was said."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from typing import TYPE_CHECKING

from msgspec import Struct
from pi_daemon_client import ABSENT, AsyncClient
from pi_daemon_client.types import SearchHit, SearchResult

from pi_daemon.cli import safe
from pi_daemon.cli.exits import Exit
from pi_daemon.cli.listing import home, unique, when
from pi_daemon.cli.output import Output, plural
from pi_daemon.cli.reach import Where, reach

if TYPE_CHECKING:
    from rich.text import Text

POLL = 0.1
"""Seconds between two looks whether all is indexed."""

MOST_PAGES = 200
"""That are asked for without one hit in them."""


_GOES_ON = "Without a running daemon (`pi-daemon serve`) that goes on only while a command runs."

_ROLES = (
    *("user", "assistant", "toolResult", "bashExecution", "custom", "system"),
    *("compaction", "branch_summary", "custom_message", "session_info", "label"),
)
"""Roles of messages and types of entries that pi writes; an extension may have others."""


class Asked(Struct, frozen=True):
    query: str
    cwd: str | None = None
    role: str | None = None
    model: str | None = None
    label: str | None = None
    after: str | None = None
    before: str | None = None


async def search(where: Where, output: Output, asked: Asked, *, limit: int, wait: float) -> Exit:
    """`limit` 0: all. `wait`: seconds for the index to be complete."""
    most = limit or sys.maxsize
    async with reach(where, output) as client, output.working("Searching") as progress:
        until = time.monotonic() + wait
        while True:
            first = await _page(client, asked, None, most)
            if first["complete"] or time.monotonic() >= until:
                break
            progress({"message": "Indexing what was said", "percentage": int(100 * first["indexed"])})
            await asyncio.sleep(POLL)
        hits, more = await _rest(client, asked, first, most)
    code = Exit.OK if hits else Exit.NOT_FOUND
    if output.as_json:
        output.json({"hits": hits, "complete": first["complete"], "indexed": first["indexed"], "more": more})
        return code
    if not hits:
        output.print("Nothing was found." + _unknown_role(asked.role))
    draw(output, hits, asked.query)
    if more:
        output.print(f"The first {plural(len(hits), 'hit')}; --limit 0 shows all.")
    if not first["complete"]:
        output.warn(
            f"{first['indexed']:.0%} of what was said is indexed so far: search again, or give --wait. {_GOES_ON}"
        )
    return code


def _unknown_role(role: str | None) -> str:
    if role is None or role in _ROLES:
        return ""
    return f" pi writes no {safe.line(role)!r}; --role takes {', '.join(_ROLES[:-1])} and {_ROLES[-1]}."


async def _page(client: AsyncClient, asked: Asked, cursor: str | None, limit: int) -> SearchResult:
    return await client.search(
        asked.query,
        cwd=asked.cwd if asked.cwd is not None else ABSENT,
        role=asked.role if asked.role is not None else ABSENT,
        model=asked.model if asked.model is not None else ABSENT,
        label=asked.label if asked.label is not None else ABSENT,
        after=asked.after if asked.after is not None else ABSENT,
        before=asked.before if asked.before is not None else ABSENT,
        cursor=cursor if cursor is not None else ABSENT,
        limit=min(limit, 100),
    )


async def _rest(client: AsyncClient, asked: Asked, page: SearchResult, limit: int) -> tuple[list[SearchHit], bool]:
    hits = list(page["hits"])
    pages = 0
    while len(hits) < limit and "nextCursor" in page and pages < MOST_PAGES:
        page = await _page(client, asked, page["nextCursor"], limit - len(hits))
        hits += page["hits"]
        pages += not page["hits"]
    return hits[:limit], "nextCursor" in page or len(hits) > limit


def draw(output: Output, hits: list[SearchHit], query: str) -> None:
    from rich.text import Text

    names = unique([hit["sessionId"] for hit in hits])
    marks = _marks(query)
    dot, other = ("●", "○") if output.unicode else ("*", "o")
    for hit in hits:
        title = safe.line(hit["name"] or home(hit["cwd"]))
        about = (f" {when(hit['timestamp'])}  {safe.line(hit.get('role') or hit['type'])}", "dim")
        on_path = dot if hit["onPath"] else other
        entry = safe.line(hit["entryId"])
        output.line(
            Text.assemble(on_path, " ", (safe.line(names[hit["sessionId"]]), "cyan"), " ", entry, about, "  ", title)
        )
        output.line(_marked(Text("    " + safe.line(hit["snippet"])), marks))
    if any(not hit["onPath"] for hit in hits):
        output.print(Text(f"{other} on a branch that was left", "dim"))


def _marks(query: str) -> re.Pattern[str] | None:
    words = [found for pair in re.findall(r'"([^"]*)"|([^\s"]+)', query) for found in pair if found.strip()]
    if not words:
        return None
    ordered = sorted(words, key=len, reverse=True)
    return re.compile("|".join(r"\s+".join(map(re.escape, word.split())) for word in ordered), re.IGNORECASE)


def _marked(text: Text, marks: re.Pattern[str] | None) -> Text:
    if marks is not None:
        text.highlight_regex(marks, "bold yellow")
    return text
