"""What the bridge reads of a message, and what it tells a client that it has no daemon for."""

from __future__ import annotations

import msgspec
from msgspec import Raw, UnsetType

from pi_daemon.daemon.errors import DaemonUnavailable, NotResponding
from pi_daemon.rpc import codec
from pi_daemon.rpc.errors import ErrorObject, Refused, error_object
from pi_daemon.rpc.types.lifecycle import InitializeResult
from pi_daemon.session.errors import PiDaemonError

_ENVELOPE = msgspec.json.Decoder(codec.Envelope)
_RESULT = msgspec.json.Decoder(InitializeResult)
_ERROR = msgspec.json.Decoder(ErrorObject)


class Rejected(DaemonUnavailable):
    """Another daemon doesn't take this client. `error`: what it answered to `initialize`."""

    def __init__(self, error: ErrorObject) -> None:
        super().__init__(error.message)
        self.error = error


def look(message: bytes) -> codec.Envelope | None:
    """The envelope; None for what the other side will refuse."""
    try:
        return _ENVELOPE.decode(message)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return codec.decode(message)  # lone surrogates are legal, and the fast way doesn't take them
    except (Refused, RecursionError):
        return None


def is_answer(envelope: codec.Envelope) -> bool:
    return not (isinstance(envelope.result, UnsetType) and isinstance(envelope.error, UnsetType))


def greeting_of(envelope: codec.Envelope) -> InitializeResult:
    """Raises NotResponding for what no daemon of ours would say."""
    try:
        return _RESULT.decode(envelope.result if isinstance(envelope.result, Raw) else b"")
    except msgspec.DecodeError:
        raise NotResponding("What listens there is no pi-daemon.") from None


def refusal_of(envelope: codec.Envelope) -> ErrorObject:
    """Raises NotResponding for what no daemon of ours would say."""
    try:
        return _ERROR.decode(envelope.error if isinstance(envelope.error, Raw) else b"")
    except msgspec.DecodeError:
        raise NotResponding("What listens there is no pi-daemon.") from None


def error_of(failure: PiDaemonError) -> ErrorObject:
    """What the client is told when there is no daemon."""
    if isinstance(failure, Rejected):
        return failure.error
    return error_object("daemonUnavailable", failure.message, {"cause": failure.reason, **failure.data})
