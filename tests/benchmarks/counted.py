"""`pi-daemon` with its calls of fdatasync and fsync counted.

`python -m tests.benchmarks.counted COUNTS serve ...` behaves as `pi-daemon serve ...`; the file COUNTS holds them,
two unsigned 64 bit numbers (fdatasync, fsync), current at any time. The wrapper costs some 0.2 µs a call.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
import threading
from pathlib import Path

_COUNTS = struct.Struct("=QQ")


class Counts:
    """The shared file, written by the daemon and read by the benchmark."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(_COUNTS.size))
        with path.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), _COUNTS.size)
        self._lock = threading.Lock()

    @property
    def fdatasync(self) -> int:
        return int(_COUNTS.unpack(self._shared)[0])

    def add(self, place: int) -> None:
        with self._lock:
            counts = list(_COUNTS.unpack(self._shared))
            counts[place] += 1
            self._shared[:] = _COUNTS.pack(*counts)


def install(counts: Counts) -> None:
    """Before anything of the daemon is imported, so that no name is bound to the originals."""
    fdatasync, fsync = os.fdatasync, os.fsync

    def counted_fdatasync(fd: int) -> None:
        counts.add(0)
        fdatasync(fd)

    def counted_fsync(fd: int) -> None:
        counts.add(1)
        fsync(fd)

    os.fdatasync, os.fsync = counted_fdatasync, counted_fsync  # type: ignore[assignment]


if __name__ == "__main__":
    install(Counts(Path(sys.argv.pop(1))))
    from pi_daemon.cli import main

    main()
