"""Unix sockets and TCP."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import stat
import struct
from pathlib import Path
from typing import ClassVar

from pi_daemon.rpc.limits import Limits
from pi_daemon.transports.channel import FramedChannel
from pi_daemon.transports.server import CannotListen, ConnectionFactory, Server, bind_tcp, host_port

_PEER_CREDENTIALS = struct.Struct("3i")
"""Linux's `struct ucred`: pid, uid, gid."""


class UnixServer(Server):
    """Listens on a socket that only this user can reach.

    The gate is the directory: ours, 0700. The socket is 0600 in it, and the peer's user is asked of the kernel. A
    lock beside the socket is held while we serve, so of two daemons that start at once one is refused, and the
    socket that a dead daemon left can be told from a live one's.
    """

    name: ClassVar[str] = "unix"

    def __init__(self, path: Path, connect: ConnectionFactory, limits: Limits = Limits()) -> None:  # noqa: B008
        super().__init__(connect, limits, None)
        self._path = path
        self._lock = -1
        self._inode = (0, 0)

    async def start(self) -> None:
        _check_directory(self._path.parent)
        self._lock = _lock(self._path)
        try:
            _remove_dead(self._path)
            sock = _bind(self._path)
        except BaseException:
            self._unlock()
            raise
        self._inode = _identity(self._path)
        await self._listen(lambda: FramedChannel(self), sock)
        self.address = str(self._path)

    async def close(self) -> None:
        if self._lock >= 0 and _identity(self._path) == self._inode:
            self._path.unlink()
        await super().close()
        self._unlock()

    def trusts(self, peer: socket.socket) -> bool:
        if not hasattr(socket, "SO_PEERCRED"):
            return True  # no way to ask here; the directory is the gate
        raw = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER_CREDENTIALS.size)
        return bool(_PEER_CREDENTIALS.unpack(raw)[1] == os.geteuid())

    def _unlock(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


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


def _lock(path: Path) -> int:
    """Hold the lock beside the socket. Raises CannotListen while a daemon serves there."""
    try:
        descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise CannotListen(f"{path}.lock can't be opened: {error.strerror}.") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise CannotListen(f"A daemon serves {path} already.") from None
    return descriptor


def _remove_dead(path: Path) -> None:
    """Take away the socket that a dead daemon left. Raises CannotListen for anything else that is there."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise CannotListen(f"{path} is there and no socket: choose another place.")
    with socket.socket(socket.AF_UNIX) as probe:
        probe.setblocking(False)
        result = probe.connect_ex(str(path))
    if result != errno.ECONNREFUSED:
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
