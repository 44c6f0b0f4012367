"""Where the file work runs: threads of our own, so nothing else can use them up.

A call that was handed over runs to its end even if its waiter is cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

WORKERS = 32
"""fdatasync calls that wait together share one commit of the file system's journal, so it pays to have many in
flight; each thread costs some KB."""

_workers = ThreadPoolExecutor(WORKERS, thread_name_prefix="pi-daemon-storage")


async def in_thread(work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_workers, lambda: work(*args, **kwargs))
