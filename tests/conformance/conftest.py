"""Answers of the reference, asked for once a run."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.sessions import Ask, AskPlans, Generate
from tests.reference import Reference, reference

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def pi() -> Reference:
    return reference()


@pytest.fixture(scope="session")
def ask(pi: Reference, tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """What the reference makes of each file: see ask.mjs."""
    home = tmp_path_factory.mktemp("home")

    def run(files: Sequence[Path]) -> list[dict[str, Any]]:
        lines = _node(pi, home, "ask.mjs", *map(str, files)).splitlines()
        assert len(lines) == len(files)
        return [json.loads(line) for line in lines]

    return run


@pytest.fixture(scope="session")
def ask_plans(pi: Reference, tmp_path_factory: pytest.TempPathFactory) -> AskPlans:
    """Have all questions answered by one Node: see plans.mjs."""
    home = tmp_path_factory.mktemp("home")

    def run(questions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        asked = home / "questions.jsonl"
        asked.write_text("".join(json.dumps(question) + "\n" for question in questions))
        lines = _node(pi, home, "plans.mjs", str(asked)).splitlines()
        assert len(lines) == len(questions)
        return [json.loads(line) for line in lines]

    return run


@pytest.fixture(scope="session")
def generate(pi: Reference, tmp_path_factory: pytest.TempPathFactory) -> Generate:
    """Have the reference write a random session for each seed: see generate.mjs."""
    home = tmp_path_factory.mktemp("home")

    def run(directory: Path, seeds: Sequence[int]) -> list[Path]:
        _node(pi, home, "generate.mjs", str(directory), *map(str, seeds))
        return [directory / f"{seed}.jsonl" for seed in seeds]

    return run


def _node(pi: Reference, home: Path, script: str, *arguments: str) -> bytes:
    environment = {"HOME": str(home), "PI_CODING_AGENT_DIR": str(home), "PI_OFFLINE": "1", "TZ": "UTC"}
    command = [str(pi.node), str(HERE / script), str(pi.package), *arguments]
    with tempfile.TemporaryFile() as output:  # Node writes only so much to a pipe at once
        done = subprocess.run(command, env=environment, stdout=output, stderr=subprocess.PIPE, timeout=50)
        assert done.returncode == 0, done.stderr.decode()
        output.seek(0)
        return output.read()
