"""The protocol's objects as TypedDicts, named as in protocol.md and spelled as on the wire."""

from ._types import *  # noqa: F403
