"""From an id to the entry that it names, and back; and links to other files."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from pi_daemon.compaction.shown.places import resolve
from pi_daemon.documents.asked import Asked
from pi_daemon.documents.positions import Encoding
from pi_daemon.documents.uris import uri_of
from pi_daemon.documents.view import Line, offset_in, span
from pi_daemon.engine.offload import offload
from pi_daemon.rpc.types.lsp import (
    DocumentLink,
    Location,
    LocationLink,
    Position,
    PositionParams,
    Range,
    ReferenceParams,
)
from pi_daemon.session.head import AssistantFacts, Head, ToolResultFacts
from pi_daemon.session.rawjson import BadJson, loads
from pi_daemon.session.tree import SessionTree
from pi_daemon.session.walk import Place, find, place_at, walk

NAMES = frozenset({"id", "parentId", "firstKeptEntryId", "targetId", "fromId"})
"""Members of an entry that name an entry."""

ID_WITHIN = 4096
"""How much of an entry's line is looked through for its id, for a cursor to be put there."""

LINK_BYTES = 16 * 1024 * 1024
"""Answers with tool calls that are read for links, the newest first. Links are asked for a whole document."""

LINKS = 5_000
"""Links at most."""

_PATHS = frozenset({"path", "file_path", "filePath", "file", "filename", "cwd", "directory"})
"""Arguments of tool calls that may be paths."""

_ARGUMENT = re.compile(b'"(?:%b)"' % "|".join(_PATHS).encode())


def referred(tree: SessionTree, line: Line, place: Place) -> Head | None:
    """The entry that is named there by its id, other than the line's own."""
    if not place.path or place.path[-1] not in NAMES or len(place.path) > 2:
        return None
    head = tree.get(_string(line, place))
    return None if head is line.head else head


def _string(line: Line, place: Place) -> str:
    """The string at a place, or the value of the member of that name; "" where it is none."""
    where: tuple[int, int] | None = (place.start, place.end)
    if place.what == "name":
        where = find(line.text, place.path)
    if where is None:
        return ""
    try:
        value = loads(line.text[where[0] : where[1]])
    except BadJson:
        return ""
    return value if isinstance(value, str) else ""


async def _place(asked: Asked, params: PositionParams) -> tuple[Line | None, Place | None]:
    line = await asked.view.line(params.position.line)
    if line is None:
        return None, None
    offset = offset_in(line, params.position, asked.editor.encoding)
    return line, await offload(len(line.text), partial(place_at, line.text, offset))


async def definition(asked: Asked, params: PositionParams) -> list[Location] | list[LocationLink] | None:
    line, place = await _place(asked, params)
    if line is None or place is None or not place.path:
        return None
    if line.head is None:
        path = parent_session(asked, line, place)
        return None if path is None else [Location(uri_of(path), _nowhere())]
    targets = await _targets(asked, line, line.head, place)
    if not targets:
        return None
    if not asked.editor.links:
        return [Location(asked.uri, selection) for _, selection in targets]
    origin = span(line, place.start, place.end, asked.editor.encoding)
    return [
        LocationLink(
            origin_selection_range=origin, target_uri=asked.uri, target_range=whole, target_selection_range=selection
        )
        for whole, selection in targets
    ]


async def _targets(asked: Asked, line: Line, head: Head, place: Place) -> list[tuple[Range, Range]]:
    tree = asked.session.tree
    named = tree.get(_string(line, place)) if place.path[-1] in NAMES and len(place.path) <= 2 else None
    if named is not None:
        return await _selected(asked, [named])
    if isinstance(head.facts, ToolResultFacts) and place.path[-1] == "toolCallId":
        caller = await caller_of(asked, head)
        if caller is not None:
            return await _call_range(asked, caller, head.facts.call_id)
    if isinstance(head.facts, AssistantFacts) and place.path[:2] == ("message", "content") and len(place.path) > 2:
        block = find(line.text, (*place.path[:3], "id"))
        call_id = loads(line.text[block[0] : block[1]]) if block is not None else None
        if isinstance(call_id, str):
            return await _selected(asked, results_of(asked, head, call_id))
    return []


async def _selected(asked: Asked, heads: Iterable[Head]) -> list[tuple[Range, Range]]:
    """The lines of entries, and their ids in them."""
    found: list[tuple[Range, Range]] = []
    heads = [head for head in heads if head.offset >= 0]
    begins = await asked.session.raw([(head.offset, min(head.length, ID_WITHIN)) for head in heads])
    for head, begin in zip(heads, begins, strict=True):
        whole = asked.view.range_of(head)
        if whole is not None:
            where = find(begin, ("id",))
            line = Line(whole.start.line, head, begin)
            chosen = span(line, where[0] + 1, where[1] - 1, asked.editor.encoding) if where else None
            found.append((whole, chosen or Range(whole.start, whole.start)))
    return found


