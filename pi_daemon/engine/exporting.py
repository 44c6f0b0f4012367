"""A session, or a path of it, as one text: a session file, every line of the file, or a document to read.

The bodies are read some at a time and go on at once, so that a session of any size costs its heads and a few MB.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from pi_daemon.engine.bodies import bodies
from pi_daemon.engine.hub import Hub
from pi_daemon.engine.live import LiveSession
from pi_daemon.engine.offload import HEAD_BYTES, offload
from pi_daemon.session.branches import Branch, split
from pi_daemon.session.document import Document, Look, first_line
from pi_daemon.session.errors import EntryNotFound, TooLarge
from pi_daemon.session.fork import Forking, header_line
from pi_daemon.session.head import Head, Header
from pi_daemon.session.tally import Tally
from pi_daemon.session.tree import SessionTree
from pi_daemon.session.view import message_text

Format = Literal["jsonl", "tree", "markdown"]
Progress = Callable[[int, int], None]


_TELLING = frozenset({"message", "compaction", "branch_summary", "custom_message"})
"""Kinds of entries without one of which a branch isn't worth a word."""


class Wanted(Struct, frozen=True):
    """`leaf_id`: the end of the path; None: before the first entry. It says nothing about a tree."""

    format: Format
    leaf_id: str | None
    look: Look = Look()


class Sink(Protocol):
    """Where the text goes."""

    async def write(self, data: bytes) -> None: ...


class Text:
    """A sink that keeps what it gets, up to `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self.parts: list[bytes] = []

    async def write(self, data: bytes) -> None:
        """Raises TooLarge."""
        self._size += len(data)
        if self._size > self._limit:
            raise too_large(self._limit)
        self.parts.append(data)


def too_large(limit: int) -> TooLarge:
    words = "The export is too large for one answer: give a `path`, and the daemon writes it there."
    return TooLarge(words, limit="replyBytes", bytes=limit)


async def export(hub: Hub, session: LiveSession, wanted: Wanted, sink: Sink, progress: Progress) -> None:
    """Raises EntryNotFound, StorageFailed, and what the sink raises."""
    if wanted.leaf_id is not None and session.tree.get(wanted.leaf_id) is None:
        raise EntryNotFound("The session has no such entry; read session/tree.", entryId=wanted.leaf_id)
    tree, instance_id = session.tree.frozen(), session.instance_id
    match wanted.format:
        case "tree":
            parts = _tree(session)
        case "jsonl":
            parts = _path(hub, session, instance_id, tree, wanted.leaf_id)
        case "markdown":
            parts = _document(session, instance_id, tree, wanted)
    done = 0
    async for count, data in parts:
        await sink.write(data)
        done += count
        progress(done, len(tree))


async def _tree(session: LiveSession) -> AsyncIterator[tuple[int, bytes]]:
    async for data in session.log.content():
        yield 0, data


async def _path(
    hub: Hub, session: LiveSession, instance_id: str, tree: SessionTree, leaf_id: str | None
) -> AsyncIterator[tuple[int, bytes]]:
    """What a fork of the path would be."""

    def new_id(taken: set[str]) -> str:
        while (entry_id := environment.entry_id()) in taken:
            pass
        return entry_id

    environment = hub.environment
    old = session.header
    header = Header(environment.session_id(), environment.timestamp(), old.cwd, parent_session=session.path)
    forking = Forking(tree, new_id)
    yield 0, header_line(header) + b"\n"
    async for portion, lines in bodies(session, tree.path(leaf_id), instance_id):
        found = await offload(sum(map(len, lines)), lambda p=portion, some=lines: forking.take(p, some))  # type: ignore[misc]
        if found:
            yield len(portion), b"\n".join([*found, b""])
    labels = forking.labels()
    if labels:
        yield 0, b"\n".join([*labels, b""])


async def _document(
    session: LiveSession, instance_id: str, tree: SessionTree, wanted: Wanted
) -> AsyncIterator[tuple[int, bytes]]:
    """The facts come first, so the path is read twice."""
    size = HEAD_BYTES * len(tree)
    path, leaving = await offload(size, lambda: _leaving(tree, wanted.leaf_id))
    tally = await offload(size, lambda: Tally(path, wanted.leaf_id))
    title = None
    async for portion, lines in bodies(session, path, instance_id):
        await offload(sum(map(len, lines)), lambda p=portion, some=lines: tally.add(p, some))  # type: ignore[misc]
        for head, line in zip(portion, lines, strict=True):
            if title is None and head.role == "user":
                title = first_line(message_text(head, line)) or None
    document = Document(wanted.look, tree.labels, leaving, tree.name)
    yield 0, _text(document.begin(session.header, tally, title))
    async for portion, lines in bodies(session, path, instance_id):

        def made(portion: Sequence[Head] = portion, lines: Sequence[bytes] = lines) -> bytes:
            entries = zip(portion, lines, strict=True)
            return _text([text for head, line in entries for text in document.entry(head, line)])

        data = await offload(sum(map(len, lines)), made)
        if data:
            yield len(portion), data
    if rest := _text(document.end()):
        yield 0, rest


def _leaving(tree: SessionTree, leaf_id: str | None) -> tuple[list[Head], dict[str | None, list[Branch]]]:
    """The path, and the branches that leave it, by the entry that they leave from."""
    found = split(tree, leaf_id)
    path = {head.id for head in found.trunk}
    said = {found.numbers[head.id] for head in tree.live() if head.type in _TELLING}
    leaving: dict[str | None, list[Branch]] = {}
    for number, branch in enumerate(found.rows, 1):
        if number in said and (branch.left_at is None or branch.left_at in path):
            leaving.setdefault(branch.left_at, []).append(branch)
    return found.trunk, leaving


def _text(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode(errors="replace")
