"""A coroutine that is started at once, and becomes a task only if it has to wait.

Most requests never wait: an append whose durability is `written` goes from the socket to the page cache and back
within one turn of the event loop. A task for each would cost that loop several more turns, which is most of what an
append costs. Python 3.12 has this built in.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine, Generator
from typing import Any


def start(work: Coroutine[Any, Any, None], name: str | None = None) -> asyncio.Task[None] | None:
    """Run `work` up to where it first has to wait; None where it never had to. Keep the task that is returned.

    `work` must not ask for the current task before it has waited. What it raises before, this raises."""
    loop = asyncio.get_running_loop()
    if sys.version_info >= (3, 12):
        task = asyncio.Task(work, loop=loop, name=name, eager_start=True)
        if not task.done():
            return task
        task.result()
        return None
    try:
        waiting = work.send(None)
    except StopIteration:
        return None
    rest = _rest(work, waiting)
    next(rest)
    return loop.create_task(rest, name=name)


def _rest(work: Coroutine[Any, Any, None], waiting: Any) -> Generator[Any, Any, None]:
    """The rest of `work`, which waits for `waiting`: a future that a task takes over as if it had been its own.

    It is advanced once before the task takes it, so that a task cancelled before its first step can tell `work`."""
    error: BaseException | None = None
    try:
        yield
    except BaseException as thrown:  # noqa: BLE001 (it belongs to `work`, here and below)
        error = thrown
    while True:
        try:
            if error is not None:
                waiting = work.throw(error)
            value = None
            error = None
            try:
                value = yield waiting
            except BaseException as thrown:  # noqa: BLE001
                error = thrown
                continue
            waiting = work.send(value)
        except StopIteration:
            return
