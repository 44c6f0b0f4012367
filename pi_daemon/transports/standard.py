"""The standard streams, taken for the protocol alone. No event loop: see `pi_daemon.transports.unix`."""

from __future__ import annotations

import os
import stat


def take_standard_streams() -> tuple[int, int]:
    """Descriptors of stdin and stdout.

    Afterwards whatever prints, here or in a child process, prints to stderr, and nobody else reads stdin.
    """
    taken = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return taken


def can_wait(descriptor: int) -> bool:
    """Whether it may be made non-blocking: a terminal or a file is shared with other processes."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
