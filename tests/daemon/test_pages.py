"""The gate of the panel: how long codes and tokens are good, how many there are, and what is believed of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_daemon.daemon import pages
from pi_daemon.daemon.pages import MOST_CODES, MOST_PAGES, Kept, Pages
from pi_daemon.session.errors import Unauthorized


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def test_a_code_is_good_for_a_minute() -> None:
    clock = Clock()
    gate = Pages(None, clock)
    early, late = gate.code(), gate.code()
    clock.now += pages.CODE_SECONDS
    assert gate.admit(early) is not None
    clock.now += 1
    with pytest.raises(Unauthorized):
        gate.admit(late)


def test_a_page_may_be_away_for_a_day() -> None:
    clock = Clock()
    gate = Pages(None, clock)
    token = gate.admit(gate.code())
    assert token is not None
    for _ in range(3):
        clock.now += pages.PAGE_SECONDS
        assert gate.admit(token) is None
    clock.now += pages.PAGE_SECONDS + 1
    with pytest.raises(Unauthorized):
        gate.admit(token)


def test_codes_and_pages_are_bounded() -> None:
    gate = Pages(None, Clock())
    codes = [gate.code() for _ in range(MOST_CODES + 1)]
    with pytest.raises(Unauthorized):
        gate.admit(codes[0])
    tokens = [gate.admit(codes[1])] + [gate.admit(gate.code()) for _ in range(MOST_PAGES)]
    assert gate.admit(str(tokens[1])) is None
    with pytest.raises(Unauthorized):
        gate.admit(str(tokens[0]))


@pytest.mark.parametrize("data", [b"", b"[]", b'{"port":"x"}', b'{"port":1,"pages":{"a":"b"}}', b"\xff" * 100])
def test_what_is_kept_may_be_anything(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "kept"
    path.write_bytes(data)
    path.chmod(0o600)
    assert not Pages(path).recall()


def test_what_others_could_have_written_is_not_believed(tmp_path: Path) -> None:
    path, clock = tmp_path / "kept", Clock()
    gate = Pages(path, clock)
    gate.serve(4711)
    gate.admit(gate.code())
    assert Pages(path, clock).recall()
    link = tmp_path / "link"
    link.symlink_to(path)
    assert not Pages(link, clock).recall()
    path.chmod(0o644)
    assert not Pages(path, clock).recall()
    assert list(tmp_path.glob("kept.*")) == [] and Kept(1).pages == {}
