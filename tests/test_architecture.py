"""The walls between the rooms: the contracts in pyproject.toml under tool.importlinter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
LINT = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True, no_logo=True))"


def test_imports_keep_to_the_rooms() -> None:
    done = subprocess.run([sys.executable, "-c", LINT], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
