"""Why there is no daemon, one class for each situation.

    PiDaemonError
    ├── UnsafeDirectory       a directory that must be ours alone isn't
    ├── CannotListen          (pi_daemon.transports) the address can't be used, or not safely
    │   └── AlreadyServed     a daemon serves there already
    └── DaemonUnavailable     nobody can be connected to
        ├── UnsafeSocket      what lies at the socket's path isn't ours, or no socket
        ├── PathTooLong       the path doesn't fit into a socket's address
        ├── StartFailed       a daemon was started and ended before it listened
        ├── NotResponding     what listens there does not answer
        └── OtherDirectory    the daemon that runs serves other sessions than those asked for

The message says what to do next.
"""

from __future__ import annotations

from pi_daemon.session.errors import PiDaemonError


class UnsafeDirectory(PiDaemonError):
    """Nothing is put into it."""

    reason = "unsafeDirectory"


class DaemonUnavailable(PiDaemonError):
    reason = "daemonUnavailable"


class UnsafeSocket(DaemonUnavailable):
    reason = "unsafeSocket"


class PathTooLong(DaemonUnavailable):
    reason = "pathTooLong"


class StartFailed(DaemonUnavailable):
    reason = "startFailed"


class NotResponding(DaemonUnavailable):
    reason = "notResponding"


class OtherDirectory(DaemonUnavailable):
    reason = "otherDirectory"
