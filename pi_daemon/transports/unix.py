"""What both ends of a Unix socket need to know of it. No event loop: whoever only connects starts fast."""

from __future__ import annotations

import errno
import os
import socket
import struct
from pathlib import Path

PATH_BYTES = 107
"""What fits into sockaddr_un on Linux beside the closing NUL."""

_PEER_CREDENTIALS = struct.Struct("3i")
"""Linux's `struct ucred`: pid, uid, gid."""


def lock_path(path: Path) -> Path:
    """The lock that a daemon holds while it serves the socket."""
    return path.with_name(path.name + ".lock")


def start_lock_path(path: Path) -> Path:
    """The lock of whoever is starting a daemon for the socket."""
    return path.with_name(path.name + ".start")


def answers(path: Path) -> bool:
    """Whether somebody listens there."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.setblocking(False)
        try:
            return probe.connect_ex(os.fspath(path)) not in (errno.ECONNREFUSED, errno.ENOENT)
        except OSError:
            return False  # too long to be an address at all


def peer_is_ours(peer: socket.socket) -> bool:
    """Whether the process at the other end belongs to this user."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True  # no way to ask here; the directory is the gate
    raw = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER_CREDENTIALS.size)
    return bool(_PEER_CREDENTIALS.unpack(raw)[1] == os.geteuid())
