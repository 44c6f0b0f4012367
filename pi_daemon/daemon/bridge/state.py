"""What passes between a client and the daemon, and what happens when the daemon is another one. No IO.

Messages go through as they are. Of each only the envelope is looked at: which requests are in flight in either
direction, how the client introduced itself, and which documents it has open.
"""

from __future__ import annotations

import contextlib
import enum
import re
from collections import deque

from msgspec import Raw, UnsetType

from pi_daemon.daemon.bridge.documents import OpenDocuments
from pi_daemon.daemon.bridge.messages import Rejected, greeting_of, is_answer, look, refusal_of
from pi_daemon.daemon.errors import OtherDirectory
from pi_daemon.rpc import codec
from pi_daemon.rpc.errors import ErrorObject, Refused, error_object
from pi_daemon.rpc.types.lifecycle import InitializeResult
from pi_daemon.rpc.types.notifications import DaemonReplaced
from pi_daemon.storage.layout import Chosen

_ANSWER = re.compile(rb'\{"jsonrpc":"2\.0","id":("(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*),"(?:result|error)":')
_NOTIFICATION = b'{"jsonrpc":"2.0","method":'
"""How the daemon's messages begin. What follows may be 25 MB of a context, and needn't be read to be passed on."""

_OURS = b'"pi-daemon connect"'
"""The id of our own `initialize`. Nothing else is in flight then."""


class Stage(enum.Enum):
    NEW = "the client has not initialized"
    GREETING = "its initialize is on the way"
    OPEN = "client and daemon talk"
    RETURNING = "another daemon is told what the client told the first one"
    SHUT = "the client has shut down"
    OVER = "the client has said exit"
    LOST = "there will be no daemon"


