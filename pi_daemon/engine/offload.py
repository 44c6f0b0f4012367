"""Work on bodies goes to a thread when it would hold up the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

OFFLOAD_BYTES = 256 * 1024
"""Below this, work on bodies takes less than a millisecond, and less than the way to a thread and back."""


async def offload(size: int, work: Callable[[], Result]) -> Result:
    """Run `work` on `size` bytes of bodies: here, or in a thread where that would be long."""
    return work() if size < OFFLOAD_BYTES else await asyncio.to_thread(work)
