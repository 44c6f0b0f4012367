"""What the log says of changes that nobody asked for: that a file was deleted, rewritten, damaged, or can't be written.

Names of files and kinds of damage, never what a session holds.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from pi_daemon.engine.events import Damaged, Deleted, Event, Failed, Replaced

logger = logging.getLogger(__name__)


def log_events(session_id: str, path: str, events: Sequence[Event], *, asked: bool) -> None:
    """`asked`: a client wanted them."""
    for event in events:
        said = _said(event)
        if said is not None:
            words, more = said
            level = logging.INFO if asked else logging.WARNING
            logger.log(level, words, extra={"fields": {"sessionId": session_id, "path": path, **more}})


def _said(event: Event) -> tuple[str, dict[str, Any]] | None:
    match event:
        case Deleted(trashed_to):
            return "session deleted", {} if trashed_to is None else {"trashedTo": trashed_to}
        case Replaced():
            return "session replaced: its file was rewritten or is another", {}
        case Failed(reason, errno):
            return "session failed", {"reason": reason, "errno": errno}
        case Damaged(damage, []):
            return "session damaged", {"kinds": sorted({one.kind for one in damage})}
        case Damaged(damage, lost):
            return "entries lost", {"lost": len(lost), "what": "; ".join(one.message for one in damage)}
        case _:
            return None
