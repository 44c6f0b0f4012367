"""When a session that isn't written yet is written."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from pi_daemon.engine.staging import Staged
from pi_daemon.session.head import Head


class Persistence(Struct):
    """When an unwritten session is written, and whether that time has come."""

    mode: str
    has_user: bool = False
    has_assistant: bool = False

    def note(self, head: Head) -> None:
        self.has_user |= head.role == "user"
        self.has_assistant |= head.role == "assistant"

    def due(self, staged: Sequence[Staged]) -> bool:
        if self.mode == "never":
            return False
        if self.mode == "immediate" or self.has_assistant:
            return True
        roles = {entry.head.role for entry in staged}
        if self.mode == "firstMessage":
            return self.has_user or bool(roles & {"user", "assistant"})
        return "assistant" in roles
