"""systemd: the socket that it may have opened for us, and the units that make it do so."""

from __future__ import annotations

import os
import re
import socket
import stat
from collections.abc import Sequence
from pathlib import Path

from pi_daemon.transports.server import CannotListen

NAME = "pi-daemon"

MARK = "# Written by `pi-daemon service`."
"""In the first line of what is ours to write anew."""

_FIRST_DESCRIPTOR = 3
_PLAIN = re.compile(r"[A-Za-z0-9_@+=:,./-]+")


def inherited() -> socket.socket | None:
    """The listening socket that systemd handed to this process, if it did. Raises CannotListen for anything else that
    it hands over. The variables that say so are removed: they aren't for our children."""
    pid, count = os.environ.pop("LISTEN_PID", ""), os.environ.pop("LISTEN_FDS", "")
    os.environ.pop("LISTEN_FDNAMES", None)
    if pid != str(os.getpid()):
        return None
    if count != "1" or not stat.S_ISSOCK(os.fstat(_FIRST_DESCRIPTOR).st_mode):
        raise CannotListen(f"LISTEN_FDS={count}: one listening Unix socket is expected.")
    os.set_inheritable(_FIRST_DESCRIPTOR, False)
    sock = socket.socket(fileno=_FIRST_DESCRIPTOR)
    listens = sock.family == socket.AF_UNIX and sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    if not listens or not os.path.isabs(os.fsdecode(sock.getsockname())):
        raise CannotListen("The socket that was handed over is not a listening Unix socket with a path.")
    return sock


def units(argv: Sequence[str], environment: dict[str, str], socket_path: Path | None) -> dict[str, str]:
    """File name -> text, of a socket and the service that it starts. `argv` runs the daemon, without a socket."""
    listen = "%t/pi-daemon/daemon.sock" if socket_path is None else str(socket_path).replace("%", "%%")
    variables = "".join(f"Environment={_word(f'{name}={value}')}\n" for name, value in environment.items())
    return {
        f"{NAME}.socket": f"""{MARK}
[Unit]
Description=Sessions of the pi coding agent

[Socket]
ListenStream={listen}
SocketMode=0600
DirectoryMode=0700

[Install]
WantedBy=sockets.target
""",
        f"{NAME}.service": f"""{MARK}
[Unit]
Description=Sessions of the pi coding agent
Requires={NAME}.socket
After={NAME}.socket

[Service]
ExecStart={" ".join(_word(part.replace("$", "$$")) for part in argv)}
{variables}WorkingDirectory=/
UMask=0077
KillMode=mixed
TimeoutStopSec=30
NoNewPrivileges=yes
""",
    }


def _word(text: str) -> str:
    """As one word of a unit file."""
    text = text.replace("%", "%%")
    if _PLAIN.fullmatch(text):
        return text
    escaped = "".join({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}.get(letter, letter) for letter in text)
    return f'"{escaped}"'
