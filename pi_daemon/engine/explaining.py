"""Why entries are in a context or not: those of a page, one of them, or those in which a text occurs.

The reasons come from heads. Bodies are read for what is asked beyond: a preview, a text that is searched, and what a
summary says of an entry that it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from pi_daemon.compaction.retention import Retention
from pi_daemon.compaction.told import counterparts, facts_kept
from pi_daemon.engine.live import LiveSession
from pi_daemon.engine.offload import HEAD_BYTES, offload
from pi_daemon.engine.snapshot import ExplanationSnapshot
from pi_daemon.session.errors import EntryNotFound, InvalidParams
from pi_daemon.session.explain import Explanation
from pi_daemon.session.head import Damage, Head
from pi_daemon.session.rawjson import loads
from pi_daemon.session.selection import Trail
from pi_daemon.session.view import preview
from pi_daemon.session.why import Explained
from pi_daemon.session.within import Found, Needle, Place, ids_in, texts_of

ROWS = 20_000
"""Entries in one page at most: some 3 MB of JSON."""

HITS = 100
"""Entries with a text in one page, unless more are asked for: a summary may have to be questioned for each."""

MOST_HITS = 1_000

PAGE_BYTES = 8 * 1024 * 1024
"""Bodies that are read for the previews of one page at most, but for a single larger one."""

PORTION_BYTES = 4 * 1024 * 1024
"""Bodies that are searched at a time."""

DAMAGED_BYTES = 1024 * 1024
"""Of a line that can't be read so much is looked at: it may be a hole of gigabytes."""

SNAPSHOTS = 4
"""Explanations of one session that clients may page through at a time; each costs some 300 bytes an entry."""

Progress = Callable[[int, int], None]


class Detail(Struct):
    """What was read of an entry. `id` is what it was asked for by, on a damaged line. `known`: what is sent in the
    entry's place has the text that was searched; `facts` are those that the summary `asked` names or lacks."""

    id: str | None = None
    preview: str | None = None
    found: Found | None = None
    known: bool | None = None
    asked: str | None = None
    facts: Retention | None = None


class Page(Struct):
    """`details` are as many as `rows`, or none where nothing was read."""

    rows: list[Explained]
    details: list[Detail]
    leaf_id: str | None
    revision: int
    next_cursor: str | None = None


async def begin(session: LiveSession, leaf_id: str | None) -> ExplanationSnapshot:
    """The explanation of the session as it is now. Raises EntryNotFound for an unknown leaf."""
    at = "-" if leaf_id is None else f"={leaf_id}"
    instance_id = session.instance_id
    key = f"{instance_id}:{session.revision}:{at}"
    if (kept := session.explanations.get(key)) is not None:
        return kept
    revision, tree, damage = session.revision, session.tree.frozen(), list(session.damage)
    trail = session.trail.branch() if leaf_id == session.leaf_id else None

    def make() -> Explanation:
        return Explanation(tree, trail or Trail(tree.path(leaf_id)), damage)

    return ExplanationSnapshot(instance_id, key, await offload(HEAD_BYTES * len(tree), make), leaf_id, revision)


def resume(session: LiveSession, cursor: str) -> tuple[ExplanationSnapshot, int]:
    """The explanation that a cursor belongs to, and where its page begins. Raises InvalidParams where it is gone."""
    key, _, index = cursor.rpartition(":")
    kept = session.explanations.get(key)
    # Of another instance the places of the lines may be others.
    known = kept is not None and key.startswith(f"{session.instance_id}:")
    if kept is None or not known or not (index.isascii() and index.isdecimal()):
        raise InvalidParams("This cursor is not valid any more; ask from the start.", path="cursor")
    return kept, int(index)


