"""The TypeScript client: its types hold, and its own tests pass against the real daemon."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.daemon.home import Home
from tests.npm import installed
from tests.reference import REPOSITORY, reference

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]  # the first run may have to fetch what it needs

SOURCES = REPOSITORY / "clients" / "typescript"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the client with what it needs beside it."""
    modules = installed("vscode-jsonrpc@10", "typescript@5.9", "@types/node@24")
    directory = tmp_path_factory.mktemp("typescript")
    copy = directory / "client"
    shutil.copytree(SOURCES, copy, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (directory / "node_modules").symlink_to(modules)
    return copy


def test_the_types_hold_and_it_builds(package: Path) -> None:
    tsc = package.parent / "node_modules" / "typescript" / "bin" / "tsc"
    for project in ("tsconfig.json", "tsconfig.build.json"):
        command = [str(reference().node), str(tsc), "-p", project]
        done = subprocess.run(command, cwd=package, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout
    assert (package / "dist" / "node.js").is_file() and (package / "dist" / "node.d.ts").is_file()


def test_its_own_tests_pass(package: Path) -> None:
    with Home() as home:
        environment = {**home.environment, "PI_DAEMON_ARGV": json.dumps(home.argv())}
        command = [str(reference().node), "--no-warnings", "--test", "--test-reporter=tap", "test/client.test.ts"]
        done = subprocess.run(command, cwd=package, env=environment, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "# skipped 0" in done.stdout and "# pass 7" in done.stdout
