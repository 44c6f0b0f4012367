"""All the bodies of a long list of entries, some at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence

from pi_daemon.engine.live import LiveSession
from pi_daemon.session.head import Head

AT_A_TIME = 2_000
"""Entries whose lines are in memory together at most."""

AT_A_TIME_BYTES = 4 * 1024 * 1024
"""Of their lines; more only for a single one that is longer."""


async def bodies(
    session: LiveSession, heads: Sequence[Head], instance_id: str
) -> AsyncIterator[tuple[Sequence[Head], list[bytes]]]:
    """The heads of an instance in their order, with their lines. Raises StorageFailed."""
    for portion in _portions(heads):
        yield portion, await session.lines(portion, of=instance_id)


def _portions(heads: Sequence[Head]) -> Iterator[Sequence[Head]]:
    start = size = 0
    for place, head in enumerate(heads):
        if place > start and (place - start >= AT_A_TIME or size + head.length > AT_A_TIME_BYTES):
            yield heads[start:place]
            start, size = place, 0
        size += head.length
    if start < len(heads):
        yield heads[start:]
