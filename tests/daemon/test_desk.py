"""Summaries are drawn in a process beside the daemon: the same ones, and whatever becomes of that process, nothing is
written that isn't whole, nothing is left over, and the daemon goes on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from home import Home, eventually
from pi_daemon_client import AsyncClient, ServerError

from pi_daemon.compaction.branch import branch_portions, branch_sources
from pi_daemon.compaction.brief import Brief, Order
from pi_daemon.compaction.gather import portions
from pi_daemon.compaction.material import Portion
from pi_daemon.daemon.desk.process import COMMAND, DeskFailed, Desks
from pi_daemon.engine.desks import Desk, in_threads
from pi_daemon.session.errors import SummarizerFailed
from tests.compaction.planning import Reader
from tests.compaction.test_briefing import TALK
from tests.session.entries import Chain

pytestmark = pytest.mark.slow

ENTRIES = 3_000
"""Of a session whose summary takes a second."""


def program(change: str) -> tuple[str, ...]:
    """A desk that isn't quite as it should be."""
    code = f"import os, time\nimport pi_daemon.daemon.desk.__main__ as desk\n{change}\ndesk.main()"
    return (sys.executable, "-P", "-c", code)


CHAIN = Chain(*TALK)
PLAN = Reader(CHAIN).plan(0)
PORTIONS = [Portion(one.use, [source]) for one in portions(PLAN) for source in one.sources]


def order(form: Any = "summary") -> Order:
    return Order("compaction", form, 1_000, "Mind \ud83d", history=len(PLAN.history))


async def brief(desk: Desk, some: list[Portion]) -> Brief:
    for portion in some:
        if not await desk.give(portion.use, CHAIN.of(portion.heads())):
            break
    return await desk.brief()


async def of(desks: Callable[[Order], Any], wanted: Order, some: list[Portion] = PORTIONS) -> Brief:
    async with desks(wanted) as desk:
        return await brief(desk, some)


@pytest.mark.parametrize("form", ["questions", "requests", "summary"])
async def test_a_process_makes_what_a_thread_makes(form: Any) -> None:
    assert await of(Desks(), order(form)) == await of(in_threads, order(form))
    branch = list(branch_portions(branch_sources(CHAIN.tree, "w", "u")))
    for budget in (0, 1, 40):
        wanted = Order("branch", form, 500, budget=budget)
        assert await of(Desks(), wanted, branch) == await of(in_threads, wanted, branch)


@pytest.mark.parametrize("answers", range(len(PORTIONS) + 1))
async def test_a_desk_that_ends_at_any_answer(answers: int) -> None:
    """It is told which signal it was, or which code."""
    for end, how in (("os.kill(os.getpid(), 9)", "signal 9"), ("os._exit(3)", "code 3")):
        desks = Desks(
            program(
                f"left, send = [{answers}], desk._send\n"
                f"def ends(frame):\n    left[0] -= 1\n    {end} if left[0] < 0 else send(frame)\n"
                "desk._send = ends"
            )
        )
        with pytest.raises(SummarizerFailed, match=f"{how}.*nothing was written"):
            await of(desks, order())


async def test_a_desk_that_ends_before_it_is_given_anything() -> None:
    with pytest.raises(SummarizerFailed, match="code 5"):
        await of(Desks((sys.executable, "-c", "raise SystemExit(5)")), order())


@pytest.mark.parametrize("where", ["desk.Briefing.give", "desk.Briefing.brief", "desk.frames.portion_of", "Input.read"])
async def test_a_desk_without_memory_ends_whatever_it_was_doing(where: str) -> None:
    """Its reader too, for whom the rest of it would wait for ever."""
    desks = Desks(
        program(
            "class Input:\n    read = desk.sys.stdin.buffer.read\n"
            "class Stdin:\n    buffer = Input\n"
            "desk.sys.stdin = Stdin\n"
            "def full(*rest): raise MemoryError\n"
            f"{where} = full"
        )
    )
    with pytest.raises(SummarizerFailed, match=r"code 12.*short of memory"):
        await of(desks, order())


@pytest.mark.parametrize("where", ["give", "brief"])
async def test_an_error_that_nobody_foresaw_comes_with_its_traceback(where: str) -> None:
    desks = Desks(program(f"def broken(*rest): return 1 // 0\ndesk.Briefing.{where} = broken"))
    with pytest.raises(DeskFailed, match="ZeroDivisionError"):
        await of(desks, order())


async def test_where_no_process_can_be_started_a_thread_does_it() -> None:
    assert await of(Desks(("/nowhere/python",)), order()) == await of(in_threads, order())


async def test_it_finds_the_code_where_the_daemon_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "only_here.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    assert (await of(Desks(program("import only_here")), order())).summary


