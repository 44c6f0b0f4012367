"""The Emacs client: it compiles without a warning, its docstrings hold, and its own tests pass against the real daemon,
with another client that changes the sessions."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.home import Home
from tests.emacs.emacs import emacs
from tests.reference import REPOSITORY

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]  # the first run may have to install Emacs

SOURCES = REPOSITORY / "clients" / "emacs"
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the client, byte-compiled; warnings are errors."""
    copy = tmp_path_factory.mktemp("emacs") / "client"
    shutil.copytree(SOURCES, copy, ignore=shutil.ignore_patterns("*.elc"))
    files = sorted(str(file) for file in copy.glob("*.el"))
    strict = "(setq byte-compile-error-on-warn t)"
    run(["-L", str(copy), "--eval", strict, "-f", "batch-byte-compile", *files])
    return copy


@pytest.fixture
def home() -> Iterator[Home]:
    with Home() as home:
        yield home


def run(arguments: list[str], environment: dict[str, str] | None = None) -> str:
    """What Emacs prints; it has to succeed."""
    command = [emacs(), "-Q", "--batch", *arguments]
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def ert(compiled: Path, home: Home, file: str) -> None:
    command = " ".join(json.dumps(word) for word in home.argv("connect"))
    environment = {
        **home.environment,
        "LC_ALL": "C.UTF-8",
        "PI_TEST_PYTHON": sys.executable,
        "PI_TEST_PEER": str(HERE / "peer.py"),
        "PI_TEST_SOCKET": str(home.socket),
        "PI_TEST_SERVE": json.dumps(home.argv("serve")),
    }
    loads = ["-L", str(compiled), "-L", str(HERE), "-l", str(HERE / file)]
    setting = f"(setq pi-daemon-command '({command}))"
    printed = run([*loads, "--eval", setting, "-f", "ert-run-tests-batch-and-exit"], environment)
    ran = re.search(r"Ran (\d+) tests, (\d+) results as expected, 0 unexpected", printed)
    assert ran is not None and int(ran[1]) == int(ran[2]) > 0, printed


def test_it_compiles_without_a_warning(compiled: Path) -> None:
    assert {file.stem for file in compiled.glob("*.elc")} == {file.stem for file in SOURCES.glob("*.el")}


def test_its_docstrings_hold() -> None:
    calls = " ".join(f"(checkdoc-file {json.dumps(str(file))})" for file in sorted(SOURCES.glob("*.el")))
    assert "Warning" not in run(["--eval", f"(progn {calls})"])


def test_text_rows_and_messages(compiled: Path, home: Home) -> None:
    ert(compiled, home, "test-text.el")


@pytest.mark.parametrize("file", ["test-tree.el", "test-keys.el", "test-bridge.el"])
def test_with_the_shared_daemon(compiled: Path, home: Home, file: str) -> None:
    # The other client starts no daemon, and may come before Emacs. A bridge without an editor ends at once.
    subprocess.run(home.argv("connect"), env=home.environment, stdin=subprocess.DEVNULL, check=False, timeout=60)
    ert(compiled, home, file)


def test_at_the_socket(compiled: Path, home: Home) -> None:
    ert(compiled, home, "test-socket.el")
