"""Which sessions are open, and who listens to them.

A session is open while somebody subscribes to it or a call uses it; after that it stays loaded among the idle
ones until others push it out. One that isn't written yet stays in any case until its last client closes it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from pi_daemon.eager import start
from pi_daemon.engine.compactions import Compactions
from pi_daemon.engine.environment import Environment
from pi_daemon.engine.events import Deleted, Origin
from pi_daemon.engine.kept import KeptContexts
from pi_daemon.engine.live import LiveSession, Subscriber
from pi_daemon.engine.options import NoSettings, SessionOptions, SettingsSource
from pi_daemon.engine.persistence import Persistence
from pi_daemon.engine.resting import Resting
from pi_daemon.engine.uninterrupted import uninterrupted
from pi_daemon.session.errors import (
    AmbiguousSession,
    Busy,
    InvalidSettings,
    Overloaded,
    PiDaemonError,
    SessionExists,
    SessionNotFound,
)
from pi_daemon.session.head import Head, Header
from pi_daemon.storage.protocols import LeafMemory, Loaded, MovedLeaf, RepairReport, Repository, SessionLog, SessionRef
from pi_daemon.storage.world import World

logger = logging.getLogger(__name__)

OPEN_SESSIONS = 1_000
"""Loaded at a time. Each takes a file descriptor and memory for its heads; an editor has a dozen."""


class Hub:
    """`files` holds sessions that are written, `memory` those that never are."""

    def __init__(
        self,
        files: Repository,
        memory: Repository,
        environment: Environment | None = None,
        defaults: SessionOptions | None = None,
        leaves: LeafMemory | None = None,
        settings: SettingsSource | None = None,
        world: World | None = None,
    ) -> None:
        self.files = files
        self.memory = memory
        self.environment = environment or Environment()
        self.defaults = defaults or SessionOptions()
        self.contexts = KeptContexts()
        self.leaves = leaves
        self.world = world or World()
        self.compactions = Compactions(settings or NoSettings())
        self.opened: Callable[[Iterable[str]], None] = lambda locations: None
        """Called with the locations of all loaded sessions whenever one more is loaded, or one less."""
        self.noticed: Callable[[Iterable[str]], None] = lambda paths: None
        """Called with the files that somebody has done something to, loaded or not."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._open: dict[str, LiveSession] = {}
        self._resting = Resting()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    # -- finding and opening: under a lock by id, then by location

    @property
    def sessions(self) -> list[LiveSession]:
        """All that are loaded, idle ones included."""
        return list(self._open.values())

    def loaded(self, session_id: str) -> LiveSession | None:
        """The loaded session with that id, if its file is there. Raises AmbiguousSession where two files have it."""
        found = [s for s in self._open.values() if s.session_id == session_id and not s.gone]
        if len(found) > 1:
            raise AmbiguousSession(
                "Several open files have this session id; close one, or make the ids differ.",
                paths=[session.log.ref.location for session in found],
            )
        return found[0] if found else None

    async def find(self, session_id: str | None = None, path: str | None = None) -> SessionRef:
        """Raises SessionNotFound, AmbiguousSession, OutsideRoot, InvalidParams, SessionCorrupted."""
        if session_id is not None:
            live = self.loaded(session_id)
            return live.log.ref if live is not None else await self.files.find(session_id)
        if path is None:
            raise SessionNotFound("Name a session by sessionId or by path.")
        return await self.files.ref(path)

    @contextlib.asynccontextmanager
    async def use(self, session_id: str, client_id: str | None = None) -> AsyncIterator[LiveSession]:
        """The session, opened for the time of the block if it wasn't open. Whoever asks first gets it first.
        `client_id`: for whom, None where it is for nobody in particular.

        Raises SessionNotFound, AmbiguousSession, SessionCorrupted, InvalidParams."""
        session = self.loaded(session_id) if session_id not in self._locks else None
        if session is None:
            async with self._lock(session_id):
                session = self.loaded(session_id) or await self.open(await self.files.find(session_id))
                session.users += 1
        else:
            session.users += 1
        try:
            if client_id is not None:
                session.admit(client_id)
            yield session
        finally:
            session.users -= 1
            await self._settle(session)

    @contextlib.asynccontextmanager
    async def use_file(self, ref: SessionRef, *, look: bool = True) -> AsyncIterator[LiveSession]:
        """The same for the session in that file, whoever else has its id. `look` for what others wrote to it.

        Raises as Repository.open does, and Overloaded."""
        session = self._open.get(ref.location)
        if session is None or session.gone:
            session = await self.open(ref)
        session.users += 1
        try:
            if look:
                await session.look()
            yield session
        finally:
            session.users -= 1
            await self._settle(session)

    async def open(self, ref: SessionRef, *, recover: bool = False, client_id: str | None = None) -> LiveSession:
        """Load a session, or take the one that is loaded. `recover` holds for that client until it closes the session.
        Raises as Repository.open does, and Overloaded."""
        session = await uninterrupted(self._load(ref, recover))
        if client_id is not None:
            if recover:
                session.skippers.add(client_id)
            session.admit(client_id)
        return session

    async def _load(self, ref: SessionRef, recover: bool) -> LiveSession:
        async with self._lock(ref.location):
            session = self._open.get(ref.location)
            if session is None:
                await self._make_room()
                loaded, log = await self.files.open(ref, recover=recover)
                moved = await self.leaves.recall(ref.location, log.size) if self.leaves is not None else None
                session = self._start(loaded, log, persist="immediate", moved=moved)
                await self._settings(session)
                self._rest(session)
                return session
            await session.look(wait=True)
            if session.gone:
                # What is wrong with the file says whoever opens it.
                _, log = await self.files.open(ref, recover=recover)
                await log.close()
                await session.look(wait=True)
            return session

    async def create(
        self,
        header: Header,
        lines: Sequence[bytes] = (),
        heads: Sequence[Head] = (),
        *,
        persist: str,
        options: SessionOptions | None = None,
    ) -> LiveSession:
        """A new session, with `lines` and what they are made from. Raises SessionExists, StorageFailed, Overloaded."""
        if any(s.session_id == header.id and s.header.cwd == header.cwd and not s.gone for s in self._open.values()):
            raise SessionExists("A session with this id is open; give another id or none.")
        repository = self.memory if persist == "never" else self.files
        persistence = Persistence(persist)
        for head in heads:
            persistence.note(head)
        make = partial(repository.create, header, lines, persist=persistence.due(()))
        return await uninterrupted(self._made(make, persist, options))

    async def copy(self, source: LiveSession, header: Header) -> LiveSession:
        """A new session with every line of `source`. Raises as `create` does."""
        make = partial(self.files.copy, source.log.ref, header)
        return await uninterrupted(self._made(make, "immediate", source.options))

    async def _made(
        self, make: Callable[[], Awaitable[tuple[Loaded, SessionLog]]], persist: str, options: SessionOptions | None
    ) -> LiveSession:
        """Whoever finds the new file before we are back has loaded it already: then that is the session."""
        await self._make_room()
        loaded, log = await make()
        async with self._lock(loaded.ref.location):
            session = self._open.get(loaded.ref.location)
            if session is None:
                session = self._start(loaded, log, persist=persist, options=options)
                if log.persisted:
                    self._rest(session)  # who asked may not come for it
                await self._settings(session)
                return session
            await log.close()
            return session

    async def _settings(self, session: LiveSession) -> None:
        """What pi's settings say for it; where they make no sense, whoever wants a compaction is told so."""
        await session.look_up_path()
        with contextlib.suppress(InvalidSettings):
            await self.compactions.settings(session)

    async def _make_room(self) -> None:
        longest = self._resting.longest
        if len(self._open) >= OPEN_SESSIONS and longest is not None:
            await self._drop(longest)
        if len(self._open) >= OPEN_SESSIONS:
            raise Overloaded(
                "Too many sessions are open: close some.", limit="openSessions", openSessions=OPEN_SESSIONS
            )

    def _lock(self, location: str) -> asyncio.Lock:
        return self._locks.setdefault(location, asyncio.Lock())

    def _start(
        self,
        loaded: Loaded,
        log: SessionLog,
        *,
        persist: str,
        options: SessionOptions | None = None,
        moved: MovedLeaf | None = None,
    ) -> LiveSession:
        async def reopen() -> tuple[Loaded, SessionLog]:
            return await self.files.open(loaded.ref)

        session = LiveSession(
            loaded,
            log,
            self.environment,
            reopen,
            persist=persist,
            options=options or self.defaults,
            contexts=self.contexts,
            leaves=self.leaves,
            moved=moved,
        )
        self._open[loaded.ref.location] = session
        self.opened(self._open)
        return session

    # -- listening

    def subscribe(
        self, session: LiveSession, client_id: str, deliver: Subscriber, *, read_only: bool | None = None
    ) -> None:
        """Changes from the next one on go to `deliver`, which must not block or raise. `client_id` may go on after a
        `/`, where a client listens twice. `read_only`: whether writes of this client are to be refused; None leaves
        that as it is."""
        session.subscribers[client_id] = deliver
        if read_only is not None:
            (session.readers.add if read_only else session.readers.discard)(client_id)
        self._resting.remove(session.log.ref.location)

    async def unsubscribe(self, session: LiveSession, client_id: str, *, close: bool = False) -> bool:
        """Stop telling. `close`: the client is done with the session, and when nobody else is there, it is written
        if it isn't yet, and let go."""
        was = session.subscribers.pop(client_id, None) is not None
        if close:
            session.readers.discard(client_id)
            session.skippers.discard(client_id)
        if not session.subscribers:
            await session.flush()
            if close and not session.users and not session.subscribers:
                await self._drop(session)
                return was
        await self._settle(session)
        return was

    async def leave(self, client_id: str) -> None:
        """The client is gone."""
        for session in self.sessions:
            session.readers.discard(client_id)
            session.skippers.discard(client_id)
            if client_id in session.subscribers:
                try:
                    await self.unsubscribe(session, client_id)
                except PiDaemonError as error:
                    logger.warning("what was said in %s is not written: %s", session.session_id, error.message)

    # -- following the files

    def files_changed(self, paths: Iterable[str]) -> None:
        """Somebody has done something to these files; sessions that are loaded look at theirs."""
        paths = list(paths)
        for path in paths:
            session = self._open.get(path)
            if session is not None:
                self._spawn(self._follow(session))
        self.noticed(paths)

    async def look_for_unseen(self) -> None:
        """Sessions look whether what they wrote is in their files, those closed a while ago too, and whether a file is
        back that was gone or could not be read; to be called every few seconds."""
        self.files_changed([location for location, s in self._open.items() if s.log.unseen or s.gone])
        for location, found in await self.files.look_after_closed():
            logger.warning("%s lost %d entries after it was closed, see %s", location, len(found.lost), found.kept_at)

    async def _follow(self, session: LiveSession) -> None:
        await session.look()
        if session.gone and not session.subscribers and not session.users:
            await self._drop(session)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = start(work)
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def settled(self) -> None:
        """Until every file that was said to have changed is looked at."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))
        for session in self.sessions:  # one that was writing looks when it has written
            await session.settled()

    # -- compacting

    def compact_by_itself(self, session: LiveSession, tokens: int, origin: Origin) -> None:
        """The context of `tokens` has passed the trigger with what `origin` appended."""
        if self.compactions.wants(session, tokens):
            self.compactions.spawn(self._compact_by_itself(session, origin))

    async def _compact_by_itself(self, session: LiveSession, origin: Origin) -> None:
        session.users += 1
        try:
            await self.compactions.automatic(session, origin)
        finally:
            session.users -= 1
            await self._settle(session)

    # -- letting go

    async def delete(self, session_id: str, client_id: str, origin: Origin) -> str | None:
        """To the trash. Raises Busy while another client has it open, StorageFailed."""
        async with self.use(session_id, client_id) as session:
            return await uninterrupted(self._delete(session, client_id, origin))

    async def _delete(self, session: LiveSession, client_id: str, origin: Origin) -> str | None:
        ref = session.log.ref
        async with self._lock(ref.location):
            others = {name.partition("/")[0] for name in session.subscribers} - {client_id}
            if others or session.users > 1:
                raise Busy("Another client has this session open; have it closed there first.")
            self._forget(session)  # nobody comes to it any more
            try:
                await session.settled()
                trashed_to = await self.files.delete(ref) if session.log.persisted else None
            except PiDaemonError:
                self._open[ref.location] = session
                self.opened(self._open)
                raise
            session.announce(Deleted(trashed_to), origin)
            session.subscribers.clear()
            await session.close()
            return trashed_to

    async def repair(self, path: str) -> RepairReport:
        """Repair a file that nobody has open. Raises Busy, and as Repository.repair does."""
        location = (await self.files.ref(path)).location
        session = self._open.get(location)
        if session is not None:
            await self._drop(session)
        async with self._lock(location):
            if location in self._open:
                raise Busy("A client has this session open; have it closed first.")
            return await self.files.repair(path)

    async def tidy(self) -> None:
        """Let go what has been idle for long; to be called now and then."""
        for session in self._resting.overdue(self.environment.now_ms()):
            await self._drop(session)

    async def close(self) -> None:
        """Write what isn't written, and let every session go."""
        await self.compactions.stop()
        await self.settled()
        for session in self.sessions:
            with contextlib.suppress(PiDaemonError):
                await session.flush()
            session.subscribers.clear()
            await self._drop(session)

    async def _settle(self, session: LiveSession) -> None:
        location = session.log.ref.location
        if session.users or session.subscribers or self._open.get(location) is not session:
            return
        if session.log.persisted:
            self._rest(session)
        elif not len(session.tree):
            await self._drop(session)  # nobody has said anything in it
        while self._resting.too_many and (longest := self._resting.longest) is not None:
            await self._drop(longest)

    def _rest(self, session: LiveSession) -> None:
        """Nobody uses it now."""
        self._resting.add(session, self.environment.now_ms())

    async def _drop(self, session: LiveSession) -> None:
        """Close a session, unless somebody has come back to it. Who comes while it closes opens it anew."""
        location = session.log.ref.location
        async with self._lock(location):
            self._resting.remove(location)
            if not session.users and not session.subscribers and self._open.get(location) is session:
                self._forget(session)
                await session.close()

    def _forget(self, session: LiveSession) -> None:
        location = session.log.ref.location
        del self._open[location]
        self._resting.remove(location)
        self.opened(self._open)
        for llm in (False, True):
            self.contexts.forget(session.instance_id, llm)
