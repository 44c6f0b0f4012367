"""The command `pi-daemon connect`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pi_daemon.daemon.bridge.join import Goal, Joining
from pi_daemon.daemon.bridge.relay import ClientGone, Relay
from pi_daemon.daemon.bridge.state import Bridge
from pi_daemon.session.errors import PiDaemonError
from pi_daemon.storage.layout import Chosen, chosen_dir
from pi_daemon.transports.standard import take_standard_streams

DONE = 0
NOT_SHUT_DOWN = 1
"""As LSP has it: `exit` without `shutdown`."""

NO_DAEMON = 5
BROKEN_PIPE = 141


def _wanted(goal: Goal) -> Chosen | None:
    if goal.sessions_dir is not None:
        return Chosen(goal.sessions_dir, "--sessions-dir")
    return chosen_dir(os.environ, Path.home())


def connect(goal: Goal) -> int:
    """Stand between stdin, stdout and the daemon until the client is done. Gives the exit code."""
    source, target = take_standard_streams()
    relay = Relay(Bridge(_wanted(goal)), source, target, Joining(goal).join)
    try:
        return DONE if relay.run() else NOT_SHUT_DOWN
    except ClientGone:
        return BROKEN_PIPE
    except PiDaemonError as failure:
        sys.stderr.write(f"pi-daemon: {failure.message}\n")
        return NO_DAEMON
    except KeyboardInterrupt:
        return 130
