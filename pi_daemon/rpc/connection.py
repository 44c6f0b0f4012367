"""One connection's state, whatever it came over: the handshake, the requests in flight, what is sent back.

A transport gives it unframed messages and takes messages; a service answers the methods. Everything happens on the
event loop's thread. Each request gets exactly one answer, and its answer precedes the notifications that it causes.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
from msgspec import Raw, UnsetType

from pi_daemon.rpc import codec, table
from pi_daemon.rpc.call import Call
from pi_daemon.rpc.errors import Refused, error_object, from_refusal
from pi_daemon.rpc.limits import Limits
from pi_daemon.rpc.lsp import DOCUMENT_METHODS
from pi_daemon.rpc.outbox import Outbox
from pi_daemon.rpc.service import Channel, Client, Gate, Handler, PeerError, Service
from pi_daemon.rpc.types.daemon import ClientStatus
from pi_daemon.rpc.types.lifecycle import PROTOCOL_VERSION, InitializeParams, PiDaemonInitialize
from pi_daemon.session.errors import Overloaded, PiDaemonError, Unauthorized, VersionMismatch

__all__ = ["Channel", "Client", "Connection", "Gate", "Handler", "PeerError", "Service"]

logger = logging.getLogger(__name__)

CHECKED_AT_ONCE_BYTES = 256 * 1024
"""Beyond it a message is checked in a thread, so that others go on meanwhile: 64 MB of it can take seconds."""

METHODS = {**table.METHODS, **DOCUMENT_METHODS}

_CHECKERS = ThreadPoolExecutor(2, thread_name_prefix="check")
"""Of their own, so that nobody's large messages keep threads from files."""

_NAME_CHARACTERS = 100
"""A client's name is shown beside what it changed."""


