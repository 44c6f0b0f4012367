"""Debian's Chromium, driven by playwright-core from npm."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.npm import installed
from tests.reference import reference

PLACES = ("chromium", "chromium-browser", "google-chrome")


class Browser:
    """One browser process with one page at a time. Raises AssertionError with what it says went wrong."""

    def __init__(self) -> None:
        modules = installed("playwright-core@1.65", "axe-core@4.14")
        script = str(Path(__file__).with_name("browser.mjs"))
        found = [str(modules / "playwright-core" / "index.js"), str(modules / "axe-core" / "axe.min.js"), chromium()]
        self._process = subprocess.Popen(
            [str(reference().node), script, *found], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __call__(self, op: str, **args: Any) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        plain = {name: str(value) if isinstance(value, Path) else value for name, value in args.items()}
        self._process.stdin.write(json.dumps({"op": op, **plain}).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the browser ended"
        answer = json.loads(line)
        assert "error" not in answer, f"{op} {args}: {answer['error']}"
        return answer["result"]

    def close(self) -> None:
        self._process.communicate(timeout=20)


def chromium() -> str:
    """The program, installed where that can be done. Skips the test where there is none, but never in CI."""
    found = _found()
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "chromium"]):
            subprocess.run(command, capture_output=True, timeout=300, check=False)
        found = _found()
    if found is not None:
        return found
    if os.environ.get("CI"):
        pytest.fail("chromium is not installed, and could not be", pytrace=False)
    pytest.skip("chromium is not installed")


def _found() -> str | None:
    return next((found for name in PLACES if (found := shutil.which(name)) is not None), None)
