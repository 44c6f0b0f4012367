"""What is left behind when the leaf moves to another branch, as far as a budget reaches.

All rules are pi 1.6.0's: the newest is chosen first, tool results are left out, and earlier summaries stand for what
they sum up, wherever they lie.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pi_daemon.compaction.files import Files
from pi_daemon.compaction.gather import all_said
from pi_daemon.compaction.material import Material, Portion, Said, Use, selected
from pi_daemon.compaction.portions import Portions
from pi_daemon.compaction.tokens import estimate
from pi_daemon.session.head import EditFacts, Head
from pi_daemon.session.projection import project
from pi_daemon.session.rawjson import loads
from pi_daemon.session.selection import MESSAGES, Source
from pi_daemon.session.tree import SessionTree

_SUMMARIES = frozenset({"compaction", "branch_summary"})

SUMMARY_SHARE = 0.9
"""A summary that passes the budget is taken all the same while less than this share of it is used."""


def branch_sources(tree: SessionTree, old_leaf_id: str | None, target_id: str | None) -> list[Head]:
    """The entries from the last one that both paths share, it excepted, to the old leaf. Raises EntryNotFound."""
    old, target = tree.path(old_leaf_id), tree.path(target_id)
    shared = 0
    for one, other in zip(old, target, strict=False):
        if one is not other:
            break
        shared += 1
    return old[shared:]


def branch_portions(entries: Sequence[Head]) -> Iterator[Portion]:
    """What a BranchGathering is to be given of a branch (oldest first), in this order, until it wants no more."""
    # The files of every summary on the branch count, of those beyond the budget too.
    summaries = Portions([Source(head) for head in entries if head.type == "branch_summary"])
    while some := summaries.next():
        yield Portion("files", some)
    newest = Portions(_visible(entries), backwards=True)
    while some := newest.next():
        yield Portion("said", some)


class BranchGathering:
    """The material of a branch summary in the making.

    `budget` is in tokens, and 0 is no limit. `material` may have no history: then there is nothing to summarize.
    `tokens` is what the chosen messages are estimated at.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self.tokens = 0
        self._said: list[Said] = []  # newest first
        self._files = Files()

    def give(self, use: Use, lines: Sequence[bytes]) -> bool:
        """`lines` are those of the next of `branch_portions`. False when the budget is used up."""
        if use == "files":
            for line in lines:
                self._files.see_summary(loads(line))
            return True
        selection = selected(lines)
        # Of a compaction there is its summary alone; the system message that it carries is none of the branch.
        of = {source.head.id: source.head.type for source in selection.sources}
        for one in reversed(list(all_said(project(selection, lines)))):
            kind = of[one.entry_id]
            if not (kind == "compaction" and one.role == "system") and not self._take(one, kind):
                return False
        return True

    @property
    def material(self) -> Material:
        """To be asked for when nothing more is wanted."""
        return Material(self._said[::-1], read_files=self._files.read, modified_files=self._files.modified)

    def _take(self, said: Said, kind: str) -> bool:
        """False when the budget is used up. What the first message beyond it did to files counts still."""
        self._files.see(said.message)
        tokens = estimate(said.message)
        fits = not self._budget or self.tokens + tokens <= self._budget
        if fits or (kind in _SUMMARIES and self.tokens < self._budget * SUMMARY_SHARE):
            self._said.append(said)
            self.tokens += tokens
        return fits


def _visible(entries: Sequence[Head]) -> list[Source]:
    """What of a branch is told. Its edits count; a summary is told whatever they say."""
    edits = {head.facts.target: head for head in entries if isinstance(head.facts, EditFacts)}
    found: list[Source] = []
    for head in entries:
        if head.type in _SUMMARIES:
            found.append(Source(head))
        elif head.role != "toolResult" and (head.facts.__class__ in MESSAGES or head.type == "custom_message"):
            edit = edits.get(head.id)
            if edit is None or not (isinstance(edit.facts, EditFacts) and edit.facts.omit):
                found.append(Source(head, edit))
    return found
