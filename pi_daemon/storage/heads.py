"""The heads of large sessions, kept in the state directory, so that opening one again costs what has come since.

One file a session. It counts while the session's file is the one that it was and has at most grown, which is told
by device and inode, size and time, and a hash of the bytes before the end and of samples of what lies before them.
Where anything about it or about the session is odd, the session is read from its start.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import zlib
from pathlib import Path
from sys import intern

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

from pi_daemon.session.head import AssistantFacts, Head, Header
from pi_daemon.storage.index.rows import Identity, hashed, identity
from pi_daemon.storage.publish import staging_path, write_new
from pi_daemon.storage.scan import Reader, Scan, mark_before, resume, scan
from pi_daemon.storage.system import READ, Files, make_folder

VERSION = 1
"""Of what lies in the files: heads as arrays."""

LEAST_BYTES = 1 << 20
"""Of a session file that is worth it: it is read in some ms."""

MOST_BYTES = 512 << 20
"""Of all these files together: about 5 million entries. Beyond it those go that were used longest ago."""

GREW = 0.05
"""The share by which a session has grown when it is kept anew."""

SUFFIX = ".heads"

SAMPLES = 32
SAMPLE_BYTES = 256

_CHUNK = 4_000
"""Heads that are encoded at a time, in about a millisecond."""


class _Top(Struct, array_like=True):
    """`sum` is of the heads behind it, which were read up to `end`."""

    version: int
    path: str
    identity: Identity
    end: int
    mark: bytes
    header: Header
    header_length: int
    lines: int
    parsed: int
    heads: int
    sum: int


_encode = msgspec.msgpack.Encoder().encode
_decode_top = msgspec.msgpack.Decoder(_Top).decode
_decode_heads = msgspec.msgpack.Decoder(list[Head]).decode


class Heads:
    """In `folder`, which is made when it is needed. Nothing here raises but for what is wrong with the session."""

    def __init__(self, folder: Path, files: Files) -> None:
        self._folder = folder
        self._files = files

    def scan(self, path: Path, fd: int) -> tuple[Scan, bool]:
        """As `scan` does, and whether it is to be remembered. Raises OSError as that does."""
        state = self._files.fstat(fd)
        if state.st_size < LEAST_BYTES:
            return scan(self._files, fd), False
        known = self._known(path, fd, state)
        if known is not None:
            top, heads = known
            reader = Reader.resumed(top.header, top.header_length, top.lines, top.parsed)
            found = resume(self._files, fd, heads, reader, top.end)
            if found is not None:
                return found, found.tail.end > top.end * (1 + GREW)
        return scan(self._files, fd), True

    def snapshot(self, path: Path, fd: int, found: Scan) -> Snapshot | None:
        """To be given to `remember` later. None where the session is odd in any way. Raises OSError."""
        header, reader, tail = found.header, found.reader, found.tail
        sound = header is not None and header.version == 3 and found.refused is None and not found.damage
        if header is None or not sound or tail.open or not tail.mark.endswith(b"\n") or reader.header_at[0] != 0:
            return None
        top = _Top(
            VERSION,
            str(path),
            identity(found.state),
            tail.end,
            _sampled(self._files, fd, tail.end),
            header,
            reader.header_at[1],
            reader.lines,
            reader.parsed,
            len(found.heads),
            0,
        )
        return Snapshot(top, list(found.heads))

    def remember(self, snapshot: Snapshot) -> None:
        """Takes some ms, in portions."""
        heads, top = snapshot.heads, snapshot.top
        parts = [_encode(heads[at : at + _CHUNK]) for at in range(0, len(heads), _CHUNK)]
        for part in parts:
            top.sum = zlib.crc32(part, top.sum)
        content = [_framed(_encode(top)), *map(_framed, parts)]
        path = self._path(top.path)
        beside = staging_path(path)
        try:
            make_folder(self._files, self._folder)
            self._files.close(write_new(self._files, beside, lambda: content, synced=False))
            self._files.rename(beside, path)
        except OSError:
            with contextlib.suppress(OSError):
                self._files.unlink(beside)
        with contextlib.suppress(OSError):
            self._bound()

    def _known(self, path: Path, fd: int, state: os.stat_result) -> tuple[_Top, list[Head]] | None:
        try:
            top, body = self._read(path)
            same = top.identity[:2] == (state.st_dev, state.st_ino) and top.version == VERSION
            at_rest = top.identity == identity(state)
            if not same or top.path != str(path) or not (at_rest or state.st_size > top.identity[2]):
                return None
            if _sampled(self._files, fd, top.end) != top.mark:
                return None
            heads: list[Head] = []
            found = 0
            for part in body:
                found = zlib.crc32(part, found)
                heads += _decode_heads(part)
            if found != top.sum or len(heads) != top.heads:
                return None
        except (OSError, msgspec.MsgspecError, ValueError, RecursionError):
            return None
        _share(heads)
        with contextlib.suppress(OSError):
            os.utime(self._path(str(path)))
        return top, heads

    def _read(self, path: Path) -> tuple[_Top, list[memoryview]]:
        fd = self._files.open(self._path(str(path)), READ)
        try:
            size = self._files.fstat(fd).st_size
            if size > MOST_BYTES:
                raise ValueError("too large")
            data = self._files.read(fd, size, 0)
        finally:
            self._files.close(fd)
        view = memoryview(data)
        parts: list[memoryview] = []
        at = 0
        while at < len(data):
            length = int.from_bytes(data[at : at + 4], "little")
            parts.append(view[at + 4 : at + 4 + length])
            at += 4 + length
        if at != len(data) or not parts:
            raise ValueError("cut short")
        return _decode_top(parts[0]), parts[1:]

    def _path(self, location: str) -> Path:
        return self._folder / (hashlib.sha256(os.fsencode(location)).hexdigest()[:32] + SUFFIX)

    def _bound(self) -> None:
        """What was left half-written by a killed process goes with the oldest ones."""
        aged = sorted(
            ((entry.stat(follow_symlinks=False), entry.path) for entry in self._files.entries(self._folder)),
            key=lambda found: -found[0].st_mtime_ns,
        )
        total = 0
        for state, path in aged:
            total += state.st_size
            if total > MOST_BYTES:
                self._files.unlink(Path(path))


class Snapshot(Struct):
    """Heads as they were when the file was read."""

    top: _Top
    heads: list[Head]


def _sampled(files: Files, fd: int, end: int) -> bytes:
    """A hash of the bytes before `end`, and of some in between: who rewrites a file mostly moves what comes after."""
    places = [end * part // SAMPLES for part in range(SAMPLES)]
    samples = [files.read(fd, min(SAMPLE_BYTES, end - place), place) for place in places]
    return hashed(b"".join([mark_before(files, fd, end), *samples]))


def _framed(part: bytes) -> bytes:
    return len(part).to_bytes(4, "little") + part


def _share(heads: list[Head]) -> None:
    """One string for what is the same, as a scan has it."""
    last = None
    for head in heads:
        head.type = intern(head.type)
        if head.parent_id == last:
            head.parent_id = last
        last = head.id
        facts = head.facts
        if isinstance(facts, AssistantFacts):
            for name in ("provider", "model", "stop_reason"):
                value = getattr(facts, name)
                if value is not None:
                    force_setattr(facts, name, intern(value))
            force_setattr(facts, "role", "assistant")
        elif facts is not None and facts.__struct_fields__[-1] == "role":
            force_setattr(facts, "role", intern(facts.role))  # type: ignore[union-attr]