class Connection:
    """See the module. `token`: what `initialize` must bring, or who knows that; None where the transport vouches for
    the peer."""

    def __init__(
        self,
        channel: Channel,
        service: Service,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
        token: str | Gate | None = None,
        methods: Mapping[str, table.Method] = METHODS,
    ) -> None:
        self.limits = limits
        self.client = Client(secrets.token_hex(8), "")
        self._channel = channel
        self._service = service
        self._token = token
        self._methods = methods
        self._outbox = Outbox(channel, limits, service.resync)
        self._in_flight: dict[str | int | float, Call] = {}
        self._asked: dict[int, asyncio.Future[Raw]] = {}
        self._asked_count = secrets.randbits(48)
        """Where the ids of our requests begin. Of what stands between us and a client, one end may outlive the other:
        an answer to a predecessor of ours must not be taken for one to us."""
        self._connected = False
        self._shut_down = False
        self._ended = False
        self._closed = False
        self._paused = False
        self._waiting: deque[bytes | tuple[Refused, bool]] = deque()
        """What came while a large message is checked, which is the first of them."""
        self._checking: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._handshake: asyncio.TimerHandle | None = None
        if channel.name != "stdio":  # an editor that started us may take its time
            self._handshake = self._loop.call_later(limits.handshake_seconds, self.close)

    # What the transport calls

    def receive(self, message: bytes) -> None:
        """Take one message. Never raises for what the peer sent."""
        if self._closed or self._ended:
            return
        if self._waiting or len(message) > CHECKED_AT_ONCE_BYTES:
            self._wait_for_check(message)
        else:
            self._take(_checked(message))

    def framing_failed(self, failure: Refused, fatal: bool) -> None:
        """Something came that is no message. `fatal`: where the next one begins can't be told."""
        if self._closed or self._ended:
            return
        if self._waiting:
            self._wait_for_check((failure, fatal))
        else:
            self._take_failure(failure, fatal)

    def drained(self) -> None:
        """The channel has no backlog any more."""
        if not self._closed:
            self._outbox.drained()
            self._regulate()

    def ended(self) -> None:
        """The peer sends no more, but may still read: what it asked for is answered, then the connection closes."""
        self._ended = True
        self._close_when_done()

    def lost(self) -> None:
        """The peer is gone."""
        self._closed = True
        if self._handshake is not None:
            self._handshake.cancel()
        if self._checking is not None:
            self._checking.cancel()
        for call in self._in_flight.values():
            call.abandon()
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(PeerError("The client is gone."))
        self._asked.clear()
        if self._connected:
            self._connected = False
            self._service.disconnected(self)

    # What the service calls

    @property
    def transport(self) -> str:
        return self._channel.name

    def publish(self, session_id: str, messages: Sequence[bytes], cause: object | None = None) -> None:
        """Send the encoded notifications of one change of a session. They wait for the answer of `cause` where that
        is a request of this connection; a client that doesn't read gets a resync instead."""
        if not self._closed:
            own = cause if isinstance(cause, Call) and cause.connection is self else None
            self._outbox.notify(session_id, messages, own)

    def notify(self, method: str, params: Any) -> None:
        """Send a notification that belongs to no session. It is dropped when the client doesn't read."""
        if not self._closed:
            self._outbox.notify(None, (codec.notification(method, params),))

    async def request(self, method: str, params: Any) -> Raw:
        """Ask the client. Gives the raw result; raises PeerError for an error, or when the client goes. Cancelled, it
        takes the question back."""
        if self._closed or self._ended:
            raise PeerError("The client is gone.")
        self._asked_count += 1
        number = self._asked_count
        answer: asyncio.Future[Raw] = self._loop.create_future()
        self._asked[number] = answer
        self._outbox.send(codec.request(number, method, params))
        try:
            return await answer
        except asyncio.CancelledError:
            if not self._closed:
                self._outbox.send(codec.notification("$/cancelRequest", {"id": number}))
            raise
        finally:
            self._asked.pop(number, None)

    def close(self) -> None:
        """Close, after what was sent so far. Requests in flight are cancelled when the channel reports the end."""
        if not self._closed:
            self._closed = True
            self._outbox.flush()
            self._channel.close()

    def interrupt(self) -> None:
        """Stop what is in flight: it is answered with `shuttingDown`."""
        for call in self._in_flight.values():
            call.abandon()

    async def settled(self) -> None:
        """Until every request in flight is answered."""
        while self._in_flight:
            await asyncio.wait([call.task for call in self._in_flight.values() if call.task is not None])

    def statistics(self) -> ClientStatus:
        return ClientStatus(
            client_id=self.client.client_id,
            name=self.client.name,
            transport=self._channel.name,
            requests=len(self._in_flight),
            queued=self._outbox.queued,
            queued_bytes=self._outbox.queued_bytes,
            resyncs=self._outbox.resyncs,
        )

    # Messages

    def _wait_for_check(self, item: bytes | tuple[Refused, bool]) -> None:
        self._waiting.append(item)
        if len(self._waiting) == 1:
            self._regulate()
            self._checking = self._loop.create_task(self._check_waiting())

    async def _check_waiting(self) -> None:
        """Check what is large in a thread, and take it and what came behind it, in order."""
        while self._waiting and not self._closed:
            item = self._waiting[0]
            if isinstance(item, tuple):
                self._take_failure(*item)
            elif len(item) > CHECKED_AT_ONCE_BYTES:
                self._take(await self._loop.run_in_executor(_CHECKERS, _checked, item))
            else:
                self._take(_checked(item))
            self._waiting.popleft()
        self._waiting.clear()
        if not self._closed:
            self._regulate()
            self._close_when_done()

    def _close_when_done(self) -> None:
        """Close where nothing more comes and all is answered."""
        if self._ended and not self._in_flight and not self._waiting:
            self.close()

    def _take_failure(self, failure: Refused, fatal: bool) -> None:
        self._answer(codec.failure(failure.id, failure.error))
        if fatal:
            self.close()

    def _take(self, envelope: codec.Envelope | Refused) -> None:
        if self._closed:
            return
        try:
            if isinstance(envelope, Refused):
                raise envelope
            if isinstance(envelope.method, UnsetType):
                self._take_response(envelope)
            elif isinstance(envelope.id, UnsetType):
                self._take_notification(envelope.method, envelope.params)
            else:
                self._take_request(bytes(envelope.id), envelope.method, envelope.params)
        except Refused as refused:
            self._answer(codec.failure(refused.id, refused.error))

    def _take_request(self, id: bytes, method: str, params: Raw | UnsetType) -> None:
        try:
            key = codec.id_key(id)
        except ValueError:
            raise Refused("invalidRequest", "An id is a string or a finite number.") from None
        if key in self._in_flight:
            raise Refused("invalidRequest", "A request with this id is still in flight.", id=id)
        try:
            if method == "initialize":
                self._initialize(id, params)
            elif not self._connected:
                raise Refused("notInitialized", "Send `initialize` first.", id=id)
            elif self._shut_down:
                raise Refused("invalidRequest", "The connection is shut down: send `exit`, or connect anew.", id=id)
            elif method == "shutdown":
                self._shut_down = True
                self._answer(codec.result(id, None))
            else:
                self._start(key, id, method, params)
        except PiDaemonError as refusal:
            self._answer(codec.failure(id, from_refusal(refusal)))
            if isinstance(refusal, Unauthorized):
                self.close()

    def _initialize(self, id: bytes, raw: Raw | UnsetType) -> None:
        if self._connected:
            raise Refused("invalidRequest", "`initialize` was sent before.", id=id)
        params: InitializeParams = codec.reader(InitializeParams).read(raw)
        ours = _ours(params)
        fresh = self._authorize("" if isinstance(ours.token, UnsetType) else ours.token)
        if not isinstance(ours.protocol_version, UnsetType) and ours.protocol_version != PROTOCOL_VERSION:
            raise VersionMismatch(_mismatch(ours.protocol_version), protocolVersion=PROTOCOL_VERSION)
        name = params.client_info.name if params.client_info else ""
        self.client = Client(self.client.client_id, name[:_NAME_CHARACTERS], ours.summarizer is True)
        found = self._service.initialize(self, params)
        if fresh is not None:
            found.capabilities.experimental.pi_daemon.token = fresh
        answer = codec.result(id, found)
        if self._handshake is not None:
            self._handshake.cancel()
        self._connected = True
        self._service.connected(self)
        self._answer(answer)

    def _authorize(self, token: str) -> str | None:
        """A token for the next connections, if there is one to tell. Raises Unauthorized."""
        if self._token is None:
            return None
        if not isinstance(self._token, str):
            return self._token.admit(token)
        if not _same(token, self._token):
            raise Unauthorized("The token is missing or wrong: put it into initializationOptions.piDaemon.token.")
        return None

    def _start(self, key: str | int | float, id: bytes, method: str, raw: Raw | UnsetType) -> None:
        signature = self._methods.get(method)
        handler = self._service.handlers.get(method)
        if signature is None or handler is None:
            raise Refused("methodNotFound", f"There is no method {method[:_NAME_CHARACTERS]!r}.", id=id)
        if len(self._in_flight) >= self.limits.requests_in_flight:
            raise Overloaded("Too many requests in flight: wait for answers.", limit="requestsInFlight")
        params = codec.reader(signature.params).read(raw)
        token = getattr(params, "work_done_token", None)
        call = Call(self, id, method, None if isinstance(token, UnsetType) else token)
        self._in_flight[key] = call
        call.run(self._serve(key, call, handler, params))

    async def _serve(self, key: str | int | float, call: Call, handler: Handler, params: Any) -> None:
        error = None
        try:
            answer = codec.result(call.id, await handler(call, params))
            call.fits(len(answer))
        except asyncio.CancelledError:
            if call.cancelled:
                error = error_object("cancelled", "The request was cancelled.")
            else:
                words = "The daemon is going away: connect again, and look whether this was done."
                error = error_object("shuttingDown", words, {"applied": "unknown"})
        except PiDaemonError as refusal:
            error = from_refusal(refusal)
        except Exception:
            logger.exception("%s failed", call.method)
            error = error_object("internalError", "Internal error: see the daemon's log.")
        if error is not None:
            answer = codec.failure(call.id, error)
        del self._in_flight[key]
        if not self._closed:
            call.end_progress()
            self._answer(answer, call)
            self._close_when_done()
        call.log(getattr(params, "session_id", None) or None, error.data["reason"] if error else None)

    def _take_notification(self, method: str, raw: Raw | UnsetType) -> None:
        if method == "exit":
            self.close()
        elif method == "$/cancelRequest" and not isinstance(raw, UnsetType):
            self._cancel(raw)
        elif self._connected and not method.startswith("$/"):
            self._service.notified(self, method, raw)

    def _cancel(self, raw: Raw) -> None:
        """Whatever is wrong with a notification, there is nobody to tell."""
        try:
            call = self._in_flight.get(codec.id_key(msgspec.json.decode(raw, type=dict[str, Raw])["id"]))
        except (ValueError, KeyError):
            return
        if call is not None:
            call.cancel()

    def _take_response(self, envelope: codec.Envelope) -> None:
        if isinstance(envelope.id, UnsetType) or not (envelope.result or envelope.error):
            raise Refused("invalidRequest", "A message has a `method`, or an `id` with `result` or `error`.")
        data = bytes(envelope.id)
        answer = self._asked.pop(int(data), None) if data.isdigit() else None
        if answer is None or answer.done():
            return
        if isinstance(envelope.result, UnsetType):
            answer.set_exception(PeerError("The client answered with an error.", bytes(envelope.error or b"")))
        else:
            answer.set_result(envelope.result)

    def _answer(self, message: bytes, call: Call | None = None) -> None:
        self._outbox.send(message, call)
        self._regulate()

    def _regulate(self) -> None:
        """Stop reading from a client that doesn't read its answers, until half of them are gone, and from one whose
        last message is being checked."""
        limit = self.limits.answers_backlog_bytes // (2 if self._paused else 1)
        wanted = bool(self._waiting) or self._outbox.answer_backlog > limit
        if wanted != self._paused:
            self._paused = wanted
            if wanted:
                self._channel.pause()
            else:
                self._channel.resume()


def _checked(message: bytes) -> codec.Envelope | Refused:
    """Given back instead of raised: there may be nobody any more who waits for it."""
    try:
        return codec.decode(message)
    except Refused as refused:
        return refused


def _mismatch(version: int) -> str:
    words = f"This daemon speaks version {PROTOCOL_VERSION} of the protocol, the client version {version}: "
    if version < PROTOCOL_VERSION:
        return words + "update the client."
    return words + "update pi-daemon, and let `pi-daemon stop` end the one that runs."


def _ours(params: InitializeParams) -> PiDaemonInitialize:
    options = params.initialization_options
    return (options.pi_daemon if options else None) or PiDaemonInitialize()


def _same(given: str, wanted: str) -> bool:
    """In constant time, so that an answer's delay tells nothing of the token."""
    return hmac.compare_digest(given.encode(errors="surrogatepass"), wanted.encode())
