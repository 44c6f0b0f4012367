"""Where the reference implementation is: pi 1.6.0 and a Node that runs it, both from npm.

`PI_DAEMON_REFERENCE` names a directory with a `node_modules` that has them; without it they are installed once into
`.cache/reference` of the repository.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = "@earendil-works/pi-coding-agent"
VERSION = "1.6.0"
REPOSITORY = Path(__file__).parents[1]

# pi 1.6.0 wants Node 22.19 or later; this is a Node that npm installs, so none has to be there.
_ARCHITECTURES = {"x86_64": "x64", "AMD64": "x64", "aarch64": "arm64", "arm64": "arm64"}
NODE = f"node-{platform.system().lower()}-{_ARCHITECTURES.get(platform.machine(), platform.machine())}"
NODE_VERSION = "24"


class Reference(NamedTuple):
    """`package` is the directory of pi's npm package, `node` the program that runs it."""

    package: Path
    node: Path


def reference() -> Reference:
    """The reference, installed if need be. Skips the test where it can't be had, but never in CI."""
    given = os.environ.get("PI_DAEMON_REFERENCE")
    root = Path(given) if given else REPOSITORY / ".cache" / "reference"
    if not given and not _complete(root):
        _install(root)
    if not _complete(root):
        _missing(f"{root} holds no {PACKAGE} or no {NODE}")
    return _found(root)


def _found(root: Path) -> Reference:
    modules = root / "node_modules"
    return Reference(modules / PACKAGE, modules / NODE / "bin" / "node")


def _complete(root: Path) -> bool:
    found = _found(root)
    return (found.package / "package.json").is_file() and found.node.is_file()


def _install(root: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        _missing("npm is not installed, and PI_DAEMON_REFERENCE names no directory with the reference")
    root.parent.mkdir(parents=True, exist_ok=True)
    # Beside its place and then renamed, so that two test runs at once don't meet half an installation.
    staged = Path(tempfile.mkdtemp(prefix="reference-", dir=root.parent))
    try:
        command = [str(npm), "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(staged)]
        done = subprocess.run(
            [*command, f"{PACKAGE}@{VERSION}", f"{NODE}@{NODE_VERSION}"], capture_output=True, text=True, timeout=600
        )
        if done.returncode:
            _missing(f"npm could not install the reference: {done.stderr.strip()[-500:]}")
        if not _complete(root):
            shutil.rmtree(root, ignore_errors=True)
            staged.rename(root)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _missing(reason: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(f"the reference implementation is missing: {reason}", pytrace=False)
    pytest.skip(f"the reference implementation is missing: {reason}")
