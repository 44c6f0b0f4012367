"""Finding the user's daemon, and starting it where none runs.

However many do that at the same instant, one starts it: the holder of a lock beside the socket. The others look at the
socket while they wait for the lock.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import stat
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from pi_daemon.daemon import launch, paths
from pi_daemon.daemon.errors import NotResponding, PathTooLong, StartFailed, UnsafeSocket
from pi_daemon.daemon.version import newer, version
from pi_daemon.session.errors import PiDaemonError
from pi_daemon.transports.lock import CannotLock, Holder, Lock, told
from pi_daemon.transports.unix import PATH_BYTES, lock_path, peer_is_ours, start_lock_path

START_SECONDS = 60.0
"""How long a start may take. A daemon listens after half a second, unless it has to wait for one that is leaving."""

CONNECT_SECONDS = 10.0
"""How long a daemon whose queue of connections is full may take to get through it."""

_LOOK_AGAIN = 0.02


class Goal(Struct, frozen=True):
    """The daemon that is wanted. All but the socket counts only where it has to be started."""

    socket: Path
    sessions_dir: Path | None = None
    idle: float | None = None

    def arguments(self) -> tuple[str, ...]:
        """Of `pi-daemon serve`."""
        directory = () if self.sessions_dir is None else ("--sessions-dir", str(self.sessions_dir))
        idle = () if self.idle is None else ("--idle", f"{self.idle:g}")
        return ("--socket", str(self.socket), *directory, *idle)


class Joining:
    """Gives connections to the user's daemon. One that takes the place of a daemon that this has known or found running
    is started as that one was: others rely on it too."""

    def __init__(self, goal: Goal) -> None:
        self._goal = goal
        self._known: Holder | None = None

    def join(self) -> socket.socket:
        """A connection to the daemon. One that is older than this program is replaced.

        Raises UnsafeSocket, PathTooLong, NotResponding, StartFailed, UnsafeDirectory."""
        found = self._running() or self._start()
        self._known = told(lock_path(self._goal.socket)) or self._known
        return found

    def _running(self) -> socket.socket | None:
        """A connection to a daemon that needn't be replaced."""
        found = _connect(self._goal.socket)
        if found is not None:
            holder = told(lock_path(self._goal.socket))
            if holder is not None and newer(version(), holder.version):
                found.close()
                self._known = holder
                return None
        return found

    def _start(self) -> socket.socket:
        path = self._goal.socket
        paths.private_dir(paths.state_dir())  # before the socket's directory, which may lie in it
        paths.private_dir(path.parent)
        until = time.monotonic() + START_SECONDS
        try:
            lock = Lock(start_lock_path(path))
        except CannotLock as error:
            raise UnsafeSocket(error.message) from error
        try:
            while not lock.acquire():
                time.sleep(_LOOK_AGAIN)
                if (found := self._running()) is not None:
                    return found
                if time.monotonic() > until:
                    words = f"{lock.path} has been held for {START_SECONDS:.0f} s by whoever starts a daemon."
                    raise NotResponding(words)
            return self._start_locked(until)
        finally:
            lock.release()

    def _arguments(self) -> tuple[str, ...]:
        if self._known is None:
            return self._goal.arguments()
        known = self._known.arguments
        return known if "--socket" in known else ("--socket", str(self._goal.socket), *known)

    def _start_locked(self, until: float) -> socket.socket:
        while True:
            found = self._running()
            if found is not None:
                return found
            failure = _launch(self._arguments())
            found = _connect(self._goal.socket)  # another's, where ours failed; even an older one is better than none
            if found is not None:
                return found
            leaving = failure is None or failure.data.get("why") == "alreadyServed"
            if not leaving or time.monotonic() > until:
                raise failure or StartFailed("The daemon leaves as soon as it has started: see `pi-daemon logs`.")
            time.sleep(_LOOK_AGAIN)  # one that was there is leaving at this very moment


def _connect(path: Path) -> socket.socket | None:
    """None where nobody listens. Raises UnsafeSocket, PathTooLong, NotResponding."""
    if not _is_socket(path):
        return None
    connection = socket.socket(socket.AF_UNIX)
    try:
        if _reach(connection, path):
            if not peer_is_ours(connection):
                raise UnsafeSocket(f"{path} is served by another user: name one of your own with --socket.")
            return connection
    except BaseException:
        connection.close()
        raise
    connection.close()
    return None


def _is_socket(path: Path) -> bool:
    """Raises UnsafeSocket for anything else, PathTooLong."""
    if len(os.fsencode(path)) > PATH_BYTES:
        size = len(os.fsencode(path))
        raise PathTooLong(f"{path} has {size} bytes; a socket's path has at most {PATH_BYTES}: choose a shorter one.")
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise UnsafeSocket(f"{path} can't be reached: {error.strerror}.") from error
    if not stat.S_ISSOCK(found.st_mode):
        raise UnsafeSocket(f"{path} is there and no socket: remove it, or choose another place with --socket.")
    if found.st_uid != os.geteuid():
        raise UnsafeSocket(f"{path} belongs to another user: name one of your own with --socket.")
    return True


def _reach(connection: socket.socket, path: Path) -> bool:
    connection.setblocking(False)
    until = time.monotonic() + CONNECT_SECONDS
    while (code := connection.connect_ex(os.fspath(path))) == errno.EAGAIN:
        if time.monotonic() > until:
            raise NotResponding(f"The daemon at {path} takes no connections: end it with `kill`.")
        time.sleep(_LOOK_AGAIN)
    if code not in (0, errno.ECONNREFUSED, errno.ENOENT):
        raise UnsafeSocket(f"{path} can't be reached: {os.strerror(code)}.")
    return code == 0


def _launch(arguments: Sequence[str]) -> PiDaemonError | None:
    """Start a daemon and wait until it listens; why it doesn't."""
    import subprocess  # the slowest import of all, and seldom needed

    try:
        done = subprocess.run(
            launch.command("serve", "--detach", "--json", *arguments),
            env=launch.environment(),
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            start_new_session=True,
            timeout=START_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return NotResponding(f"The daemon was started and does not listen after {START_SECONDS:.0f} s.")
    except OSError as error:
        return StartFailed(f"A daemon can't be started: {error.strerror}.")
    with contextlib.suppress(ValueError, KeyError, TypeError):
        said: dict[str, Any] = json.loads(done.stdout)
        if "error" not in said:
            return None
        refused = said["error"]
        return StartFailed(str(refused["message"]), why=str(refused["reason"]))
    last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
    return StartFailed(f"A daemon can't be started: {''.join(last) or f'it ended with code {done.returncode}'}.")
