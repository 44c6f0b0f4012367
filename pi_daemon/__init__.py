"""A JSON-RPC daemon that owns pi coding-agent sessions and serves them to many clients at once."""

__version__ = "0.1.0"