async def test_a_desk_is_stopped_while_it_computes(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    desks = Desks(
        program(
            f"def slow(self):\n    open({str(mark)!r}, 'w').write(str(os.getpid()))\n    while True: pass\n"
            "desk.Briefing.brief = slow"
        )
    )
    waiting = asyncio.ensure_future(of(desks, order()))
    pid = int(await eventually(lambda: mark.exists() and mark.read_text()))
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    with pytest.raises(ProcessLookupError):  # it was waited for, too
        os.kill(pid, 0)


async def test_what_waits_for_a_desk_gets_it() -> None:
    desks = Desks(at_once=1)
    async with desks(order()) as first:
        second = asyncio.ensure_future(of(desks, order()))
        made = await brief(first, PORTIONS)
        assert not second.done()
    assert await second == made


async def test_one_that_leaves_the_queue_takes_nobodys_place() -> None:
    desks = Desks(at_once=1)
    async with desks(order()):
        waiting = asyncio.ensure_future(of(desks, order()))
        await asyncio.sleep(0)
        waiting.cancel()
    assert (await of(desks, order())).summary


async def test_nothing_of_the_daemon_is_open_in_it(tmp_path: Path) -> None:
    """A lock that it held would outlive the daemon."""
    mark = tmp_path / "seen"
    seeing = """
before = desk.Briefing.brief
def seen(self):
    files = [os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")]
    open(MARK, "w").write("\\n".join([str(os.getsid(0) == os.getpid()), *files]))
    return before(self)
desk.Briefing.brief = seen
"""
    desks = Desks(program(f"MARK = {str(mark)!r}{seeing}"))
    with (tmp_path / "kept").open("w") as kept:
        await of(desks, order())
    alone, *files = mark.read_text().splitlines()
    assert alone == "True" and kept.name not in files and len(files) >= 3


# -- in a daemon


def desks_of(pid: int) -> list[int]:
    """The desks that a daemon has."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            found += [int(child) for child in (task / "children").read_text().split()]
    return [child for child in found if COMMAND[-1].encode() in _command_line(child)]


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@asynccontextmanager
async def compacting(home: Home) -> AsyncIterator[tuple[AsyncClient, str, asyncio.Future[Any], int, int]]:
    """A daemon that is just drawing a summary: who asked, the session, the answer, the pids of daemon and desk."""
    home.json("serve", "--detach")
    async with await AsyncClient.connect_unix(home.socket) as client:
        state = await client.create_session("/p", persist="immediate", options={"keepRecentTokens": 800})
        session_id = state["sessionId"]
        for start in range(0, ENTRIES, 500):
            drafts = [_message(start + number) for number in range(500)]
            await client.append(session_id, drafts)
        daemon = int(home.json("status")["pid"])
        asked = asyncio.ensure_future(client.compact(session_id))
        (desk,) = await eventually(lambda: desks_of(daemon))
        yield client, session_id, asked, daemon, desk
        if not asked.done():
            asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)


def _message(number: int) -> dict[str, Any]:
    words = f"Never touch src/old{number}.py, and build src/new{number}.py; then run test_{number} again. "
    return {"type": "message", "message": {"role": "user", "content": words * 5, "timestamp": 1}}


def _types(home: Home) -> list[str]:
    (file,) = home.sessions.rglob("*.jsonl")
    return [json.loads(line)["type"] for line in file.read_text().splitlines()]


async def test_a_desk_that_is_killed_costs_that_compaction_alone(home: Home) -> None:
    async with compacting(home) as (client, session_id, asked, daemon, desk):
        os.kill(desk, signal.SIGKILL)
        with pytest.raises(ServerError) as failed:
            await asked
        assert failed.value.reason == "summarizerFailed" and "signal 9" in str(failed.value)
        assert "compaction" not in _types(home)
        await client.append(session_id, [_message(0)])
        done = await client.compact(session_id)
        assert done["summarizer"] == "extractive" and _types(home)[-1] == "compaction"
        assert desks_of(daemon) == []


async def test_who_cancels_stops_the_desk(home: Home) -> None:
    async with compacting(home) as (client, session_id, asked, _, desk):
        asked.cancel()
        await eventually(lambda: not _command_line(desk))
        assert "compaction" not in _types(home)
        assert (await client.compact(session_id))["summarizer"] == "extractive"


async def test_a_desk_goes_with_its_daemon(home: Home) -> None:
    async with compacting(home) as (_, _, asked, daemon, desk):
        os.kill(daemon, signal.SIGKILL)
        await asyncio.gather(asked, return_exceptions=True)
        await eventually(lambda: not _command_line(desk))
    assert "compaction" not in _types(home)


async def test_a_daemon_that_is_told_to_stop_leaves_no_desk(home: Home) -> None:
    async with compacting(home) as (_, _, asked, daemon, desk):
        os.kill(daemon, signal.SIGTERM)
        await home.logged("leaving")
        os.kill(daemon, signal.SIGTERM)
        await asyncio.gather(asked, return_exceptions=True)
        await eventually(lambda: not _command_line(daemon) and not _command_line(desk))
