"""What the long tests share. `PI_DAEMON_LONG=1` runs everything; without it each has a part that takes seconds."""

from __future__ import annotations

import os
from pathlib import Path

from tests.storage.support import FaultyFiles, Place, chain, ids

LONG = os.environ.get("PI_DAEMON_LONG") == "1"

TEN_IDS = [f"more{number}" for number in range(10)]
TEN = chain(*TEN_IDS)


class Unsynced(FaultyFiles):
    """Syncs nothing: here processes die, or calls fail, but the power never goes."""

    def fsync(self, fd: int) -> None:
        self._call("fsync")

    def fdatasync(self, fd: int) -> None:
        self._call("fdatasync")


async def ten_more(place: Place, path: Path, files: FaultyFiles, recover: bool = False) -> list[str]:
    """Open the file, append ten entries one by one, and read everything back. The ids of its entries."""
    before, state = path.read_bytes(), path.stat()
    repository = place.repository(files)
    loaded, log = await repository.open(place.ref(path), recover=recover)
    old, lines = ids(loaded.heads), await log.read(loaded.heads)
    unread = path.stat()
    assert (path.read_bytes(), unread.st_mtime_ns, unread.st_ctime_ns) == (before, state.st_mtime_ns, state.st_ctime_ns)
    for line in TEN:
        written = await log.append([line], synced=False, persist=True)
        assert written.foreign == []
    await log.close()
    loaded, log = await repository.open(place.ref(path), recover=recover)
    found = ids(loaded.heads)
    assert found == [*old, *TEN_IDS]
    assert await log.read(loaded.heads) == [*lines, *TEN]
    assert path.read_bytes().startswith(before)
    await log.close()
    return found
