"""The daemon's side of a desk."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from pi_daemon.compaction.brief import Brief, Order
from pi_daemon.compaction.material import Use
from pi_daemon.daemon.desk import frames
from pi_daemon.engine.desks import Desk, in_threads
from pi_daemon.engine.offload import offload
from pi_daemon.session.errors import SummarizerFailed
from pi_daemon.storage.processes import end

logger = logging.getLogger(__name__)

LEFT_CORES = 1
"""Of the machine's, for the daemon and for whoever talks with it."""

LEAST = 2
"""Desks at once, on however small a machine: a summary of months takes a minute, and the next one may be short."""


class DeskFailed(Exception):
    """The message is the desk's traceback."""


COMMAND = (sys.executable, "-P", "-m", "pi_daemon.daemon.desk")
"""`-P` keeps the current directory off the import path, as that of the daemon itself."""


class Desks:
    """Those of one daemon. As many at once as there are processors to spare: the next summary waits for a desk."""

    def __init__(self, command: Sequence[str] = COMMAND, at_once: int | None = None) -> None:
        self._command = command
        self._free = asyncio.Semaphore(at_once or max(LEAST, (os.cpu_count() or 1) - LEFT_CORES))

    @asynccontextmanager
    async def __call__(self, order: Order) -> AsyncIterator[Desk]:
        """Where no process can be started, a thread does it."""
        async with self._free:
            try:
                process = await _start(self._command)
            except OSError as error:
                logger.warning("no process for a summary", extra={"fields": {"error": str(error)}})
                async with in_threads(order) as desk:
                    yield desk
                return
            try:
                desk = _Desk(process)
                await desk.open(order)
                yield desk
            finally:
                await end(process)


class _Desk:
    def __init__(self, process: Process) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._process = process
        self._to = process.stdin
        self._from = process.stdout

    async def open(self, order: Order) -> None:
        await self._send(frames.written(order))

    async def give(self, use: Use, lines: Sequence[bytes]) -> bool:
        await self._send(await offload(sum(map(len, lines)), lambda: frames.portion(use, lines)))
        answer = await self._answer()
        if answer not in (frames.MORE, frames.ENOUGH):
            raise _failed(frames.answer(answer))
        return answer == frames.MORE

    async def brief(self) -> Brief:
        await self._send(frames.END)
        answer = await self._answer()
        made = await offload(len(answer), lambda: frames.answer(answer))
        if isinstance(made, Brief):
            return made
        raise _failed(made)

    async def _send(self, body: bytes) -> None:
        with contextlib.suppress(ConnectionError):  # it has ended: that is told where its answer is missing
            self._to.write(frames.length_of(body))
            self._to.write(body)
            await self._to.drain()

    async def _answer(self) -> bytes:
        """Raises SummarizerFailed."""
        try:
            length = int.from_bytes(await self._from.readexactly(frames.LENGTH_BYTES), "big")
            return await self._from.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError):
            code = await self._process.wait()
            how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
            raise SummarizerFailed(
                f"The process that reads the conversation {how}, and nothing was written: try again; the machine may "
                "have been short of memory."
            ) from None


def _failed(made: object) -> DeskFailed:
    assert isinstance(made, frames.Trouble)
    return DeskFailed(made.trace)


async def _start(command: Sequence[str]) -> Process:
    """It finds the code where this process did. In a session of its own, a terminal's Ctrl-C is for the daemon alone.
    Raises OSError."""
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=PIPE,
        stdout=PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(os.path.isabs, sys.path))},
        start_new_session=True,
    )
