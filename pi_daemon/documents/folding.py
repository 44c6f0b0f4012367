"""Turns as folds: what follows a user's message in the file, as far as it belongs to the same branch."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from pi_daemon.documents.branches import ALONE
from pi_daemon.rpc.types.lsp import FoldingRange
from pi_daemon.session.head import Head


def folds(heads: Sequence[Head], lines: array[int], limit: int | None) -> list[FoldingRange]:
    """At most `limit`, then the last ones."""
    found: list[FoldingRange] = []
    first = last = -1
    before: str | None = None
    for head, line in zip(heads, lines, strict=True):
        if head.role == "user" or head.type in ALONE or head.parent_id != before or line != last + 1:
            if last > first >= 0:
                found.append(FoldingRange(start_line=first, end_line=last, kind="region"))
            first = line if head.role == "user" else -1
        last, before = line, head.id
    if last > first >= 0:
        found.append(FoldingRange(start_line=first, end_line=last, kind="region"))
    return found if limit is None else found[-limit:]
