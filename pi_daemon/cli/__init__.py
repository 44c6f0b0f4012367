"""The commands that a person types. They speak to a daemon through the Python client and can do nothing that the
protocol can't; the modules are imported when a command needs them, so that short ones start fast."""

from __future__ import annotations

import sys

from pi_daemon.cli import fast


def main() -> None:
    """The entry point `pi-daemon`. Ends the process with one of the codes in `pi_daemon.cli.exits`."""
    fast.main(sys.argv[1:])
    from pi_daemon.cli.typed import app

    app(prog_name="pi-daemon")
