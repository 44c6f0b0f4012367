"""How commands end: the exit codes, and what a person reads when something went wrong.

0    done
1    refused or failed
2    the command line makes no sense
3    no session (or entry) of that name, more than one, or a file that is no session; nothing was found
4    the session file is damaged
5    no daemon answers, or the connection to it was lost
130  interrupted
141  whoever read the output has gone (no message)
"""

from __future__ import annotations

import enum
import re
from typing import Any

from pi_daemon_client import ClientError, ConnectionLost, ServerError, Unreachable


class Exit(enum.IntEnum):
    OK = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    DAMAGED = 4
    NO_DAEMON = 5
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class Failure(Exception):
    """A command that can't be done. `hint` says what to do next; `reason` and `data` are for machines."""

    def __init__(
        self,
        code: Exit,
        message: str,
        *,
        hint: str | None = None,
        reason: str = "failed",
        data: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.reason = reason
        self.data = data or {}

    def as_json(self) -> dict[str, Any]:
        error = {"reason": self.reason, "message": self.message, "hint": self.hint, "data": self.data}
        return {"error": error, "exitCode": int(self.code)}


_CODES = {
    "sessionNotFound": Exit.NOT_FOUND,
    "entryNotFound": Exit.NOT_FOUND,
    "ambiguousSession": Exit.NOT_FOUND,
    "sessionCorrupted": Exit.DAMAGED,
    "shuttingDown": Exit.NO_DAEMON,
}

_HINTS = {
    "sessionNotFound": "`pi-daemon list` shows the sessions there are.",
    "entryNotFound": "`pi-daemon tree SESSION` shows the entries with their ids.",
    "sessionCorrupted": "`pi-daemon check FILE` says what is wrong, `pi-daemon repair FILE` mends it.",
    "outsideRoot": "Name its directory with --sessions-dir.",
    "ambiguousSession": "Name the session by its path.",
    "unauthorized": "The token is in the daemon's state directory.",
    "versionMismatch": "Stop the running daemon with `pi-daemon stop`, or install the same version as its.",
    "shuttingDown": "Run the command again.",
    "tooLarge": "Ask for a part: an earlier --leaf of the context, a --filter of the tree, an --output of an export.",
    "summarizerFailed": "`--summarizer extractive` needs no model.",
    "overloaded": "Run the command again in a moment.",
}

_TYPED = frozenset({"sessionId", "id", "query", "after", "before"})
"""Parameters that are what was typed: where one is refused, the command line makes no sense."""

_WORDS = (
    (r", or use `at`", ", or leave out --before"),
    (r"leave `position` out", "leave out --before"),
    (r"read session/tree(?: for those it has)?", "`pi-daemon tree` shows those it has"),
    (r"say `openCalls: ignore`", "say `--open-calls ignore`; `--open-calls wait` waits for it"),
    (r"`keepRecentTokens`", "`--keep-recent-tokens`"),
    (r"send the text as `summary`, or name another summarizer", "give the text with `--summary FILE`, or name another"),
    (r'; open it with recover: "skip", or repair it', ""),
)
"""What the daemon says to programs (a pattern), and what it means for somebody at a command line."""


def failure_of(error: ClientError, *, recover: bool = False) -> Failure:
    """What a person is told of an error of the client. `recover`: the command has --recover."""
    if isinstance(error, ServerError):
        hint = _HINTS.get(error.reason)
        message = error.message
        for pattern, words in _WORDS:
            message = re.sub(pattern, words, message)
        if error.reason == "sessionCorrupted" and recover:
            hint = f"{hint} --recover reads what can be read."
        if error.reason == "writerBusy" and isinstance(owner := error.data.get("owner"), dict):
            hint = f"It is held by process {owner.get('pid')} on {owner.get('host')} ({owner.get('client')})."
        if error.reason == "ambiguousSession":
            hint = "\n".join([_HINTS["ambiguousSession"], *map(str, error.data.get("paths", []))])
        code = _CODES.get(error.reason, Exit.FAILED)
        if error.reason == "sessionCorrupted" and error.data.get("recoverable") is False:
            code, hint = Exit.NOT_FOUND, None
        if error.reason == "invalidParams" and error.data.get("path") in _TYPED:
            code = Exit.USAGE
        return Failure(code, message, hint=hint, reason=error.reason, data=error.data)
    if isinstance(error, ConnectionLost):
        hint = "Whether the command was carried out is unknown: look with `pi-daemon tree`."
        return Failure(Exit.NO_DAEMON, str(error), hint=hint, reason="connectionLost")
    if isinstance(error, Unreachable):
        hint = "Start one with `pi-daemon serve`."
        return Failure(Exit.NO_DAEMON, error.message, hint=hint, reason="unreachable")
    return Failure(Exit.FAILED, str(error))
