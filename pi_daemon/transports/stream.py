"""Unix sockets and TCP."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
from pathlib import Path
from typing import ClassVar

from pi_daemon.rpc.limits import Limits
from pi_daemon.transports.channel import FramedChannel
from pi_daemon.transports.lock import CannotLock, Holder, Lock, told
from pi_daemon.transports.server import AlreadyServed, CannotListen, ConnectionFactory, Server, bind_tcp, host_port
from pi_daemon.transports.unix import answers, lock_path, peer_is_ours

LEAVING_SECONDS = 30.0
"""How long a daemon may take to leave after it has stopped listening: it finishes what runs and writes what isn't
written yet."""

_LOOK_AGAIN = 0.02
"""Seconds between two looks whether it has left."""


class UnixServer(Server):
    """Listens on a socket that only this user can reach.

    The gate is the directory: ours, 0700. The socket is 0600 in it, and the peer's user is asked of the kernel. A
    lock beside the socket is held while we serve, so of two daemons that start at once one is refused, and the
    socket that a dead daemon left can be told from a live one's. It tells `holder` to those who find it taken. A
    daemon that holds the lock and doesn't listen any more is waited for.

    `inherited`: a socket that listens already, from whoever started us; its file isn't ours to remove.
    """

    name: ClassVar[str] = "unix"

    def __init__(
        self,
        path: Path,
        connect: ConnectionFactory,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
        *,
        holder: Holder | None = None,
        inherited: socket.socket | None = None,
        patience: float = LEAVING_SECONDS,
    ) -> None:
        super().__init__(connect, limits, None)
        self.path = path
        self._holder = holder or Holder(os.getpid(), "")
        self._inherited = inherited
        self._patience = patience
        self._lock: Lock | None = None
        self._inode = (0, 0)

    async def start(self, *, after: int | None = None) -> None:
        """Raises CannotListen, and AlreadyServed where a daemon listens there. `after`: the process id of one that may
        still listen, since it has only just been asked to leave."""
        _check_directory(self.path.parent)
        self._lock = await self._take_lock(after)
        try:
            if self._inherited is not None:
                sock = self._inherited
            else:
                _remove_dead(self.path)
                sock = _bind(self.path)
            self._inode = _identity(self.path)
            await self._listen(lambda: FramedChannel(self), sock)
        except BaseException:
            self.release()
            raise
        self.address = str(self.path)

    @property
    def found(self) -> bool:
        """Whether who looks at the path finds us there."""
        return _identity(self.path) == self._inode

    def stop_listening(self) -> None:
        if self._listening is not None and self._inherited is None and self.found:
            self.path.unlink()
        super().stop_listening()

    def release(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    async def _take_lock(self, after: int | None) -> Lock:
        path = lock_path(self.path)
        try:
            lock = Lock(path)
        except CannotLock as error:
            raise CannotListen(error.message) from error
        loop = asyncio.get_running_loop()
        until = loop.time() + self._patience
        while not lock.acquire():
            holder = told(path)
            leaving = holder is not None and holder.pid == after
            if self._inherited is None and not leaving and answers(self.path):
                lock.release()
                raise AlreadyServed(f"A daemon serves {self.path} already.")
            if loop.time() > until:
                lock.release()
                who = f"process {holder.pid}" if holder else "a process"
                raise CannotListen(f"{path} is held by {who}, which doesn't listen: end it, or choose another place.")
            await asyncio.sleep(_LOOK_AGAIN)
        lock.tell(self._holder)
        return lock

    def trusts(self, peer: socket.socket) -> bool:
        return peer_is_ours(peer)


class TcpServer(Server):
    """Listens on a TCP port; a client must bring the token."""

    name: ClassVar[str] = "tcp"

    def __init__(
        self,
        host: str,
        port: int,
        connect: ConnectionFactory,
        token: str,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
    ) -> None:
        super().__init__(connect, limits, token)
        self._wanted = (host, port)

    async def start(self) -> None:
        sock = bind_tcp(*self._wanted, self._token)
        self.address = "{}:{}".format(*host_port(sock))
        await self._listen(lambda: FramedChannel(self), sock)


def _check_directory(path: Path) -> None:
    """Make it, or see that nobody put it there for us."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = path.lstat()
    except OSError as error:
        raise CannotListen(f"{path} can't be made: {error.strerror}.") from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise CannotListen(f"{path} is not a directory of yours: choose another place for the socket.")
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise CannotListen(f"{path} is open to other users: run `chmod 700 {path}`, or choose another place.")


def _remove_dead(path: Path) -> None:
    """Take away the socket that a dead daemon left. Raises CannotListen for anything else that is there."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise CannotListen(f"{path} is there and no socket: choose another place.")
    if answers(path):
        raise CannotListen(f"Another program serves {path}.")
    path.unlink()


def _bind(path: Path) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX)
    umask = os.umask(0o177)
    try:
        sock.bind(str(path))
    except OSError as error:
        sock.close()
        raise CannotListen(f"{path} can't be bound: {error.strerror or error}. A shorter path may help.") from error
    finally:
        os.umask(umask)
    return sock


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = path.lstat()
    except OSError:
        return (-1, -1)
    return (found.st_dev, found.st_ino)