async def page(session: LiveSession, snapshot: ExplanationSnapshot, start: int, limit: int, previews: bool) -> Page:
    """All entries, `limit` at a time. Raises StorageFailed."""
    explanation = snapshot.explanation
    items = explanation.items(start, start + limit)
    if previews:
        items = items[: _fitting(items, PAGE_BYTES)]
    details = await _previews(session, snapshot, items) if previews else []
    rows = await offload(HEAD_BYTES * explanation.count, lambda: list(map(explanation.of, items)))
    return Page(rows, details, snapshot.leaf_id, snapshot.revision, _keep(session, snapshot, start + len(items)))


async def one(session: LiveSession, snapshot: ExplanationSnapshot, entry_id: str) -> Page:
    """The lines with that id: one, but where it was used again. Raises EntryNotFound, StorageFailed."""
    explanation = snapshot.explanation
    found: list[Head | Damage] = [head for head in explanation.tree.entries if head.id == entry_id]
    if not found:
        found += await _on_damaged_lines(session, snapshot, entry_id)
    if not found:
        raise EntryNotFound("The session has no such entry; read session/tree for those it has.", entryId=entry_id)
    rows = list(map(explanation.of, found))
    details = await _previews(session, snapshot, found)
    summaries = _Summaries(session, snapshot)
    for row, detail in zip(rows, details, strict=True):
        if row.head is None:
            detail.id = entry_id
        else:
            await _question(session, snapshot, row, detail, summaries)
    return Page(rows, details, snapshot.leaf_id, snapshot.revision)


async def search(
    session: LiveSession,
    snapshot: ExplanationSnapshot,
    query: str,
    start: int,
    limit: int,
    progress: Progress,
) -> Page:
    """The entries that have the text, `limit` at a time. Raises StorageFailed."""
    explanation, needle = snapshot.explanation, Needle(query)
    hits: list[tuple[int, Head | Damage, Found]] = []
    at = start
    while at < explanation.count and len(hits) <= limit:
        items = explanation.items(at, at + ROWS)
        items = items[: _fitting(items, PORTION_BYTES)]
        lines = await _lines(session, snapshot, items)
        found = await offload(sum(map(len, lines)), lambda i=items, raw=lines: _search(needle, i, raw))  # type: ignore[misc]
        hits += [(at + place, items[place], what) for place, what in found]
        at += len(items)
        progress(at, explanation.count)
    more = len(hits) > limit
    at = hits[limit][0] if more else explanation.count
    rows, details, summaries = [], [], _Summaries(session, snapshot)
    for _, item, what in hits[:limit]:
        row, detail = explanation.of(item), Detail(found=what)
        if row.head is not None:
            await _question(session, snapshot, row, detail, summaries)
        detail.known = await _known(row, detail.asked, what.place, needle, summaries)
        rows.append(row)
        details.append(detail)
    return Page(rows, details, snapshot.leaf_id, snapshot.revision, _keep(session, snapshot, at))


def _search(needle: Needle, items: Sequence[Head | Damage], lines: Sequence[bytes]) -> list[tuple[int, Found]]:
    found = []
    for place, (item, line) in enumerate(zip(items, lines, strict=True)):
        what = needle.in_damaged(line) if isinstance(item, Damage) else needle.in_entry(item, line)
        if what is not None:
            found.append((place, what))
    return found


async def _previews(
    session: LiveSession, snapshot: ExplanationSnapshot, items: Sequence[Head | Damage]
) -> list[Detail]:
    lines = await _lines(session, snapshot, items)

    def make() -> list[Detail]:
        return [
            Detail() if isinstance(item, Damage) else Detail(preview=preview(item, line))
            for item, line in zip(items, lines, strict=True)
        ]

    return await offload(sum(map(len, lines)), make)


async def _lines(session: LiveSession, snapshot: ExplanationSnapshot, items: Sequence[Head | Damage]) -> list[bytes]:
    """Those of entries as they are stored, the beginnings of damaged ones as they lie in the file."""
    heads = [_place(item) if isinstance(item, Damage) else item for item in items]
    if session.header.version > 1 or not any(isinstance(item, Damage) for item in items):
        return await session.lines(heads, of=snapshot.instance_id)
    # A line of version 1 is given its ids when it is read, which a damaged one can't be.
    entries = [item for item in items if isinstance(item, Head)]
    sound = iter(await session.lines(entries, of=snapshot.instance_id))
    return [b"" if isinstance(item, Damage) else next(sound) for item in items]


