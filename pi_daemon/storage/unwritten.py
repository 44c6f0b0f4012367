"""A session before its first write, and that write: header and entries at once, into a file of their own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from msgspec import Struct

from pi_daemon.session.fork import header_line
from pi_daemon.session.head import Header
from pi_daemon.storage.follow import Follower
from pi_daemon.storage.kept import KeptLines
from pi_daemon.storage.publish import publish
from pi_daemon.storage.reserve import Reservation
from pi_daemon.storage.scan import MARK, Reader, Tail
from pi_daemon.storage.system import Files, telling


class Unwritten(Struct):
    """A session that has no file yet: its lines so far, and the claim on its place."""

    header: Header
    kept: KeptLines
    reservation: Reservation


class FirstFile(Struct):
    """The new file: what was written to it, where each entry is, and the folders whose names are to be synced."""

    file: Follower
    data: bytes
    offsets: list[int]
    folders: list[Path]


def write_first(files: Files, path: Path, unwritten: Unwritten, lines: Sequence[bytes], synced: bool) -> FirstFile:
    """Everything that was kept, and `lines`. Raises SessionExists, StorageFailed; then there is no file."""
    every = [header_line(unwritten.header), *unwritten.kept.lines, *lines, b""]
    data = b"\n".join(every)
    with telling(f"create {path.name}"):
        new = publish(files, path, lambda: [data], synced=synced)
    offsets = list(accumulate((len(line) + 1 for line in every[:-2]), initial=0))[1:]
    tail = Tail(len(data), len(data), new.state.st_mtime_ns, data[-MARK:])
    reader = Reader.after(unwritten.header, len(every) - 1)
    return FirstFile(Follower(files, path, new.fd, new.state, tail, reader), data, offsets, new.folders)
