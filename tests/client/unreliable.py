"""A Unix socket in front of a daemon that cuts connections at chosen bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator


class Proxy:
    """`cuts` are the numbers of bytes after which each connection in turn is cut, counted over what the daemon sends
    (`downstream`) or what the client sends. When they have run out nothing is cut any more."""

    def __init__(self, path: str, target: str, cuts: Iterator[int], *, downstream: bool = True) -> None:
        self.path = path
        self.connections = 0
        self.flowing = asyncio.Event()
        """While this is not set nothing is read from the daemon."""
        self.flowing.set()
        self._target = target
        self._cuts = cuts
        self._downstream = downstream
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Proxy:
        self._server = await asyncio.start_unix_server(self._accept, self.path)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        budget = next(self._cuts, None)
        above, below = await asyncio.open_unix_connection(self._target)
        up = self._pump(reader, below, None if self._downstream else budget)
        down = self._pump(above, writer, budget if self._downstream else None)
        pumps = [asyncio.create_task(up), asyncio.create_task(down)]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            writer.transport.abort()
            below.transport.abort()
            self._tasks.discard(task)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, budget: int | None) -> None:
        """Until the end of the stream, or until `budget` bytes have passed."""
        while data := await self._read(reader):
            if budget is not None:
                data = data[:budget]
                budget -= len(data)
            writer.write(data)
            await writer.drain()
            if budget == 0:
                return

    async def _read(self, reader: asyncio.StreamReader) -> bytes:
        await self.flowing.wait()
        return await reader.read(65536)