def _place(damage: Damage) -> Head:
    """A head for reading."""
    return Head("", "", None, "", damage.offset or 0, min(damage.length or 0, DAMAGED_BYTES), None)


async def _on_damaged_lines(session: LiveSession, snapshot: ExplanationSnapshot, entry_id: str) -> list[Damage]:
    broken = snapshot.explanation.broken
    lines = await _lines(session, snapshot, broken)
    return [damage for damage, line in zip(broken, lines, strict=True) if entry_id in ids_in(line)]


def _fitting(items: Sequence[Head | Damage], size: int) -> int:
    """How many of them have `size` bytes together, at least one."""
    total = 0
    for count, item in enumerate(items):
        total += item.length or 0
        if count and total > size:
            return count
    return len(items)


def _keep(session: LiveSession, snapshot: ExplanationSnapshot, end: int) -> str | None:
    """The cursor of the next page, if there is one; the last few explanations are kept for that."""
    kept, more = session.explanations, end < snapshot.explanation.count
    kept.pop(snapshot.key, None)
    if more and session.instance_id == snapshot.instance_id:
        kept[snapshot.key] = snapshot
    while len(kept) > SNAPSHOTS:
        del kept[next(iter(kept))]
    return f"{snapshot.key}:{end}" if more else None


class _Summaries:
    """The lines of the few entries that stand for many, read once for a request."""

    def __init__(self, session: LiveSession, snapshot: ExplanationSnapshot) -> None:
        self._session = session
        self._snapshot = snapshot
        self._lines: dict[str, bytes] = {}

    async def line(self, entry_id: str) -> tuple[Head, bytes]:
        head = self._snapshot.explanation.tree.get(entry_id)
        assert head is not None
        if entry_id not in self._lines:
            self._lines[entry_id] = (await self._session.lines([head], of=self._snapshot.instance_id))[0]
        return head, self._lines[entry_id]


def _standing(explanation: Explanation, row: Explained) -> str | None:
    """The summary in the context that stands for the entry."""
    if row.why.reason in ("compacted", "olderCompaction"):
        return row.why.compaction if explanation.omitted_by is None else None
    return row.summary


async def _question(
    session: LiveSession, snapshot: ExplanationSnapshot, row: Explained, detail: Detail, summaries: _Summaries
) -> None:
    """What the summary that stands for the entry says of it, if one does."""
    explanation = snapshot.explanation
    asked, head = _standing(explanation, row), row.head
    if asked is None or head is None:
        return
    _, raw = await summaries.line(asked)
    others = counterparts(explanation.tree, head)
    line, *more = await session.lines([head, *others], of=snapshot.instance_id)
    summary = loads(raw).get("summary")
    text = summary if isinstance(summary, str) else ""
    pairs = list(zip(others, more, strict=True))
    size = len(line) + sum(map(len, more)) + 8 * len(text)  # to ask a text costs more than to decode it
    detail.facts = await offload(size, lambda: facts_kept(text, head, line, pairs))
    detail.asked = asked


async def _known(row: Explained, asked: str | None, place: Place, needle: Needle, summaries: _Summaries) -> bool:
    """Whether what is sent in the entry's place has the text that was found in it."""
    why = row.why
    if why.in_context and why.reason != "edited":
        return place != "details"
    match why.reason:
        case "edited" if why.by is not None:
            instead = why.by
        case "foldedSystem" if why.compaction is not None:
            instead = why.compaction
        case "edit":
            return True
        case _:
            if asked is None:
                return False
            instead = asked
    head, line = await summaries.line(instead)
    return any(needle.within(text) for found, text in texts_of(head, loads(line)) if found != "details")
