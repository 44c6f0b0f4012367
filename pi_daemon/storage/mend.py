"""Looking at a session file that need not be open, and dropping from it what can't be read."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

from msgspec import structs

from pi_daemon.session.head import Damage
from pi_daemon.session.tree import SessionTree
from pi_daemon.storage.lease import Notes, holding
from pi_daemon.storage.lines import line_numbers
from pi_daemon.storage.protocols import CheckReport, RepairReport
from pi_daemon.storage.reading import header_of, scanned
from pi_daemon.storage.rewrite import line_at, replace, rewritten, without
from pi_daemon.storage.scan import BROKEN, Scan
from pi_daemon.storage.system import Files, sync_folder, telling


def check(files: Files, path: Path) -> CheckReport:
    """Raises SessionNotFound, StorageFailed."""
    with scanned(files, path) as (fd, found):
        session_id = None if found.header is None or found.refused else found.header.id
        opens = found.refused is None and not found.lost
        damage = found.damage + SessionTree(found.heads).damage()
        missing = {one.offset for one in damage if one.offset is not None and one.line is None}
        with telling(f"read {path.name}"):
            lines = line_numbers(files, fd, missing)
        damage = [
            structs.replace(one, line=one.line or (lines[one.offset] if one.offset is not None else None))
            for one in damage
        ]
        return CheckReport(str(path), session_id, len(found.heads), opens, damage)


def repair(files: Files, notes: Notes, path: Path, keep_in: Path) -> RepairReport:
    """Put a file without the lines that can't be read in the place of this one, which is kept in `keep_in`.

    Entries whose parent was lost become roots. Raises SessionNotFound, SessionCorrupted for what is no session,
    WriterBusy, StorageFailed.
    """
    with scanned(files, path) as (fd, found):
        header_of(path, found)
        dropped = dropped_by(found)
        if not dropped:
            return RepairReport(str(path), None, [])
        with telling(f"repair {path.name}"), holding(files, notes, path, fd):
            pieces = [without(*line_at(files, fd, damage.offset or 0, damage.length or 0)) for damage in dropped]
            parts = rewritten(files, fd, pieces, found.tail.size, [])
            known = found.tail.size, found.state.st_mtime_ns
            new, _, original = replace(files, path, fd, parts, known, keep_in)
            files.close(new)
            sync_folder(files, path.parent)
    return RepairReport(str(path), str(original), dropped)


def dropped_by(found: Scan) -> list[Damage]:
    """What a repair would leave out."""
    kinds = _dropped(found)
    return [damage for damage in found.damage if damage.kind in kinds]


def _dropped(found: Scan) -> Set[str]:
    """The kinds of damage to drop. An entry of version 1 is known by how many lines that parse come before it, so there
    only lines may go that don't."""
    if found.header is not None and found.header.version < 2:
        return {"notJson", "tornTail"}
    return BROKEN | {"tornTail"}
