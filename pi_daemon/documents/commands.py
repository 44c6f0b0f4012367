"""`workspace/executeCommand`: what lenses and actions name, done by the protocol's own methods."""

from __future__ import annotations

from typing import Any

from msgspec import Raw, UnsetType

from pi_daemon.rpc import codec
from pi_daemon.rpc.table import METHODS
from pi_daemon.rpc.types.lsp import CommandTarget, ExecuteCommandParams
from pi_daemon.session import rawjson
from pi_daemon.session.errors import InvalidParams

COMMANDS = {
    "pi-daemon.moveLeaf": "session/moveLeaf",
    "pi-daemon.fork": "session/fork",
    "pi-daemon.label": "session/label",
    "pi-daemon.compact": "session/compact",
    "pi-daemon.explain": "",
}
"""Command → the method whose parameters its first argument has, beside `uri`; "" is done here."""


def target_of(params: ExecuteCommandParams) -> tuple[CommandTarget, Raw]:
    """Raises InvalidParams."""
    if params.command not in COMMANDS:
        raise InvalidParams("There is no such command.", path="command")
    if isinstance(params.arguments, UnsetType) or not params.arguments:
        raise InvalidParams("Give one argument, an object.", path="arguments")
    raw = params.arguments[0]
    target: CommandTarget = codec.reader(CommandTarget).read(raw)
    return target, raw


def parameters(method: str, raw: Raw, session_id: str) -> Any:
    """The argument as the method's parameters. Raises InvalidParams."""
    given = rawjson.members(bytes(raw)) | {"sessionId": rawjson.dumps(session_id)}
    return codec.reader(METHODS[method].params).read(Raw(rawjson.join(given)))
