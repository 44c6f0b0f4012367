"""What a user gets who installs the wheel: the command, the daemon's types and the client."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

import pi_daemon

REPOSITORY = Path(__file__).parents[1]

LOOK = """
from importlib.resources import files
import pi_daemon, pi_daemon_client
for package in (pi_daemon, pi_daemon_client):
    assert "site-packages" in package.__file__, package.__file__
    assert files(package).joinpath("py.typed").is_file(), package.__name__
for name in ("index.html", "panel.js", "panel.css"):
    assert files(pi_daemon).joinpath("panel_files", name).is_file(), name
"""


def run(*command: str | Path) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_wheel_works_on_its_own(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    run(*pip, "wheel", "--no-deps", "--wheel-dir", tmp_path, REPOSITORY)
    wheels = list(tmp_path.glob("*.whl"))
    assert [wheel.name.split("-")[:2] for wheel in wheels] == [["pi_daemon", pi_daemon.__version__]]
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv/bin/python"
    run(*pip, "--python", python, "install", wheels[0])
    assert run(python.parent / "pi-daemon", "--version").strip().endswith(pi_daemon.__version__)
    run(python, "-I", "-c", LOOK)
