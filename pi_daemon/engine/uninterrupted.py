"""Work that can't be stopped half-way: who wants to stop it comes too late, and gets its result as ever."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


async def uninterrupted(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of `work`, which runs to its end even if the caller is cancelled meanwhile."""
    task = asyncio.get_running_loop().create_task(work)
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            too_late()
    return task.result()


def too_late() -> None:
    """The cancellation that was just caught is not carried out."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()
