"""What a summary has to stand for: the messages that leave the context, and what earlier summaries said of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct

from pi_daemon.session.entry import HeadReader
from pi_daemon.session.head import EditFacts, Head
from pi_daemon.session.selection import Selection, Source

Use = Literal["said", "previous", "files"]
"""What entries are read for: their messages, the summary that is updated, or only the lists of files of a summary."""

_AT_A_TIME = 64
"""Lines in a block: an odd one has all of its block read the slow way."""


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


class Portion(Struct, frozen=True):
    """Some entries of a material, to be read at a time."""

    use: Use
    sources: list[Source]

    def heads(self) -> list[Head]:
        """Whose lines are needed: an edit comes after what it edits."""
        return Selection(self.sources, edited=True).heads()


def selected(lines: Sequence[bytes]) -> Selection:
    """The sources that a portion had, of the lines of its heads: of any entries, in the order of `Portion.heads`."""
    sources: list[Source] = []
    reader = HeadReader()
    for start in range(0, len(lines), _AT_A_TIME):
        heads, strays = reader.read_block(b"\n".join([*lines[start : start + _AT_A_TIME], b""]), 0)
        assert not strays, "all of them were read as entries before"
        for head in heads:
            if head.facts.__class__ is EditFacts:
                sources[-1] = Source(sources[-1].head, head)
            else:
                sources.append(Source(head))
    return Selection(sources, edited=True)
