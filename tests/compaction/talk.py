"""Messages in a few words."""

from __future__ import annotations

from itertools import count
from typing import Any

from pi_daemon.compaction.material import Said
from pi_daemon.compaction.summarizers.extractive import extracted


class Talk:
    """A conversation that grows; `said` is what a summary is made of."""

    def __init__(self) -> None:
        self.said: list[Said] = []
        self._ids = count(1)

    def _add(self, role: str, message: dict[str, Any]) -> Said:
        self.said.append(Said(f"e{next(self._ids)}", role, {"role": role, **message}))
        return self.said[-1]

    def user(self, text: str) -> Said:
        return self._add("user", {"content": [{"type": "text", "text": text}]})

    def answer(self, text: str, reason: str = "stop") -> Said:
        return self._add("assistant", {"content": [{"type": "text", "text": text}], "stopReason": reason})

    def call(self, name: str, result: str | None = "ok", failed: bool = False, **arguments: Any) -> Said:
        """A call and its result; without one if `result` is None."""
        call_id = f"c{len(self.said)}"
        block = {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}
        called = self._add("assistant", {"content": [block], "stopReason": "toolUse"})
        if result is None:
            return called
        content = [{"type": "text", "text": result}]
        return self._add("toolResult", {"toolCallId": call_id, "toolName": name, "content": content, "isError": failed})


def extract(*material_and_how: Any, **how: Any) -> str:
    """The embedded summary, without the questions that it was made by."""
    return extracted(*material_and_how, **how)[0]
