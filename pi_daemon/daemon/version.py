"""Which version this is, and which of two is the newer one."""

from __future__ import annotations

import os
import re

from pi_daemon import __version__

_VERSION = re.compile(r"v?(\d+(?:\.\d+)*)(?:[-_.]?([a-z]+)[-_.]?(\d*))?", re.IGNORECASE)

_BEFORE_RELEASE = {"dev": 0, "a": 1, "alpha": 1, "b": 2, "beta": 2, "rc": 3, "c": 3}
_RELEASE = 4


def version() -> str:
    """The version that this process tells others. `PI_DAEMON_VERSION` overrides it, to try out a take-over."""
    return os.environ.get("PI_DAEMON_VERSION") or __version__


def newer(one: str, other: str) -> bool:
    """Whether `one` is newer than `other`. Nothing is newer than what can't be read, nor the other way round."""
    first, second = _key(one), _key(other)
    return first is not None and second is not None and first > second


def _key(text: str) -> tuple[tuple[int, ...], int, int] | None:
    """Release, stage and the stage's number. What follows a `+` tells builds apart, not versions."""
    found = _VERSION.match(text)
    if found is None:
        return None
    numbers = [int(number) for number in found[1].split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    stage = (found[2] or "").lower()
    number = int(found[3] or 0)
    if stage in _BEFORE_RELEASE:
        return tuple(numbers), _BEFORE_RELEASE[stage], number
    return tuple(numbers), _RELEASE + (stage in ("post", "r", "rev")), number if stage else 0