async def _call_range(asked: Asked, caller: Head, call_id: str) -> list[tuple[Range, Range]]:
    number = asked.view.index.line_of(caller)
    line = await asked.view.line(number) if number is not None else None
    if line is None:
        return []
    for what, start, end, path in walk(line.text):
        is_id = what == "string" and len(path) == 4 and path[-1] == "id" and path[:2] == ["message", "content"]
        if is_id and loads(line.text[start:end]) == call_id:
            whole = Range(Position(line.number, 0), Position(line.number, caller.length))
            return [(whole, span(line, start + 1, end - 1, asked.editor.encoding))]
    return []


async def caller_of(asked: Asked, result: Head) -> Head | None:
    """The answer whose tool call has this result: the nearest one before it. Raises StorageFailed."""
    facts, tree = result.facts, asked.session.tree
    head = tree.parent(result)
    passed = 0
    while head is not None and isinstance(facts, ToolResultFacts):
        if isinstance(head.facts, AssistantFacts):
            items = await asked.view.items([head])
            if any(call_id == facts.call_id for call_id, _ in items[head].calls):
                return head
            passed += 1
            if passed > _ANSWERS:
                return None
        head = tree.parent(head)
    return None


_ANSWERS = 50
"""Answers between a call and its result that are looked at. There should be none."""


def results_of(asked: Asked, caller: Head, call_id: str) -> list[Head]:
    """The results of a call that come after it, on whatever branch."""
    return [head for head in asked.view.results.get(call_id, ()) if head.offset > caller.offset]


async def references(asked: Asked, params: ReferenceParams) -> list[Location]:
    """Of the entry that is named at the position, else of the one on the line."""
    line, place = await _place(asked, params)
    if line is None or line.head is None:
        return []
    tree = asked.session.tree
    head = (referred(tree, line, place) if place is not None else None) or line.head
    found = [head] if params.context.include_declaration else []
    found += tree.children(head.id)
    found += asked.view.naming.get(head.id, ())
    if isinstance(head.facts, AssistantFacts):
        items = await asked.view.items([head])
        found += [result for call_id, _ in items[head].calls for result in results_of(asked, head, call_id)]
    found = sorted(dict.fromkeys(found), key=lambda other: other.offset)
    ranges = map(asked.view.range_of, found)
    return [Location(asked.uri, whole) for whole in ranges if whole is not None]


# -- links to files


def parent_session(asked: Asked, line: Line, place: Place) -> str | None:
    path = asked.session.header.parent_session
    return path if path and place.path == ("parentSession",) and os.path.isabs(path) else None


def _nowhere() -> Range:
    return Range(Position(0, 0), Position(0, 0))


async def document_links(asked: Asked) -> list[DocumentLink]:
    """Of files that are there. Raises StorageFailed."""
    view, encoding = asked.view, asked.editor.encoding
    found = await _to_parent(asked)
    heads = _callers(asked)
    known = view.paths.setdefault(encoding, {})
    missing = [head for head in heads if head not in known]
    texts = await asked.session.raw([(head.offset, head.length) for head in missing])
    lines = [Line(view.index.line_of(head) or 0, head, text) for head, text in zip(missing, texts, strict=True)]
    cwd = asked.session.header.cwd

    def make() -> list[DocumentLink]:
        for head, line in zip(missing, lines, strict=True):
            known[head] = _paths(line, cwd, encoding)
        wanted = [*found, *(link for head in heads for link in known.get(head, ()))][-LINKS:]
        there = {path: os.path.exists(path) for path in {path for _, path in wanted}}
        return [DocumentLink(range=where, target=uri_of(path), tooltip=path) for where, path in wanted if there[path]]

    return await asyncio.to_thread(make)


async def _to_parent(asked: Asked) -> list[tuple[Range, str]]:
    header, parent = asked.view.header, asked.session.header.parent_session
    line = await asked.view.line(header[0]) if header is not None and parent is not None else None
    where = find(line.text, ("parentSession",)) if line is not None else None
    if line is None or where is None or parent is None or not os.path.isabs(parent) or not _encodes(parent):
        return []
    return [(span(line, where[0] + 1, where[1] - 1, asked.editor.encoding), parent)]


def _callers(asked: Asked) -> Sequence[Head]:
    """Answers that call tools, the newest as far as they may be read."""
    room = LINK_BYTES
    found: list[Head] = []
    for head in reversed(asked.view.index.heads):
        if isinstance(head.facts, AssistantFacts) and head.facts.stop_reason == "toolUse":
            room -= head.length
            if room < 0:
                break
            found.append(head)
    return found[::-1]


def _paths(line: Line, cwd: str, encoding: Encoding) -> list[tuple[Range, str]]:
    """Where the arguments of tool calls name paths, and which."""
    if _ARGUMENT.search(line.text) is None:
        return []
    found: list[tuple[Range, str]] = []
    home = str(Path.home())
    for what, start, end, path in walk(line.text):
        if what != "string" or len(path) != 5 or path[3] != "arguments" or path[4] not in _PATHS:
            continue
        try:
            value = loads(line.text[start:end])
        except BadJson:
            continue
        absolute = resolve(value, cwd, home) if value and "\0" not in value else ""
        if os.path.isabs(absolute) and "\0" not in absolute and _encodes(absolute):
            found.append((span(line, start + 1, end - 1, encoding), absolute))
    return found


def _encodes(path: str) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True
