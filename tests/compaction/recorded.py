"""Recorded sessions as material for a summary."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pi_daemon.compaction.material import Material, Said
from pi_daemon.compaction.tokens import estimate
from pi_daemon.session.head import Head
from pi_daemon.session.projection import Projection, project
from pi_daemon.session.rawjson import loads
from pi_daemon.session.selection import select
from tests.conformance.sessions import Session, read

RECORDED = Path(os.environ.get("PI_DAEMON_SHARED", Path(__file__).parents[3] / "shared")) / "sessions"

KEPT_TOKENS = 20_000


def material_of(file: Path, keep: int = KEPT_TOKENS) -> Material:
    """What leaves the context of the last leaf when its last `keep` tokens stay; whole sessions are cut anywhere but
    before a tool result. Summaries that the session has are not used: its messages are all there."""
    session = read(file)
    path = [head for head in session.tree.path(session.tree.last_id) if head.type != "compaction"]
    said = said_of(session, path)
    return material(said[: _cut(said, keep)])


def compactions_of(file: Path) -> list[tuple[Material, str]]:
    """For each compaction on the last path what it covers, with the summary before it, and its own summary."""
    session = read(file)
    path = session.tree.path(session.tree.last_id)
    places = {head.id: place for place, head in enumerate(path)}
    found: list[tuple[Material, str]] = []
    start, previous = 0, None
    for place, head in enumerate(path):
        if head.type != "compaction":
            continue
        entry = loads(session.line(head))
        end = places.get(entry.get("firstKeptEntryId"), place)
        covered = [one for one in path[start:end] if one.type != "compaction"]
        found.append((material(said_of(session, covered), previous), str(entry.get("summary"))))
        start, previous = max(start, end), found[-1][1]
    return found


def said_of(session: Session, path: Sequence[Head]) -> list[Said]:
    selection = select(path)
    projection: Projection = project(selection, [session.line(head) for head in selection.heads()])
    found = zip(projection.sources, projection.roles, projection.messages, strict=True)
    return [Said(source, role, loads(message)) for source, role, message in found if role != "system"]


def _cut(said: Sequence[Said], keep: int) -> int:
    at = len(said)
    kept = 0
    while at and kept < keep:
        at -= 1
        kept += estimate(said[at].message)
    while 0 < at < len(said) and said[at].role == "toolResult":
        at -= 1
    return at


def material(said: Sequence[Said], previous: str | None = None) -> Material:
    """With the file lists that pi would make of it."""
    changed = {path for name, path in _file_calls(said) if name in ("write", "edit")}
    read_only = {path for name, path in _file_calls(said) if name == "read"} - changed
    return Material(said, previous=previous, read_files=sorted(read_only), modified_files=sorted(changed))


def _file_calls(said: Iterable[Said]) -> Iterable[tuple[str, str]]:
    for one in said:
        content = one.message.get("content")
        for block in content if one.role == "assistant" and isinstance(content, list) else ():
            arguments: Any = block.get("arguments") if isinstance(block, dict) else None
            if isinstance(arguments, dict) and isinstance(arguments.get("path"), str):
                yield str(block.get("name")), arguments["path"]
