"""Files that the reference's own tools wrote, edited and read are as their calls show."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pi_daemon.compaction.shown.held import Held
from pi_daemon.compaction.shown.lines import raw_text
from pi_daemon.compaction.shown.tools import change, look
from tests.conformance.conftest import HERE
from tests.reference import Reference

pytestmark = pytest.mark.slow

WORDS = ["alpha", "beta", "“quoted”", "tail  ", "ünï", "\ttab", "long — dash", "{", "}", "", "x = 1", "end\u00a0"]


def text(source: random.Random, lines: int) -> str:
    end = source.choice(["\n", "\n", "\r\n"])
    body = end.join(f"{source.choice(WORDS)} {number}" for number in range(lines))
    return source.choice(["", "", "\ufeff"]) + body + source.choice(["", end])


def calls(source: random.Random, path: str) -> list[dict[str, Any]]:
    """Whatever a model may call; many of the edits find nothing, and fail."""
    found: list[dict[str, Any]] = []
    for _ in range(source.randint(3, 14)):
        kind = source.choice(["write", "edit", "edit", "edit", "edit", "read", "read"])
        if kind == "write" and source.random() < 0.3:
            found.append({"name": "write", "arguments": {"path": path, "content": text(source, source.randint(0, 9))}})
        elif kind == "read":
            more = source.choice([{}, {}, {"offset": 3}, {"limit": 2}, {"offset": 2, "limit": 3}])
            found.append({"name": "read", "arguments": {"path": path, **more}})
        else:
            edits = []
            for _ in range(source.choice([1, 1, 2])):
                old = f"{source.choice(WORDS).strip()} {source.randint(0, 9)}"
                new = source.choice(["", f"new {source.randint(0, 9)}", f"{old}\nmore {source.randint(0, 99)}"])
                edits.append({"oldText": source.choice([old, f"{old}\n"]), "newText": new})
            found.append({"name": "edit", "arguments": {"path": path, "edits": edits}})
    return found


def test_what_the_tools_made_is_as_their_calls_show(pi: Reference, tmp_path: Path) -> None:
    wanted: list[dict[str, Any]] = []
    for seed in range(200):
        source = random.Random(seed)
        path = f"{seed}.txt"
        (tmp_path / path).write_text(text(source, 10), newline="")
        wanted += [{"cwd": str(tmp_path), **call} for call in calls(source, path)]
    asked = tmp_path / "calls.jsonl"
    asked.write_text("".join(json.dumps(call) + "\n" for call in wanted))
    environment = {"HOME": str(tmp_path), "PI_CODING_AGENT_DIR": str(tmp_path), "PI_OFFLINE": "1"}
    command = [str(pi.node), str(HERE / "tools.mjs"), str(pi.package), str(asked)]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=50, check=True)
    held: dict[str, Held] = {}
    changed = set()
    for call, line in zip(wanted, done.stdout.splitlines(), strict=True):
        answer, given = json.loads(line), call["arguments"]
        if answer["isError"]:
            continue
        one = held.setdefault(given["path"], Held())
        if call["name"] == "read":
            look(one, given, raw_text(answer))
        else:
            change(one, given)
            changed.add(given["path"])
    assert len(changed) > 100
    wrong = {}
    for path, one in held.items():
        now = (tmp_path / path).read_bytes().decode()
        verdict = one.compare(now)
        if verdict != "same":
            wrong[path] = verdict
        elif one.complete:
            assert one.compare(now + "more") != "same"
    assert wrong == {}