class Bridge:
    """Takes messages of either side and leaves in `to_client` and `to_daemon` what is to be sent.

    `wanted`: what the daemon must serve; None: whatever it does.
    """

    def __init__(self, wanted: Chosen | None = None) -> None:
        self.stage = Stage.NEW
        self.to_client: list[bytes] = []
        self.to_daemon: list[bytes] = []
        self.shut_down = False
        self.refusals = 0
        self._wanted = wanted
        self._connected = False
        self._waiting: deque[tuple[bytes, codec.Envelope | None]] = deque()
        self._in_flight: dict[str | int | float, bytes] = {}
        self._asked: dict[str | int | float, bytes] = {}
        self._greeting: tuple[str | int | float, bytes, bytes] | None = None
        self._shutting: str | int | float | None = None
        self._initialized = False
        self._documents = OpenDocuments()
        self._lost_because: ErrorObject | None = None

    @property
    def needs_daemon(self) -> bool:
        """Whether somebody waits for one, or would miss what it tells."""
        return bool(self._waiting) or self.stage in (Stage.GREETING, Stage.OPEN, Stage.RETURNING)

    @property
    def introduced(self) -> bool:
        """Whether the client has asked to be initialized."""
        return self._greeting is not None

    @property
    def unanswered(self) -> bool:
        """Whether the client has asked what nobody has answered."""
        return bool(self._waiting or self._in_flight)

    @property
    def needs_greeting(self) -> bool:
        """Whether the daemon has to answer `initialize` before anything else goes on."""
        return self._connected and self.stage in (Stage.GREETING, Stage.RETURNING)

    # -- from the client

    def from_client(self, message: bytes) -> None:
        envelope = look(message)
        if envelope is not None and envelope.method == "exit" and isinstance(envelope.id, UnsetType):
            self.stage = Stage.OVER
        if self._shuts_alone(envelope):
            return
        alone = self.stage in (Stage.SHUT, Stage.OVER, Stage.LOST)
        if alone or (self._connected and self.stage is not Stage.RETURNING):
            self._pass(message, envelope)
        else:
            self._waiting.append((message, envelope))

    def _shuts_alone(self, envelope: codec.Envelope | None) -> bool:
        """A client that shuts down while there is no daemon needs none for that."""
        waits = self._connected or self._waiting or self.stage is not Stage.RETURNING
        if waits or envelope is None or envelope.method != "shutdown" or isinstance(envelope.id, UnsetType):
            return False
        self.to_client.append(codec.result(bytes(envelope.id), None))
        self.stage = Stage.OPEN
        self._end()
        return True

    def refuse(self, refused: Refused) -> None:
        """What the client sent is no message."""
        self.to_client.append(codec.failure(refused.id, refused.error))

    def _pass(self, message: bytes, envelope: codec.Envelope | None) -> None:
        """`envelope` is None for what is no message: the daemon says what is wrong with it."""
        if envelope is not None:
            if not isinstance(envelope.method, UnsetType):
                if isinstance(envelope.id, UnsetType):
                    self._note_notification(envelope.method, envelope.params)
                elif not self._note_request(bytes(envelope.id), envelope.method, message, envelope.params):
                    return
            elif is_answer(envelope) and self._forget(self._asked, envelope.id) is None:
                return  # to a daemon that is no more
        self.to_daemon.append(message)

    def _note_notification(self, method: str, params: Raw | UnsetType) -> None:
        if method == "initialized":
            self._initialized = True
        elif method.startswith("textDocument/did") and not isinstance(params, UnsetType):
            self._documents.follow(method, bytes(params))

    def _note_request(self, id: bytes, method: str, message: bytes, params: Raw | UnsetType) -> bool:
        """Whether it is to be passed on."""
        if self._lost_because is not None:
            self.refusals += 1
            self.to_client.append(codec.failure(id, self._lost_because))
            return False
        try:
            key = codec.id_key(id)
        except ValueError:
            return True  # refused by the daemon
        if key in self._in_flight:
            error = error_object("invalidRequest", "A request with this id is still in flight.")
            self.to_client.append(codec.failure(id, error))
            return False
        if self.stage is Stage.SHUT:
            words = "The connection is shut down: send `exit`, or connect anew."
            self.to_client.append(codec.failure(id, error_object("invalidRequest", words)))
            return False
        self._in_flight[key] = id
        if method == "initialize" and self.stage is Stage.NEW:
            self.stage = Stage.GREETING
            self._greeting = key, message, b"{}" if isinstance(params, UnsetType) else bytes(params)
        elif method == "shutdown":
            self._shutting = key
        return True

    # -- from the daemon

    def from_daemon(self, message: bytes) -> None:
        """Raises OtherDirectory, Rejected, and NotResponding for an answer to `initialize` that is none."""
        if message.startswith(_NOTIFICATION):
            self.to_client.append(message)
            return
        answer = _ANSWER.match(message)
        if answer is not None and not self.needs_greeting:
            self._answered(answer[1])
            self.to_client.append(message)
            return
        envelope = look(message)
        if envelope is None or isinstance(envelope.id, UnsetType):
            self.to_client.append(message)
        elif not isinstance(envelope.method, UnsetType):
            with contextlib.suppress(ValueError):
                self._asked[codec.id_key(envelope.id)] = bytes(envelope.id)
            self.to_client.append(message)
        elif bytes(envelope.id) == _OURS and self.stage is Stage.RETURNING:
            self._take_up(envelope)
        else:
            self._check_greeting(envelope)
            self._answered(bytes(envelope.id))
            self.to_client.append(message)

    def _answered(self, id: bytes) -> None:
        self._forget(self._in_flight, id)
        if self._shutting is not None and self._shutting not in self._in_flight:
            self._end()

    def _end(self) -> None:
        """The client has shut down, and may still say exit."""
        self.shut_down = True
        if self.stage is Stage.OPEN:
            self.stage = Stage.SHUT

    def _check_greeting(self, envelope: codec.Envelope) -> None:
        if self.stage is not Stage.GREETING or self._greeting is None or isinstance(envelope.id, UnsetType):
            return
        try:
            mine = codec.id_key(envelope.id) == self._greeting[0]
        except ValueError:
            return
        if mine and isinstance(envelope.result, UnsetType):
            self.stage = Stage.NEW
        elif mine:
            self._check_directory(greeting_of(envelope))
            self.stage = Stage.OPEN

    def _check_directory(self, result: InitializeResult) -> None:
        serves = result.capabilities.experimental.pi_daemon.sessions_dir
        wanted = self._wanted
        if wanted is not None and not wanted.means(serves):
            words = f"The daemon that runs serves {serves}, not {wanted.directory} as {wanted.by} says: leave out "
            raise OtherDirectory(words + f"{wanted.by}, or give it a daemon of its own with --socket.")

    def _take_up(self, envelope: codec.Envelope) -> None:
        """Another daemon knows the client now: go on with it."""
        if isinstance(envelope.result, UnsetType):
            raise Rejected(refusal_of(envelope))
        result = greeting_of(envelope)
        self._check_directory(result)
        if self._initialized:
            self.to_daemon.append(codec.notification("initialized", {}))
        self.to_daemon += self._documents.messages()
        ours = result.capabilities.experimental.pi_daemon
        replaced = DaemonReplaced(
            daemon_id=ours.daemon_id, client_id=ours.client_id, version=result.server_info.version
        )
        self.to_client.append(codec.notification("daemon/replaced", replaced))
        self.stage = Stage.OPEN
        self._pass_waiting()

    # -- the daemon comes and goes

    def found(self) -> None:
        """There is a connection to a daemon, and nothing was sent on it yet."""
        self._connected = True
        if self.stage is Stage.RETURNING and self._greeting is not None:
            self.to_daemon.append(
                b'{"jsonrpc":"2.0","id":%b,"method":"initialize","params":%b}' % (_OURS, self._greeting[2])
            )
            return
        if self.stage is Stage.GREETING and self._greeting is not None:
            self.to_daemon.append(self._greeting[1])
        self._pass_waiting()

    def lost(self) -> None:
        """The connection is gone: nobody will answer what is in flight, and nobody may be left waiting."""
        self._connected = False
        self.to_daemon.clear()
        for key, id in list(self._in_flight.items()):
            if key == self._shutting:
                self.to_client.append(codec.result(id, None))
                self._end()
            elif self.stage is Stage.GREETING and self._greeting is not None and key == self._greeting[0]:
                continue  # sent again to the next one
            else:
                words = "The daemon was replaced while this was under way: look whether it was done."
                self.to_client.append(codec.failure(id, error_object("shuttingDown", words, {"applied": "unknown"})))
            del self._in_flight[key]
        for id in self._asked.values():
            self.to_client.append(codec.notification("$/cancelRequest", {"id": Raw(id)}))
        self._asked.clear()
        if self.stage is Stage.OPEN:
            self.stage = Stage.RETURNING
        self._shutting = None

    def give_up(self, error: ErrorObject) -> None:
        """There will be no daemon: `error` answers whatever the client asks."""
        self.lost()
        self._lost_because = error
        for id in self._in_flight.values():  # its initialize
            self.refusals += 1
            self.to_client.append(codec.failure(id, error))
        self._in_flight.clear()
        if self.stage is not Stage.OVER:
            self.stage = Stage.LOST
        self._pass_waiting()
        self.to_daemon.clear()

    def _pass_waiting(self) -> None:
        while self._waiting:
            self._pass(*self._waiting.popleft())

    def _forget(self, pending: dict[str | int | float, bytes], id: bytes | Raw | UnsetType) -> bytes | None:
        try:
            return pending.pop(codec.id_key(id), None) if not isinstance(id, UnsetType) else None
        except ValueError:
            return None
