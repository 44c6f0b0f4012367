"""What a summary has to stand for: the messages that leave the context, and what earlier summaries said of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct


class Said(Struct, frozen=True, gc=False):
    """A message that is to be summarized, decoded for reading; `entry_id` names the entry it comes from."""

    entry_id: str
    role: str
    message: dict[str, Any]


class Material(Struct, frozen=True):
    """`history` are whole turns, `prefix` is the beginning of the turn that the cut splits (empty where it splits
    none), both oldest first. `previous` is the summary that this one updates. The file lists are sorted; they hold
    those of earlier summaries too, and a path that was modified is not among `read_files`."""

    history: Sequence[Said]
    prefix: Sequence[Said] = ()
    previous: str | None = None
    read_files: Sequence[str] = ()
    modified_files: Sequence[str] = ()

    @property
    def all(self) -> list[Said]:
        return [*self.history, *self.prefix]
