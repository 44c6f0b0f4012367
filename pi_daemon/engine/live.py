"""One open session, and the only place where it changes.

Operations queue here; one writer at a time takes what has queued, stages it, has storage write it as one batch, and
only then shows it: to readers, to the askers, to the subscribers. While a batch is being written the next one
queues, so that many appends share one write and one sync.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence

from pi_daemon.compaction.settings import CompactionSettings, PiSettings, resolve
from pi_daemon.eager import start
from pi_daemon.engine.environment import Environment
from pi_daemon.engine.events import (
    Appended,
    Cause,
    Change,
    Damaged,
    Deleted,
    Event,
    Failed,
    LeafChanged,
    NodeFacts,
    Origin,
    Replaced,
    meanings,
)
from pi_daemon.engine.history import History
from pi_daemon.engine.kept import KeptContexts
from pi_daemon.engine.logged import log_events
from pi_daemon.engine.meter import Meter
from pi_daemon.engine.operations import Durability, Flush, Look, Operation, Outcome, ReleaseWriter, TakeWriter
from pi_daemon.engine.options import SessionOptions
from pi_daemon.engine.persistence import Persistence
from pi_daemon.engine.snapshot import ExplanationSnapshot, TreeSnapshot
from pi_daemon.engine.staging import Staged, Staging
from pi_daemon.engine.uninterrupted import too_late
from pi_daemon.session.errors import (
    PiDaemonError,
    ReadOnly,
    SessionCorrupted,
    SessionFailed,
    SessionNotFound,
    ShuttingDown,
    StorageFailed,
)
from pi_daemon.session.head import Damage, Head
from pi_daemon.session.selection import Trail
from pi_daemon.session.view import preview, preview_of
from pi_daemon.storage.protocols import Foreign, LeafMemory, Loaded, MovedLeaf, Owner, SessionLog, Written, losses

logger = logging.getLogger(__name__)

BATCH_OPERATIONS = 512
"""As many operations share a write; more wait for the next, so that the first askers need not wait for all."""

Subscriber = Callable[[Change], None]
Reopen = Callable[[], Awaitable[tuple[Loaded, SessionLog]]]


class LiveSession:
    """`tree`, `leaf_id` and `revision` are what is written and told, never what is still queued."""

    def __init__(
        self,
        loaded: Loaded,
        log: SessionLog,
        environment: Environment,
        reopen: Reopen,
        *,
        persist: str = "immediate",
        options: SessionOptions | None = None,
        contexts: KeptContexts | None = None,
        leaves: LeafMemory | None = None,
        moved: MovedLeaf | None = None,
    ) -> None:
        self.environment = environment
        self.contexts = contexts or KeptContexts()
        self._leaves = leaves
        self.options = options or SessionOptions()
        self.subscribers: dict[str, Subscriber] = {}
        self.readers: set[str] = set()
        self.skippers: set[str] = set()
        self.users = 0
        self.failed: PiDaemonError | None = None
        self.snapshots: dict[str, TreeSnapshot] = {}
        self.explanations: dict[str, ExplanationSnapshot] = {}
        self.persistence = Persistence(persist)
        self.pi = PiSettings()
        self._changed: asyncio.Future[None] | None = None
        self._reopen = reopen
        self._queue: list[Operation] = []
        self._writing = False
        self._look_wanted = False
        self._writer: asyncio.Task[None] | None = None
        self._closing = False
        self._adopt(loaded, log, moved)

    def _adopt(self, loaded: Loaded, log: SessionLog, moved: MovedLeaf | None = None) -> None:
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
        self._lease_named = False
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
    def queued(self) -> int:
        return len(self._queue)

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

    # -- changing

    async def perform(self, operation: Operation) -> Outcome:
        """Queue an operation and wait until it is written as its durability says. Cancelled, it is taken back if it
        still queues; once it is being written, that comes too late.

        Raises ReadOnly, SessionFailed, SessionNotFound, StorageFailed, ShuttingDown and what the operation refuses
        with."""
        if self._closing:
            raise ShuttingDown("The session is being closed; open it again.", applied=False)
        self.check_writable(operation.origin)
        self._enqueue(operation)
        while not operation.done.done():
            try:
                await asyncio.wait([operation.done])
            except asyncio.CancelledError:
                if operation in self._queue:
                    self._queue.remove(operation)
                    raise
                too_late()
        return operation.done.result()

    async def writer(self) -> Owner | None:
        """Who holds the session for writing, this daemon included; None where nobody does. Raises StorageFailed."""
        return await self.log.owner()

    async def take_writer(self, origin: Origin) -> None:
        """Hold the session for writing. Raises WriterBusy, ReadOnly, StorageFailed."""
        await self.perform(TakeWriter(origin))

    async def release_writer(self) -> bool:
        """Let others write, after what is queued; False where there was nothing to let go. Raises StorageFailed."""
        self._enqueue(release := ReleaseWriter(None))
        await release.done
        return release.released

    async def flush(self) -> None:
        """Write a session that isn't written yet, if it holds a user message and may be written at all."""
        if not self.log.persisted and self.persistence.has_user and self.persistence.mode != "never":
            self.persistence.mode = "immediate"
            await self.perform(Flush(None))

    def _enqueue(self, operation: Operation) -> None:
        """The writer is whoever comes first, until the queue is empty again."""
        self._queue.append(operation)
        if self._writer is None and not self._writing:
            self._writing = True
            self._writer = start(self._write(), f"writer of {self.session_id}")

    async def _write(self) -> None:
        while self._queue or self._look_wanted:
            batch, self._queue = self._queue[:BATCH_OPERATIONS], self._queue[BATCH_OPERATIONS:]
            self._look_wanted &= bool(batch)
            try:
                await self._run(batch)
            except Exception as error:
                logger.exception("the writer of %s failed", self.session_id)
                self.failed = SessionFailed("An internal error: close the session and open it again.")
                for operation in batch:
                    operation.fail(error)
        self._writing = False
        self._writer = None

    async def _run(self, batch: Sequence[Operation], *, leased: bool = False) -> None:
        await self._look()
        staging = Staging(self.tree, self.leaf_id, self.environment)
        accepted: list[Operation] = []
        for operation in batch:
            mark = staging.mark()
            operation.first = len(staging.entries)
            try:
                if self.failed is not None and not isinstance(operation, (Look, ReleaseWriter)):
                    raise self.failed
                await operation.stage(staging, self)
            except PiDaemonError as error:
                staging.rollback(mark)
                operation.fail(error)
                continue
            operation.last = len(staging.entries)
            operation.leaf_id = staging.leaf_id
            accepted.append(operation)
        leased = leased or (self.log.held and self._lease_named)
        if self.log.persisted and not leased and (staging.entries or any(op.takes for op in accepted)):
            await self._run_with_lease(accepted)
            return
        written = None
        if staging.entries or any(operation.flushes for operation in accepted):
            try:
                written = await self._append(staging.entries)
            except PiDaemonError as error:
                await self._refuse(accepted, error)
                return
        elif any(operation.repeats for operation in accepted) and self.options.durability == "synced":
            try:
                await self.log.sync()
            except PiDaemonError as error:
                await self._refuse(accepted, error, unsynced=True)
                return
        await self._remember_leaf(staging, written)
        await self._commit(accepted, staging, written)
        for operation in accepted:
            if isinstance(operation, ReleaseWriter):
                await self._release(operation)

    async def _remember_leaf(self, staging: Staging, written: Written | None) -> None:
        """Where it will be another than the file says: it was moved, after the last entry that was written."""
        if self._leaves is None or not self.log.persisted:
            return
        last = staging.entries[-1].head.id if staging.entries else self.tree.last_id
        if staging.leaf_id != (last if written is not None else self.leaf_id):
            with contextlib.suppress(PiDaemonError):
                await self._leaves.remember(self.log.ref.location, staging.leaf_id, self.log.size)

    async def _run_with_lease(self, accepted: Sequence[Operation]) -> None:
        """Take the writer lease, then begin anew: who held it may have written what these operations depend on."""
        origin = next((operation.origin for operation in accepted if operation.origin is not None), None)
        try:
            asked = any(operation.takes for operation in accepted)
            await self.log.take(origin.name if origin is not None else None, asked=asked)
        except PiDaemonError as error:
            await self._refuse(accepted, error)
            return
        self._lease_named = True
        for operation in accepted:
            operation.entries.clear()
        await self._run(accepted, leased=True)

    async def _release(self, operation: ReleaseWriter) -> None:
        try:
            if self.log.held:
                await self.log.release()
                operation.released = True
                self._lease_named = False
        except PiDaemonError as error:
            operation.fail(error)
        operation.finish(Outcome([], self.leaf_id, self.leaf_id, self.revision))

    async def _append(self, entries: Sequence[Staged]) -> Written:
        persist = self.log.persisted or self.persistence.due(entries)
        synced = self.options.durability == "synced"
        return await self.log.append([entry.line for entry in entries], synced=synced, persist=persist)

    async def _refuse(self, accepted: Sequence[Operation], error: PiDaemonError, *, unsynced: bool = False) -> None:
        """A write failed, or what was written before could not be synced: nothing of the batch counts. What wanted
        neither is tried again on its own."""
        error = self._told(error)
        if isinstance(error, SessionFailed) and self.failed is None:
            self.failed = error
            self._publish([Failed(error.reason, error.data.get("errno"))], None)
        retry = []
        for operation in accepted:
            wanted = operation.flushes or operation.takes or (operation.repeats and unsynced)
            if operation.first == operation.last and not wanted:
                operation.entries.clear()
                retry.append(operation)
            else:
                operation.fail(error)
        if retry:
            await self._run(retry)

    async def _commit(self, accepted: Sequence[Operation], staging: Staging, written: Written | None) -> None:
        durability: Durability = self.options.durability if self.log.persisted else "memory"
        raced = False
        if written is not None:
            durability, raced = written.durability, bool(written.foreign)
            for head, offset in zip(self.tree.entries, written.kept, strict=False):
                head.offset = offset
            await self._take_foreign(written.foreign, written.damage)
            for entry, offset in zip(staging.entries, written.offsets, strict=True):
                entry.head.offset = offset
        for operation in accepted:
            staged = staging.entries[operation.first : operation.last]
            previous = self.leaf_id
            self._commit_one(operation, staged, staging.tokens_after)
            if not isinstance(operation, ReleaseWriter):
                raced_it = raced and bool(staged)
                operation.finish(
                    Outcome(operation.entries, self.leaf_id, previous, self.revision, durability, raced_it)
                )

    def _commit_one(self, operation: Operation, staged: Sequence[Staged], tokens_after: Mapping[str, int]) -> None:
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
            self._publish(events, operation.origin)

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

    # -- looking at what others did

    async def look(self, *, wait: bool = False) -> None:
        """Take in what others have appended to the file; while a batch is being written, right after it. `wait`: until
        that is done, too."""
        if not self.log.persisted or self._closing:
            return
        if self._writing and not wait:
            self._look_wanted = True
            return
        self._enqueue(look := Look(None))
        await look.done

    async def _look(self) -> None:
        """A file that is gone shows when somebody writes to it, or reads a body."""
        if not self.log.persisted or self.failed is not None:
            return
        with contextlib.suppress(PiDaemonError):
            found = await self.log.look()
            if found.replaced or self.gone:
                await self._replace(found)
            else:
                await self._take_foreign(found.heads, found.damage)

    async def _take_foreign(self, heads: Sequence[Head], damage: Sequence[Damage]) -> None:
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
            self._publish(self._moved_on(nodes, lines, previous, "external", {}), None)
        if damage:
            self.damage.extend(damage)
            self._publish([Damaged(list(damage))], None)

    async def _replace(self, found: Foreign) -> None:
        """The file isn't the one we knew: load it as a new instance, whose revisions begin anew. What we had written
        and isn't in it is told."""
        try:
            loaded, log = await self._reopen()
        except PiDaemonError as error:
            if not self.gone:
                self.gone = True
                missing = isinstance(error, SessionNotFound)
                event = Deleted(None) if missing else Failed(error.reason, error.data.get("errno"))
                self._publish([event, *_losses(found.lost, found.kept_at)], None)
            return
        await self.log.close()
        self._adopt(loaded, log)
        lost = [entry_id for entry_id in found.lost if entry_id not in self.tree]
        self._publish([Replaced("the file was rewritten or replaced"), *_losses(lost, found.kept_at)], None)

    # -- telling

    def _publish(self, events: list[Event], origin: Origin | None) -> None:
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
        self._publish([event], origin)

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

    def _go_on(self, head: Head, *, anew: bool = False) -> None:
        """An entry was added: the path goes on with it, or has to be looked up `anew`, also where it is the parent
        that the path's first entry has been missing."""
        trail = self._trail
        if trail is not None:
            if anew or trail.leaf_id != head.parent_id or (trail.path and trail.path[0].parent_id == head.id):
                self._trail = None
            else:
                trail.extend((head,))

    async def lines(self, heads: Sequence[Head], starts: Sequence[int] | None = None) -> list[bytes]:
        """The entries as they are stored; where `starts` has a number, their messages. Raises StorageFailed, and
        SessionNotFound where the file is gone."""
        try:
            return await self.log.read(heads, starts) if heads else []
        except StorageFailed as error:
            raise self._told(error) from error

    def _told(self, error: PiDaemonError) -> PiDaemonError:
        """A file that is gone is no failure of the storage: there is no such session any more."""
        if self.log.persisted and isinstance(error, StorageFailed) and error.data.get("errno") == "ENOENT":
            return SessionNotFound("The session's file was deleted, moved or renamed: look for it, or close it.")
        return error

    async def raw(self, spans: Sequence[tuple[int, int]]) -> list[bytes]:
        """The bytes of the file at each (offset, length). Raises StorageFailed."""
        return await self.log.raw(spans) if spans else []

    async def settled(self) -> None:
        """Until what is queued is done."""
        while self._writer is not None:
            await asyncio.wait([self._writer])

    async def close(self) -> None:
        """Let what is queued finish, then stop. Nothing is lost but what `persist` says is never written."""
        self._closing = True
        await self.settled()
        await self.log.close()


def _losses(lost: list[str], kept_at: str | None) -> list[Event]:
    return [Damaged(losses(lost, kept_at), lost)] if lost else []
