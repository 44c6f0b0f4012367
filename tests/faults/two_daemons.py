"""Two hubs on one sessions directory, pi beside them, clients, and the lines of their file as a model."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pi_daemon.engine.environment import Environment
from pi_daemon.engine.events import Appended, Change, LabelChanged, LeafChanged, Origin, Renamed
from pi_daemon.engine.hub import Hub
from pi_daemon.engine.live import LiveSession
from pi_daemon.engine.operations import (
    BESIDE_THE_CONVERSATION,
)
from pi_daemon.engine.options import SessionOptions
from pi_daemon.session.tree import SessionTree
from pi_daemon.storage.files import FileRepository
from pi_daemon.storage.layout import Layout
from pi_daemon.storage.leaves import Leaves
from pi_daemon.storage.memory import MemoryRepository
from tests.faults.support import Unsynced
from tests.storage.support import dump


class Clock(Unsynced):
    """A tenth of a millisecond for each question, so an append may come just after a look; sleeping takes no time."""

    def now(self) -> float:
        self.time += 0.0001
        return self.time


class Line(NamedTuple):
    """An entry of the file, read in the plainest way."""

    id: str
    parent_id: str | None
    type: str
    value: dict[str, Any]


class Book:
    """The model: the lines of the file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def lines(self) -> list[Line]:
        found = []
        for raw in self.path.read_bytes().split(b"\n")[1:]:
            try:
                value = json.loads(raw)
            except ValueError:
                continue
            found.append(Line(value["id"], value["parentId"], value["type"], value))
        return found

    @property
    def size(self) -> int:
        return self.path.stat().st_size


def labels_of(lines: list[Line]) -> dict[str, str]:
    labels: dict[str, str] = {}
    for line in lines:
        if line.type == "label":
            labels.pop(line.value["targetId"], None)
            if line.value.get("label"):
                labels[line.value["targetId"]] = line.value["label"]
    return labels


def name_of(lines: list[Line]) -> str | None:
    names = [line.value.get("name") or "" for line in lines if line.type == "session_info"]
    return (names[-1].strip() or None) if names else None


def holds(lines: list[Line], leaf: str | None, expected: str | None) -> bool:
    """Whether an append that expects this leaf may go below that one."""
    by_id = {line.id: line for line in lines}
    while leaf != expected:
        line = by_id.get(leaf) if leaf is not None else None
        if line is None or line.type not in BESIDE_THE_CONVERSATION:
            return False
        leaf = line.parent_id if line.parent_id in by_id else None
    return True


