"""What can go wrong, one class for each situation.

ClientError
├── ServerError       the daemon refused the request; `reason` says why
├── ConnectionLost    the connection ended while the request was under way
│   └── NotConnected  there was no connection, and none came in time: nothing was sent
├── Unreachable       no daemon answers at that address
└── ClientClosed      this client was closed
"""

from __future__ import annotations

from typing import Any, Literal

_STANDARD = {
    -32700: "parseError",
    -32600: "invalidRequest",
    -32601: "methodNotFound",
    -32602: "invalidParams",
    -32603: "internalError",
    -32002: "notInitialized",
    -32800: "cancelled",
}


class ClientError(Exception):
    """The base of everything that this package raises about a daemon."""


class ServerError(ClientError):
    """The daemon's answer to a request it refused.

    `reason` is the stable name to match on (`leafMoved`, `sessionNotFound`, ...), `code` its number,
    `data` what the daemon says beside it (`leafMoved`: `leafId`; `writerBusy`: `owner`; ...).
    """

    def __init__(self, code: int, message: str, data: dict[str, Any]) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.reason = str(data.get("reason") or _STANDARD.get(code, "unknown"))

    @classmethod
    def from_wire(cls, error: Any) -> ServerError:
        if not isinstance(error, dict):
            return cls(-32603, "the daemon answered with an error that is none", {})
        data = error.get("data")
        return cls(
            int(error.get("code", -32603)),
            str(error.get("message", "no message")),
            data if isinstance(data, dict) else {},
        )


class ConnectionLost(ClientError):
    """`applied` is "unknown": the request had been sent, and its answer will never come. After a
    reconnect look at the session, or send appends with `retry=True`, which can't happen twice."""

    def __init__(self, message: str, applied: Literal["unknown", "no"] = "unknown") -> None:
        super().__init__(message)
        self.applied = applied


class NotConnected(ConnectionLost):
    """Nothing was sent: `applied` is "no"."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "no")


class Unreachable(ClientError):
    """Nobody listens there, or what listens is no daemon. `hint` says how to start one, where that is known; `said` is
    what a daemon that was started for this client said on its stderr before it ended."""

    def __init__(self, message: str, hint: str = "", said: str = "") -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.message = message
        self.hint = hint
        self.said = said


class ClientClosed(ClientError):
    def __init__(self) -> None:
        super().__init__("this client is closed")
