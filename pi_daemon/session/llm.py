"""Messages as an agent holds them → messages as a provider is sent them.

The texts around summaries and commands are part of the format: a model has seen them in earlier requests, and a
provider's cache compares bytes. Values go through as raw JSON, so that what is odd in them stays.
"""

from __future__ import annotations

from pi_daemon.session.jstext import number_text
from pi_daemon.session.projection import Projection
from pi_daemon.session.rawjson import dumps, join, loads, members

_COMPACTION = (
    "The conversation history before this point was compacted into the following summary:\n\n<summary>\n",
    "\n</summary>",
)
_BRANCH = (
    "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n",
    "</summary>",
)
_AS_THEY_ARE = frozenset({"system", "user", "assistant", "toolResult"})
SENT = _AS_THEY_ARE | {"bashExecution", "custom", "compactionSummary", "branchSummary"}
"""Roles of which a provider is sent something; of a command that is kept from the context it isn't."""


def to_llm(projection: Projection) -> Projection:
    """As pi 1.6.0 does: commands, custom messages and summaries become user messages, roles it doesn't know and
    commands that are kept from the context are left out."""
    made = Projection([], [], [])
    for message, role, head in zip(projection.messages, projection.roles, projection.source_heads, strict=True):
        if role not in _AS_THEY_ARE:
            content = user_content(role, message)
            if content is None:
                continue
            parts = members(message)
            sent = {"role": b'"user"', "content": content, "timestamp": parts.get("timestamp", b"")}
            message, role = join({name: value for name, value in sent.items() if value}), "user"
        made.messages.append(message)
        made.roles.append(role)
        made.source_heads.append(head)
    return made


def user_content(role: str, message: bytes) -> bytes | None:
    """The content of the user message that a provider is sent for one of another role; None where none is sent, b""
    where it has no content."""
    parts = members(message)
    match role:
        case "bashExecution":
            return None if _truthy(parts, "excludeFromContext") else _text(*_command(parts))
        case "custom":
            content = parts.get("content", b"")
            return b'[{"type":"text","text":' + content + b"}]" if content.startswith(b'"') else content
        case "compactionSummary":
            return _text(_COMPACTION[0], parts.get("summary"), _COMPACTION[1])
        case "branchSummary":
            return _text(_BRANCH[0], parts.get("summary"), _BRANCH[1])
        case _:
            return None


def _command(parts: dict[str, bytes]) -> list[str | bytes | None]:
    text: list[str | bytes | None] = ["Ran `", parts.get("command"), "`\n"]
    if _truthy(parts, "output"):
        text += ["```\n", parts["output"], "\n```"]
    else:
        text += ["(no output)"]
    code = parts.get("exitCode", b"null")
    if _truthy(parts, "cancelled"):
        text += ["\n\n(command cancelled)"]
    elif code != b"null" and loads(code) != 0:
        text += ["\n\nCommand exited with code ", code]
    if _truthy(parts, "truncated") and _truthy(parts, "fullOutputPath"):
        text += ["\n\n[Output truncated. Full output: ", parts["fullOutputPath"], "]"]
    return text


def _text(*pieces: str | bytes | None) -> bytes:
    """A text block of these pieces: str is ours, bytes is a raw JSON value, put in as JavaScript would."""
    inner = b"".join(dumps(piece)[1:-1] if isinstance(piece, str) else _inner(piece) for piece in pieces)
    return b'[{"type":"text","text":"' + inner + b'"}]'


def _inner(raw: bytes | None) -> bytes:
    """The inside of the JSON string for a value that is put into a text."""
    if raw is None:
        return b"undefined"
    if raw.startswith(b'"'):
        return raw[1:-1]
    value = loads(raw)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number_text(value).encode()
    return raw if value is None or isinstance(value, bool) else b""


def _truthy(parts: dict[str, bytes], name: str) -> bool:
    value = loads(parts[name]) if name in parts else None
    return bool(value) or value in ([], {})
