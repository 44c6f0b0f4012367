"""A tree that clients page through."""

from __future__ import annotations

from msgspec import Struct

from pi_daemon.session.view import TreeRow


class TreeSnapshot(Struct):
    """The rows of a tree as it was at a revision, kept while a client pages through them."""

    key: str
    rows: list[TreeRow]
    leaf_id: str | None
    revision: int
