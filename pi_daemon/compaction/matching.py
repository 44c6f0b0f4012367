"""Whether a summary answers a question. Fair to a summary that says it in other words, strict about names."""

from __future__ import annotations

import re

from pi_daemon.compaction.form import parse, without_files
from pi_daemon.compaction.labels import settled
from pi_daemon.compaction.questions import Kind, Question
from pi_daemon.compaction.speech import forbids
from pi_daemon.compaction.words import content_words, one_line

SHARE: dict[Kind, float] = {
    "constraint": 0.7,
    "request": 0.6,
    "unfinished": 0.6,
    "superseded": 0.8,
    "commit": 0.6,
    "openCall": 0.7,
    "error": 0.6,
    "overcome": 0.6,
}
"""Of the content words of a fact, those that must stand in one item of the summary. A third may differ: inflection,
a synonym, what a rewording leaves out. At a half, items about another thing with the same names begin to pass."""

NO_LONGER = "Probably no longer holds"
"""Begins an item that takes back what another one says. Words, names and commits tell that, so it may be wrong."""

_PAST = re.compile(r"\b(?:superseded|no longer|done|finished|resolved|obsolete)\b|取代|已完成|作废", re.IGNORECASE)

_BLOCK = re.compile(r"\n\s*\n|\n(?=\s{0,8}(?:[-*+•]\s|\d{1,3}[.)]\s|#{1,6}\s))")
_BEFORE = re.compile(r"(?:[\w/\\.@~$%+\-])\Z")
_AFTER = re.compile(r"[\w/\\\-@~]|\.\w")


class Text:
    """A summary, made ready to be asked many questions."""

    def __init__(self, summary: str) -> None:
        body, read_files, modified_files = without_files(summary)
        self._summary = summary
        self._stated: list[tuple[str, set[str]]] | None = None
        self._listed = {*read_files, *modified_files}
        self._body = one_line(body)
        self._folded = one_line(summary).casefold()
        self._blocks = [(one_line(block), content_words(block)) for block in _BLOCK.split(body) if block.strip()]

    def answers(self, question: Question) -> bool:
        if question.kind in ("modified", "read"):
            return question.text in self._listed or self._names(question.text)
        if question.kind == "reference":
            return self._names(question.text)
        if question.kind == "superseded":
            return not self._states(question.text)
        if question.kind == "commit":
            subject = question.text.removeprefix("".join(f"{commit}: " for commit in question.needles))
            return any(map(self._names, question.needles)) or self._says(subject.rstrip("…")) or self._alike(question)
        if self._says(question.text.rstrip("…")):
            return True
        if question.kind in ("error", "overcome") and not question.needles:
            return self._alike(question)
        return all(map(self._names, question.needles)) and self._alike(question)

    def _states(self, text: str) -> bool:
        """Whether a section that binds or plans has it, and doesn't say that it is past."""
        if self._stated is None:
            said = parse(self._summary).folded()
            items = [*said.constraints, *said.next_steps, *said.in_progress, *said.blocked]
            items = [one_line(item) for item in items if not _PAST.search(item)]
            self._stated = [(item.casefold(), content_words(item)) for item in items if not settled(item)]
        folded, wanted = text.casefold().rstrip("…"), content_words(text)
        if self._retracts(folded):
            return False
        return any(
            folded in item or len(wanted & words) >= max(SHARE["superseded"] * len(wanted), 2)
            for item, words in self._stated
        )

    def _retracts(self, folded: str) -> bool:
        return f"{NO_LONGER}: {folded}".casefold() in self._folded

    def _says(self, text: str) -> bool:
        """Word for word, whatever its spaces and its case."""
        wanted = one_line(text).casefold()
        if not wanted:
            return True
        at = self._folded.find(wanted)
        while at >= 0:
            end = at + len(wanted)
            whole = not (wanted[0].isascii() and wanted[0].isalnum() and self._folded[at - 1 : at].isalnum())
            if whole and not (wanted[-1].isascii() and wanted[-1].isalnum() and self._folded[end : end + 1].isalnum()):
                return True
            at = self._folded.find(wanted, at + 1)
        return False

    def _names(self, name: str) -> bool:
        """Exactly, and not as a part of another name: `src/a.ts` is not in `lib/src/a.ts` nor in `src/a.tsx`."""
        body = self._body
        at = body.find(name)
        while at >= 0:
            before, end = body[max(0, at - 3) : at], at + len(name)
            if before.endswith("./") and not before.endswith(("../", "w./")) and name[0] not in "./":
                before = before[:-2]
            if not _BEFORE.search(before) and not _AFTER.match(body[end : end + 2]):
                return True
            at = body.find(name, at + 1)
        return False

    def _alike(self, question: Question) -> bool:
        wanted = content_words(question.text)
        if not wanted:
            return False
        enough = SHARE[question.kind] * len(wanted)
        must_forbid = question.kind == "constraint" and forbids(question.text)
        return any(
            len(words) >= enough and len(wanted & words) >= enough and (not must_forbid or forbids(block))
            for block, words in self._blocks
        )
