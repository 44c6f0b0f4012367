"""Summaries of branches that are left: what was tried there, for whoever goes on elsewhere."""

from __future__ import annotations

from typing import Any

from pi_daemon.compaction.branch import branch_portions, branch_sources
from pi_daemon.compaction.brief import Brief, Order
from pi_daemon.compaction.form import with_files
from pi_daemon.compaction.material import Portion
from pi_daemon.compaction.summarizing import Made, Tell
from pi_daemon.engine.compactions import SUMMARY_SHARE, Compactions, Wanted, form_for, summary
from pi_daemon.engine.events import Origin
from pi_daemon.engine.live import LiveSession
from pi_daemon.engine.offload import HEAD_BYTES, offload
from pi_daemon.engine.operations import summary_draft
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
    tree, leaf_id, instance_id = session.tree.frozen(), session.leaf_id, session.instance_id

    def left_behind() -> list[Portion]:
        return list(branch_portions(branch_sources(tree, leaf_id, target_id)))

    portions = await offload(HEAD_BYTES * len(tree), left_behind)
    if wanted.summary is None and all(portion.use != "said" for portion in portions):
        return None
    summarizer, missing = None, None
    try:
        summarizer = compactions.summarizer(session, wanted, origin)
    except SummarizerFailed as error:
        missing = error  # only if there is something to summarize
    order = Order(
        "branch",
        form_for(summarizer),
        int(SUMMARY_SHARE * settings.branch_reserve_tokens),
        wanted.instructions,
        budget=max(1, window - settings.branch_reserve_tokens),
    )
    brief = await compactions.brief(session, instance_id, portions, order, tell)
    if wanted.summary is None and not brief.said:
        return None
    if missing is not None:
        raise missing
    made = await summary(brief, summarizer, wanted, tell)
    if summarizer is None:
        return _draft(made.text, brief, None, made, None) if made.text.strip() else None
    if not made.text.strip():
        raise SummarizerFailed("The summary is empty, and nothing was written: try again.")
    verdict = await questioned(made.text, brief, wanted.policy)
    return _draft(verdict.text, brief, verdict.stored(), made, summarizer.name)


def _draft(text: str, brief: Brief, retention: dict[str, Any] | None, made: Made, name: str | None) -> Draft:
    details: dict[str, Any] = {
        "readFiles": list(brief.read_files),
        "modifiedFiles": list(brief.modified_files),
        "summarizer": name or "request",
    }
    if retention is not None:
        details["retention"] = retention
    if made.model is not None:
        details["model"] = made.model
    return summary_draft(with_files(text, brief.read_files, brief.modified_files), details, made.usage)
