"""What clients page through, kept as it was at a revision."""

from __future__ import annotations

from msgspec import Struct

from pi_daemon.session.explain import Explanation
from pi_daemon.session.view import TreeRow


class TreeSnapshot(Struct):
    """The rows of a tree as it was at a revision of an instance, kept while a client pages through them."""

    instance_id: str
    key: str
    rows: list[TreeRow]
    leaf_id: str | None
    revision: int


class ExplanationSnapshot(Struct):
    """The explanation of the entries that there were at a revision of an instance, in the context at `leaf_id`."""

    instance_id: str
    key: str
    explanation: Explanation
    leaf_id: str | None
    revision: int
