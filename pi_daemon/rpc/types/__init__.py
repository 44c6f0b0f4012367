"""The typed parameters, results and notifications of the protocol.

`protocol.md`, the JSON Schema and the client types are generated from these classes, their docstrings
and `pi_daemon.rpc.table`. A member that is `UNSET` is absent on the wire; null is a value of its own.
"""
