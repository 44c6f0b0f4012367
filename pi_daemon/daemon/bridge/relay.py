"""Bytes between the client's two descriptors and the daemon's socket, in one thread and without an event loop.

Each side is read only while what came before is on its way: whoever doesn't read slows down the other, and nothing
piles up here.
"""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Callable

from pi_daemon.daemon.bridge.messages import error_of
from pi_daemon.daemon.bridge.pending import Pending
from pi_daemon.daemon.bridge.state import Bridge, Stage
from pi_daemon.daemon.errors import DaemonUnavailable, NotResponding
from pi_daemon.rpc.framing import SKIPPABLE_BYTES, Broken, Framer, frame
from pi_daemon.rpc.limits import Limits
from pi_daemon.session.errors import PiDaemonError
from pi_daemon.transports.standard import can_wait

GREETING_SECONDS = 20.0
"""How long a daemon may take to answer `initialize`. It does nothing long before; one that systemd starts takes half a
second until it listens."""

FAREWELL_SECONDS = 5.0
"""How long it may take to close the connection after `exit`."""

SETTLED_SECONDS = 2.0
"""A daemon that has lived for so long didn't die of what it was sent first."""

ATTEMPTS = 8
"""Daemons, one after the other, that end before they have answered `initialize`: the next one won't do better."""

FIRST_PAUSE_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 2.0
"""Between daemons that end soon: one that dies of something its client sends must not take up the machine."""

PARTING_SECONDS = 0.2
"""How long a client that asks for nothing may take to leave with its daemon: an editor that stops the daemon and quits
shall not have started another one."""

_READ_BYTES = 256 * 1024
_PENDING_BYTES = 256 * 1024
"""What may wait for a slow reader before the other side is no longer read."""

_FROM_DAEMON = Limits(body_bytes=SKIPPABLE_BYTES)
"""The daemon bounds what it says itself."""


class ClientGone(Exception):
    """Nobody reads what we write."""


