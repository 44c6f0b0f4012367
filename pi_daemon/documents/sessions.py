"""`workspace/symbol`: sessions by their names and first messages."""

from __future__ import annotations

from pi_daemon.documents.names import NAMESPACE, short
from pi_daemon.documents.uris import uri_of
from pi_daemon.engine.hub import Hub
from pi_daemon.engine.listing import Row, list_page
from pi_daemon.rpc.types.lsp import Location, Position, Range, SymbolInformation

FOUND = 200
"""Sessions that a client is given, the newest first: it narrows the query as one types."""

_ALL = 1 << 30


async def symbols(hub: Hub, query: str) -> list[SymbolInformation]:
    """Those in which every word of the query is found. Raises StorageFailed."""
    words = query.casefold().split()
    page = await list_page(hub, None, None, _ALL, lambda done, total: None)
    found = [row for row in page.rows if row.persisted and _has(row, words)][:FOUND]
    start = Range(Position(0, 0), Position(0, 0))
    return [
        SymbolInformation(
            name=short(" ".join(row.summary.name.split() if row.summary.name else row.summary.first_message.split()))
            or row.summary.ref.session_id,
            kind=NAMESPACE,
            location=Location(uri_of(row.summary.ref.location), start),
            container_name=row.summary.cwd,
        )
        for row in found
    ]


def _has(row: Row, words: list[str]) -> bool:
    summary = row.summary
    text = f"{summary.name or ''}\n{summary.first_message}\n{summary.cwd}\n{summary.ref.session_id}".casefold()
    return all(word in text for word in words)
