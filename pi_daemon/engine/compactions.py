"""Compactions that the daemon makes: planned, summarized, questioned, and appended where they still hold.

One at a time a session. Others go on with it meanwhile; nothing is written before the summary is there, and then it
is one entry more.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Coroutine, Iterable, Iterator
from typing import Any, Literal
from weakref import WeakKeyDictionary

from msgspec import Struct, structs

from pi_daemon.compaction.brief import Brief, Form, Order
from pi_daemon.compaction.form import with_files, without_files
from pi_daemon.compaction.gather import portions
from pi_daemon.compaction.material import Portion
from pi_daemon.compaction.plan import Plan
from pi_daemon.compaction.retention import Policy
from pi_daemon.compaction.settings import CompactionSettings, Numbers, resolve
from pi_daemon.compaction.summarizing import Made, Summarizer, Tell
from pi_daemon.engine import planning
from pi_daemon.engine.desks import Desks, in_threads
from pi_daemon.engine.events import CompactionStatus, Origin
from pi_daemon.engine.landing import Land, check_answered
from pi_daemon.engine.live import LiveSession
from pi_daemon.engine.operations import Durability
from pi_daemon.engine.options import SettingsSource
from pi_daemon.engine.questioned import Verdict, questioned
from pi_daemon.engine.reading import size
from pi_daemon.engine.summaries import EMBEDDED, Summarizers
from pi_daemon.session.dates import duration
from pi_daemon.session.draft import Draft
from pi_daemon.session.errors import Busy, CallOpen, LeafMoved, PiDaemonError, SummarizerFailed, Superseded
from pi_daemon.session.head import Head
from pi_daemon.session.rawjson import dumps

logger = logging.getLogger(__name__)

MIN_GROWTH = 2_000
"""Tokens that come at least between two automatic attempts: where a compaction can't make the context small enough, one
after each append would cost much and change nothing."""

SUMMARY_SHARE = 0.8
"""Of the tokens kept free for an answer, what a summary may have (pi 1.6.0)."""


def order_for(plan: Plan, form: Form, settings: CompactionSettings, instructions: str | None) -> Order:
    """What a compaction wants of its material."""
    tokens = int(SUMMARY_SHARE * settings.reserve_tokens)
    return Order("compaction", form, tokens, instructions, history=len(plan.history))


OpenCallPolicy = Literal["wait", "refuse", "ignore"]


class Wanted(Struct, frozen=True):
    """What whoever asks for a summary may say of it; None: as the session is set to. `summary`: the text itself.
    `open_calls`: what to do while a tool call at the leaf has no result."""

    numbers: Numbers = Numbers()
    instructions: str | None = None
    summary: str | None = None
    summarizer: str | None = None
    policy: Policy = "amend"
    open_calls: OpenCallPolicy = "wait"


class Compaction(Struct, frozen=True):
    """One that was appended. `tokens_after` is an estimate. `summarizer` is None where the text was given."""

    head: Head
    summary: str
    plan: Plan
    details: bytes
    tokens_after: int
    verdict: Verdict
    summarizer: str | None
    model: str | None
    revision: int
    durability: Durability


class _UnderWay(Struct, frozen=True):
    """`name`: of whoever asked; `began`: in milliseconds since 1970."""

    name: str
    began: int


class _Tried(Struct, frozen=True):
    """The last automatic attempt, at a leaf. Below `tokens` there is no other on its path."""

    leaf_id: str | None
    tokens: int


class Compactions:
    """Those of all sessions of a hub."""

    def __init__(self, settings: SettingsSource) -> None:
        self.summarizers = Summarizers(EMBEDDED)
        self.desks: Desks = in_threads
        self._settings = settings
        self._busy: dict[LiveSession, _UnderWay] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._coming: set[LiveSession] = set()
        self._tried: WeakKeyDictionary[LiveSession, _Tried] = WeakKeyDictionary()

    @contextlib.contextmanager
    def alone(self, session: LiveSession, origin: Origin | None) -> Iterator[None]:
        """Raises Busy while another compaction, or a move with a summary, is under way."""
        now = session.environment.now_ms()
        if (other := self._busy.get(session)) is not None:
            raise Busy(
                f"A compaction or a move with a summary is under way in this session, for {other.name} since "
                f"{duration((now - other.began) / 1000)}: wait for its end, or have it cancelled there."
            )
        self._busy[session] = _UnderWay(origin.name if origin is not None else "the daemon", now)
        try:
            yield
        finally:
            del self._busy[session]

    def under_way(self, session: LiveSession) -> bool:
        """Whether a compaction or a move with a summary is."""
        return session in self._busy

    # -- without being asked

    def wants(self, session: LiveSession, tokens: int) -> bool:
        """Whether a context of `tokens`, which is too large, is to be compacted now. Not while one is under way, and
        not where the last attempt left as much, until some more has come."""
        if session in self._busy or session in self._coming:
            return False
        tried = self._tried.get(session)
        if tried is None or tokens > tried.tokens:
            return True
        return not any(head.id == tried.leaf_id for head in reversed(session.trail.path))

    async def automatic(self, session: LiveSession, origin: Origin) -> None:
        """A compaction that nobody waits for. How it went is told to the subscribers."""
        leaf_id, left = session.leaf_id, 0
        self._coming.add(session)
        try:
            left = await size(session)
            unasked = structs.replace(origin, call=None)
            done = await self.compact(session, Wanted(), unasked, lambda told: None, automatic=True)
            leaf_id, left = done.head.id, done.tokens_after
        except PiDaemonError:
            pass  # logged, and told to the subscribers
        except Exception:
            logger.exception("a compaction of %s failed", session.session_id)
        finally:
            self._coming.discard(session)
        room = max(MIN_GROWTH, session.compaction_settings.keep_recent_tokens // 2)
        self._tried[session] = _Tried(leaf_id, left + room)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """End what nobody waits for; nothing is written of it."""
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    # -- what counts

    async def settings(self, session: LiveSession, said: Numbers = Numbers()) -> CompactionSettings:  # noqa: B008
        """What counts for the session, pi's files as they are now. `said` goes over everything. Raises
        InvalidSettings."""
        session.pi = await self._settings.read(session.header.cwd)
        mine = session.options.numbers
        numbers = structs.replace(
            mine, **{name: value for name, value in structs.asdict(said).items() if value is not None}
        )
        return resolve(numbers, session.pi, session.trail.model)

    async def compact(
        self, session: LiveSession, wanted: Wanted, origin: Origin | None, tell: Tell, *, automatic: bool = False
    ) -> Compaction:
        """Raises NothingToCompact, CallOpen, Busy, SummarizerFailed, LeafMoved, Superseded, InvalidParams,
        InvalidSettings, and what appending raises. Cancelled, nothing is written."""
        session.check_writable(origin)
        with self.alone(session, origin):
            if wanted.open_calls == "refuse":  # now, and not when a summary was paid for
                await check_answered(session.staging(), session)
            settings = await self.settings(session, wanted.numbers)
            instance_id = session.instance_id
            plan = await planning.plan(session, settings)
            summarizer = self.summarizer(session, wanted, origin)
            if origin is not None:
                await session.take_writer(origin)  # before anybody is paid for a summary that couldn't be written
            compaction_id = session.environment.session_id()
            with _told(session, compaction_id, origin, automatic):
                return await self._compact(session, instance_id, wanted, settings, plan, summarizer, origin, tell)

    async def _compact(
        self,
        session: LiveSession,
        instance_id: str,
        wanted: Wanted,
        settings: CompactionSettings,
        plan: Plan,
        summarizer: Summarizer | None,
        origin: Origin | None,
        tell: Tell,
    ) -> Compaction:
        name = summarizer.name if summarizer is not None else None
        order = order_for(plan, form_for(summarizer), settings, wanted.instructions)
        brief = await self.brief(session, instance_id, portions(plan), order, tell)
        made = await summary(brief, summarizer, wanted, tell)
        tell("Questioning the summary")
        verdict = await questioned(made.text, brief, wanted.policy)
        text = with_files(verdict.text, brief.read_files, brief.modified_files)
        if not without_files(text)[0].strip():
            raise SummarizerFailed(
                "The summary says nothing, and nothing was written: try again, or raise reserveTokens."
            )
        draft = _draft(text, plan, brief, verdict, name, made)
        land = await _landed(session, instance_id, origin, draft, plan, wanted.open_calls, tell)
        outcome = land.done.result()
        return Compaction(
            outcome.entries[0],
            text,
            plan,
            draft.members["details"],
            land.tokens_after,
            verdict,
            name,
            made.model,
            outcome.revision,
            outcome.durability,
        )

    def summarizer(self, session: LiveSession, wanted: Wanted, origin: Origin | None) -> Summarizer | None:
        """None where the text is given. Raises SummarizerFailed, InvalidParams."""
        if wanted.summary is not None:
            return None
        return self.summarizers.choose(wanted.summarizer or session.options.summarizer, origin)

    async def brief(
        self, session: LiveSession, instance_id: str, portions: Iterable[Portion], order: Order, tell: Tell
    ) -> Brief:
        """Raises Superseded, StorageFailed, SummarizerFailed."""
        tell("Reading what is to be summarized")
        async with self.desks(order) as desk:
            return await planning.brief(session, instance_id, portions, desk)


def form_for(summarizer: Summarizer | None) -> Form:
    return summarizer.form if summarizer is not None else "questions"


async def summary(brief: Brief, summarizer: Summarizer | None, wanted: Wanted, tell: Tell) -> Made:
    """Raises SummarizerFailed."""
    if summarizer is None:
        return Made(wanted.summary or "")
    tell(f"Summarizing ({summarizer.name})")
    return await summarizer.summarize(brief, tell)


@contextlib.contextmanager
def _told(session: LiveSession, compaction_id: str, origin: Origin | None, automatic: bool) -> Iterator[None]:
    """Subscribers hear of the beginning and of the end. That it began is told at once, whoever asked for it; how it
    ended comes after the answer to who did."""

    def announce(status: str, reason: str | None = None) -> None:
        fields = {"sessionId": session.session_id, "compactionId": compaction_id}
        fields |= {"reason": reason} if reason is not None else {}
        level = logging.WARNING if status == "failed" else logging.INFO
        logger.log(level, "compaction %s", status, extra={"fields": fields})
        session.announce(CompactionStatus(compaction_id, status, reason, automatic), origin)  # type: ignore[arg-type]

    beginning = structs.replace(origin, call=None) if origin is not None else None
    started = {"sessionId": session.session_id, "compactionId": compaction_id}
    logger.info("compaction started", extra={"fields": started})
    session.announce(CompactionStatus(compaction_id, "started", automatic=automatic), beginning)
    try:
        yield
    except asyncio.CancelledError:
        announce("cancelled", "cancelled")
        raise
    except (LeafMoved, Superseded) as error:
        announce("cancelled", error.reason)
        raise
    except PiDaemonError as error:
        announce("failed", error.reason)
        raise
    except BaseException:
        announce("failed", "internalError")
        raise
    announce("completed")


async def _landed(
    session: LiveSession,
    instance_id: str,
    origin: Origin | None,
    draft: Draft,
    plan: Plan,
    policy: OpenCallPolicy,
    tell: Tell,
) -> Land:
    """Appended, once no tool call waits for its result. Raises CallOpen where that isn't waited for."""
    while True:
        land = Land(origin, draft, plan, instance_id, anyhow=policy == "ignore")
        try:
            await session.perform(land)
            return land
        except CallOpen as waiting:
            if policy == "refuse":
                raise
            left_ms = waiting.data["leftMs"]
            tell(f"Waiting for the result of a tool call, at most {duration(left_ms / 1000)}")
            if (session.instance_id, session.revision) == (instance_id, land.seen):
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(left_ms / 1000):
                        await session.next_change()


def _draft(text: str, plan: Plan, brief: Brief, verdict: Verdict, summarizer: str | None, made: Made) -> Draft:
    details = {
        "readFiles": list(brief.read_files),
        "modifiedFiles": list(brief.modified_files),
        "retention": verdict.stored(),
        "summarizer": summarizer or "request",
    }
    if made.model is not None:
        details["model"] = made.model
    members = {
        "summary": dumps(text),
        "firstKeptEntryId": dumps(plan.first_kept_id),
        "tokensBefore": dumps(plan.tokens_before),
        "details": dumps(details),
    }
    if made.usage is not None:
        members["usage"] = dumps(made.usage)
    return Draft("compaction", None, members)
