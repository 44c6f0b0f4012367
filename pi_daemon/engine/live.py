"""One open session, and the only place where it changes.

Operations queue here; one writer at a time takes what has queued, stages it, has storage write it as one batch, and
only then shows it: to readers, to the askers, to the subscribers. While a batch is being written the next one
queues, so that many appends share one write and one sync.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence

from pi_daemon.eager import start
from pi_daemon.engine.environment import Environment
from pi_daemon.engine.events import Damaged, Deleted, Event, Failed, Origin, Replaced
from pi_daemon.engine.kept import KeptContexts
from pi_daemon.engine.operations import Durability, Flush, Look, Operation, Outcome, ReleaseWriter, TakeWriter
from pi_daemon.engine.options import SessionOptions
from pi_daemon.engine.shown import Shown, Subscriber
from pi_daemon.engine.staging import Staged, Staging
from pi_daemon.engine.uninterrupted import too_late
from pi_daemon.session.errors import PiDaemonError, SessionFailed, SessionNotFound, ShuttingDown
from pi_daemon.storage.protocols import Foreign, LeafMemory, Loaded, MovedLeaf, Owner, SessionLog, Written, losses

__all__ = ["LiveSession", "Reopen", "Subscriber"]

logger = logging.getLogger(__name__)

BATCH_OPERATIONS = 512
"""As many operations share a write; more wait for the next, so that the first askers need not wait for all."""

Reopen = Callable[[], Awaitable[tuple[Loaded, SessionLog]]]


class LiveSession(Shown):
    """`users` are calls that have it in hand; `failed`: why nothing can be written any more."""

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
        super().__init__(loaded, log, environment, persist=persist, options=options, contexts=contexts, moved=moved)
        self.users = 0
        self.failed: PiDaemonError | None = None
        self._leaves = leaves
        self._reopen = reopen
        self._queue: list[Operation] = []
        self._writing = False
        self._look_wanted = False
        self._writer: asyncio.Task[None] | None = None
        self._lease_named = False
        self._closing = False

    @property
    def queued(self) -> int:
        return len(self._queue)

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

    def staging(self) -> Staging:
        """Of the session as it is now, with nothing staged."""
        return Staging(self.tree, self.leaf_id, self.environment)

    async def _run(self, batch: Sequence[Operation], *, leased: bool = False) -> None:
        await self._look()
        staging = self.staging()
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
        error = self.told(error)
        if isinstance(error, SessionFailed) and self.failed is None:
            self.failed = error
            self.publish([Failed(error.reason, error.data.get("errno"))], None)
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
            await self.show_foreign(written.foreign, written.damage)
            for entry, offset in zip(staging.entries, written.offsets, strict=True):
                entry.head.offset = offset
        for operation in accepted:
            staged = staging.entries[operation.first : operation.last]
            previous = self.leaf_id
            self.show_own(operation, staged, staging.tokens_after)
            if not isinstance(operation, ReleaseWriter):
                raced_it = raced and bool(staged)
                operation.finish(
                    Outcome(operation.entries, self.leaf_id, previous, self.revision, durability, raced_it)
                )

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
                await self.show_foreign(found.heads, found.damage)

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
                self.publish([event, *_losses(found.lost, found.kept_at)], None)
            return
        await self.log.close()
        self.adopt(loaded, log)
        self._lease_named = False
        lost = [entry_id for entry_id in found.lost if entry_id not in self.tree]
        self.publish([Replaced("the file was rewritten or replaced"), *_losses(lost, found.kept_at)], None)

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
