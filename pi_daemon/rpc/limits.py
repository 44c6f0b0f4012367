"""What one connection may cost, each cap with its reason. `initialize` reports them to the client."""

from __future__ import annotations

from msgspec import Struct, structs

from pi_daemon.rpc.types.base import wire_name
from pi_daemon.session.rawjson import MAX_DEPTH

HEADER_LINE_BYTES = 4096
"""A header line of this protocol has some 30 bytes; an LSP client may add a content type. More is an attack."""

HEADER_COUNT = 32
"""LSP knows two headers. Without a cap a peer could send them for ever and never a body."""

BODY_BYTES = 64 * 1024 * 1024
"""The largest turns known hold a dozen images of 5 MB as base64."""

JSON_DEPTH = MAX_DEPTH
"""Half of what the parsers in use can take before they fail. Fixed: tool arguments stay under 30."""

REQUESTS_IN_FLIGHT = 128
"""An agent with 32 parallel tools has well under a hundred. Each request costs a task and an answer to come."""

DRAFTS_IN_APPEND = 1000
"""One append is one write and one revision: a longer one would keep the session's other writers waiting."""

OUTBOX_BYTES = 8 * 1024 * 1024
"""Notifications kept for a client that doesn't read. Some minutes of a busy session; then it gets a resync."""

OUTBOX_MESSAGES = 10_000
"""The same in messages: small ones cost more than their bytes."""

ANSWERS_BACKLOG_BYTES = 8 * 1024 * 1024
"""Answers are never dropped, so a client that doesn't read them isn't read from beyond this."""

REPLY_BYTES = 64 * 1024 * 1024
"""An answer beyond it is refused; methods that have pages end a page before."""

CLIENTS = 256
"""Connections of one transport. Each takes a file descriptor, of which a process has 1,024 by default."""

HANDSHAKE_SECONDS = 30
"""From connecting to `initialize`. A client that was started together with the daemon may be slow to begin."""

LINGER_SECONDS = 5
"""How long a closed connection may take to read what was already sent to it."""


SUMMARIZER_SECONDS = 300
"""For a client to make a summary. A slow model writes some 4,000 tokens in two or three minutes."""


class Limits(Struct, frozen=True, kw_only=True):
    """The caps in force. The constants of this module say why each is what it is."""

    header_line_bytes: int = HEADER_LINE_BYTES
    header_count: int = HEADER_COUNT
    body_bytes: int = BODY_BYTES
    requests_in_flight: int = REQUESTS_IN_FLIGHT
    drafts_in_append: int = DRAFTS_IN_APPEND
    outbox_bytes: int = OUTBOX_BYTES
    outbox_messages: int = OUTBOX_MESSAGES
    answers_backlog_bytes: int = ANSWERS_BACKLOG_BYTES
    reply_bytes: int = REPLY_BYTES
    clients: int = CLIENTS
    handshake_seconds: float = HANDSHAKE_SECONDS
    linger_seconds: float = LINGER_SECONDS
    summarizer_seconds: float = SUMMARIZER_SECONDS

    def report(self) -> dict[str, int]:
        """The caps under their names on the wire, as `initialize` has them."""
        caps = {wire_name(name): int(value) for name, value in structs.asdict(self).items()}
        return {**caps, "jsonDepth": JSON_DEPTH}
