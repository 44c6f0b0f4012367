"""The commits that calls made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from pi_daemon.compaction.acts import Act
from pi_daemon.compaction.words import one_line

_MADE = re.compile(r"^\[([^\s\]]+)(?: \([^)\n]{0,40}\))? ([0-9a-f]{7,40})\] (.+)$", re.MULTILINE)
_MESSAGE = re.compile(r"\bgit commit\b[^\n]{0,80}?\s-\w*m\s*(?:\"([^\"\n]{3,200})|'([^'\n]{3,200}))")


class Commit(Struct, frozen=True):
    """`id` and `branch` are "" where the result that would tell them is left out."""

    id: str
    branch: str
    subject: str
    entry_id: str
    place: int


def commits(acts: Iterable[Act]) -> Iterator[Commit]:
    """In their order. A failed call commits nothing; of one without a result its message is all that is known."""
    for act in acts:
        if act.command is None or "git commit" not in act.command or act.failed:
            continue
        if act.result:
            for branch, commit, subject in _MADE.findall(act.result):
                yield Commit(commit, branch, one_line(subject), act.result_entry, act.place)
        elif found := _MESSAGE.search(act.command):
            yield Commit("", "", one_line(found[1] or found[2]), act.entry_id, act.place)
