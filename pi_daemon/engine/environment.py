"""What the engine takes from the world: the time and fresh ids. Tests give their own."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache

import uuid_utils
from msgspec import Struct


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _session_id() -> str:
    return str(uuid_utils.uuid7())


class Environment(Struct, frozen=True):
    """`entry_id` gives 8 hex digits, as pi's ids are; whoever uses it checks for a clash."""

    now_ms: Callable[[], int] = _now_ms
    entry_id: Callable[[], str] = lambda: secrets.token_hex(4)
    session_id: Callable[[], str] = _session_id
    instance_id: Callable[[], str] = lambda: secrets.token_hex(8)

    def timestamp(self) -> str:
        """Now, as entries have it: ISO 8601 with milliseconds and Z."""
        return iso(self.now_ms())


@lru_cache(maxsize=4)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def iso(ms: int) -> str:
    """A time in ms since 1970 as JavaScript's `toISOString` writes it."""
    return f"{_second(ms // 1000)}.{ms % 1000:03d}Z"
