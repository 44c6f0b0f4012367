"""The command line: what can be typed. Each command imports what it does when it does it."""

# In the order in which --help shows them.
# ruff: noqa: I001
from pi_daemon.cli.typed import reading
from pi_daemon.cli.typed import changing
from pi_daemon.cli.typed import running
from pi_daemon.cli.typed.base import EPILOG, app

__all__ = ["EPILOG", "app", "changing", "reading", "running"]
