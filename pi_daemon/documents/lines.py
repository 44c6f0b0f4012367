"""Which line an entry is on, from where the entries lie and the bytes between them.

Bodies hold no newlines, so only what lies between two entries is looked at, and not even that where it is one byte.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from pi_daemon.session.head import Head

MARK = b"\xef\xbb\xbf"
"""A byte order mark, which editors don't show as part of the first line."""


class LineIndex:
    """Grows with the file. `heads` are the entries so far, in file order; `lines[i]` is the line of `heads[i]`, counted
    from 0."""

    def __init__(self) -> None:
        self.heads: list[Head] = []
        self.lines = array("q")
        self._end = 0
        self._line = 0

    def holds(self, entries: Sequence[Head]) -> bool:
        """Whether the entries lie where they did: a file that was migrated is another."""
        count = len(self.heads)
        if count > len(entries):
            return False
        return not count or (self.heads[-1] is entries[count - 1] and self.heads[-1].offset + self._length == self._end)

    @property
    def _length(self) -> int:
        return self.heads[-1].length if self.heads else 0

    def unknown(self, heads: Sequence[Head]) -> list[tuple[int, int]]:
        """(offset, length) of what has to be read before `heads` can be added, the next in file order."""
        spans: list[tuple[int, int]] = []
        end = self._end
        for head in heads:
            gap = head.offset - end
            if gap != 1 or end == 0:
                spans.append((end, max(0, gap)))
            end = head.offset + head.length
        return spans

    def extend(self, heads: Sequence[Head], gaps: Sequence[bytes]) -> None:
        """`gaps` are the bytes that `unknown` named."""
        end, line = self._end, self._line
        add = self.lines.append
        following = iter(gaps)
        for head in heads:
            if head.offset - end != 1 or end == 0:
                line += next(following).count(b"\n")
            else:
                line += 1
            add(line)
            end = head.offset + head.length
        self.heads.extend(heads)
        self._end, self._line = end, line

    def place(self, head: Head) -> int | None:
        """Which of `heads` it is."""
        found = bisect_left(self.heads, head.offset, key=lambda other: other.offset)
        return found if found < len(self.heads) and self.heads[found] is head else None

    def line_of(self, head: Head) -> int | None:
        """None for an entry that isn't in the file yet."""
        place = self.place(head)
        return None if place is None else self.lines[place]

    def on_line(self, line: int) -> Head | None:
        """The entry on that line."""
        place = bisect_left(self.lines, line)
        return self.heads[place] if place < len(self.lines) and self.lines[place] == line else None

    def between(self, first: int, last: int) -> list[tuple[Head, int]]:
        """The entries on lines `first` to `last`, and their lines."""
        start, stop = bisect_left(self.lines, first), bisect_right(self.lines, last)
        return list(zip(self.heads[start:stop], self.lines[start:stop], strict=True))

    def before(self, offset: int) -> tuple[int, int]:
        """A place at or before that byte of which the line is known, and the line: the end of an entry, or the file's
        start."""
        place = bisect_right(self.heads, offset, key=lambda head: head.offset) - 1
        if place < 0:
            return 0, 0
        head = self.heads[place]
        return min(offset, head.offset + head.length), self.lines[place]
