"""Processes that work for the daemon, each in a session of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from typing import Any


async def end(process: asyncio.subprocess.Process, *reading: asyncio.Future[Any]) -> None:
    """Whatever has become of it, and of what reads from it: it is gone, and was waited for."""
    for one in reading:
        one.cancel()
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    # While a pipe is open that nobody reads, asyncio doesn't notice the end of a process.
    process._transport.close()  # type: ignore[attr-defined]
    await asyncio.shield(asyncio.gather(process.wait(), *reading, return_exceptions=True))
