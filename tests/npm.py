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

TIMEOUT = 1_200
"""Seconds for an installation; one that compiles takes some minutes."""


def installed(*packages: str, scripts: dict[str, str] | None = None) -> Path:
    """The `node_modules` that has them. Skips the test where they can't be had, but never in CI. `scripts`: the
    environment in which the packages' own scripts run; without it none do."""
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
        command = [str(npm), "install", "--no-audit", "--no-fund", "--no-package-lock"]
        environment = {**os.environ, **(scripts or {})}
        if scripts is None:
            command.append("--ignore-scripts")
        else:
            environment["npm_config_dangerously_allow_all_scripts"] = "true"
        # In the directory, not by --prefix: scripts that run npm themselves would be told that prefix too.
        (staged / "package.json").write_text("{}")
        done = subprocess.run(
            [*command, *packages], cwd=staged, env=environment, capture_output=True, text=True, timeout=TIMEOUT
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
