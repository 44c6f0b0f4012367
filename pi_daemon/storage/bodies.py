"""The bodies of one session: lines read by where they lie, of the file that they were found in."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from pi_daemon.session.errors import StorageFailed
from pi_daemon.session.fork import header_line
from pi_daemon.session.head import Head
from pi_daemon.session.migrate import migrated_line
from pi_daemon.session.rawjson import BadJson
from pi_daemon.storage.follow import Follower
from pi_daemon.storage.keep import CHUNK
from pi_daemon.storage.kept import KeptLines
from pi_daemon.storage.lines import from_starts, read_ranges
from pi_daemon.storage.rewrite import Migration
from pi_daemon.storage.system import Files, refusal
from pi_daemon.storage.threads import in_thread
from pi_daemon.storage.unwritten import Unwritten


class FileBodies:
    """The reading half of a log. `_places` is held while lines are read by their places, and by whoever moves them."""

    def __init__(
        self,
        files: Files,
        path: Path,
        file: Follower | None,
        unwritten: Unwritten | None,
        migration: Migration | None,
    ) -> None:
        self._files = files
        self._path = path
        self._file = file
        self._unwritten = unwritten
        self._migration = migration
        self._kept = unwritten.kept if unwritten else KeptLines()
        self._places = threading.Lock()

    async def read(self, heads: Sequence[Head], starts: Sequence[int] | None = None) -> list[bytes]:
        return await in_thread(self._read, heads, starts or [0] * len(heads))

    async def content(self) -> AsyncIterator[bytes]:
        unwritten = self._unwritten
        if unwritten is not None:
            yield b"\n".join([header_line(unwritten.header), *unwritten.kept.lines, b""])
            return
        file = self._opened()
        tail = file.tail
        for start in range(0, tail.end, CHUNK):
            yield await in_thread(self._content, file, start, min(CHUNK, tail.end - start))
        if tail.open and not tail.fragment:
            yield b"\n"

    async def raw(self, spans: Sequence[tuple[int, int]]) -> list[bytes]:
        return await in_thread(self._raw, spans)

    def _read(self, heads: Sequence[Head], starts: Sequence[int]) -> list[bytes]:
        with self._places:
            kept = self._kept
            if self._unwritten is not None:
                return from_starts([kept.lines[kept.index(head)] for head in heads], starts)
            file = self._opened()
            if kept.heads:
                heads = [head if head.offset >= 0 else kept.heads[kept.index(head)] for head in heads]
            if self._migration is not None:
                return from_starts(self._migrated(self._migration, file, heads), starts)
            if not any(starts):
                return self._ranges(file, [head.offset for head in heads], [head.length for head in heads])
            pairs = list(zip(heads, starts, strict=True))
            offsets = [head.offset + start for head, start in pairs]
            lengths = [head.length - start - 1 if start else head.length for head, start in pairs]
            return self._ranges(file, offsets, lengths)

    def _migrated(self, migration: Migration, file: Follower, heads: Sequence[Head]) -> list[bytes]:
        lines = self._ranges(file, [head.offset for head in heads], [head.length for head in heads])
        try:
            return [migrated_line(head, line, migration.version) for head, line in zip(heads, lines, strict=True)]
        except BadJson as error:
            raise file.replaced() from error

    def _content(self, file: Follower, start: int, size: int) -> bytes:
        with self._places:
            if file is not self._opened():  # a migration came in between
                raise file.replaced()
            return self._ranges(file, [start], [size])[0]

    def _raw(self, spans: Sequence[tuple[int, int]]) -> list[bytes]:
        with self._places:
            return self._ranges(self._opened(), [offset for offset, _ in spans], [size for _, size in spans])

    def _ranges(self, file: Follower, offsets: Sequence[int], lengths: Sequence[int]) -> list[bytes]:
        """Raises StorageFailed, also where the file isn't the one that the places were found in."""
        try:
            found = read_ranges(self._files, file.fd, offsets, lengths)
        except OSError as error:
            file.check()
            raise refusal(error, f"read {self._path.name}") from error
        file.check()  # after the reading: before it, somebody could still rewrite the file in between
        return found

    def _opened(self) -> Follower:
        if self._file is None:
            raise StorageFailed("the session is closed", errno="EBADF")
        return self._file
