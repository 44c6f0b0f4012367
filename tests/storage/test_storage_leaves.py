"""A leaf that was moved and not appended to is there after a restart, while the file is as it was."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path

import pytest

from pi_daemon.session.errors import StorageFailed
from pi_daemon.storage import leaves
from pi_daemon.storage.leaves import Leaves, MovedLeaf
from tests.storage.support import HEADER, FaultyFiles, Place, chain

A, B = chain("a", "b")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "leaves"


async def test_a_leaf_is_remembered_while_the_file_has_its_size(folder: Path) -> None:
    assert await Leaves(folder).recall("/s/a.jsonl", 5) is None
    await Leaves(folder).remember("/s/a.jsonl", "one", 5)
    await Leaves(folder).remember("/s/a.jsonl", "two", 5)
    await Leaves(folder).remember("/s/b.jsonl", None, 7)
    again = Leaves(folder)
    assert await again.recall("/s/a.jsonl", 5) == MovedLeaf("/s/a.jsonl", "two", 5)
    assert await again.recall("/s/b.jsonl", 7) == MovedLeaf("/s/b.jsonl", None, 7)
    assert await again.recall("/s/a.jsonl", 6) is None
    await again.forget("/s/a.jsonl")
    await again.forget("/s/a.jsonl")
    assert await again.recall("/s/a.jsonl", 5) is None
    assert (folder.stat().st_mode & 0o777, len(list(folder.iterdir()))) == (0o700, 1)
    assert [path.stat().st_mode & 0o777 for path in folder.iterdir()] == [0o600]


async def test_a_log_tells_the_size_that_counts(place: Place) -> None:
    path = place.put([HEADER, A])
    _, log = await place.repository().open(place.ref(path))
    assert log.size == path.stat().st_size
    with open(path, "ab") as file:
        file.write(B[:20])
    await log.look()
    assert log.size == path.stat().st_size
    await log.append([B], synced=False, persist=True)
    assert log.size == path.stat().st_size
    await log.close()
    assert log.size == 0


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"null",
        b"[" * 100_000,
        b'{"location":"/s/a.jsonl","leaf_id":7,"size":5}',
        b'{"location":"/s/other.jsonl","leaf_id":"x","size":5}',
        b'{"location":"/s/a.jsonl","leaf_id":"\xff","size":5}',
        b"\0" * 100,
    ],
)
async def test_what_is_damaged_is_not_remembered(folder: Path, content: bytes) -> None:
    remembered = Leaves(folder)
    await remembered.remember("/s/a.jsonl", "x", 5)
    (path,) = folder.iterdir()
    path.write_bytes(content)
    assert await remembered.recall("/s/a.jsonl", 5) is None
    await remembered.remember("/s/a.jsonl", "x", 5)
    assert await remembered.recall("/s/a.jsonl", 5) is not None


async def test_something_else_in_its_place(folder: Path) -> None:
    remembered = Leaves(folder)
    await remembered.remember("/s/a.jsonl", "x", 5)
    (path,) = folder.iterdir()
    path.unlink()
    path.mkdir()
    assert await remembered.recall("/s/a.jsonl", 5) is None
    with pytest.raises(StorageFailed):
        await remembered.remember("/s/a.jsonl", "x", 5)
    path.rmdir()
    os.mkfifo(path)
    assert await remembered.recall("/s/a.jsonl", 5) is None


async def test_there_is_a_bound(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaves, "MOST_LEAVES", 5)
    remembered = Leaves(folder)
    for number in range(8):
        await remembered.remember(f"/s/{number}", "x", number)
        for age, path in enumerate(sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)):
            os.utime(path, ns=(age, age))
    assert len(list(folder.iterdir())) == 5
    there = [await remembered.recall(f"/s/{number}", number) is not None for number in range(8)]
    assert there == [False] * 3 + [True] * 5


async def test_many_at_a_time(folder: Path) -> None:
    remembered = Leaves(folder)
    await asyncio.gather(*(remembered.remember(f"/s/{number % 3}", str(number), 1) for number in range(30)))
    assert len(list(folder.iterdir())) == 3
    for number in range(3):
        assert await remembered.recall(f"/s/{number}", 1) is not None


async def test_a_failure_leaves_what_was_remembered(folder: Path) -> None:
    for number in range(20):
        files = FaultyFiles()
        remembered = Leaves(folder, files)
        files.fail_at, files.errno = -1, errno.ENOSPC
        await remembered.remember("/s/a", "old", 1)
        files.calls.clear()
        files.fail_at = number
        try:
            await remembered.remember("/s/a", "new", 1)
            failed = False
        except StorageFailed as error:
            failed = True
            assert error.data["errno"] == "ENOSPC"
        through, files.fail_at = len(files.calls) <= number, -1
        leaf = await remembered.recall("/s/a", 1)
        assert leaf is not None
        assert leaf.leaf_id == ("old" if failed else "new")
        if through:
            assert number > 3
            return
    raise AssertionError("it never got through")
