"""A disk that loses its power: what was written since the last sync is there, or isn't, or is something else.

`PowerFiles` does what it is told and notes it. `after(noted, choices)` is what a disk may hold when the power goes
after any of its calls: a write, a truncation or a name that nobody has synced since may have reached it or not,
whatever came after it has; a write may have left something else than what was written. Stricter than any real
file system that keeps its promises, in the manner of SQLite's tests.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from pi_daemon.storage.system import Files

Choice = Literal["kept", "dropped", "zeros", "noise"]


class Node(Struct, eq=False):
    """A file; its content when the power went on."""

    content: bytes


class Write(Struct, frozen=True):
    node: Node
    offset: int
    data: bytes


class Truncate(Struct, frozen=True):
    node: Node
    size: int


class Name(Struct, frozen=True):
    """`path` stands for `node` from now on, None: for nothing, and neither does `was`. A directory has no node."""

    path: str
    node: Node | None
    was: str | None = None
    directory: bool = False


class Sync(Struct, frozen=True):
    """Of a file's content, or of the names in a directory."""

    what: Node | str


class Acknowledged(Struct, frozen=True):
    """From now on `lines` must be in the session."""

    session_id: str
    lines: tuple[bytes, ...]


Note = Write | Truncate | Name | Sync | Acknowledged
Change = Write | Truncate | Name


class PowerFiles(Files):
    """`base` is the disk: all that lies below it now is on it already."""

    def __init__(self, base: Path) -> None:
        self.noted: list[Note] = []
        self._nodes: dict[int, Node | str] = {}
        self._names: dict[str, Node] = {}
        for folder, _, names in os.walk(base):
            for name in names:
                path = Path(folder, name)
                self._names[str(path)] = Node(path.read_bytes())
        self.first = dict(self._names)
        self.folders = {folder for folder, _, _ in os.walk(base)}

    def acknowledge(self, session_id: str, *lines: bytes) -> None:
        self.noted.append(Acknowledged(session_id, lines))

    def stranger(self, path: Path, data: bytes) -> None:
        """Another process appends, without a sync."""
        node = self._names[str(path)]
        with open(path, "ab") as file:
            self.noted.append(Write(node, file.tell(), data))
            file.write(data)

    def appear(self, path: Path, data: bytes) -> None:
        """Another process makes a file, without a sync."""
        path.write_bytes(data)
        node = self._names[str(path)] = Node(b"")
        self.noted += [Name(str(path), node), Write(node, 0, data)]

    def open(self, path: str | Path, flags: int, mode: int = 0o600) -> int:
        made = bool(flags & os.O_CREAT) and not os.path.lexists(path)
        fd = super().open(path, flags, mode)
        if made:
            self._names[str(path)] = Node(b"")
            self.noted.append(Name(str(path), self._names[str(path)]))
        self._nodes[fd] = str(path) if os.path.isdir(path) else self._names[str(path)]
        return fd

    def write(self, fd: int, data: bytes | memoryview) -> int:
        taken = super().write(fd, data)
        node = self._nodes[fd]
        assert isinstance(node, Node)
        self.noted.append(Write(node, os.lseek(fd, 0, os.SEEK_CUR) - taken, bytes(data[:taken])))
        return taken

    def ftruncate(self, fd: int, size: int) -> None:
        super().ftruncate(fd, size)
        node = self._nodes[fd]
        assert isinstance(node, Node)
        self.noted.append(Truncate(node, size))

    def fsync(self, fd: int) -> None:
        self.noted.append(Sync(self._nodes[fd]))

    fdatasync = fsync

    def link(self, source: Path, target: Path) -> None:
        super().link(source, target)
        self._names[str(target)] = self._names[str(source)]
        self.noted.append(Name(str(target), self._names[str(target)]))

    def rename(self, source: Path, target: Path) -> None:
        super().rename(source, target)
        self._names[str(target)] = self._names.pop(str(source))
        self.noted.append(Name(str(target), self._names[str(target)], str(source)))

    def unlink(self, path: Path) -> None:
        super().unlink(path)
        del self._names[str(path)]
        self.noted.append(Name(str(path), None))

    def mkdir(self, path: Path) -> None:
        super().mkdir(path)
        self.noted.append(Name(str(path), None, directory=True))


