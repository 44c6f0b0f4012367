"""The commands that a person types. They speak to a daemon through the Python client and can do nothing that the
protocol can't; the modules are imported when a command needs them, so that short ones start fast."""

from __future__ import annotations

import sys


def main() -> None:
    """The entry point `pi-daemon`. Ends the process with one of the codes in `pi_daemon.cli.exits`."""
    if sys.argv[1:2] == ["connect"]:
        from pi_daemon.cli.fast import connect

        connect(sys.argv[2:])  # comes back where the command line needs to be looked at closely
    from pi_daemon.cli.app import app

    app(prog_name="pi-daemon")
