"""Whether an entry is in the model's context at the leaf, and if not, why not."""

from __future__ import annotations

from pi_daemon.documents.branches import HIDDEN
from pi_daemon.engine.live import LiveSession
from pi_daemon.session.head import EditFacts, Head
from pi_daemon.session.markdown import code
from pi_daemon.session.selection import contributes


def standing(session: LiveSession, head: Head) -> str:
    """In a sentence. Looks at heads alone."""
    trail = session.trail
    if head not in trail.path:
        if session.tree.get(head.id) is not head:
            return "Not in the model's context: a later line has the same id."
        return "Not in the model's context: it is not on the active path."
    selection = trail.selection()
    source = next((source for source in reversed(selection.sources) if source.head is head), None)
    if source is not None:
        edited = f", with its content replaced by {code(source.edit.id)}" if source.edit is not None else ""
        return f"In the model's context{edited}."
    if isinstance(head.facts, EditFacts):
        return "On the active path; it changes what its target contributes to the model's context."
    if head.type in HIDDEN or not (contributes(head) or head.type == "compaction"):
        return "On the active path; an entry of this kind never enters the model's context itself."
    compaction = selection.compaction
    if compaction is not None and _before(trail.path, head, compaction):
        return f"Not in the model's context: the compaction {code(compaction.id)} stands for it."
    return "Not in the model's context: an edit of the context leaves it out."


def _before(path: list[Head], head: Head, other: Head) -> bool:
    return path.index(head) < path.index(other)
