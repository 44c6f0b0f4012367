"""What the long tests share. `PI_DAEMON_LONG=1` runs everything; without it each has a part that takes seconds."""

from __future__ import annotations

import os

from tests.storage.support import FaultyFiles

LONG = os.environ.get("PI_DAEMON_LONG") == "1"


class Unsynced(FaultyFiles):
    """Syncs nothing: here processes die, or calls fail, but the power never goes."""

    def fsync(self, fd: int) -> None:
        self._call("fsync")

    def fdatasync(self, fd: int) -> None:
        self._call("fdatasync")