class Pi:
    """Appends to the file without asking. Its leaf is what it wrote last, or read when it opened the file."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self.leaf: str | None = None
        self.whole: list[str] = []
        self._rest = b""
        self._numbers = itertools.count()

    def write(self, kinds: list[str]) -> None:
        self.finish()
        data = b"".join(self._line(kind) for kind in kinds)
        self._append(data)

    def tear(self, kind: str, cut: float) -> None:
        """At least a byte of a line, at most all but its newline."""
        self.finish()
        line = self._line(kind)
        at = 1 + round(cut * (len(line) - 2))
        self.whole.pop()
        self._rest = line[at:]
        self._append(line[:at])

    def finish(self) -> None:
        if self._rest:
            self._append(self._rest)
            self._rest = b""

    def open(self) -> None:
        self.finish()
        lines = self.book.lines
        self.leaf = lines[-1].id if lines else None

    def _line(self, kind: str) -> bytes:
        number = next(self._numbers)
        entry_id = f"pi{number}"
        time = f"2026-01-01T00:00:{number * 7 % 60:02d}.000Z"
        value: dict[str, Any] = {"type": kind, "id": entry_id, "parentId": self.leaf, "timestamp": time}
        if kind == "message":
            value["message"] = {"role": "user", "content": f"Gruß {number} \U0001f600", "timestamp": 1}
        elif kind == "label":
            value |= {"targetId": self.leaf or entry_id, "label": f"theirs {number}"}
        else:
            value["name"] = f"their name {number}"
        self.leaf = entry_id
        self.whole.append(entry_id)
        return dump(value) + b"\n"

    def _append(self, data: bytes) -> None:
        with self.book.path.open("ab", buffering=0) as file:
            assert file.write(data) == len(data)


class Daemon:
    """A hub, and what is expected of it: how many lines it has seen, and where its leaf is."""

    def __init__(self, base: Path, name: str, durability: Literal["written", "synced"]) -> None:
        clock, entry, other = itertools.count(1_767_225_600_000), itertools.count(1), itertools.count(1)
        environment = Environment(
            now_ms=lambda: next(clock),
            entry_id=lambda: f"{name}{next(entry)}",
            session_id=lambda: f"s{name}{next(other)}",
            instance_id=lambda: f"i{name}{next(other)}",
        )
        self.name = name
        self.files = Clock()
        state = base / f"state-{name}"
        self.repository = FileRepository(
            Layout(base / "sessions", flat=True), state, lock_dir=base / "locks", files=self.files
        )
        options = SessionOptions(durability=durability)
        self.hub = Hub(self.repository, MemoryRepository(), environment, options, Leaves(state / "leaves"))
        self.session: LiveSession | None = None
        self.seen = 0
        self.leaf: str | None = None
        self.remembered: tuple[str | None, int] | None = None

    def look(self, book: Book) -> list[Line]:
        lines = book.lines
        if len(lines) > self.seen:
            self.seen, self.leaf = len(lines), lines[-1].id
        return lines


class Client:
    """A subscriber that keeps a tree of its own from what it is told."""

    def __init__(self, name: str, daemon: Daemon) -> None:
        self.origin = Origin(name, f"{name}'s editor")
        self.daemon = daemon
        self.here = False
        self.instance_id = ""
        self.revision = 0
        self.waiting: list[Change] = []

    def __call__(self, change: Change) -> None:
        self.waiting.append(change)

    def come(self, session: LiveSession) -> None:
        """As session/subscribe with `since` does: what was missed, or everything anew."""
        missed = session.history.since(self.revision) if session.instance_id == self.instance_id else None
        self.daemon.hub.subscribe(session, self.origin.client_id, self)
        self.here = True
        if missed is not None:
            self.waiting.extend(missed)
            return
        self.instance_id, self.revision = session.instance_id, session.revision
        self.entries = [(head.id, head.parent_id) for head in session.tree.entries]
        self.leaf = session.leaf_id
        self.labels = dict(session.tree.labels)
        self.name = session.tree.name

    def take_in(self) -> None:
        for change in self.waiting:
            assert (change.instance_id, change.revision) == (self.instance_id, self.revision + 1)
            self.revision += 1
            for event in change.events:
                if isinstance(event, Appended):
                    self.entries += [(node.head.id, node.head.parent_id) for node in event.nodes]
                elif isinstance(event, LeafChanged):
                    assert event.previous_leaf_id == self.leaf
                    self.leaf = event.leaf_id
                elif isinstance(event, LabelChanged):
                    self.labels.pop(event.target_id, None)
                    if event.label:
                        self.labels[event.target_id] = event.label
                elif isinstance(event, Renamed):
                    self.name = event.name
                else:
                    assert type(event).__name__ == "Damaged"
                    assert event.lost == []  # type: ignore[union-attr]
        self.waiting.clear()


def pick(lines: list[Line], number: int) -> str | None:
    """An entry, the newest ones first; None is before the first."""
    number %= len(lines) + 1
    return lines[-1 - number].id if number < len(lines) else None


def shape(tree: SessionTree) -> Any:
    ids = [head.id for head in tree.entries]
    below = {entry_id: [head.id for head in tree.children(entry_id)] for entry_id in [None, *ids]}
    return ids, [head.parent_id for head in tree.entries], below, dict(tree.labels), tree.name
