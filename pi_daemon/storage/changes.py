"""What has become of files between two looks at them. Knows names, sizes and times, never a file's content."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

Kind: TypeAlias = Literal["created", "grown", "shrunk", "rewritten", "replaced", "renamed", "deleted"]
"""`rewritten`: the same file with the same size was written to, or its time set. `replaced`: another file is at the
path. A file that was truncated and then written beyond its old size looks grown: only reading tells."""


class Stamp(Struct, frozen=True):
    """A file as stat shows it: which one it is, its size in bytes, and its last change in ns."""

    dev: int
    ino: int
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, state: os.stat_result) -> Stamp:
        return cls(state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns)


class FileChange(Struct, frozen=True):
    """`stamp` is the file's as it is now, None where it is deleted; `was` is the path that it had, where it was
    renamed."""

    kind: Kind
    path: str
    stamp: Stamp | None
    was: str | None = None


def differences(before: Mapping[str, Stamp], after: Mapping[str, Stamp]) -> list[FileChange]:
    """What makes `after` of `before`, ordered by path; what is gone comes first."""
    changed = [(path, stamp) for path, stamp in after.items() if before.get(path) != stamp]
    if not changed and len(before) == len(after):
        return []
    # The system gives the number of a deleted file to a new one soon, so a file counts as renamed only where nothing
    # but its name has changed.
    gone = {stamp: path for path, stamp in sorted(before.items(), reverse=True) if path not in after}
    changes: list[FileChange] = []
    for path, stamp in sorted(changed):
        old = before.get(path)
        if old is not None:
            changes.append(FileChange(_kind(old, stamp), path, stamp))
        elif stamp in gone:
            changes.append(FileChange("renamed", path, stamp, gone.pop(stamp)))
        else:
            changes.append(FileChange("created", path, stamp))
    moved = {change.was for change in changes}
    return [
        FileChange("deleted", path, None) for path in sorted(before) if path not in after and path not in moved
    ] + changes


def _kind(old: Stamp, new: Stamp) -> Kind:
    if (old.dev, old.ino) != (new.dev, new.ino):
        return "replaced"
    if new.size != old.size:
        return "grown" if new.size > old.size else "shrunk"
    return "rewritten"
