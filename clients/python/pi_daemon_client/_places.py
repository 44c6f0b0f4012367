"""Where the user's daemon listens when nobody says otherwise: the rule that the daemon itself goes by."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat

_PATH_BYTES = 107
"""What fits into a Unix socket's address on Linux beside the closing NUL."""


def standard_socket() -> str:
    """`pi-daemon/daemon.sock` in `XDG_RUNTIME_DIR`, else `run/daemon.sock` in the daemon's state directory. A path too
    long for a socket's address is replaced by one in `/tmp`. Nothing need be there."""
    path = os.path.join(_runtime() or os.path.join(_state(), "run"), "daemon.sock")
    encoded = os.fsencode(path)
    if len(encoded) <= _PATH_BYTES:
        return path
    return f"/tmp/pi-daemon-{os.geteuid()}-{hashlib.sha256(encoded).hexdigest()[:16]}/daemon.sock"


def _runtime() -> str | None:
    """None where the variable isn't set, or names what isn't a directory of this user's."""
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(given):
        with contextlib.suppress(OSError):
            found = os.stat(given)
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
                return os.path.join(given, "pi-daemon")
    return None


def _state() -> str:
    given = os.environ.get("PI_DAEMON_STATE_DIR")
    if given:
        return os.path.abspath(os.path.expanduser(given))
    base = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.expanduser("~/.local/state")
    return os.path.join(base, "pi-daemon")
