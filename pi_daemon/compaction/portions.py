"""Which bodies are read at a time: few bytes at first, since often the newest are enough, then more and more."""

from __future__ import annotations

from collections.abc import Sequence

from pi_daemon.session.selection import Source

FIRST_PORTION = 64 * 1024
"""Bytes of the lines in the first portion of those that go backwards; each further one may have four times as many."""

PORTION = 4 * 1024 * 1024
"""Bytes of the lines in a portion at most, where no single one is longer."""


class Portions:
    """`sources` portion by portion, each in the order of the path: the oldest first, or the newest with
    `backwards`."""

    def __init__(self, sources: Sequence[Source], *, backwards: bool = False) -> None:
        self._sources = sources
        self._start = 0
        self._end = len(sources)
        self._backwards = backwards
        self._limit = FIRST_PORTION if backwards else PORTION

    def next(self) -> list[Source]:
        """Empty when there are no more."""
        sources = self._sources
        step = -1 if self._backwards else 1
        at = self._end - 1 if self._backwards else self._start
        size = count = 0
        while self._start <= at < self._end:
            size += sources[at].head.length
            if count and size > self._limit:
                break
            count += 1
            at += step
        self._limit = min(4 * self._limit, PORTION)
        if self._backwards:
            self._end -= count
            return list(sources[self._end : self._end + count])
        self._start += count
        return list(sources[self._start - count : self._start])
