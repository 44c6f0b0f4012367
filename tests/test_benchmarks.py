"""The benchmarks run: small, once, and without looking at the figures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]


@pytest.mark.slow
def test_every_benchmark_gives_its_rows(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.benchmarks", "--quick", "--without-reference", "--json"]
    done = subprocess.run([*command, "--cache", str(tmp_path)], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr  # 1: a target is missed, which means nothing at these sizes
    rows = json.loads(done.stdout)["rows"]
    assert [row["failed"] for row in rows if row["failed"]] == []
    assert {row["what"].partition(",")[0] for row in rows} >= {
        "open",
        "session/append",
        "fdatasyncs an append",
        "session/context",
        "session/tree",
        "session/explain",
        "session/entries",
        "compaction plan",
        "append during a compaction",
        "session/compact",
        "a large message in",
        "session/list",
        "indexing text",
        "first page of session/list",
        "session/search",
        "one changed file",
        "open again",
        "notification after an append",
        "idle daemon",
        "notification after a stranger's append",
        "sessions opened and closed",
        "connect",
        "outline of a document",
        "hover",
        "serve",
    }
    assert list(tmp_path.glob("run-*")) == []
