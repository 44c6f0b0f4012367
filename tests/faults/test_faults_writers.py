"""Real pi processes that write to the file we write to, both as fast as they can; and pi rewriting it under us."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pi_daemon.session.entry import read_line
from pi_daemon.session.errors import StorageFailed
from pi_daemon.session.head import Head
from pi_daemon.session.tree import SessionTree
from pi_daemon.storage.journal import FileLog
from pi_daemon.storage.protocols import Loaded
from tests.faults.support import LONG
from tests.storage.pi import Pi
from tests.storage.support import CWD, HEADER, TIME, Place, dump, ids, message

WRITERS = 3 if LONG else 2
TURNS = 30 if LONG else 4
THEIRS = 400
"""Entries that each pi appends in a turn."""


@pytest.fixture
def writers(tmp_path: Path) -> Iterator[list[Pi]]:
    found = [Pi(tmp_path) for _ in range(WRITERS)]
    yield found
    for each in found:
        each.close()


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_every_line_of_both_is_there_whole(place: Place, writers: list[Pi]) -> None:
    path = place.put([HEADER, message("a", None)])
    loaded, log = await place.repository().open(place.ref(path))
    tree = SessionTree(loaded.heads)
    for each in writers:
        each("open", path=path)
    ours: dict[str, bytes] = {}
    theirs: list[str] = []
    raced = 0
    for turn in range(TURNS):
        for each in writers:
            each.begin("appendMany", path=path, count=THEIRS, size=turn % 3 * 2_000)
        answers = asyncio.gather(*(asyncio.to_thread(each.end) for each in writers))
        while not answers.done():
            names = [f"ours{len(ours) + more}" for more in range(len(ours) % 3 + 1)]
            batch = {name: message(name, tree.last_id) for name in names}
            written = await log.append(list(batch.values()), synced=len(ours) % 5 == 0, persist=True)
            raced += bool(written.foreign)
            assert written.damage == []
            for head in written.foreign:
                tree.add(head)
            for (name, line), offset in zip(batch.items(), written.offsets, strict=True):
                head = read_line(line, offset)
                assert isinstance(head, Head)
                assert head.id == name
                tree.add(head)
            ours |= batch
            if len(ours) % 7 == 0:
                found = await log.look()
                assert (found.replaced, found.damage) == (False, [])
                for head in found.heads:
                    tree.add(head)
            await asyncio.sleep(0)
        for answer in await answers:
            theirs += answer
    for head in (await log.look()).heads:
        tree.add(head)
    assert raced > TURNS
    again, other = await place.repository().open(place.ref(path))
    assert again.damage == []
    assert [(head.offset, head.id) for head in tree.entries] == [(head.offset, head.id) for head in again.heads]
    assert sorted(ids(again.heads)) == sorted(["a", *ours, *theirs])
    stored = dict(zip(ids(again.heads), await other.read(again.heads), strict=True))
    assert [name for name, line in ours.items() if stored[name] != line] == []
    assert {len(json.loads(stored[name])["message"]["content"]) for name in theirs} > {2}
    assert writers[0]("read", paths=[str(path)]) == [ids(again.heads)]
    await log.close()
    await other.close()


OLD = [dump({"type": "session", "id": "s1", "timestamp": TIME, "cwd": CWD})]
OLD += [
    dump({"type": "message", "timestamp": TIME, "message": {"role": "user", "content": f"{number} " + "x" * 300}})
    for number in range(200)
]


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_pi_migrates_what_we_migrate(place: Place, writers: list[Pi]) -> None:
    """Each from what it has read, and pi by rewriting in place: whoever is later has the file. What we answered for is
    in it, or told as lost and put aside."""
    chance = random.Random(7)
    outcomes: set[str] = set()
    pi = writers[0]
    for number in range(300 if LONG else 40):
        path = place.put(OLD, f"{number}.jsonl")
        loaded, log = await place.repository().open(place.ref(path))
        assert loaded.migrates
        pi.begin("open", path=path)
        opened = asyncio.ensure_future(asyncio.to_thread(pi.end))
        acknowledged: list[str] = []
        lost: list[str] = []
        while not opened.done() or len(acknowledged) < 3:
            await asyncio.sleep(chance.random() * 0.004)
            name = f"ours{number}.{len(acknowledged)}"
            try:
                await log.append([message(name, loaded.heads[-1].id)], synced=False, persist=True)
                acknowledged.append(name)
            except StorageFailed as failed:
                assert failed.data["errno"] in ("ESTALE", "EBUSY")
                outcomes.add("refused")
                loaded, log = await again(place, loaded, log, lost)
        await opened
        loaded, log = await again(place, loaded, log, lost)
        await log.close()
        final, other = await place.repository().open(place.ref(path), recover=True)
        there = set(ids(final.heads))
        assert set(acknowledged) <= there | set(lost)
        assert len(there.difference(acknowledged)) == 200
        kept = b"".join(each.read_bytes() for each in (place.state / "lost").glob(f"{number}.*"))
        assert [name for name in lost if f'"id":"{name}"'.encode() not in kept] == []
        outcomes.add("lost" if lost else "all there")
        assert there.isdisjoint(lost)
        assert len(pi("read", paths=[str(path)])[0]) == len(final.heads)
        await other.close()
    assert outcomes >= {"refused", "all there"}, outcomes


async def again(place: Place, loaded: Loaded, log: FileLog, lost: list[str]) -> tuple[Loaded, FileLog]:
    """As the engine does: where a look says that the file was replaced, it is opened anew."""
    found = await log.look()
    if not found.replaced:
        return loaded, log
    lost += found.lost
    opened = await place.repository().open(log.ref, recover=True)
    await log.close()
    return opened


def reached(gate: Path) -> None:
    deadline = time.monotonic() + 30
    while not gate.with_name(f"{gate.name}.reached").exists():
        assert time.monotonic() < deadline
        time.sleep(0.002)


@pytest.mark.slow
async def test_pi_rewrites_what_it_had_read_before_us(place: Place, pi: Pi) -> None:
    path, gate = place.put(OLD), place.base / "gate"
    pi.begin("openHeld", path=path, before=gate)
    reached(gate)
    loaded, log = await place.repository().open(place.ref(path))
    leaf = loaded.heads[-1].id
    await log.append([message("one", leaf), message("two", "one")], synced=True, persist=True)
    await log.append([message("three", "two")], synced=False, persist=True)
    gate.touch()
    seen = pi.end()
    found = await log.look()
    assert (found.replaced, found.lost) == (True, ["one", "two", "three"])
    lines = [message("one", leaf), message("two", "one"), message("three", "two")]
    assert found.kept_at is not None
    assert Path(found.kept_at).read_bytes() == b"\n".join([*lines, b""])
    again_loaded, other = await place.repository().open(log.ref)
    await log.close()
    assert ids(again_loaded.heads) == [entry["id"] for entry in seen["entries"]]
    await other.append([message("four", again_loaded.heads[-1].id)], synced=True, persist=True)
    assert pi("read", paths=[str(path)]) == [[*ids(again_loaded.heads), "four"]]
    await other.close()


@pytest.mark.slow
async def test_we_append_in_the_middle_of_pis_rewriting(place: Place, pi: Pi) -> None:
    """pi writes on at the place where it was, over what came there meanwhile."""
    path, gate = place.put(OLD), place.base / "gate"
    _, log = await place.repository().open(place.ref(path))
    pi.begin("openHeld", path=path, within=gate, lines=50)
    reached(gate)
    found = await log.look()
    assert (found.replaced, found.lost) == (True, [])
    half, second = await place.repository().open(log.ref)
    await log.close()
    assert len(half.heads) == 49
    written = await second.append([message("ours", half.heads[-1].id)], synced=True, persist=True)
    assert written.foreign == []
    gate.touch()
    seen = pi.end()
    found = await second.look()
    assert (found.replaced, found.lost) == (True, ["ours"])
    whole, third = await place.repository().open(log.ref)
    await second.close()
    assert ids(whole.heads) == [entry["id"] for entry in seen["entries"]]
    assert len(whole.heads) == 200
    await third.close()
