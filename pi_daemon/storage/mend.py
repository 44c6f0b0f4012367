"""Looking at a session file that need not be open, and making of it one that can be read."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

from msgspec import structs

from pi_daemon.session.entry import replaced
from pi_daemon.session.glued import unglued
from pi_daemon.session.head import Damage
from pi_daemon.session.tree import SessionTree
from pi_daemon.storage.lease import Notes, holding
from pi_daemon.storage.lines import line_numbers, read_ranges
from pi_daemon.storage.protocols import CheckReport, RepairReport
from pi_daemon.storage.reading import header_of, scanned
from pi_daemon.storage.rewrite import Change, Piece, line_at, replace, rewritten, without
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
    """Put a file without the lines that can't be read in the place of this one, which is kept in `keep_in`. Lines that
    can be made readable without guessing are: several entries on one are split, what isn't UTF-8 becomes U+FFFD.

    Entries whose parent was lost become roots. Raises SessionNotFound, SessionCorrupted for what is no session,
    WriterBusy, StorageFailed.
    """
    with scanned(files, path) as (fd, found):
        header_of(path, found)
        mended = mended_by(found)
        if not mended:
            return RepairReport(str(path), None, [])
        dropped: list[Damage] = []
        rewritten_lines: list[Damage] = []
        with telling(f"repair {path.name}"), holding(files, notes, path, fd):
            pieces: list[Piece] = []
            for damage in mended:
                offset, length = damage.offset or 0, damage.length or 0
                change = _change(files, fd, damage, found)
                (dropped if change is None else rewritten_lines).append(damage)
                piece = (
                    without(*line_at(files, fd, offset, length)) if change is None else Piece(offset, length, change)
                )
                pieces.append(piece)
            parts = rewritten(files, fd, pieces, found.tail.size, [])
            known = found.tail.size, found.state.st_mtime_ns
            new, _, original = replace(files, path, fd, parts, known, keep_in)
            files.close(new)
            sync_folder(files, path.parent)
    return RepairReport(str(path), str(original), dropped, rewritten_lines)


def mended_by(found: Scan) -> list[Damage]:
    """What a repair would leave out or make readable."""
    kinds = _mended(found)
    return [damage for damage in found.damage if damage.kind in kinds]


def made_readable(damage: Damage, found: Scan) -> bool:
    """Whether a repair, which does something about it, doesn't leave it out."""
    return damage.kind in ("glued", "notUtf8") and not _is_oldest(found)


def _change(files: Files, fd: int, damage: Damage, found: Scan) -> Change | None:
    """What makes the line readable, if anything does. Raises OSError."""
    if made_readable(damage, found):
        return _split if damage.kind == "glued" else replaced
    if damage.kind == "tornTail" and not _is_oldest(found):
        line = read_ranges(files, fd, [damage.offset or 0], [damage.length or 0])[0]
        return _split if unglued(line) else None
    return None


def _split(line: bytes) -> bytes:
    return b"\n".join(unglued(line))


def _is_oldest(found: Scan) -> bool:
    return found.header is not None and found.header.version < 2


def _mended(found: Scan) -> Set[str]:
    """The kinds of damage. An entry of version 1 is known by how many lines that parse come before it, so there
    only lines may go that don't, and none may come."""
    if _is_oldest(found):
        return {"notJson", "glued", "tornTail"}
    return BROKEN | {"tornTail"}
