"""What somebody looks for. Words and "phrases", all of which an entry has to say; nothing in it is an operator."""

from __future__ import annotations

import re

from msgspec import Struct

from pi_daemon.session.errors import InvalidParams
from pi_daemon.storage.index.texts import MOST_TEXT, PAIR_MARK, even, is_pair, sound

MOST_CHARACTERS = 10_000
MOST_TERMS = 64

MOST_GRAMS = 24
"""Of all terms together that narrow the choice of blocks down; the text itself decides."""

_TERMS = re.compile(r'"([^"]*)"|([^\s"]+)|"')


_PLAIN = re.compile(r"[a-z0-9_.-]+", re.ASCII)


class Query(Struct):
    """`terms` are folded: an entry matches that says each of them."""

    terms: list[str]
    spaced: bool = False
    needles: list[bytes] = []

    def found_in(self, raw: str) -> str | None:
        """The folded text, where it says all terms."""
        folded = (even(raw) if self.spaced or len(raw) > MOST_TEXT else raw).casefold()
        for term in self.terms:
            if term not in folded:
                return None
        return folded

    def may_be_in(self, line: bytes) -> bool:
        """Whether it is worth while to decode a line of JSON: plain letters stand in it as they are, but for those
        that it escapes and those of other scripts that fold to them."""
        needles = self.needles
        if not needles or b"\\u" in line or not line.isascii():
            return True
        lower = line.lower()
        return all(needle in lower for needle in needles)

    def grams(self) -> list[str]:
        """What the blocks must have in the index; empty where that doesn't narrow them down."""
        found: dict[str, None] = {}
        share = max(2, MOST_GRAMS // len(self.terms))
        for term in self.terms:
            if is_pair(term):
                found[PAIR_MARK + term] = None
            # What is a space here may be any white space there.
            grams = [term[at : at + 3] for at in range(len(term) - 2) if " " not in term[at : at + 3]]
            last = len(grams) - 1
            chosen = range(last + 1) if last < share else (last * part // (share - 1) for part in range(share))
            found |= dict.fromkeys(grams[at] for at in chosen)
        return list(found)

    def expression(self) -> str:
        """The same for FTS5, in which quotes make a string of anything."""
        return " AND ".join('"' + gram.replace('"', '""') + '"' for gram in self.grams())


def parse(text: str) -> Query:
    """Raises InvalidParams for what says nothing, or too much."""
    if len(text) > MOST_CHARACTERS:
        raise InvalidParams(f"Look for at most {MOST_CHARACTERS:,} characters.", path="query")
    clean = even(sound(text))
    if not clean:
        raise InvalidParams("Say what to look for.", path="query")
    terms: dict[str, None] = {}
    for found in _TERMS.finditer(clean):
        term = " ".join((found[1] if found[1] is not None else found[2] or "").split()).casefold()
        if term:
            terms[term] = None
    chosen = list(terms)[:MOST_TERMS] or [clean.casefold()]
    plain = [max(_PLAIN.findall(term), key=len, default="") for term in chosen]
    return Query(chosen, any(" " in term for term in chosen), [word.encode() for word in plain if word])
