"""The command `pi-daemon connect`."""

from __future__ import annotations

import sys

from pi_daemon.daemon.bridge.join import Goal, Joining
from pi_daemon.daemon.bridge.relay import ClientGone, Relay
from pi_daemon.daemon.bridge.state import Bridge
from pi_daemon.session.errors import PiDaemonError
from pi_daemon.transports.standard import take_standard_streams

DONE = 0
NOT_SHUT_DOWN = 1
"""As LSP has it: `exit` without `shutdown`."""

NO_DAEMON = 5
BROKEN_PIPE = 141


def connect(goal: Goal) -> int:
    """Stand between stdin, stdout and the daemon until the client is done. Gives the exit code."""
    source, target = take_standard_streams()
    relay = Relay(Bridge(goal.sessions_dir), source, target, Joining(goal).join)
    try:
        return DONE if relay.run() else NOT_SHUT_DOWN
    except ClientGone:
        return BROKEN_PIPE
    except PiDaemonError as failure:
        sys.stderr.write(f"pi-daemon: {failure.message}\n")
        return NO_DAEMON
    except KeyboardInterrupt:
        return 130
