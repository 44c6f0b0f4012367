"""A hit of a search, while it is put in order and told."""

from __future__ import annotations

from msgspec import Struct

from pi_daemon.storage.index.rows import Row
from pi_daemon.storage.index.texts import Said, sound
from pi_daemon.storage.protocols import SearchHit, SessionRef


class Hit(Struct):
    path: str
    row: Row
    said: Said
    score: float
    at: float
    line: int
    snippet: str = ""
    on_path: bool = True
    tip_id: str | None = None

    def made(self) -> SearchHit:
        said = self.said
        ref = SessionRef(self.row.header.id, self.path)
        role, time = said.role, said.timestamp
        name, cwd = self.row.tally.name, sound(self.row.header.cwd)
        return SearchHit(
            ref,
            said.entry_id,
            said.type,
            role,
            time,
            self.snippet,
            self.on_path,
            self.tip_id,
            None if name is None else sound(name),
            cwd,
        )
