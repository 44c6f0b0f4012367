"""Where the daemon keeps what is its own: the socket in the runtime directory, the rest in the state directory."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from pathlib import Path

import platformdirs

from pi_daemon.session.errors import PiDaemonError

SOCKET_NAME = "daemon.sock"

SOCKET_PATH_BYTES = 107
"""What fits into sockaddr_un on Linux beside the closing NUL."""


class UnsafeDirectory(PiDaemonError):
    """A directory that must be ours alone isn't. Nothing is put into it."""

    reason = "unsafeDirectory"


def state_dir() -> Path:
    """`PI_DAEMON_STATE_DIR`, else `pi-daemon` under the user's state directory. It need not exist."""
    given = os.environ.get("PI_DAEMON_STATE_DIR")
    return Path(given).expanduser() if given else Path(platformdirs.user_state_dir("pi-daemon", appauthor=False))


def runtime_dir() -> Path:
    """`pi-daemon` in `XDG_RUNTIME_DIR`; without one, `run` in the state directory. It need not exist."""
    given = os.environ.get("XDG_RUNTIME_DIR")
    return Path(given) / "pi-daemon" if given else state_dir() / "run"


def socket_path() -> Path:
    """The socket that clients look for when they are told none. A path too long for a socket address is replaced
    by one in the system's directory for temporary files, in a directory of the user's own."""
    path = runtime_dir() / SOCKET_NAME
    if len(os.fsencode(path)) <= SOCKET_PATH_BYTES:
        return path
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"pi-daemon-{os.getuid()}-{digest}" / SOCKET_NAME


def private_dir(path: Path) -> Path:
    """Make the directory if it isn't there, for us alone, and check that it is. Raises UnsafeDirectory."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise UnsafeDirectory(f"{path} is not a directory of yours: remove it, or set PI_DAEMON_STATE_DIR.")
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise UnsafeDirectory(f"{path} is open to other users: run `chmod 700 {path}`.")
    return path
