"""Lines that are in memory, because their session has no file yet or never will."""

from __future__ import annotations

from collections.abc import Iterable

from pi_daemon.session.entry import read_line
from pi_daemon.session.errors import EntryNotFound
from pi_daemon.session.head import IN_MEMORY, Head


class KeptLines:
    """Entries in order, each with its line. One is found by its head, or by its id where another has made the head."""

    def __init__(self, lines: Iterable[bytes] = ()) -> None:
        self.heads: list[Head] = []
        self.lines: list[bytes] = []
        self._by_head: dict[Head, int] = {}
        self._by_id: dict[str, int] = {}
        self.add(lines)

    def add(self, lines: Iterable[bytes]) -> None:
        """Raises ValueError for a line that is no entry."""
        for line in lines:
            head = read_line(line, IN_MEMORY)
            if not isinstance(head, Head):
                raise ValueError("a line that is no entry")
            self._by_head[head] = self._by_id[head.id] = len(self.heads)
            self.heads.append(head)
            self.lines.append(line)

    def index(self, head: Head) -> int:
        """Raises EntryNotFound."""
        place = self._by_head.get(head)
        if place is None:
            place = self._by_id.get(head.id)
        if place is None:
            raise EntryNotFound("the entry isn't in this session", entryId=head.id)
        return place
