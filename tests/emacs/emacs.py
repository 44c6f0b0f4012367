"""The Emacs that tests run: the one on the path, else Debian's, which `apt-get` installs where we are root."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

OLDEST = 28


def emacs() -> str:
    """The program. Skips the test where it can't be had, but never in CI."""
    found = shutil.which("emacs") or _installed()
    said = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=60).stdout
    version = re.match(r"GNU Emacs (\d+)", said)
    if version is None or int(version[1]) < OLDEST:
        _missing(f"{found} is older than Emacs {OLDEST}: {said.splitlines()[:1]}")
    return found


def _installed() -> str:
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        _missing("emacs is not installed, and only root with apt-get can install it")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # Two test runs at once: the second waits, and finds it.
    with Path(tempfile.gettempdir(), "pi-daemon-tests-apt.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if found := shutil.which("emacs"):
            return found
        for arguments in (["update"], ["install", "-y", "--no-install-recommends", "emacs-nox"]):
            done = subprocess.run([str(apt), *arguments], env=environment, capture_output=True, text=True, timeout=500)
            if done.returncode:
                _missing(f"apt-get {' '.join(arguments)} failed: {done.stderr.strip()[-500:]}")
    found = shutil.which("emacs")
    if found is None:
        _missing("emacs-nox was installed and has no emacs on the path")
    return found


def _missing(reason: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
