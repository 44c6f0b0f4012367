"""What a session is set to, and where its settings for compactions come from."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from msgspec import UNSET, Struct, structs

from pi_daemon.compaction.settings import Numbers, PiSettings


class SessionOptions(Struct, frozen=True):
    """`context_window`, `reserve_tokens` and `keep_recent_tokens` are in tokens; None for the latter two: as pi's
    settings have it. `durability` is written or synced; `summarizer` names one, None: whichever is there."""

    context_window: int | None = None
    durability: Literal["written", "synced"] = "synced"
    auto_compact: bool = False
    summarizer: str | None = None
    reserve_tokens: int | None = None
    keep_recent_tokens: int | None = None

    def changed(self, changes: Any, defaults: SessionOptions) -> SessionOptions:
        """With the members that `changes` has; one that is null falls back to `defaults`."""
        values = {}
        for name in self.__struct_fields__:
            value = getattr(changes, name, UNSET)
            if value is not UNSET:
                values[name] = getattr(defaults, name) if value is None else value
        return structs.replace(self, **values)

    @property
    def numbers(self) -> Numbers:
        return Numbers(self.reserve_tokens, self.keep_recent_tokens)


class SettingsSource(Protocol):
    """Where pi's settings come from."""

    async def read(self, cwd: str) -> PiSettings:
        """What counts for sessions of `cwd`. Raises InvalidSettings."""
        ...


class NoSettings:
    """Nothing is set: the defaults count."""

    async def read(self, cwd: str) -> PiSettings:
        return PiSettings()
