"""What a session is called where one is shown: by its name, else by how it begins."""

from __future__ import annotations

from typing import Any

from pi_daemon_client import ABSENT, Absent, AsyncClient
from pi_daemon_client.types import SessionInfo, SessionState

from pi_daemon.cli import safe
from pi_daemon.cli.output import Output

LENGTH = 60
"""Characters of a title that are shown."""

UNNAMED = "unnamed session"

_A_LOOK = 8
"""Entries that are read at first for the first message: it is among these in all but odd sessions."""

_MOST = 1000
"""Entries that are read at a time further on."""


def of_listed(output: Output, session: SessionInfo) -> str:
    """As a list has it; safe for a terminal, "" where there is nothing to call it by."""
    return beginning(output, session["name"] or session["firstMessage"])


async def of_opened(output: Output, client: AsyncClient, state: SessionState) -> str:
    """The same of a session that is open, of which no list has been read."""
    return beginning(output, state["name"] or await _first_message(client, state["sessionId"])) or UNNAMED


def beginning(output: Output, text: str) -> str:
    """What is shown of it, safe for a terminal."""
    shown = safe.line(text)
    return shown if len(shown) <= LENGTH else shown[: LENGTH - 1] + output.cut


async def _first_message(client: AsyncClient, session_id: str) -> str:
    since: str | Absent = ABSENT
    limit = _A_LOOK
    while True:
        page = await client.entries(session_id, since=since, limit=limit)
        for entry in page["entries"]:
            if text := _said_by_user(entry):
                return text
        if "nextSince" not in page:
            return ""
        since, limit = page["nextSince"], _MOST


def _said_by_user(entry: dict[str, Any]) -> str:
    message = entry.get("message")
    if entry.get("type") != "message" or not isinstance(message, dict) or message.get("role") != "user":
        return ""
    content = message.get("content")
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        content = " ".join(text for text in texts if isinstance(text, str))
    return " ".join(content.split()) if isinstance(content, str) else ""
