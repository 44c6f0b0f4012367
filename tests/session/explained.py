"""What is explained, held against the projection."""

from __future__ import annotations

from collections.abc import Mapping

from pi_daemon.session.explain import Explanation
from pi_daemon.session.head import Head
from pi_daemon.session.llm import to_llm
from pi_daemon.session.projection import project
from pi_daemon.session.selection import Trail
from pi_daemon.session.tree import SessionTree
from pi_daemon.session.why import Explained


def agree(tree: SessionTree, lines: Mapping[int, bytes], leaf: str | None) -> None:
    """What is explained is what the projection has; every reason names what there is. `lines` by the id() of their
    heads."""
    path = tree.path(leaf)
    explanation = Explanation(tree, Trail(path))
    on_path = {id(one) for one in path}
    selection = Trail(path).selection()
    held = project(selection, [lines[id(one)] for one in selection.heads()])
    sent = to_llm(held)
    entries = [one for one in explanation.items(0, explanation.count) if isinstance(one, Head)]
    assert entries == tree.entries and explanation.count == len(entries)
    live = {id(one) for one in tree.live()}
    for one in entries:
        told = explanation.of(one)
        assert told == explanation.of(one) and told.head is one
        _holds(tree, told, held.sources, sent.sources, id(one) in on_path, id(one) in live)
        if told.why.reason == "edited":
            assert held.source_heads[told.message or 0] is one and told.message in held.changed


def _holds(tree: SessionTree, told: Explained, held: list[str], sent: list[str], on_path: bool, live: bool) -> None:
    why, one = told.why, told.head
    assert one is not None
    assert why.in_context == (live and one.id in sent) == (told.sent is not None)
    assert (told.message is not None) == (live and one.id in held)
    if told.message is not None:
        assert held.index(one.id) == told.message
    if told.sent is not None:
        assert sent.index(one.id) == told.sent
    assert why.in_context == (why.reason in ("asStored", "edited", "summary"))
    for name in (why.by, why.compaction, why.first_compaction, why.branch, why.left_at, why.root, told.summary):
        assert name is None or name in tree
    assert why.missing is None or why.missing not in tree
    beside = ("noLeaf", "orphaned", "loop", "pathCut", "otherBranch", "afterLeaf")
    lasting = ("neverEnters", "emptySummary", "excluded", "unknownRole", "sameIdLater")
    assert why.reason in lasting or (why.reason in beside) == (not on_path)
    if why.reason in ("compacted", "olderCompaction", "foldedSystem", "droppedSystem"):
        assert why.compaction is not None
    if why.reason in ("omitted", "overridden", "edited"):
        assert why.by is not None and why.by != one.id
    if why.reason in ("otherBranch", "afterLeaf"):
        assert why.branch is not None
