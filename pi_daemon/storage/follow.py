"""What others do to a session file while we have it open.

pi and other daemons append to the same file, knowing no lock; pi also rewrites a version 1 or 2 file in place.
A `Follower` notices both: growth is read, anything else means that the file isn't the one we knew.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from msgspec import structs

from pi_daemon.session.errors import StorageFailed
from pi_daemon.session.head import Damage
from pi_daemon.storage.changes import Stamp
from pi_daemon.storage.scan import MARK, Found, Reader, Tail, mark_before
from pi_daemon.storage.system import Files, refusal

SETTLED_SECONDS = 0.05
"""How long a last line without an end must have stood still before anybody writes behind it: whoever is in the middle
of it (Node splits appends above 512 KiB) goes on within a few milliseconds."""

PATIENCE_SECONDS = 1.0
"""How long to wait for such a line that keeps growing."""


class Replaced(StorageFailed):
    """The path names no file any more, or another one, or bytes that we had read are gone from it."""


class Follower:
    """One open session file. `tail` is how far it is known. Not for two threads at a time."""

    def __init__(self, files: Files, path: Path, fd: int, state: os.stat_result, tail: Tail, reader: Reader) -> None:
        self.files = files
        self.path = path
        self.fd = fd
        self.tail = tail
        self.reader = reader
        self._state = state
        self._grew_at = files.now()
        self._torn: Damage | None = None
        self._out_of_step = False
        self.edited = False
        """Whether the last `catch_up` found the file written to and no longer than before: somebody may have changed
        what was there."""

    def stat(self) -> os.stat_result:
        """The file's state, if the path still names it. Raises Replaced, StorageFailed."""
        if self._out_of_step:
            raise Replaced(f"{self.path.name} could not be read further; open the session again", errno="EIO")
        try:
            state = self.files.stat(self.path)
        except FileNotFoundError as error:
            raise _deleted(self.path) from error
        except OSError as error:
            raise refusal(error, f"look at {self.path.name}") from error
        if not os.path.samestat(state, self._state):
            raise self.replaced()
        return state

    def unchanged(self, state: os.stat_result) -> bool:
        return state.st_size == self.tail.size and state.st_mtime_ns == self.tail.mtime_ns

    def catch_up(self) -> Found:
        """Read what has come since, if anything. Raises Replaced, StorageFailed."""
        found = self._read_what_came()
        return self._stood_still() if found is None else found

    def _read_what_came(self) -> Found | None:
        state, tail = self.stat(), self.tail
        self.edited = False
        if self.unchanged(state):
            return None
        self.edited = state.st_size == tail.size
        try:
            self._check_mark(tail, state.st_size)
            found, self.tail = self._read_on(tail, state)
        except OSError as error:
            raise refusal(error, f"read {self.path.name}") from error
        if self.tail.size != tail.size:
            self._grew_at = self.files.now()  # to read a long line takes long, and more may have come meanwhile
        return self._held_back(found)

    @property
    def torn(self) -> bool:
        """Whether a last line without an end is to be told, if it doesn't get its end: a page at a time a line comes
        into a file, so while another process writes it one may see the half of it."""
        return self._torn is not None

    def _held_back(self, found: Found) -> Found:
        torn = [damage for damage in found.damage if damage.kind == "tornTail"]
        if not self.tail.fragment:
            self._torn = None
        elif torn:
            self._torn = torn[-1]
        return Found(found.heads, [damage for damage in found.damage if damage.kind != "tornTail"]) if torn else found

    def _stood_still(self) -> Found:
        torn = self._torn
        if torn is None or self.files.now() - self._grew_at < SETTLED_SECONDS:
            return Found()
        self._torn = None
        return Found(damage=[torn])

    def check(self) -> None:
        """Raise Replaced unless everything read so far is still where it was, StorageFailed as ever."""
        tail = self.tail
        state = self.stat()
        if state.st_size != tail.size or state.st_mtime_ns != tail.mtime_ns:
            try:
                self._check_mark(tail, state.st_size)
            except OSError as error:
                raise refusal(error, f"read {self.path.name}") from error

    def settle(self, note: Callable[[Found], None]) -> None:
        """Wait until a last line without an end stands still; `note` is given what comes meanwhile. Raises
        StorageFailed where it doesn't, Replaced."""
        deadline = self.files.now() + PATIENCE_SECONDS
        while self.tail.fragment:
            now = self.files.now()
            came = self._read_what_came()
            if came is None and now - self._grew_at >= SETTLED_SECONDS:
                break
            note(came or Found())
            if self.tail.fragment and now >= deadline:
                raise StorageFailed(f"another process is writing a line to {self.path.name}; try again", errno="EBUSY")
            left = self._grew_at + SETTLED_SECONDS - self.files.now()
            if self.tail.fragment and left > 0:
                self.files.sleep(left)

    def stand_still(self) -> None:
        """Wait until nothing has happened for a while to the file that the path names, whichever it is: who rewrites
        one in place may be in the middle of it. Raises nothing."""
        since = self.files.now()
        deadline = since + PATIENCE_SECONDS
        last: Stamp | None = None
        with contextlib.suppress(OSError):
            while (now := self.files.now()) < deadline:
                stamp = Stamp.of(self.files.stat(self.path))
                if stamp != last:
                    last, since = stamp, now
                elif now - since >= SETTLED_SECONDS:
                    break
                self.files.sleep(SETTLED_SECONDS / 4)

    def wrote(self, data: bytes, led: bool, lines: int, state: os.stat_result) -> tuple[Found, bool]:
        """We have written `data`, so many lines, with a newline in front if `led`; `state` is the file's after that.

        Gives what was between all that we knew and ours, and False where the first of our lines was lost to a line
        without an end: then ours are taken back. Raises StorageFailed where that can't be, Replaced, OSError.
        """
        tail = self.tail
        start = tail.size
        if state.st_nlink == 0:
            raise _deleted(self.path)
        if state.st_size != start + len(data):
            start = self.files.position(self.fd) - len(data)
            if start < tail.size:
                raise self.replaced()
            torn = start > tail.size and (tail.fragment or not led)
            if torn and self.files.read(self.fd, 1, start - 1) != b"\n":
                if self.files.fstat(self.fd).st_size != start + len(data):
                    raise StorageFailed(f"another process tore a line in {self.path.name}; try again", errno="EBUSY")
                self.files.ftruncate(self.fd, start)
                return Found(), False
        found, before = (Found(), tail) if start == tail.size else self._read_on(tail, state, stop=start)
        if before.end < start:
            rest = self.files.read(self.fd, start - before.end, before.end)
            found.damage += self.reader.read_ended(rest, before.end)
        self.reader.wrote(lines)
        found = self._held_back(found)
        self._torn = None
        end = start + len(data)
        behind_known = tail.end == start
        mark = (tail.mark + data)[-MARK:] if behind_known else mark_before(self.files, self.fd, end)
        self.tail = Tail(end, end, state.st_mtime_ns if state.st_size == end else -1, mark)
        return found, True

    def moved(self, fd: int, state: os.stat_result, by: int) -> Follower:
        """The same lines in another file, `by` bytes further on at the end. This descriptor is closed; on OSError
        the other one."""
        tail = self.tail
        end = tail.end + by
        try:
            mark = mark_before(self.files, fd, end)
        except BaseException:
            self.files.close(fd)
            raise
        known = Tail(end, tail.size + by, -1, mark, tail.open, tail.fragment)
        header = structs.replace(self.reader.header, version=3) if self.reader.header else None
        self.files.close(self.fd)
        return Follower(self.files, self.path, fd, state, known, Reader.after(header, self.reader.lines))

    def replaced(self) -> Replaced:
        """What to raise where bytes that were read or written aren't there any more."""
        return Replaced(f"{self.path.name} was rewritten by another process; open the session again", errno="ESTALE")

    def _read_on(self, tail: Tail, state: os.stat_result, stop: int | None = None) -> tuple[Found, Tail]:
        """A reader that failed half-way has counted lines of which nobody was told."""
        self._out_of_step = True
        read = self.reader.read_on(self.files, self.fd, tail, state, stop)
        self._out_of_step = False
        return read

    def _check_mark(self, tail: Tail, size: int) -> None:
        if size < tail.end or mark_before(self.files, self.fd, tail.end) != tail.mark:
            raise self.replaced()


def _deleted(path: Path) -> Replaced:
    return Replaced(f"{path.name} was deleted while it was open; close the session", errno="ENOENT")
