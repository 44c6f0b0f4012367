"""Where the daemon keeps what is its own: the socket in the runtime directory, the rest in the state directory."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from pi_daemon.daemon.errors import UnsafeDirectory
from pi_daemon.transports.unix import PATH_BYTES

__all__ = ["UnsafeDirectory", "log_path", "private_dir", "runtime_dir", "socket_path", "state_dir"]

SOCKET_NAME = "daemon.sock"

_SHORT = Path("/tmp")
"""Where a socket goes whose standard path is too long. Not `TMPDIR`: each of a user's programs may have another."""


def state_dir() -> Path:
    """`PI_DAEMON_STATE_DIR`, else `pi-daemon` under the user's state directory. It need not exist."""
    given = os.environ.get("PI_DAEMON_STATE_DIR")
    if given:
        return Path(given).expanduser().absolute()
    import platformdirs  # not needed by most of those who only connect

    return Path(platformdirs.user_state_dir("pi-daemon", appauthor=False))


def runtime_dir() -> Path:
    """`pi-daemon` in `XDG_RUNTIME_DIR`; `run` in the state directory where that isn't set, isn't there or is another
    user's (of whom one has taken over the environment). It need not exist."""
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(given):
        with contextlib.suppress(OSError):
            found = os.stat(given)
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
                return Path(given) / "pi-daemon"
    return state_dir() / "run"


def socket_path() -> Path:
    """The socket that clients look for when they are told none. A path too long for a socket's address is replaced by
    one in `/tmp`, in a directory of the user's own."""
    path = runtime_dir() / SOCKET_NAME
    if len(os.fsencode(path)) <= PATH_BYTES:
        return path
    return _SHORT / f"pi-daemon-{os.geteuid()}-{_digest(path)}" / SOCKET_NAME


def log_path(state: Path, socket: Path | None) -> Path:
    """The log of the daemon at that socket; None: of one without. Daemons beside the standard one have their own."""
    if socket is None or socket == socket_path():
        return state / "daemon.log"
    return state / f"daemon-{_digest(socket)}.log"


def _digest(path: Path) -> str:
    import hashlib

    return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]


def private_dir(path: Path) -> Path:
    """Make the directory if it isn't there, for us alone, and check that it is. Raises UnsafeDirectory."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
        found = path.lstat()
    except OSError as error:
        raise UnsafeDirectory(f"{path} can't be made: {error.strerror}.") from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise UnsafeDirectory(f"{path} is not a directory of yours: remove it, or choose another place.")
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise UnsafeDirectory(
            f"{path} is open to other users: choose another, or run `chmod 700 {path}` if it is yours alone."
        )
    return path
