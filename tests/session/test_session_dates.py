"""Timestamps as V8 reads them; the expected values are what Node 24 says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_daemon.session.dates import from_ms, to_ms


@pytest.mark.parametrize(
    "timestamp, expected",
    [
        ("2026-01-01T00:00:00.000Z", 1767225600000),
        ("2026-02-31T00:00:00Z", 1772496000000),
        ("2026-02-32", None),
        ("2026-13-01", None),
        ("2026-00-01", None),
        ("2026-01-01T24:00:00Z", 1767312000000),
        ("2026-01-01T24:00:01Z", None),
        ("2026-01-01T10:00Z", 1767261600000),
        ("2026-01-01T10:00:00.123456Z", 1767261600123),
        ("2026-01-01T10:00:00.1Z", 1767261600100),
        ("2026-01-01T10:00:00.Z", None),
        ("2026-01-01T10:00:00+05:30", 1767241800000),
        ("2026-01-01T10:00:00+0530", 1767241800000),
        ("2026-01-01T10:00:00+24:00", None),
        ("2026-01-01 10:00:00Z", 1767261600000),
        ("2026", 1767225600000),
        ("2026-01", 1767225600000),
        ("-002026-01-01T00:00:00Z", -126101577600000),
        ("-000000-01-01T00:00:00Z", None),
        ("0000-01-01", -62167219200000),
        ("+275760-09-13T00:00:00.000Z", 8640000000000000),
        ("+275760-09-13T00:00:00.001Z", None),
        ("2026-01-01T10:60:00Z", None),
        ("2026-01-01T10Z", None),
        ("1767225600000", None),
        ("٢٠٢٦", None),
        ("2026-01-01T00:00:00Z\n", None),
        ("", None),
    ],
)
def test_to_ms(timestamp: str, expected: int | None) -> None:
    assert to_ms(timestamp) == expected


@given(st.integers(-62135596800000, 253402300799999))
@settings(max_examples=200, deadline=None)
def test_there_and_back(ms: int) -> None:
    written = from_ms(ms)
    assert written is not None
    assert to_ms(written) == ms
    assert datetime.fromisoformat(written) == datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)


@pytest.mark.parametrize("ms", [1e20, -1e20, float("inf"), float("nan")])
def test_no_date(ms: float) -> None:
    assert from_ms(ms) is None
