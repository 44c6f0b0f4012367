"""pi 1.6.0 as another process that works on session files."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.reference import reference


class Pi:
    """The reference in a process of its own. Raises AssertionError with what it says went wrong."""

    def __init__(self, home: Path) -> None:
        found = reference()
        self.home = home
        environment = {"HOME": str(home), "PI_CODING_AGENT_DIR": str(home / "agent"), "PI_OFFLINE": "1", "TZ": "UTC"}
        self._process = subprocess.Popen(
            [str(found.node), str(Path(__file__).with_name("pi.mjs")), str(found.package)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )

    def __call__(self, op: str, **args: Any) -> Any:
        self.begin(op, **args)
        return self.end()

    def begin(self, op: str, **args: Any) -> None:
        """Let it work; `end` waits for what comes of it."""
        assert self._process.stdin is not None
        plain = {name: str(value) if isinstance(value, Path) else value for name, value in args.items()}
        self._process.stdin.write(json.dumps({"op": op, **plain}).encode() + b"\n")
        self._process.stdin.flush()

    def end(self) -> Any:
        assert self._process.stdout is not None
        answer = json.loads(self._process.stdout.readline())
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def close(self) -> None:
        self._process.communicate(timeout=10)
