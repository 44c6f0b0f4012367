"""An index that is damaged, lost or left half-written costs time, and nothing else."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.storage.indexing import Desk, answer, desk
from tests.storage.support import HEADER, Place, message

REPOSITORY = Path(__file__).parents[2]


def fill(place: Place, sessions: int = 30) -> None:
    for number in range(sessions):
        lines = [HEADER.replace(b"s1", b"n%d" % number), message("a", None, f"word number{number}x")]
        lines += [answer(f"b{n}", "a", f"an answer of many words {n} " * 20) for n in range(10)]
        place.put(lines, f"{number}.jsonl")


async def check(place: Place, sessions: int = 30) -> None:
    """A daemon says what is in the files, whatever it finds in its state directory; and so does the next one."""
    for _ in range(2):
        async with desk(place) as made:
            listed = await made.listed()
            assert sorted(one.first_message for one in listed) == sorted(f"word number{n}x" for n in range(sessions))
            assert {one.message_count for one in listed} == {11}
            assert (await made.indexed.totals(None)).replies == 10 * sessions - (sessions - 1) * 10
            await made.indexed_all()
            assert len(await made.hits("number7x")) == 1
            assert len(await made.hits("word number", role="user", limit=100)) == sessions


PLACES = [0.0, 0.0001, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["zeros", "noise", "cut"])
async def test_a_damaged_file(place: Place, kind: str) -> None:
    fill(place)
    async with desk(place) as made:
        await made.indexed_all()
        path = made.path
    sound = path.read_bytes()
    for share in PLACES:
        at = int(share * len(sound))
        length = min(6000, len(sound) - at)
        if kind == "cut":
            damaged = sound[:at]
        else:
            piece = bytes(length) if kind == "zeros" else bytes(n * 37 % 251 for n in range(length))
            damaged = sound[:at] + piece + sound[at + length :]
        for suffix in ("-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        path.write_bytes(damaged)
        async with desk(place) as made:
            listed = await made.listed()
            assert sorted(one.first_message for one in listed) == sorted(f"word number{n}x" for n in range(30))
            await made.indexed_all()
            page = await made.search("number7x")
            assert {hit.entry_id for hit in page.hits} <= {"a"}
            assert (await made.indexed.totals(None)).replies == 10
            await made.indexed_all()
        if path.read_bytes()[:16] != b"SQLite format 3\0":
            raise AssertionError("the index was not made anew")


async def test_rows_that_were_forged(place: Place) -> None:
    fill(place)
    async with desk(place) as made:
        await made.indexed_all()
        path = made.path
    connection = sqlite3.connect(path)
    connection.execute("UPDATE sessions SET row = replace(row, x'776f7264', x'57305264')")
    connection.execute("UPDATE replies SET data = x'00' || data")
    connection.commit()
    connection.close()
    await check(place)


async def test_rows_of_another_file(place: Place) -> None:
    """A file that has the identity and the size of the one that was known, and other bytes at its end."""
    path = place.put([HEADER, message("a", None, "one word")])
    async with desk(place) as made:
        await made.listed()
        await made.indexed_all()
    state = path.stat()
    with open(path, "r+b") as file:
        content = file.read()
        file.seek(0)
        file.write(content.replace(b"one", b"two"))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    async with desk(place) as made:
        assert [one.first_message for one in await made.listed()] == ["two word"]
        await made.indexed_all()
        assert await made.ids("two") == ["a"]
        assert await made.ids("one") == []


@pytest.mark.parametrize("what", ["folder", "pipe", "link", "unreadable", "text", "empty"])
async def test_something_else_is_where_the_index_was(place: Place, what: str) -> None:
    fill(place, 3)
    path = Desk(place).path
    path.parent.mkdir(parents=True)
    match what:
        case "folder":
            (path / "x").mkdir(parents=True)
        case "pipe":
            os.mkfifo(path)
        case "link":
            path.symlink_to("/nowhere/at/all")
        case "unreadable":
            path.write_bytes(b"x")
            path.chmod(0)
        case "text":
            path.write_bytes(b"this is no database " * 1000)
        case "empty":
            path.write_bytes(b"")
    async with desk(place) as made:
        assert len(await made.listed()) == 3
        await made.search("word")
        assert (await made.indexed.totals(None)).replies == 10


@pytest.mark.slow
async def test_a_daemon_is_killed_while_it_indexes(place: Place) -> None:
    fill(place, 200)
    script = (
        "import asyncio, os, signal, sys\n"
        "from pathlib import Path\n"
        "from pi_daemon.storage.index import blocks, keeper\n"
        "from tests.storage.indexing import Desk\n"
        "from tests.storage.support import Place\n"
        "keeper.PORTION_CHARS = 20_000\n"
        "write, left = blocks.write, [int(sys.argv[2])]\n"
        "def write_some(*args, **more):\n"
        "    write(*args, **more)\n"
        "    left[0] -= 1\n"
        "    if not left[0]:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "blocks.write = write_some\n"
        "async def main():\n"
        "    made = Desk(Place(Path(sys.argv[1])))\n"
        "    made.indexed.follow()\n"
        "    await made.indexed_all()\n"
        "asyncio.run(main())\n"
    )
    for portions in (1, 2, 5, 9):
        done = subprocess.run([sys.executable, "-c", script, str(place.base), str(portions)], cwd=REPOSITORY)
        assert done.returncode == -signal.SIGKILL
    await check(place, 200)
