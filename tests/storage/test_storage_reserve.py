"""Two creators of one session: in one process, in two, and with a lock directory that somebody tampered with."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pi_daemon.session.errors import SessionExists, StorageFailed
from pi_daemon.storage.protocols import Loaded
from pi_daemon.storage.reserve import reserve
from pi_daemon.storage.system import Files
from tests.storage.support import FaultyFiles, Place, chain, header, ids

A, B = chain("a", "b")

PROCESS = """
import asyncio, sys
from pathlib import Path
from pi_daemon.session.errors import SessionExists
from tests.storage.support import Place, chain, header
async def main():
    place = Place(Path(sys.argv[1]))
    for number in range(10):
        sys.stdin.readline()
        try:
            _, log = await place.repository().create(
                header(f"s{number}", timestamp=sys.argv[2]), chain("a"), persist=number % 2 == 0
            )
            if number % 2:
                await log.append(chain("b", after="a"), synced=False, persist=True)
            print("won", flush=True)
        except SessionExists:
            print("lost", flush=True)
asyncio.run(main())
"""


@pytest.mark.slow
def test_two_processes_create_one_session(place: Place) -> None:
    """Their files would have different names, for their clocks differ."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, str(place.base), f"2026-01-31T12:00:00.00{number}Z"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        for number in range(2)
    ]
    for number in range(10):
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        results = []
        for process in processes:
            assert process.stdout is not None
            results.append(process.stdout.readline().strip())
        assert sorted(results) == ["lost", "won"], number
        assert len(list(place.folder.glob(f"*_s{number}.jsonl"))) == 1
    for process in processes:
        process.communicate(timeout=10)
    assert place.strays() == []


async def test_many_creators_in_one_process(place: Place) -> None:
    async def create(number: int) -> Loaded:
        repository = place.repository()
        loaded, log = await repository.create(
            header(timestamp=f"2026-01-31T12:00:00.{number:03d}Z"), [A], persist=number % 2 == 0
        )
        await log.append([B], synced=False, persist=True)
        return loaded

    results = await asyncio.gather(*(create(number) for number in range(20)), return_exceptions=True)
    assert sum(isinstance(result, Loaded) for result in results) == 1
    assert sum(isinstance(result, SessionExists) for result in results) == 19
    (path,) = place.folder.iterdir()
    assert ids((await place.repository().open(place.ref(path)))[0].heads) == ["a", "b"]


async def test_an_unwritten_session_holds_its_id_until_it_is_closed(place: Place) -> None:
    _, log = await place.repository().create(header(), persist=False)
    for persist in (True, False):
        with pytest.raises(SessionExists):
            await place.repository().create(header(timestamp="2026-02-01T00:00:00Z"), persist=persist)
    await place.repository().create(header(cwd="/other"), persist=False)
    await log.close()
    await place.repository().create(header(), persist=True)


def test_a_lock_file_that_vanishes_between_open_and_lock(place: Place) -> None:
    files = FaultyFiles()
    first = reserve(Files(), place.locks, place.folder, "s1")
    files.before["lock"] = [first.release]
    second = reserve(files, place.locks, place.folder, "s1")
    with pytest.raises(SessionExists):
        reserve(Files(), place.locks, place.folder, "s1")
    second.release()
    second.release()
    assert list(place.locks.iterdir()) == []


def test_a_left_over_lock_file_is_taken_again(place: Place) -> None:
    first = reserve(Files(), place.locks, place.folder, "s1")
    (name,) = place.locks.iterdir()
    first.release()
    name.write_bytes(b"")
    reserve(Files(), place.locks, place.folder, "s1").release()


def test_the_lock_directory_is_ours_alone(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.locks.mkdir(mode=0o777)
    place.locks.chmod(0o777)
    reserve(Files(), place.locks, place.folder, "s1").release()
    assert place.locks.stat().st_mode & 0o777 == 0o700
    elsewhere = place.base / "elsewhere"
    elsewhere.mkdir()
    link = place.base / "link"
    link.symlink_to(elsewhere)
    with pytest.raises(StorageFailed):
        reserve(Files(), link, place.folder, "s1")
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(StorageFailed):
        reserve(Files(), place.locks, place.folder, "s1")


def test_a_link_in_place_of_a_lock(place: Place) -> None:
    reserve(Files(), place.locks, place.folder, "s1").release()
    held = reserve(Files(), place.locks, place.folder, "s1")
    (name,) = place.locks.iterdir()
    held.release()
    name.symlink_to(place.base / "target")
    with pytest.raises(StorageFailed):
        reserve(Files(), place.locks, place.folder, "s1")
    assert not (place.base / "target").exists()
