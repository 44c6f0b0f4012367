"""Who may open the panel: codes that are good for once, and the tokens of pages that came in with one.

A code is in the address that a browser is given, and gone from there as soon as the page has it. What the page gets for
it stays with the page, so that it finds back when the daemon was replaced or killed: its digest, never the token, is
kept beside the daemon's socket, where the next daemon looks for it. That directory is emptied when the user logs out.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from pi_daemon.session.errors import Unauthorized
from pi_daemon.transports.own import TOUCH, read_own

CODE_SECONDS = 60.0
"""From the answer of `daemon/panel` until the page has been loaded and connects."""

PAGE_SECONDS = 24 * 60 * 60.0
"""How long a page may be away. Each connection begins it anew."""

MOST_CODES = 32
"""Addresses that wait to be opened; beyond it the oldest one is no longer good."""

MOST_PAGES = 64
"""Pages that may come back; beyond it the one that was away longest may not."""

_SECRET_BYTES = 32
_FILE_BYTES = 64 * 1024


class Kept(msgspec.Struct):
    """What the file holds: the port, and by the digest of its token when each page came last, in seconds since 1970."""

    port: int
    pages: dict[str, float] = {}


class Pages:
    """A gate. `path`: where to remember pages; None: nowhere. `clock` in seconds since 1970."""

    def __init__(self, path: Path | None, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        self._codes: dict[str, float] = {}
        self._kept = Kept(0)

    @property
    def port(self) -> int:
        """The port that the pages came from; 0: there is none."""
        return self._kept.port

    def recall(self) -> bool:
        """Take over what a former daemon remembered. Whether there are pages that may come back."""
        self._kept = _read(self._path) or Kept(0)
        self._forget_old()
        return bool(self._kept.pages) and 0 < self._kept.port < 65536

    def serve(self, port: int) -> None:
        """Pages come from this port now; those of another one have lost their way."""
        if port != self._kept.port:
            self._kept = Kept(port)

    def code(self) -> str:
        """A new code."""
        self._forget_old()
        while len(self._codes) >= MOST_CODES:
            del self._codes[next(iter(self._codes))]
        made = secrets.token_urlsafe(_SECRET_BYTES)
        self._codes[_digest(made)] = self._clock() + CODE_SECONDS
        return made

    def admit(self, token: str) -> str | None:
        """A code is exchanged for a token, a token is good as it is. Raises Unauthorized."""
        self._forget_old()
        digest = _digest(token)
        if self._codes.pop(digest, None) is not None:
            made = secrets.token_urlsafe(_SECRET_BYTES)
            self._come(_digest(made))
            return made
        if digest not in self._kept.pages:
            raise Unauthorized("This address was opened before, or is too old: `pi-daemon panel` gives another one.")
        self._come(digest)
        return None

    def _come(self, digest: str) -> None:
        pages = self._kept.pages
        pages.pop(digest, None)
        pages[digest] = self._clock()
        while len(pages) > MOST_PAGES:
            del pages[next(iter(pages))]
        if self._path is not None:
            with contextlib.suppress(OSError):  # a page that isn't remembered has to be opened anew, no more
                _write(self._path, msgspec.json.encode(self._kept))

    def _forget_old(self) -> None:
        now = self._clock()
        self._codes = {digest: until for digest, until in self._codes.items() if now <= until}
        pages = self._kept.pages
        self._kept.pages = {digest: came for digest, came in pages.items() if abs(now - came) <= PAGE_SECONDS}


def _digest(secret: str) -> str:
    """The secrets have 256 bits: how long it takes to look up a digest tells nothing of them."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


def _read(path: Path | None) -> Kept | None:
    """None where there is nothing, or nothing of ours."""
    data = read_own(path, _FILE_BYTES, TOUCH) if path is not None else None
    try:
        return msgspec.json.decode(data, type=Kept) if data is not None else None
    except ValueError:
        return None


def _write(path: Path, data: bytes) -> None:
    """Beside its place and then renamed."""
    aside = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
