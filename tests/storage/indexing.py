"""An index to test with: made, waited for, and compared with one that is made anew."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pi_daemon.storage.files import FileRepository
from pi_daemon.storage.index.keeper import Index, index_path
from pi_daemon.storage.indexed import Indexed
from pi_daemon.storage.layout import Layout
from pi_daemon.storage.protocols import SearchHit, SearchPage, SessionSummary, Wanted
from pi_daemon.storage.system import Files
from tests.storage.support import TIME, Place, dump


class Desk:
    """A repository that is followed, as a daemon has it."""

    def __init__(self, place: Place, files: Files | None = None, state: Path | None = None) -> None:
        layout = Layout(place.sessions, place.flat)
        self.path = index_path(state or place.state, place.sessions)
        index = Index(self.path, files or Files())
        self.repository = FileRepository(layout, place.state, lock_dir=place.locks, files=files, index=index)
        assert self.repository.indexed is not None
        self.indexed: Indexed = self.repository.indexed
        self.index = index

    async def indexed_all(self) -> None:
        """Until the text of everything that is there is in the index."""
        self.indexed.note(self.repository.layout.session_files(Files()))
        while not (await self.indexed.search(Wanted("is it complete"))).complete:  # noqa: ASYNC110 (nobody tells)
            await asyncio.sleep(0.001)

    async def search(self, query: str, **more: Any) -> SearchPage:
        return await self.indexed.search(Wanted(query, **more))

    async def ids(self, query: str, **more: Any) -> list[str]:
        """The entries that are found, in order of their ids."""
        return sorted(hit.entry_id for hit in await self.hits(query, **more))

    async def hits(self, query: str, **more: Any) -> list[SearchHit]:
        found: list[SearchHit] = []
        cursor: str | None = None
        while True:
            page = await self.search(query, cursor=cursor, **more)
            found += page.hits
            if page.cursor is None:
                return found
            cursor = page.cursor

    async def listed(self) -> list[SessionSummary]:
        return list(await self.repository.page(None, None, 1000))


@asynccontextmanager
async def desk(place: Place, files: Files | None = None) -> AsyncIterator[Desk]:
    made = Desk(place, files)
    made.indexed.follow()
    try:
        yield made
    finally:
        await made.indexed.stop()


def answer(entry_id: str, parent_id: str | None, text: str, model: str = "m", **more: Any) -> bytes:
    message: dict[str, Any] = {
        "role": "assistant",
        "provider": "p",
        "model": model,
        "content": [{"type": "text", "text": text}],
        "usage": {"input": 10, "output": 1, "cacheRead": 2, "cacheWrite": 3, "cost": {"total": 0.5}},
        **more,
    }
    return dump({"type": "message", "id": entry_id, "parentId": parent_id, "timestamp": TIME, "message": message})
