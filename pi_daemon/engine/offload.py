"""Work on many bodies, or on very many heads, goes to a thread: else it would hold up the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

OFFLOAD_BYTES = 256 * 1024
"""Below this, work on bodies takes less than a millisecond, and less than the way to a thread and back."""

HEAD_BYTES = 64
"""Of a body that would take as long as it takes to look at a head."""


async def offload(size: int, work: Callable[[], Result]) -> Result:
    """Run `work` on `size` bytes of bodies: here, or in a thread where that would be long."""
    return work() if size < OFFLOAD_BYTES else await asyncio.to_thread(work)
