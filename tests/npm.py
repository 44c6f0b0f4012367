"""Packages from npm that tests need, installed once into `.cache/npm` of the repository."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.reference import REPOSITORY


def installed(*packages: str) -> Path:
    """The `node_modules` that has them. Skips the test where they can't be had, but never in CI."""
    name = hashlib.sha256(" ".join(packages).encode()).hexdigest()[:16]
    root = REPOSITORY / ".cache" / "npm" / name
    modules = root / "node_modules"
    if modules.is_dir():
        return modules
    npm = shutil.which("npm")
    if npm is None:
        _missing("npm is not installed")
    root.parent.mkdir(parents=True, exist_ok=True)
    # Beside its place and then renamed, so that two test runs at once don't meet half an installation.
    staged = Path(tempfile.mkdtemp(prefix="npm-", dir=root.parent))
    try:
        command = [str(npm), "install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock"]
        done = subprocess.run(
            [*command, "--prefix", str(staged), *packages], capture_output=True, text=True, timeout=600
        )
        if done.returncode:
            _missing(f"npm could not install {', '.join(packages)}: {done.stderr.strip()[-500:]}")
        if not modules.is_dir():
            staged.rename(root)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    return modules


def _missing(reason: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
