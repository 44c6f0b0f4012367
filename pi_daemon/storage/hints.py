"""Hints that something happened in a directory: watchfiles, which sees most things soon and nothing for certain.

It goes quiet when a directory is deleted and made again, drops events without a word when the system's queue
overflows, and ends at a file name that isn't UTF-8. So nobody relies on it, and a broken one is thrown away.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

STEP_MS = 25
"""How often watchfiles looks whether something has come. Each look takes the interpreter's lock: every 25 ms that is a
quarter of a percent of a core, and a change is told after 25 to 50 ms."""


class HintsFailed(Exception):
    """There will be no more hints from this source."""


class Hints(Protocol):
    """A source of hints for some directories, not for those below them. One thread uses it, but for `wake`."""

    def wait(self, seconds: float) -> Collection[str]:
        """The paths at which something happened; empty after `seconds`, or when woken. Raises HintsFailed."""

    def close(self) -> None: ...


class WatchfilesHints:
    """Raises HintsFailed where the directories can't be watched. `woken` ends a wait."""

    def __init__(self, folders: Collection[str], woken: threading.Event) -> None:
        # Not at the start of a daemon: with anyio, which it brings along, it takes 50 ms.
        from watchfiles._rust_notify import RustNotify

        self._woken = woken
        try:
            self._source: RustNotify = RustNotify(sorted(folders), False, False, 0, False, True)
        except (OSError, RuntimeError, UnicodeError) as error:
            raise HintsFailed(str(error)) from error

    def wait(self, seconds: float) -> Collection[str]:
        try:
            found = self._source.watch(STEP_MS, STEP_MS, max(1, int(seconds * 1000)), self._woken)
        except (OSError, RuntimeError) as error:
            raise HintsFailed(str(error)) from error
        return [] if isinstance(found, str) else {path for _, path in found}

    def close(self) -> None:
        self._source.close()
