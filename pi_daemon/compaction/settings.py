"""What pi's settings.json says of compactions, and which of several settings counts.

pi 1.6.0: `compaction` holds `enabled`, `reserveTokens`, `keepRecentTokens` and `modelOverrides`, which has the two
numbers by `provider/modelId`. The project's file goes over the user's, member by member; then each number is that of
the model's override, else the ordinary one, else the default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, field, structs

from pi_daemon.session.errors import InvalidSettings

RESERVE_TOKENS = 16_384
"""Room for the model's answer: a compaction is due when less of the window than this is left (pi's default)."""

KEEP_RECENT_TOKENS = 20_000
"""How much of the newest context a compaction leaves as it is (pi's default)."""

Value = TypeVar("Value")

MAX_TOKENS = 2**53 - 1
"""JavaScript's largest safe integer, which is pi's bound."""


class Numbers(Struct, frozen=True):
    """Two numbers of tokens; None where nothing is said."""

    reserve_tokens: int | None = None
    keep_recent_tokens: int | None = None


class PiSettings(Struct, frozen=True):
    """What one settings.json says, or two of them together. `branch_reserve_tokens`: room that a branch summary leaves
    in the window."""

    enabled: bool | None = None
    ordinary: Numbers = Numbers()
    overrides: Mapping[str, Numbers] = field(default_factory=dict)
    branch_reserve_tokens: int | None = None

    def over(self, other: PiSettings) -> PiSettings:
        """This one where it says something, else `other`."""
        models = {*self.overrides, *other.overrides}
        return PiSettings(
            _first(self.enabled, other.enabled),
            _over(self.ordinary, other.ordinary),
            {name: _over(self.override(name), other.override(name)) for name in models},
            _first(self.branch_reserve_tokens, other.branch_reserve_tokens),
        )

    def override(self, model: str) -> Numbers:
        return self.overrides.get(model, Numbers())


class CompactionSettings(Struct, frozen=True):
    """What counts for one session and model, in tokens. `enabled`: whether a compaction is ever due."""

    reserve_tokens: int = RESERVE_TOKENS
    keep_recent_tokens: int = KEEP_RECENT_TOKENS
    enabled: bool = True
    branch_reserve_tokens: int = RESERVE_TOKENS

    def due(self, context_tokens: int, context_window: int | None) -> bool | None:
        """Is the context too large for the window? None while no window is known."""
        if context_window is None:
            return None
        return self.enabled and context_tokens > context_window - self.reserve_tokens


def resolve(said: Numbers, pi: PiSettings, model: tuple[str, str] | None) -> CompactionSettings:
    """What counts where the session, or the daemon beneath it, says `said` and its model is (provider, id)."""
    override = pi.override("/".join(model)) if model is not None else Numbers()
    found = _over(said, _over(override, _over(pi.ordinary, Numbers(RESERVE_TOKENS, KEEP_RECENT_TOKENS))))
    return CompactionSettings(
        found.reserve_tokens or 0,
        found.keep_recent_tokens or 0,
        pi.enabled is not False,
        RESERVE_TOKENS if pi.branch_reserve_tokens is None else pi.branch_reserve_tokens,
    )


def parse_settings(raw: bytes, file: str) -> PiSettings:
    """Raises InvalidSettings, which names `file` and the key."""
    try:
        whole = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise InvalidSettings(f"{file} is not valid JSON: mend it.", file=file, key="") from None
    whole = _object(whole, file, "")
    compaction = _object(whole.get("compaction"), file, "compaction")
    enabled = compaction.get("enabled")
    if not isinstance(enabled, bool | None):
        raise _wrong(file, "compaction.enabled", "true or false")
    overrides = _object(compaction.get("modelOverrides"), file, "compaction.modelOverrides")
    branch = _object(whole.get("branchSummary"), file, "branchSummary")
    return PiSettings(
        enabled,
        _numbers(compaction, file, "compaction"),
        {name: _override(value, file, f'compaction.modelOverrides["{name}"]') for name, value in overrides.items()},
        _number(branch, "reserveTokens", file, "branchSummary"),
    )


def _override(value: object, file: str, key: str) -> Numbers:
    return _numbers(_object(value, file, key), file, key)


def _numbers(value: Mapping[str, Any], file: str, key: str) -> Numbers:
    return Numbers(_number(value, "reserveTokens", file, key), _number(value, "keepRecentTokens", file, key))


def _number(value: Mapping[str, Any], name: str, file: str, key: str) -> int | None:
    found = value.get(name)
    if found is None and name not in value:
        return None
    if isinstance(found, float) and found.is_integer():
        found = int(found)
    if not isinstance(found, int) or isinstance(found, bool) or not 0 <= found <= MAX_TOKENS:
        raise _wrong(file, f"{key}.{name}", "a whole number of tokens, 0 or more")
    return found


def _object(value: object, file: str, key: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _wrong(file, key, "an object")
    return value


def _wrong(file: str, key: str, wanted: str) -> InvalidSettings:
    where = f"{file}: {key}" if key else file
    return InvalidSettings(f"{where} must be {wanted}; change it there.", file=file, key=key)


def _first(one: Value | None, other: Value | None) -> Value | None:
    return other if one is None else one


def _over(one: Numbers, other: Numbers) -> Numbers:
    return structs.replace(other, **{name: value for name, value in structs.asdict(one).items() if value is not None})
