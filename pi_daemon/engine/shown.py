"""What of an open session is written and told: what readers see, and what subscribers hear of.

It changes in one turn of the loop: what an operation added or moved, what others have written, or another instance of
the file. Nobody sees anything in between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from pi_daemon.compaction.settings import CompactionSettings, PiSettings, resolve
from pi_daemon.engine.environment import Environment
from pi_daemon.engine.events import Appended, Cause, Change, Damaged, Event, LeafChanged, NodeFacts, Origin, meanings
from pi_daemon.engine.history import History
from pi_daemon.engine.kept import KeptContexts
from pi_daemon.engine.logged import log_events
from pi_daemon.engine.meter import Meter
from pi_daemon.engine.offload import HEAD_BYTES, offload
from pi_daemon.engine.operations import Operation
from pi_daemon.engine.options import SessionOptions
from pi_daemon.engine.persistence import Persistence
from pi_daemon.engine.snapshot import ExplanationSnapshot, TreeSnapshot
from pi_daemon.engine.staging import Staged
from pi_daemon.session.errors import PiDaemonError, ReadOnly, SessionCorrupted, SessionNotFound, StorageFailed
from pi_daemon.session.head import Damage, Head
from pi_daemon.session.selection import Trail
from pi_daemon.session.view import preview, preview_of
from pi_daemon.storage.protocols import Loaded, MovedLeaf, SessionLog

Subscriber = Callable[[Change], None]


class Shown:
    """`tree`, `leaf_id` and `revision` are what is written and told, never what is still queued. `readers` are clients
    that promised not to write, `skippers` those that take a damaged session without its broken lines."""

    def __init__(
        self,
        loaded: Loaded,
        log: SessionLog,
        environment: Environment,
        *,
        persist: str,
        options: SessionOptions | None,
        contexts: KeptContexts | None,
        moved: MovedLeaf | None,
    ) -> None:
        self.environment = environment
        self.contexts = contexts or KeptContexts()
        self.options = options or SessionOptions()
        self.subscribers: dict[str, Subscriber] = {}
        self.readers: set[str] = set()
        self.skippers: set[str] = set()
        self.snapshots: dict[str, TreeSnapshot] = {}
        self.explanations: dict[str, ExplanationSnapshot] = {}
        self.persistence = Persistence(persist)
        self.pi = PiSettings()
        self._changed: asyncio.Future[None] | None = None
        self.adopt(loaded, log, moved)

    def adopt(self, loaded: Loaded, log: SessionLog, moved: MovedLeaf | None = None) -> None:
        """Show what was loaded, as a new instance."""
        self.header = loaded.header
        self.log = log
        self.damage = list(loaded.damage)
        self.read_only = loaded.read_only
        self.skipped = loaded.skipped
        self.gone = False
        self.tree = loaded.tree
        known = moved is not None and (moved.leaf_id is None or moved.leaf_id in self.tree)
        self.leaf_id = moved.leaf_id if moved is not None and known else self.tree.last_id
        self.instance_id = self.environment.instance_id()
        self.revision = 0
        self.history = History(0)
        self.meter = Meter()
        self._trail: Trail | None = None
        if not log.persisted:
            for head in self.tree.entries:
                self.persistence.note(head)

    @property
    def session_id(self) -> str:
        return self.header.id

    @property
    def path(self) -> str | None:
        """Where the file is, None while there is none."""
        return self.log.ref.location if self.log.persisted else None

    @property
    def compaction_settings(self) -> CompactionSettings:
        """What counts at the leaf."""
        return resolve(self.options.numbers, self.pi, self.trail.model)

    def should_compact(self, context_tokens: int) -> bool | None:
        """Is a context of that size too large for the window? None while no window is known."""
        window = self.options.context_window
        return None if window is None else self.compaction_settings.due(context_tokens, window)

    def admit(self, client_id: str) -> None:
        """Whoever has not said so doesn't get a session from which damaged lines were skipped, though another client
        has it open. Raises SessionCorrupted."""
        if self.skipped is not None and client_id not in self.skippers:
            raise SessionCorrupted(self.skipped.message, **self.skipped.data)

    def why_read_only(self, client_id: str | None) -> str | None:
        """Why the client can't write here, None where it can."""
        return "it was opened with readOnly" if client_id in self.readers else self.read_only

    def check_writable(self, origin: Origin | None) -> None:
        """Raises ReadOnly."""
        why = self.why_read_only(origin.client_id if origin is not None else None)
        if why is not None:
            raise ReadOnly(f"The session can be read but not written: {why}.")

    # -- showing

    def show_own(self, operation: Operation, staged: Sequence[Staged], tokens_after: Mapping[str, int]) -> None:
        """What one operation did, now that it is written."""
        previous = self.leaf_id
        for entry in staged:
            self.tree.add(entry.head)
            self._go_on(entry.head)
            self.meter.note(entry.head, entry.look, tokens_after.get(entry.head.id))
            self.persistence.note(entry.head)
        if staged or operation.moves:
            self.leaf_id = operation.leaf_id
        nodes = [NodeFacts(e.head, e.head.parent_id, preview_of(e.head, e.look)) for e in staged]
        events = self._moved_on(nodes, [entry.line for entry in staged], previous, operation.cause, tokens_after)
        if events:
            self.publish(events, operation.origin)

    def _moved_on(
        self,
        nodes: list[NodeFacts],
        lines: Sequence[bytes],
        previous: str | None,
        cause: Cause,
        tokens_after: Mapping[str, int],
    ) -> list[Event]:
        """What is told of new entries and of the leaf, that was `previous`, in the order of telling."""
        events: list[Event] = []
        if nodes:
            events.append(Appended(nodes, cause))
        if self.leaf_id != previous:
            events.append(LeafChanged(self.leaf_id, previous, cause))
        events.extend(meanings(((n.head, line) for n, line in zip(nodes, lines, strict=True)), tokens_after, cause))
        return events

    async def show_foreign(self, heads: Sequence[Head], damage: Sequence[Damage]) -> None:
        """What others have written."""
        if heads:
            previous = self.leaf_id
            lines = await self.lines(heads)
            for head in heads:
                doubled = head.id in self.tree
                self.tree.add(head)
                self.persistence.note(head)
                self._go_on(head, anew=doubled)
            self.leaf_id = self.tree.last_id
            nodes = [NodeFacts(h, h.parent_id, preview(h, line)) for h, line in zip(heads, lines, strict=True)]
            self.publish(self._moved_on(nodes, lines, previous, "external", {}), None)
        if damage:
            self.damage.extend(damage)
            self.publish([Damaged(list(damage))], None)

    # -- telling

    def publish(self, events: list[Event], origin: Origin | None) -> None:
        self.revision += 1
        change = Change(self.session_id, self.instance_id, self.revision, origin, events)
        self.history.add(change)
        log_events(self.session_id, self.log.ref.location, events, asked=origin is not None)
        for deliver in list(self.subscribers.values()):
            deliver(change)
        if self._changed is not None:
            self._changed.set_result(None)
            self._changed = None

    def announce(self, event: Event, origin: Origin | None) -> None:
        """Tell the subscribers of something that happened to the session as a whole."""
        self.publish([event], origin)

    async def next_change(self) -> None:
        """Until something has happened to the session."""
        if self._changed is None:
            self._changed = asyncio.get_running_loop().create_future()
        await asyncio.wait([self._changed])

    # -- reading

    @property
    def trail(self) -> Trail:
        """The path to the leaf."""
        if self._trail is None or self._trail.leaf_id != self.leaf_id:
            self._trail = Trail(self.tree.path(self.leaf_id))
        return self._trail

    async def look_up_path(self) -> None:
        """Have the path to the leaf ready, which in a large session takes long to look up."""
        live, tree, leaf_id = self.tree, self.tree.frozen(), self.leaf_id
        trail = await offload(HEAD_BYTES * len(tree), lambda: Trail(tree.path(leaf_id)))
        if self._trail is None and self.tree is live and (self.leaf_id, len(live)) == (leaf_id, len(tree)):
            self._trail = trail

    def _go_on(self, head: Head, *, anew: bool = False) -> None:
        """An entry was added: the path goes on with it, or has to be looked up `anew`, also where it is the parent
        that the path's first entry has been missing."""
        trail = self._trail
        if trail is not None:
            if anew or trail.leaf_id != head.parent_id or (trail.path and trail.path[0].parent_id == head.id):
                self._trail = None
            else:
                trail.extend((head,))

    async def lines(
        self, heads: Sequence[Head], starts: Sequence[int] | None = None, *, of: str | None = None
    ) -> list[bytes]:
        """The entries as they are stored; where `starts` has a number, their messages. `of`: the instance that the
        heads are from, if that may be another by now. Raises StorageFailed, and SessionNotFound where the file is
        gone."""
        self._check_instance(of)
        try:
            lines = await self.log.read(heads, starts) if heads else []
        except StorageFailed as error:
            self._check_instance(of)
            raise self.told(error) from error
        self._check_instance(of)
        return lines

    def _check_instance(self, wanted: str | None) -> None:
        """Heads of another instance say where lines lay in another file. Raises StorageFailed."""
        if wanted is not None and wanted != self.instance_id:
            raise StorageFailed("The file was rewritten or replaced while it was read: ask again.", errno="ESTALE")

    def told(self, error: PiDaemonError) -> PiDaemonError:
        """A file that is gone is no failure of the storage: there is no such session any more."""
        if self.log.persisted and isinstance(error, StorageFailed) and error.data.get("errno") == "ENOENT":
            return SessionNotFound("The session's file was deleted, moved or renamed: look for it, or close it.")
        return error

    async def raw(self, spans: Sequence[tuple[int, int]]) -> list[bytes]:
        """The bytes of the file at each (offset, length). Raises StorageFailed."""
        return await self.log.raw(spans) if spans else []
