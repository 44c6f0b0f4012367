"""What a connection stands between: the channel that carries it, and the service that it serves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Raw, Struct, UnsetType

from pi_daemon.rpc.call import Call
from pi_daemon.rpc.outbox import Sink
from pi_daemon.rpc.types.lifecycle import InitializeParams, InitializeResult

if TYPE_CHECKING:
    from pi_daemon.rpc.connection import Connection


class Channel(Sink, Protocol):
    """One connection's shell around a transport.

    `name`: stdio, unix, tcp, websocket or panel. `send` frames each message and writes all of them at once; it never
    blocks and never drops. `backlog` is what of it isn't with the kernel yet; when it is 0 again the channel calls
    the connection's `drained`. `pause` and `resume` reading may be called twice. `close` lets what was sent go out.
    """

    @property
    def name(self) -> str: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def close(self) -> None: ...


class Gate(Protocol):
    """Knows several tokens, where a transport has more than one."""

    def admit(self, token: str) -> str | None:
        """Let the client in; a token for its next connections, where this one was for once. Raises Unauthorized."""


Handler = Callable[[Call, Any], Awaitable[Any]]


class Service(Protocol):
    """What a connection serves. `handlers` take the call and its typed parameters and give a typed result, or a
    Raw that is the result already encoded. A handler begins as soon as its request is read, in no task until it first
    waits (see `pi_daemon.eager`)."""

    @property
    def handlers(self) -> Mapping[str, Handler]: ...

    def initialize(self, connection: Connection, params: InitializeParams) -> InitializeResult:
        """Raises PiDaemonError to refuse the client."""

    def connected(self, connection: Connection) -> None: ...

    def disconnected(self, connection: Connection) -> None:
        """Once for each connection that was told `connected`."""

    def notified(self, connection: Connection, method: str, params: Raw | UnsetType) -> None:
        """The client has told something that isn't the connection's own affair. Must not raise."""

    def resync(self, session_id: str) -> bytes | None:
        """The encoded `session/resync` of a session, None where it isn't open any more."""


class Client(Struct, frozen=True):
    """Who is at the other end. The id is the daemon's, the name what the client calls itself. `summarizer`: it offers
    to make summaries."""

    client_id: str
    name: str
    summarizer: bool = False


class PeerError(Exception):
    """A request of ours was answered with an error, or never. `error` is the raw error object, if one came."""

    def __init__(self, message: str, error: bytes | None = None) -> None:
        super().__init__(message)
        self.error = error
