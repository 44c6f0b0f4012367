"""pi's settings for compactions: which of several counts, and what is said of those that make no sense."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from pi_daemon.compaction.settings import (
    KEEP_RECENT_TOKENS,
    RESERVE_TOKENS,
    CompactionSettings,
    Numbers,
    PiSettings,
    parse_settings,
    resolve,
)
from pi_daemon.session.errors import InvalidSettings
from pi_daemon.storage.settings import SettingsFiles

MODEL = ("p", "m")


def parsed(value: Any) -> PiSettings:
    return parse_settings(json.dumps(value).encode(), "/s.json")


def test_without_settings_the_defaults_count() -> None:
    assert resolve(Numbers(), PiSettings(), MODEL) == CompactionSettings(RESERVE_TOKENS, KEEP_RECENT_TOKENS, True)
    for nothing in ({}, {"compaction": None}, {"compaction": {}}, {"theme": "dark"}, {"compaction": {"enabled": True}}):
        assert resolve(Numbers(), parsed(nothing), None) == CompactionSettings()


def test_each_number_for_itself_the_strongest_counts() -> None:
    user = parsed(
        {
            "compaction": {
                "reserveTokens": 1,
                "keepRecentTokens": 2,
                "modelOverrides": {"p/m": {"reserveTokens": 3}, "p/n": {"keepRecentTokens": 4}},
            }
        }
    )
    project = parsed({"compaction": {"keepRecentTokens": 5, "modelOverrides": {"p/m": {"keepRecentTokens": 6}}}})
    both = project.over(user)
    assert resolve(Numbers(), both, None) == CompactionSettings(1, 5)
    assert resolve(Numbers(), both, ("p", "other")) == CompactionSettings(1, 5)
    assert resolve(Numbers(), both, ("p", "n")) == CompactionSettings(1, 4)
    assert resolve(Numbers(), both, MODEL) == CompactionSettings(3, 6)
    assert resolve(Numbers(None, 7), both, MODEL) == CompactionSettings(3, 7)
    assert resolve(Numbers(0, 0), both, MODEL) == CompactionSettings(0, 0)


def test_when_it_is_due() -> None:
    settings = CompactionSettings(reserve_tokens=100)
    assert [settings.due(tokens, 1000) for tokens in (900, 901)] == [False, True]
    assert settings.due(10**9, None) is None
    assert parsed({"compaction": {"enabled": False}}).enabled is False
    off = resolve(Numbers(), parsed({"compaction": {"enabled": False}}), None)
    assert off.due(10**9, 1000) is False
    assert resolve(Numbers(), parsed({"compaction": {"enabled": True}}).over(PiSettings(False)), None).enabled


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ([], ""),
        ({"compaction": 1}, "compaction"),
        ({"compaction": {"enabled": 1}}, "compaction.enabled"),
        *(
            ({"compaction": {name: bad}}, f"compaction.{name}")
            for name in ("reserveTokens", "keepRecentTokens")
            for bad in (-1, 1.5, "1", True, None, 2**53, [])
        ),
        ({"compaction": {"modelOverrides": []}}, "compaction.modelOverrides"),
        ({"compaction": {"modelOverrides": {"p/m": 1}}}, 'compaction.modelOverrides["p/m"]'),
        (
            {"compaction": {"modelOverrides": {"p/m": {"reserveTokens": -1}}}},
            'compaction.modelOverrides["p/m"].reserveTokens',
        ),
        ({"branchSummary": {"reserveTokens": "x"}}, "branchSummary.reserveTokens"),
    ],
)
def test_what_makes_no_sense_is_named(value: Any, key: str) -> None:
    with pytest.raises(InvalidSettings) as refused:
        parsed(value)
    assert refused.value.data == {"file": "/s.json", "key": key}
    assert key in refused.value.message and "/s.json" in refused.value.message


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff", b"{'a': 1}", b"[" * 200_000], ids=range(5))
def test_what_is_no_json(raw: bytes) -> None:
    with pytest.raises(InvalidSettings, match="not valid JSON"):
        parse_settings(raw, "/s.json")


def test_files_are_read_again_when_they_change(tmp_path: Path) -> None:
    user, project = tmp_path / "agent" / "settings.json", tmp_path / "project" / ".pi" / "settings.json"
    for file in (user, project):
        file.parent.mkdir(parents=True)
    files = SettingsFiles({"PI_CODING_AGENT_DIR": str(user.parent)}, tmp_path)

    def read() -> CompactionSettings:
        return resolve(Numbers(), asyncio.run(files.read(str(tmp_path / "project"))), None)

    assert read() == CompactionSettings()
    user.write_text('{"compaction": {"reserveTokens": 1, "keepRecentTokens": 1}}')
    project.write_text('{"compaction": {"keepRecentTokens": 2}}')
    assert (read(), read()) == (CompactionSettings(1, 2), CompactionSettings(1, 2))
    project.write_text('{"compaction": {"keepRecentTokens": 33}}')
    assert read() == CompactionSettings(1, 33)
    project.unlink()
    assert read() == CompactionSettings(1, 1)
    user.write_text("{")
    with pytest.raises(InvalidSettings) as refused:
        read()
    assert refused.value.data["file"] == str(user)


def test_what_is_no_file_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "settings.json").mkdir()
    (tmp_path / ".pi").mkdir()
    os.mkfifo(tmp_path / ".pi" / "settings.json")
    files = SettingsFiles({"PI_CODING_AGENT_DIR": str(tmp_path)}, tmp_path)
    for cwd in (str(tmp_path), "not/absolute", "/nowhere", "/with\0nul"):
        assert asyncio.run(files.read(cwd)) == PiSettings()
    (tmp_path / "settings.json").rmdir()
    (tmp_path / "settings.json").write_bytes(b" " * (1024 * 1024 + 1))
    with pytest.raises(InvalidSettings, match="bytes"):
        asyncio.run(files.read("/nowhere"))
