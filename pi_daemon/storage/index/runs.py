"""How the entries of a file hang together, in as few numbers as there are branches.

A *run* is a stretch of lines in which each entry follows the one before it. Most sessions are one run, and one with
twenty branches is twenty: enough to say of any line whether it lies on the path to the file's last entry, and where the
branch ends on which it lies.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from msgspec import Struct

MOST_RUNS = 2_000
"""A file with more branches is read anew when somebody asks where an entry lies."""

ROOT = -1


class Run(Struct, array_like=True, gc=False):
    """Lines count from 0. `parent` is the line of the entry that the first one hangs on, or ROOT; `last` the id of the
    last entry so far."""

    first: int
    parent: int
    last: str


class Runs(Struct, array_like=True):
    """Grows with each entry. `odd`: doubled ids, a parent that comes later, or too many branches, so that only the tree
    itself tells. `unknown`: an entry hangs on one that an earlier pass has read: read the file from its start.
    `missing` are parents that no entry had been when they were named."""

    runs: list[Run] = []
    last: str = ""
    odd: bool = False
    unknown: bool = False
    missing: list[str] = []

    def add(self, ids: Sequence[str], parents: Sequence[str | None], lines: Sequence[int], known: Known | None) -> None:
        """Entries of one block, in file order. `known`: where earlier entries lie, if this pass has seen them all."""
        if self.odd or self.unknown:
            return
        last, runs = self.last, self.runs
        for place, parent in enumerate(parents):
            if parent != last or not runs:
                at = None
                if parent is not None:
                    if known is None and runs:
                        self.unknown = True
                        return
                    if known is not None:
                        known.learn(ids[known.behind(lines) : place], lines[known.behind(lines) : place])
                        at = known.lines.get(parent)
                    if at is None:
                        self.missing.append(parent)
                if runs:
                    runs[-1].last = last
                runs.append(Run(lines[place], ROOT if at is None else at, ""))
            last = ids[place]
        self.last = last
        if runs:
            runs[-1].last = last
        if known is not None:
            rest = known.behind(lines)
            known.learn(ids[rest:], lines[rest:])
            self.odd = known.doubled
        if self.missing and not set(self.missing).isdisjoint(ids):
            self.odd = True
        if len(runs) > MOST_RUNS:
            self.odd = True
        if self.odd:
            runs.clear()
            self.missing.clear()

    def places(self) -> Places:
        return Places(self.runs)


class Known:
    """The line of each entry that a pass has met."""

    def __init__(self) -> None:
        self.lines: dict[str, int] = {}
        self._count = 0
        self._upto = -1

    @property
    def doubled(self) -> bool:
        return len(self.lines) != self._count

    def behind(self, lines: Sequence[int]) -> int:
        """How many of `lines` are known."""
        return bisect_right(lines, self._upto)

    def learn(self, ids: Sequence[str], lines: Sequence[int]) -> None:
        if ids:
            self.lines.update(zip(ids, lines, strict=True))
            self._count += len(ids)
            self._upto = lines[-1]


class Places:
    """Where the entries of a file lie: `on_path` says whether its last entry descends from the one in a line, `tip` is
    the last entry of the file that does."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = runs
        self._firsts = [run.first for run in runs]
        # Of each run, up to which line the later runs claim it, in the order in which they do: the last one first.
        self._claims: list[list[tuple[int, int]]] = [[] for _ in runs]
        for number in range(len(runs) - 1, -1, -1):
            at, run = runs[number].parent, number
            self._claim(run, 1 << 62, number)
            while at != ROOT:
                run = bisect_right(self._firsts, at) - 1
                if not self._claim(run, at, number):
                    break
                at = runs[run].parent

    def _claim(self, run: int, upto: int, by: int) -> bool:
        """False where what lies above is claimed too."""
        claims = self._claims[run]
        fresh = not claims
        if fresh or claims[-1][0] < upto:
            claims.append((upto, by))
        return fresh

    def tip(self, line: int) -> str | None:
        """None for a line before the first entry."""
        run = bisect_right(self._firsts, line) - 1
        if run < 0:
            return None
        return self._runs[next(by for upto, by in self._claims[run] if upto >= line)].last

    def on_path(self, line: int) -> bool:
        run = bisect_right(self._firsts, line) - 1
        if run < 0:
            return False
        return next(by for upto, by in self._claims[run] if upto >= line) == len(self._runs) - 1