class Disk(Struct):
    """What a disk holds: the content of files by their paths, and its directories."""

    files: dict[str, bytes]
    folders: set[str]

    def put(self, old: Path, new: Path) -> None:
        """Below `new` what lay below `old`."""
        for folder in sorted(self.folders):
            (new / Path(folder).relative_to(old)).mkdir(parents=True, exist_ok=True)
        for path, content in self.files.items():
            place = new / Path(path).relative_to(old)
            if place.parent.is_dir():
                place.write_bytes(content)


def pending(noted: Sequence[Note]) -> list[Change]:
    """The changes that no sync has made certain, in order."""
    left: list[Change] = []
    for note in noted:
        if isinstance(note, Sync):
            left = [change for change in left if _place(change) is not note.what and _place(change) != note.what]
        elif not isinstance(note, Acknowledged):
            left.append(note)
    return left


def _place(change: Change) -> Node | str:
    """What is to be synced for it."""
    return os.path.dirname(change.path) if isinstance(change, Name) else change.node


def choices(changes: Sequence[Change], bound: int, seed: int) -> Iterator[tuple[Choice, ...]]:
    """What may have become of `changes`: every combination, or where there are more than `bound`, the simple ones and
    some by chance."""
    ways: list[tuple[Choice, ...]] = [
        ("kept", "dropped", "zeros", "noise") if isinstance(change, Write) else ("kept", "dropped")
        for change in changes
    ]
    total = 1
    for way in ways:
        total *= len(way)
    if total <= bound:
        yield from itertools.product(*ways)
        return
    count = len(changes)
    simple: set[tuple[Choice, ...]] = set()
    for first in range(count + 1):
        simple.add(("kept",) * first + ("dropped",) * (count - first))
        simple.add(("dropped",) * first + ("kept",) * (count - first))
    for odd in ("zeros", "noise"):
        simple.add(tuple(odd if odd in way else "kept" for way in ways))  # type: ignore[misc]
    chance = random.Random(seed)
    while len(simple) < max(bound, 2 * count + 4):
        simple.add(tuple(chance.choice(way) for way in ways))
    yield from sorted(simple)


def after(files: PowerFiles, noted: Sequence[Note], chosen: Sequence[Choice]) -> Disk:
    """The disk, when the power goes after `noted`; `chosen` is for each pending change."""
    fate = dict(zip(map(id, pending(noted)), chosen, strict=True))
    names, folders = dict(files.first), set(files.folders)
    contents: dict[int, bytearray] = {}

    def content(node: Node) -> bytearray:
        return contents.setdefault(id(node), bytearray(node.content))

    for note in noted:
        choice = fate.get(id(note), "kept")
        if isinstance(note, Sync | Acknowledged) or choice == "dropped":
            continue
        if isinstance(note, Write):
            data = {"zeros": bytes(len(note.data)), "noise": _noise(len(note.data))}.get(choice, note.data)
            held = content(note.node)
            held.extend(bytes(max(0, note.offset - len(held))))
            held[note.offset : note.offset + len(data)] = data
        elif isinstance(note, Truncate):
            del content(note.node)[note.size :]
        elif note.directory:
            folders.add(note.path)
        else:
            if note.was is not None:
                names.pop(note.was, None)
            if note.node is None:
                names.pop(note.path, None)
            else:
                names[note.path] = note.node
    return Disk({path: bytes(content(node)) for path, node in names.items()}, folders)


def _noise(size: int) -> bytes:
    return random.Random(size).randbytes(size)


def required(noted: Sequence[Note]) -> dict[str, list[bytes]]:
    """The lines of each session that must be there."""
    found: dict[str, list[bytes]] = {}
    for note in noted:
        if isinstance(note, Acknowledged):
            found.setdefault(note.session_id, []).extend(note.lines)
    return found


def points(noted: Sequence[Note]) -> Iterator[Sequence[Note]]:
    """Every moment at which the power may go."""
    for count in range(len(noted) + 1):
        yield noted[:count]


__all__: list[Any] = ["Disk", "PowerFiles", "after", "choices", "pending", "points", "required"]
