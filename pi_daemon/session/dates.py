"""Timestamps as JavaScript reads them: the made messages and the order of children depend on it."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

_MAX_MS = 8_640_000_000_000_000
"""The largest time that a JavaScript Date holds, in milliseconds."""

_EPOCH = datetime(1970, 1, 1)

_iso = re.compile(
    r"([+-]\d{6}|\d{4})(?:-(\d\d)(?:-(\d\d))?)?"
    r"(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?"
    r"(?:(Z)|([+-])(\d\d):?(\d\d))?",
    re.ASCII | re.IGNORECASE,
).fullmatch


def to_ms(timestamp: str) -> int | None:
    """Milliseconds since 1970, None for what is no ISO 8601 time.

    As in V8, every month may have 31 days and 24:00:00 is a time. A time without a zone is taken as UTC, where
    JavaScript would take the machine's zone: no session file that pi writes has one.
    """
    found = _iso(timestamp)
    if not found or found[1] == "-000000":
        return None
    year, month, day = int(found[1]), int(found[2] or 1), int(found[3] or 1)
    hour, minute, second = int(found[4] or 0), int(found[5] or 0), int(found[6] or 0)
    ms = int((found[7] or "")[:3].ljust(3, "0"))
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour <= 24 and minute < 60 and second < 60):
        return None
    if hour == 24 and (minute or second or ms):
        return None
    zone = 0
    if found[9]:
        if int(found[10]) > 23 or int(found[11]) > 59:
            return None
        zone = (int(found[10]) * 60 + int(found[11])) * (1 if found[9] == "+" else -1)
    minutes = (_days(year, month) + day - 1) * 1440 + hour * 60 + minute - zone
    value = (minutes * 60 + second) * 1000 + ms
    return value if abs(value) <= _MAX_MS else None


def _days(year: int, month: int) -> int:
    """Days from 1970-01-01 to the first of a month, in a Gregorian calendar extended both ways."""
    cycles, year = divmod(year - 2000, 400)
    return date(2000 + year, month, 1).toordinal() - _EPOCH.toordinal() + cycles * 146_097


def from_ms(ms: float) -> str | None:
    """ISO 8601 with milliseconds and Z, None beyond the years 1 to 9999."""
    try:
        return (_EPOCH + timedelta(milliseconds=int(ms))).isoformat(timespec="milliseconds") + "Z"
    except (ValueError, OverflowError):
        return None


def duration(seconds: float) -> str:
    """`3 h 20 min`, `5 min`, `12 s`."""
    minutes = round(seconds / 60)
    if minutes >= 60:
        return f"{minutes // 60:,} h {minutes % 60} min"
    return f"{minutes} min" if minutes else f"{round(seconds)} s"
