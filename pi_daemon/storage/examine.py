"""Going over a whole sessions directory: what is damaged, duplicated, half written or foreign in it.

One file is in memory at a time, and none that would take too much of it; nothing is changed.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path

from msgspec import structs

from pi_daemon.session.errors import InvalidParams, StorageFailed
from pi_daemon.session.head import Damage, Header
from pi_daemon.session.tree import SessionTree
from pi_daemon.storage.catalogue import read_header
from pi_daemon.storage.keep import keep_copy
from pi_daemon.storage.layout import Layout, folder_name
from pi_daemon.storage.mend import made_readable, mended_by
from pi_daemon.storage.protocols import Examined, Finding
from pi_daemon.storage.publish import is_staged
from pi_daemon.storage.rounds import LEFTOVER_SECONDS, rounds, same_content
from pi_daemon.storage.scan import Scan, scan
from pi_daemon.storage.system import READ, Files, telling

SCAN_BYTES = 256 << 20
"""A larger file is not read whole: the largest session known has half of that, and to read it takes a second."""

LINE_BYTES = 64 << 20
"""Nor one with a longer line: no client could be sent it."""

MOST_LINES = 500_000
"""Nor is a file read on that has more: their heads take 100 MB."""

FINDINGS = 2_000
"""Problems, and as many notes, that are told one by one."""

DAMAGES = 10
"""Of one file that are told one by one, with `DAMAGE_IDS` entries each."""

DAMAGE_IDS = 5

SETTLED_SECONDS = 60.0
"""A file that was written to more recently may have a writer that knows no lease: it is not repaired."""

_BLOCK = 1 << 20

_HARMLESS = frozenset({"orphan", "duplicateId", "extraHeader"})
"""Kinds of damage that every reader gets over in the same way, and that no repair takes away."""

_NAMED = re.compile(r"[0-9T.-]+Z_(.+)\.jsonl")

Report = Callable[[int, int], None]


class Examination:
    """Of one directory, once. `run` is called in a thread."""

    def __init__(self, files: Files, layout: Layout) -> None:
        self._files = files
        self._layout = layout
        self._problems: list[Finding] = []
        self._notes: list[Finding] = []
        self._left_out = 0
        self._by_id: dict[str, list[str]] = {}
        self._by_file: dict[tuple[int, int], list[str]] = {}

    def run(self, progress: Report, stop: threading.Event) -> Examined:
        """`progress` is called with how many files are done, of how many."""
        found = rounds(self._files, self._layout)
        for finding in found.findings:
            self._add(finding)
        size = 0
        for done, path in enumerate(found.files, 1):
            if stop.is_set():
                break
            size += self._look(path)
            progress(done, len(found.files))
        self._duplicates()
        findings = sorted([*self._problems, *self._notes], key=lambda finding: (finding.path, finding.kind))
        return Examined(found.folders, len(found.files), size, findings, self._left_out)

    def _add(self, finding: Finding) -> None:
        findings = self._problems if finding.problem else self._notes
        if len(findings) < FINDINGS:
            findings.append(finding)
        else:
            self._left_out += 1

    def _look(self, path: str) -> int:
        """Gives the size of the file."""
        try:
            fd = self._files.open(path, READ)
        except FileNotFoundError:
            return 0
        except OSError as error:
            self._add(Finding("unreadable", path, f"the file can't be read: {_why(error)}"))
            return 0
        try:
            state = self._files.fstat(fd)
            self._by_file.setdefault((state.st_dev, state.st_ino), []).append(path)
            self._content(path, fd, state)
            return state.st_size
        except OSError as error:
            self._add(Finding("unreadable", path, f"the file can't be read: {_why(error)}"))
            return 0
        finally:
            self._files.close(fd)

    def _content(self, path: str, fd: int, state: os.stat_result) -> None:
        size = state.st_size
        if not size:
            self._add(Finding("empty", path, "the file is empty: no session, and none can be had from it"))
            return
        why = "it has more than 256 MB" if size > SCAN_BYTES else self._long_line(fd, size)
        found = None if why else scan(self._files, fd, MOST_LINES)
        if found is not None and len(found.heads) + len(found.damage) > MOST_LINES:
            why, found = f"it has more than {MOST_LINES:,} lines", None
        header = read_header(self._files, fd) if found is None else found.header
        if header is None and found is not None and found.heads:
            self._add(Finding("damaged", path, "the session header is missing, so the entries can't be opened"))
            return
        if header is None:
            part = f" in its first MB, and was not read on, as {why}" if why else ""
            self._add(Finding("foreign", path, f"no session: it has no session header{part}", problem=False))
            return
        self._by_id.setdefault(header.id, []).append(path)
        self._place(path, header)
        if found is None:
            words = f"the session was not read whole, as {why}; a check of it alone does that"
            self._add(Finding("notRead", path, words, problem=False, session_id=header.id))
        else:
            settled = self._files.wall() - state.st_mtime >= SETTLED_SECONDS
            self._damage(path, header.id, found, settled)

    def _long_line(self, fd: int, size: int) -> str | None:
        """Says so where a line is longer than we would have in memory."""
        if size <= LINE_BYTES:
            return None
        start = 0
        for offset in range(0, size, _BLOCK):
            block = self._files.read(fd, _BLOCK, offset)
            first, last = block.find(b"\n"), block.rfind(b"\n")
            if (offset + (first if first >= 0 else len(block))) - start > LINE_BYTES:
                return "it has a line of more than 64 MB"
            if last >= 0:
                start = offset + last + 1
        return None

    def _damage(self, path: str, session_id: str, found: Scan, settled: bool) -> None:
        damage = found.damage + SessionTree(found.heads).damage()
        if not damage:
            return
        kinds = {one.kind for one in damage}
        mended = mended_by(found) if found.refused is None else []
        finding = Finding(
            "damaged",
            path,
            _words(damage, found, mended),
            session_id=session_id,
            repair="repair" if mended else None,
            damage=[_short(one) for one in damage[:DAMAGES]],
            damage_count=len(damage),
            settled=settled,
        )
        if kinds == {"tornTail"}:
            finding.kind = "halfWritten"
        elif kinds <= _HARMLESS:
            finding.kind, finding.problem = "irregular", False
        self._add(finding)

    def _place(self, path: str, header: Header) -> None:
        """Whether it lies where its header says, and is called what it says."""
        folder, name = os.path.basename(os.path.dirname(path)), os.path.basename(path)
        if folder.startswith("--") and folder.endswith("--") and os.path.isabs(header.cwd):
            wanted = folder_name(os.path.normpath(header.cwd))
            if wanted != folder:
                words = f"the session is of {header.cwd}, whose folder is {wanted}: pi doesn't find it there"
                self._add(Finding("misplaced", path, words, problem=False, session_id=header.id))
        named = _NAMED.fullmatch(name)
        if named is not None and named[1] != header.id:
            words = f"the file is called after the session {named[1]}, and is {header.id}"
            self._add(Finding("misplaced", path, words, problem=False, session_id=header.id))
        parent = header.parent_session
        if parent is not None and os.path.isabs(parent) and "\0" not in parent and not _exists(parent):
            words = f"the session that it was forked from is gone ({parent}); nothing is lost with it"
            self._add(Finding("parentMissing", path, words, problem=False, session_id=header.id))

    def _duplicates(self) -> None:
        for paths in self._by_file.values():
            if len(paths) > 1:
                words = "one file under several names: what is written under one of them shows under all"
                self._add(Finding("duplicated", paths[0], words, others=paths[1:]))
        firsts = {path: paths[0] for paths in self._by_file.values() for path in paths}
        for session_id, paths in self._by_id.items():
            files = list(dict.fromkeys(firsts.get(path, path) for path in paths))
            if len(files) > 1:
                words = (
                    f"{len(files)} files are the session {session_id}, so it can be opened by path alone; "
                    f"{self._compared(files)}"
                )
                self._add(Finding("duplicated", files[0], words, session_id=session_id, others=files[1:]))

    def _compared(self, paths: list[str]) -> str:
        """What can be said of the content of files."""
        sizes: set[int] = set()
        try:
            with contextlib.ExitStack() as stack:
                fds = [self._opened(path, stack) for path in paths[:DAMAGES]]
                sizes = {self._files.fstat(fd).st_size for fd in fds}
                least = min(sizes)
                if least > SCAN_BYTES or not all(same_content(self._files, fds[0], fd, least) for fd in fds[1:]):
                    return "they differ"
        except OSError:
            return "they could not be compared"
        return "they hold the same" if len(sizes) == 1 else "the longer ones go on where the shortest ends"

    def _opened(self, path: str, stack: contextlib.ExitStack) -> int:
        fd = self._files.open(path, READ)
        stack.callback(self._files.close, fd)
        return fd


def put_away(files: Files, layout: Layout, path: str, keep_in: Path) -> str:
    """Move a leftover to `keep_in`. Raises OutsideRoot, InvalidParams for what is none, StorageFailed."""
    real = layout.contained(files, path)
    if not is_staged(real.name):
        raise InvalidParams("this is no file that was left over", path="path")
    with telling(f"put {real.name} away"):
        before = files.stat(real)
        if files.wall() - before.st_mtime < LEFTOVER_SECONDS:
            raise StorageFailed(f"{real.name} is being written; try again", errno="EBUSY")
        kept = keep_copy(files, real, keep_in)
        after = files.stat(real)
        if (before.st_ino, before.st_size, before.st_mtime_ns) != (after.st_ino, after.st_size, after.st_mtime_ns):
            raise StorageFailed(f"{real.name} is being written; try again", errno="EBUSY")
        files.unlink(real)
    return str(kept)


def _words(damage: list[Damage], found: Scan, mended: list[Damage]) -> str:
    first = damage[0]
    where = "" if first.line is None else f"line {first.line:,}: "
    more = f", and {len(damage) - 1:,} more" if len(damage) > 1 else ""
    opens = "; the session doesn't open" if found.lost else ""
    return f"{where}{first.message}{more}{opens}{_repair(mended, found)}"


def _repair(mended: list[Damage], found: Scan) -> str:
    """What a repair would do."""
    readable = sum(made_readable(one, found) for one in mended)
    dropped, deep = len(mended) - readable, sum(one.kind == "tooDeep" for one in mended)
    said = [f"make {_lines(readable)} readable"] if readable else []
    if dropped:
        read = f" ({deep:,} of them too deep for us alone)" if deep else ""
        said.append(f"leave out {_lines(dropped)} that can't be read{read}")
    return f"; a repair would {' and '.join(said)}, and keep the original" if said else ""


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"


def _short(damage: Damage) -> Damage:
    return structs.replace(damage, entry_ids=damage.entry_ids[:DAMAGE_IDS])


def _why(error: OSError) -> str:
    return os.strerror(error.errno or 0)


def _exists(path: str) -> bool:
    try:
        return os.path.exists(path)
    except (OSError, ValueError):
        return False
