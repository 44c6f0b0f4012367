"""What the demo is about: a small project with a bug in it, and what an agent would have appended while mending it.

No model is asked: the texts are written here. The tools are real: they read and change the project's file.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

FILE = "slug.py"

BUGGY = '''def slug(title: str) -> str:
    """A title as a part of an address."""
    return title.lower().replace(" ", "-")
'''

MENDED = '''def slug(title: str) -> str:
    """A title as a part of an address."""
    return "-".join(title.lower().split())
'''

BY_PATTERN = '''import re


def slug(title: str) -> str:
    """A title as a part of an address."""
    return re.sub(r"\\W+", "-", title.lower()).strip("-")
'''

_TOKENS_FOR_PROMPT = 900
_TOKENS_A_MESSAGE = 60


class Scene:
    """Drafts of entries, in pi's own form. Each assistant message reports a usage as a provider would."""

    def __init__(self, project: Path) -> None:
        self.project = project
        self.file = project / FILE
        self._calls = 0
        self._messages = 0
        project.mkdir()
        self.file.write_text(BUGGY)

    def prompt(self, text: str) -> dict[str, Any]:
        return self._message(role="user", content=[{"type": "text", "text": text}])

    def say(self, text: str) -> dict[str, Any]:
        return self._assistant([{"type": "text", "text": text}], "stop")

    def read(self, text: str) -> list[dict[str, Any]]:
        call = self._call("read", {"path": FILE})
        return [
            self._assistant([{"type": "text", "text": text}, call], "toolUse"),
            self._result(call, self.file.read_text()),
        ]

    def write(self, text: str, content: str) -> list[dict[str, Any]]:
        call = self._call("write", {"path": FILE, "content": content})
        self.file.write_text(content)
        return [
            self._assistant([{"type": "text", "text": text}, call], "toolUse"),
            self._result(call, f"Wrote {len(content)} characters to {FILE}."),
        ]

    def try_it(self, title: str) -> list[dict[str, Any]]:
        """Runs the function as the file has it now."""
        names: dict[str, Any] = {}
        exec(self.file.read_text(), names)
        call = self._call("run", {"code": f"slug({title!r})"})
        return [self._assistant([call], "toolUse"), self._result(call, repr(names["slug"](title)))]

    def _call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        self._calls += 1
        return {"type": "toolCall", "id": f"call-{self._calls}", "name": name, "arguments": arguments}

    def _result(self, call: dict[str, Any], text: str) -> dict[str, Any]:
        content = [{"type": "text", "text": text}]
        return self._message(
            role="toolResult", toolCallId=call["id"], toolName=call["name"], content=content, isError=False
        )

    def _assistant(self, content: list[dict[str, Any]], stop_reason: str) -> dict[str, Any]:
        before = _TOKENS_FOR_PROMPT + self._messages * _TOKENS_A_MESSAGE
        cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
        usage = {
            "input": before,
            "output": _TOKENS_A_MESSAGE,
            "cacheRead": 0,
            "cacheWrite": 0,
            "totalTokens": before + _TOKENS_A_MESSAGE,
            "cost": cost,
        }
        names = {"api": "scripted", "provider": "demo", "model": "scripted"}
        return self._message(role="assistant", content=content, **names, usage=usage, stopReason=stop_reason)

    def _message(self, **message: Any) -> dict[str, Any]:
        self._messages += 1
        return {"type": "message", "message": {**message, "timestamp": int(time.time() * 1000)}}