class Relay:
    """`join` gives a connection to a daemon, and raises DaemonUnavailable and the like where there is none.

    `run` returns when the client is done, with whether it had shut down in order."""

    def __init__(self, bridge: Bridge, source: int, target: int, join: Callable[[], socket.socket]) -> None:
        self._bridge = bridge
        self._join = join
        self._source = source
        self._target = target
        self._client_framer = Framer(Limits())
        self._daemon_framer = Framer(_FROM_DAEMON)
        self._daemon: socket.socket | None = None
        self._client_ended = False
        self._half_closed = False
        self._until: float | None = None
        self._to_client = Pending()
        self._to_daemon = Pending()
        self._since = 0.0
        self._short_lives = 0
        self._mute = 0
        for descriptor in (source, target):
            if can_wait(descriptor):
                os.set_blocking(descriptor, False)

    def run(self) -> bool:
        """Raises ClientGone, and PiDaemonError where no daemon can be had: then the client has been told."""
        try:
            self._connect()
            while not self._done():
                if self._daemon is None and self._bridge.needs_daemon:
                    self._flush()
                    if self._leaves_too():
                        continue
                    self._connect()
                self._turn()
            self._flush()
        except PiDaemonError as failure:
            self._give_up(failure)
            raise
        finally:
            self._leave()
        return self._bridge.shut_down

    def _done(self) -> bool:
        """When the client has left, the daemon closes too, after what it has still to say."""
        over = self._bridge.stage is Stage.OVER or (self._client_ended and not self._bridge.unanswered)
        return over and self._daemon is None

    def _leaves_too(self) -> bool:
        """Whether nobody is there to need the next daemon."""
        until = time.monotonic() + PARTING_SECONDS
        while self._bridge.needs_daemon and not (self._client_ended or self._bridge.unanswered):
            poll = select.poll()
            poll.register(self._source, select.POLLIN)
            if not poll.poll(max(0.0, until - time.monotonic()) * 1e3):
                break
            self._read_client()
        return self._done() or not self._bridge.needs_daemon

    # -- the daemon's side

    def _connect(self) -> None:
        """Raises as `join` does, and DaemonUnavailable where daemons end as soon as they have begun."""
        if self._mute >= ATTEMPTS:
            words = "The daemon ends again and again, or has as many clients as it takes: see `pi-daemon logs`."
            raise DaemonUnavailable(words)
        if self._short_lives:
            time.sleep(min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** (self._short_lives - 1)))
        self._daemon = self._join()
        self._daemon.setblocking(False)
        self._since = time.monotonic()
        self._half_closed = False
        self._daemon_framer = Framer(_FROM_DAEMON)
        self._to_daemon.clear()
        self._bridge.found()
        self._collect()

    def _lose(self) -> None:
        assert self._daemon is not None
        self._daemon.close()
        self._daemon = None
        if self._bridge.stage is not Stage.NEW:
            settled = time.monotonic() - self._since > SETTLED_SECONDS
            self._short_lives = 0 if settled else self._short_lives + 1
            self._mute = self._mute + 1 if self._bridge.needs_greeting else 0
        self._bridge.lost()
        self._collect()

    def _leave(self) -> None:
        if self._daemon is not None:
            self._daemon.close()
            self._daemon = None

    def _read_daemon(self) -> None:
        assert self._daemon is not None
        try:
            data = self._daemon.recv(_READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lose()
            return
        for item in self._daemon_framer.feed(data):
            if isinstance(item, Broken):
                raise NotResponding("What listens there does not speak the protocol.")
            self._bridge.from_daemon(item)
        self._collect()

    # -- the client's side

    def _read_client(self) -> None:
        try:
            data = os.read(self._source, _READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._client_ended = True
            return
        for item in self._client_framer.feed(data):
            if isinstance(item, bytes):
                self._bridge.from_client(item)
                continue
            if item.refused is not None:
                self._bridge.refuse(item.refused)
            self._client_ended = self._client_ended or item.fatal
        self._collect()

    def _collect(self) -> None:
        """Take what the bridge has to send."""
        bridge = self._bridge
        if bridge.to_client:
            self._to_client.add(frame(*bridge.to_client))
            bridge.to_client.clear()
        if bridge.to_daemon:
            if self._daemon is not None:
                self._to_daemon.add(frame(*bridge.to_daemon))
            bridge.to_daemon.clear()

    # -- waiting

    def _turn(self) -> None:
        """Wait until something can be done, and do it."""
        if self._client_ended and not self._half_closed and self._daemon is not None and not self._to_daemon:
            self._half_closed = True
            self._daemon.shutdown(socket.SHUT_WR)  # what was asked is answered, then the daemon closes too
        poll = select.poll()
        if not self._client_ended and self._to_daemon.size < _PENDING_BYTES:
            poll.register(self._source, select.POLLIN)
        if self._to_client:
            poll.register(self._target, select.POLLOUT)
        wanted, number = self._wanted_of_daemon(), -1
        if self._daemon is not None and wanted:  # else its end would be reported again and again
            number = self._daemon.fileno()
            poll.register(number, wanted)
        ready = dict(poll.poll(self._patience()))
        if not ready and self._until is not None:
            if self._bridge.stage is Stage.OVER:
                self._lose()
                return
            raise NotResponding("The daemon does not answer: `pi-daemon status` names its process, `kill` ends it.")
        if self._target in ready:
            self._write_client()
        if ready.get(number, 0) & select.POLLOUT:
            self._write_daemon()
        if wanted & select.POLLIN and ready.get(number, 0) & ~select.POLLOUT:
            self._read_daemon()
        elif ready.get(number, 0) & ~select.POLLOUT:
            self._to_daemon.clear()  # it is gone; what it said before is read when the client has room
        if self._source in ready:
            self._read_client()

    def _wanted_of_daemon(self) -> int:
        reads = select.POLLIN if self._to_client.size < _PENDING_BYTES else 0
        return reads | (select.POLLOUT if self._to_daemon else 0)

    def _patience(self) -> float | None:
        """In milliseconds; None: for ever."""
        over = self._bridge.stage is Stage.OVER
        if not over and not self._bridge.needs_greeting:
            self._until = None
            return None
        if self._until is None:
            self._until = time.monotonic() + (FAREWELL_SECONDS if over else GREETING_SECONDS)
        return max(0.0, self._until - time.monotonic()) * 1e3

    def _write_client(self) -> None:
        try:
            self._to_client.write(lambda data: os.write(self._target, data))
        except OSError as error:
            raise ClientGone from error

    def _write_daemon(self) -> None:
        assert self._daemon is not None
        try:
            self._to_daemon.write(self._daemon.send)
        except OSError:
            self._to_daemon.clear()  # it is gone; what it said before is still to be read

    def _flush(self) -> None:
        """Give the client what there is. Raises ClientGone."""
        while self._to_client:
            _wait_for(self._target, select.POLLOUT)
            self._write_client()

    def _give_up(self, failure: PiDaemonError) -> None:
        """Tell the client why: by the answers to what it asked, which at the very beginning is yet to come."""
        self._leave()
        self._bridge.give_up(error_of(failure))
        introduced = self._bridge.introduced
        while not (introduced or self._bridge.refusals or self._client_ended or self._bridge.stage is Stage.OVER):
            _wait_for(self._source, select.POLLIN)
            self._read_client()
        self._collect()
        self._flush()


def _wait_for(descriptor: int, event: int) -> None:
    poll = select.poll()
    poll.register(descriptor, event)
    poll.poll()
