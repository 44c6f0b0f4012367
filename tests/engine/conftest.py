"""A hub over memory or files, with a clock and ids that are the same in every run."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pi_daemon.engine.environment import Environment
from pi_daemon.engine.events import Change, Origin
from pi_daemon.engine.hub import Hub
from pi_daemon.engine.live import LiveSession
from pi_daemon.engine.operations import Append, Outcome
from pi_daemon.engine.options import SessionOptions
from pi_daemon.session.draft import Draft, parse_draft
from pi_daemon.session.head import Header
from pi_daemon.storage.files import FileRepository
from pi_daemon.storage.layout import Layout
from pi_daemon.storage.leaves import Leaves
from pi_daemon.storage.memory import MemoryRepository
from pi_daemon.storage.system import Files


def environment() -> Environment:
    clock, entry, other = itertools.count(1_767_225_600_000), itertools.count(1), itertools.count(1)
    return Environment(
        now_ms=lambda: next(clock),
        entry_id=lambda: f"{next(entry):08x}",
        session_id=lambda: f"s{next(other)}",
        instance_id=lambda: f"i{next(other)}",
    )


def user(text: str = "hello", **more: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"role": "user", "content": text}, **more}


def assistant(text: str = "hi", tokens: int = 100, **more: Any) -> dict[str, Any]:
    usage = {"input": tokens, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": tokens}
    content = [{"type": "text", "text": text}]
    message = {"role": "assistant", "content": content, "provider": "p", "model": "m", "stopReason": "stop"}
    return {"type": "message", "message": {**message, "usage": usage}, **more}


def draft(value: dict[str, Any]) -> Draft:
    return parse_draft(msgspec.json.encode(value), 0)


ALICE = Origin("alice", "Alice's editor")


async def append(session: LiveSession, *values: dict[str, Any], **how: Any) -> Outcome:
    return await session.perform(Append(ALICE, [draft(value) for value in values], **how))


class Listener:
    """A subscriber that keeps what it is told."""

    def __init__(self) -> None:
        self.changes: list[Change] = []

    def __call__(self, change: Change) -> None:
        self.changes.append(change)

    @property
    def told(self) -> list[str]:
        return [type(event).__name__ for change in self.changes for event in change.events]


class World:
    """A sessions directory and hubs over it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sessions = path / "sessions"
        self.environment = environment()

    @asynccontextmanager
    async def hub(self, durability: str = "written", system: Files | None = None) -> AsyncIterator[Hub]:
        files = FileRepository(Layout(self.sessions, flat=True), self.path / "state", files=system)
        defaults = SessionOptions(durability=durability)  # type: ignore[arg-type]
        hub = Hub(files, MemoryRepository(), self.environment, defaults, Leaves(self.path / "state" / "leaves"))
        try:
            yield hub
        finally:
            await hub.close()

    def header(self) -> Header:
        return Header(self.environment.session_id(), self.environment.timestamp(), "/home/u/p")


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "sessions").mkdir()
    return World(tmp_path)


@pytest.fixture
def run() -> Callable[[Coroutine[Any, Any, None]], None]:
    return asyncio.run
