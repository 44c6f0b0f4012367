"""What a session can be set to, and the defaults beneath it."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, structs

from pi_daemon.compaction.plan import should_compact

RESERVE_TOKENS = 16_384
"""Room for the model's answer: a compaction is due when less of the window than this is left (pi's default)."""

KEEP_RECENT_TOKENS = 20_000
"""How much of the newest context a compaction leaves as it is (pi's default)."""


class SessionOptions(Struct, frozen=True):
    """`context_window`, `reserve_tokens` and `keep_recent_tokens` are in tokens; `durability` is written or synced."""

    context_window: int | None = None
    durability: Literal["written", "synced"] = "synced"
    auto_compact: bool = False
    summarizer: str | None = None
    reserve_tokens: int = RESERVE_TOKENS
    keep_recent_tokens: int = KEEP_RECENT_TOKENS

    def changed(self, changes: Any, defaults: SessionOptions) -> SessionOptions:
        """With the members that `changes` has; one that is null falls back to `defaults`."""
        values = {}
        for name in self.__struct_fields__:
            value = getattr(changes, name, UNSET)
            if value is not UNSET:
                values[name] = getattr(defaults, name) if value is None else value
        return structs.replace(self, **values)

    def should_compact(self, context_tokens: int) -> bool | None:
        """Is the context too large for the window? None while no window is known."""
        if self.context_window is None:
            return None
        return should_compact(context_tokens, self.context_window, self.reserve_tokens)
