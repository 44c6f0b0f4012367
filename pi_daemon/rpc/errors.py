"""The codes of errors on the wire, and how a refusal becomes one.

Refused    a message that can't be served as it is (malformed, invalid, unknown): an error of JSON-RPC or LSP
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from pi_daemon.session.errors import PiDaemonError

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
NOT_INITIALIZED: Final = -32002
CANCELLED: Final = -32800

CODES: Final[dict[str, int]] = {
    "sessionNotFound": 1001,
    "sessionExists": 1002,
    "sessionCorrupted": 1003,
    "entryNotFound": 1004,
    "leafMoved": 1005,
    "duplicateEntry": 1006,
    "invalidEntry": 1007,
    "writerBusy": 1008,
    "readOnly": 1009,
    "storageFailed": 1010,
    "sessionFailed": 1011,
    "nothingToCompact": 1012,
    "summarizerFailed": 1013,
    "busy": 1014,
    "overloaded": 1015,
    "outsideRoot": 1016,
    "unauthorized": 1017,
    "tooLarge": 1018,
    "shuttingDown": 1019,
    "versionMismatch": 1020,
    "ambiguousSession": 1021,
    "daemonUnavailable": 1022,
    "superseded": 1023,
    "invalidSettings": 1024,
    "callOpen": 1025,
    "parseError": PARSE_ERROR,
    "invalidRequest": INVALID_REQUEST,
    "methodNotFound": METHOD_NOT_FOUND,
    "invalidParams": INVALID_PARAMS,
    "internalError": INTERNAL_ERROR,
    "notInitialized": NOT_INITIALIZED,
    "cancelled": CANCELLED,
}
"""`data.reason` -> code. Those of the project lie outside the ranges that JSON-RPC and LSP reserve."""

MEANINGS: Final[dict[str, str]] = {
    "parseError": "a message that is no JSON in UTF-8, or a header that tells no length; the id is null.",
    "invalidRequest": "no JSON-RPC 2.0 request, a batch, an id in flight, or a request after `shutdown`.",
    "methodNotFound": "a method that this daemon doesn't have.",
    "internalError": "a bug; the daemon's log says more.",
    "notInitialized": "a request before `initialize`.",
    "cancelled": "the client sent `$/cancelRequest`.",
    "daemonUnavailable": "from `pi-daemon connect`: no daemon can be reached or started. `data.cause` names why.",
}
"""What the errors mean that have no class in `pi_daemon.session.errors`, which says it for the others."""


class ErrorObject(Struct, frozen=True):
    """A JSON-RPC error. `data` always has `reason`."""

    code: int
    message: str
    data: dict[str, Any]


class Refused(Exception):
    """A message that gets an error for an answer. `id` is the raw id to answer with, `null` where none can be told."""

    def __init__(self, reason: str, message: str, *, id: bytes = b"null", **data: Any) -> None:
        super().__init__(message)
        self.id = id
        self.error = error_object(reason, message, data)


def error_object(reason: str, message: str, data: dict[str, Any] | None = None) -> ErrorObject:
    return ErrorObject(CODES[reason], message, {"reason": reason, **(data or {})})


def from_refusal(refusal: PiDaemonError) -> ErrorObject:
    """What the client is told of a refusal."""
    return error_object(refusal.reason, refusal.message, refusal.data)
