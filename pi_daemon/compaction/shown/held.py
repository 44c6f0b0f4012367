"""What a file must hold by what a path shows: followed from write to edit to read.

After a write, or a read of all of it, the whole text is known, and edits are applied to it. Otherwise what is known
are parts: the texts that edits put in, and those that a read showed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

PARTS = 200
"""Parts of one file that are followed, the newest; each costs a search in each later text."""

OVERLAP = 2_000
"""Characters in which a part and the text that a later edit replaced may overlap at an end: some 40 lines."""

ANCHOR = 16
"""Characters of an overlap that are looked for first, so that not each length has to be tried."""

TRIES = 50
"""Places of an anchor that are looked at. Text that repeats itself has more; then a shorter overlap counts."""

EARLIER = 50
"""Earlier texts of a file that are known again."""

TELLING = 4
"""Characters that a text needs so that finding it again means that a change was undone: a brace is always there."""

Verdict: TypeAlias = Literal["same", "lineEnds", "changed", "undone", "unknown"]
"""`lineEnds`: only these differ. `undone`: it is what it was before. `unknown`: the path doesn't show enough."""

Edits: TypeAlias = Sequence[tuple[str, str]]


class _Part(Struct):
    """`text` was in the file. `least` is it without what a later edit may have replaced at its ends. `old` is what it
    replaced, empty for what was read."""

    text: str
    least: str
    old: str


BYTE_ORDER_MARK = "\ufeff"
"""A read shows it, an edit is matched without it, and nobody thinks of it."""


def unix_lines(text: str) -> str:
    """Without a byte order mark too."""
    text = text.removeprefix(BYTE_ORDER_MARK)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


class Held:
    """One file. The calls that changed it or read it are told in their order."""

    def __init__(self) -> None:
        self._whole: str | None = None
        self._exact: str | None = None
        self._loose_end = False  # a read may leave out line ends at the end
        self._parts: list[_Part] = []
        self._earlier: list[int] = []

    @property
    def known(self) -> bool:
        """Whether there is anything to compare."""
        return self._whole is not None or bool(self._parts)

    @property
    def complete(self) -> bool:
        """Whether all of its text is known, and not parts alone."""
        return self._whole is not None

    def write(self, content: str) -> None:
        self._remember()
        self._exact, self._whole = content.removeprefix(BYTE_ORDER_MARK), unix_lines(content)
        self._loose_end = False
        self._parts = []

    def edit(self, edits: Edits) -> None:
        """An edit that went well; so what it replaced was there."""
        self._exact = None
        pairs = [(unix_lines(old), unix_lines(new)) for old, new in edits]
        if self._whole is not None:
            self._remember()
            # None: something else had changed the file, or the match was not to the letter.
            self._whole = replaced(self._whole, pairs)
        if self._whole is None:
            for old, new in pairs:
                self._put(old, new)

    def read(self, text: str, *, all: bool) -> None:
        """A read showed this; `all`: from the first line to the last."""
        text = unix_lines(text)
        if all:
            if self._whole is None or self._whole.rstrip("\n") != text.rstrip("\n"):
                self._exact, self._whole, self._loose_end, self._parts = None, text, True, []
            return
        if self._whole is not None:
            if text in self._whole or (self._loose_end and text.rstrip("\n") in self._whole):
                return
            self._exact = self._whole = None  # it had been changed
        if text.strip():
            self._parts = [part for part in self._parts if part.text not in text]
            self._add(_Part(text, text, ""))

    def forget(self) -> None:
        """It was changed in a way that isn't shown."""
        self._exact = self._whole = None
        self._parts = []

    def compare(self, found: str) -> Verdict:
        """With what the file holds now, as it is."""
        text = unix_lines(found)
        if self._whole is not None:
            return self._compare_whole(found, text)
        if not self._parts:
            return "unknown"
        missing = [part for part in self._parts if not _is_there(part, text)]
        if not missing:
            return "same"
        last = missing[-1]
        back = len(last.old.strip()) >= TELLING and last.old in text and last.old not in last.text
        return "undone" if back else "changed"

    def _compare_whole(self, found: str, text: str) -> Verdict:
        whole = self._whole or ""
        if text == whole:
            return "same" if self._exact in (None, found.removeprefix(BYTE_ORDER_MARK)) else "lineEnds"
        if self._loose_end and text.rstrip("\n") == whole.rstrip("\n"):
            return "same"
        return "undone" if hash(text) in self._earlier else "changed"

    def _remember(self) -> None:
        if self._whole is not None:
            self._earlier = [*self._earlier[1 - EARLIER :], hash(self._whole)]

    def _put(self, old: str, new: str) -> None:
        kept: list[_Part] = []
        for part in self._parts:
            if old in part.text:
                part.text = part.text.replace(old, new, 1)
                part.least = part.least.replace(old, new, 1) if old in part.least else _apart(part.least, old)
            elif part.text in old or not part.text.strip():
                continue  # it went with what was replaced, or what was taken out may have come in again
            else:
                part.least = _apart(part.least, old)
            kept.append(part)
        self._parts = kept
        self._add(_Part(new, new, old))

    def _add(self, part: _Part) -> None:
        self._parts = [*self._parts[1 - PARTS :], part]


def replaced(text: str, edits: Edits) -> str | None:
    """`text` with each first of `edits` replaced by its second; None where one of them isn't there exactly once."""
    places: list[tuple[int, str, str]] = []
    for old, new in edits:
        at = text.find(old)
        if not old or at < 0 or text.find(old, at + 1) >= 0:
            return None
        places.append((at, old, new))
    places.sort()
    pieces: list[str] = []
    end = 0
    for at, old, new in places:
        if at < end:
            return None
        pieces += [text[end:at], new]
        end = at + len(old)
    return "".join([*pieces, text[end:]])


def _is_there(part: _Part, text: str) -> bool:
    if not part.text.strip():  # what is to be seen of a text taken out is that it isn't there
        return part.old not in text or len(part.old.strip()) < TELLING
    return part.text in text or (part.least != part.text and part.least in text)


def _apart(text: str, old: str) -> str:
    """`text` without what `old` has of it at an end."""
    end = _overlap(text[-OVERLAP:], old[:OVERLAP])
    start = _overlap(old[-OVERLAP:], text[:OVERLAP])
    return text[start : len(text) - end]


def _overlap(before: str, after: str) -> int:
    """The most characters with which `before` ends and `after` begins."""
    anchor = after[:ANCHOR]
    at = before.find(anchor) if len(anchor) == ANCHOR else -1
    for _ in range(TRIES):
        if at < 0:
            break
        if after.startswith(before[at:]):
            return len(before) - at
        at = before.find(anchor, at + 1)
    most = min(len(before), len(after), ANCHOR - 1)
    return next((size for size in range(most, 0, -1) if before.endswith(after[:size])), 0)
