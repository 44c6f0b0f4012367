"""Summaries of branches that are left: what was tried there, for whoever goes on elsewhere."""

from __future__ import annotations

from typing import Any

from pi_daemon.compaction.branch import BranchGathering, branch_sources
from pi_daemon.compaction.form import with_files
from pi_daemon.compaction.material import Material
from pi_daemon.compaction.summarizing import Made, Tell, Work
from pi_daemon.engine.compactions import SUMMARY_SHARE, Compactions, Wanted
from pi_daemon.engine.events import Origin
from pi_daemon.engine.live import LiveSession
from pi_daemon.engine.operations import summary_draft
from pi_daemon.engine.planning import fed
from pi_daemon.engine.questioned import questioned
from pi_daemon.session.draft import Draft
from pi_daemon.session.errors import SummarizerFailed

UNKNOWN_WINDOW = 128_000
"""Tokens of a branch that are told where no context window is known (pi 1.6.0)."""


async def branch_summary(
    compactions: Compactions,
    session: LiveSession,
    target_id: str | None,
    wanted: Wanted,
    origin: Origin | None,
    tell: Tell,
) -> Draft | None:
    """A summary of what lies between the leaf and the path to `target_id`, None where nothing does.

    Raises SummarizerFailed, InvalidParams, InvalidSettings, EntryNotFound, StorageFailed."""
    settings = await compactions.settings(session)
    window = session.options.context_window or UNKNOWN_WINDOW
    entries = branch_sources(session.tree, session.leaf_id, target_id)
    budget = max(1, window - settings.branch_reserve_tokens)
    material = (await fed(BranchGathering(entries, budget), session, session.instance_id)).material
    if wanted.summary is not None:
        if not wanted.summary.strip():
            return None
        return _draft(wanted.summary, material, None, Made(wanted.summary), None)
    if not material.history:
        return None
    work = Work("branch", material, wanted.instructions, int(SUMMARY_SHARE * settings.branch_reserve_tokens))
    made, name = await compactions.summary(session, work, wanted, origin, tell)
    if not made.text.strip():
        raise SummarizerFailed("The summary is empty, and nothing was written: try again.")
    verdict = await questioned(made, material, wanted.policy, branch=True)
    return _draft(verdict.text, material, verdict.stored(), made, name)


def _draft(text: str, material: Material, retention: dict[str, Any] | None, made: Made, name: str | None) -> Draft:
    details: dict[str, Any] = {
        "readFiles": list(material.read_files),
        "modifiedFiles": list(material.modified_files),
        "summarizer": name or "request",
    }
    if retention is not None:
        details["retention"] = retention
    if made.model is not None:
        details["model"] = made.model
    return summary_draft(with_files(text, material.read_files, material.modified_files), details, made.usage)
