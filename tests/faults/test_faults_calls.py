"""The N-th call of each kind to the system fails, for every N, once and for good, with each error that disks have.

A day in the life of a repository, again and again: each time another call fails, until the day passes without one.
Whatever failed: what was acknowledged is there, each entry once and in order; the rest got an error; what was in a
file before still is; and with a disk that is well again everything goes on.
"""

from __future__ import annotations

import errno
import itertools
import os
import shutil
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from pi_daemon.session.errors import PiDaemonError, SessionFailed, SessionNotFound, StorageFailed
from pi_daemon.storage.journal import FileLog
from pi_daemon.storage.protocols import Written
from tests.faults.support import LONG, Unsynced
from tests.storage.support import CWD, HEADER, TIME, Place, dump, header, ids, message

T = TypeVar("T")

A = message("a", None)
OLD = [dump({"type": "session", "id": "s3", "timestamp": TIME, "cwd": CWD})]
OLD += [dump({"type": "message", "timestamp": TIME, "message": {"role": "user", "content": text}}) for text in "ab"]

KINDS = ["open", "stat", "fstat", "read_into", "read", "write", "position", "fsync", "fdatasync", "ftruncate"]
KINDS += ["chmod", "link", "rename", "unlink", "mkdir", "entries", "lock", "unlock"]

DISK = [errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EINTR]


class Day:
    """What was tried in one run, and what came of it."""

    def __init__(self, place: Place, files: Unsynced, code: int) -> None:
        self.place = place
        self.files = files
        self.code = code
        self.repository = place.repository(files)
        self.logs: list[FileLog] = []
        self.acknowledged: dict[str, list[str]] = {"s1": [], "s2": [], "s3": [], "s4": []}
        self.tried: dict[str, set[str]] = {"s1": set(), "s2": set(), "s3": set(), "s4": set()}
        self.failures = 0

    async def attempt(self, act: Callable[[], Awaitable[T]]) -> T | None:
        """Twice, as a client would. Whatever goes wrong is told as something that went wrong with the storage."""
        for _ in range(2):
            try:
                return await act()
            except (StorageFailed, SessionFailed) as error:
                self.failures += 1
                told = {errno.errorcode[abs(self.code)]} if self.code > 0 else {"ENOSPC"}
                # A log that failed half-way is out of step with its file, and says so.
                assert error.data["errno"] in told | {"EIO", "ESTALE", "EBUSY"}
            except SessionNotFound:
                self.failures += 1  # a directory that can't be read holds nothing
        return None

    async def append(
        self, log: FileLog, *names: str, synced: bool = False, persist: bool = True, size: int = 1
    ) -> None:
        session_id = log.ref.session_id

        async def act() -> Written:
            # Another time they are other entries: the engine sees to it that one id isn't written twice.
            fresh = [f"{name}{'' if self.files.fail_at < 0 else len(self.tried[session_id])}" for name in names]
            self.tried[session_id] |= set(fresh)
            written = await log.append(
                [message(name, None, "x" * size) for name in fresh], synced=synced, persist=persist
            )
            if persist:
                self.acknowledged[session_id] += self.kept.pop(session_id, []) + fresh
            else:
                self.kept.setdefault(session_id, []).extend(fresh)
            return written

        await self.attempt(act)

    async def pass_by(self) -> None:
        self.kept: dict[str, list[str]] = {}
        first = self.place.folder / "s1.jsonl"
        log = await self.opened("s1")
        if log is not None:
            await self.append(log, "b", synced=True)
            with open(first, "ab") as file:
                file.write(message("foreign", "a") + b"\n" + b"torn")
            await self.append(log, "c")
            await self.append(log, "d", "e")
            await self.attempt(log.look)
            await self.append(log, "large", synced=True, size=70_000)
            self.files.time += 60
            await self.attempt(log.look)
            await self.attempt(log.release)
            await self.append(log, "f")
        made = await self.attempt(lambda: self.repository.create(header("s2"), [A], persist=False))
        if made is not None:
            self.logs.append(made[1])
            self.tried["s2"].add("a")
            self.kept["s2"] = ["a"]
            await self.append(made[1], "b", persist=False)
            await self.append(made[1], "c", synced=True)
            await self.append(made[1], "d")
        log = await self.opened("s3")
        if log is not None:
            await self.append(log, "c")
            await self.append(log, "d", synced=True)
        source = self.place.ref(first)
        # One that can't be taken back is there, whole, although its maker was told of a failure.
        self.tried["s4"] |= {"a", "foreign", *self.tried["s1"]}
        made = await self.attempt(lambda: self.repository.copy(source, header("s4")))
        if made is not None:
            self.logs.append(made[1])
            self.acknowledged["s4"] += ids(made[0].heads)
            await self.append(made[1], "g", synced=True)
        await self.attempt(lambda: self.repository.repair(str(self.place.folder / "s5.jsonl")))
        await self.attempt(lambda: self.repository.list(None))
        await self.attempt(lambda: self.repository.find("s1"))

    async def opened(self, session_id: str) -> FileLog | None:
        ref = self.place.ref(self.place.folder / f"{session_id}.jsonl", session_id)
        made = await self.attempt(lambda: self.repository.open(ref))
        if made is None:
            return None
        self.logs.append(made[1])
        return made[1]


def laid_out(base: Path) -> Place:
    place = Place(base)
    place.put([HEADER, A], "s1.jsonl")
    place.put(OLD, "s3.jsonl")
    place.put(b"\n".join([HEADER.replace(b'"s1"', b'"s5"'), A, b"{broken", b""]), "s5.jsonl")
    return place


async def judge(day: Day) -> None:
    """With a disk that is well again."""
    place, real = day.place, day.place.repository()
    folder = place.folder
    before = {"s1": [HEADER, A], "s3": OLD, "s5": [HEADER.replace(b'"s1"', b'"s5"'), A, b"{broken"]}
    original = dict(zip(before, (b"\n".join([*lines, b""]) for lines in before.values()), strict=True))
    assert (folder / "s1.jsonl").read_bytes().startswith(original["s1"])
    for session_id in ("s3", "s5"):
        content = (folder / f"{session_id}.jsonl").read_bytes()
        if not content.startswith(original[session_id]):
            kept = [path for path in place.kept() if path.parent.name == "originals" and session_id in path.name]
            assert [path.read_bytes() for path in kept] == [original[session_id]]
    old_ids: list[str] | None = None
    for session_id, acknowledged in day.acknowledged.items():
        paths = [path for path in folder.iterdir() if path.stem.endswith(session_id) and path.suffix == ".jsonl"]
        assert len(paths) <= 1
        if not paths:
            assert acknowledged == []
            continue
        loaded, log = await real.open(place.ref(paths[0], session_id), recover=True)
        found = ids(loaded.heads)
        if session_id == "s3":
            old_ids = found[:2]
        had = {"s1": ["a", "foreign"], "s3": old_ids or []}.get(session_id, [])
        assert [name for name in found if name in set(acknowledged)] == acknowledged
        assert set(found) <= {*had, *day.tried[session_id]}
        assert len(set(found)) == len(found)
        assert {damage.kind for damage in loaded.damage} <= {"tornTail", "notJson"}
        assert b"".join(await log.read(loaded.heads)).count(b'"message"') >= len(found)
        await log.close()


async def go_on(day: Day) -> None:
    """The same logs, if they can: a failed sync ends one, and one that got out of step is opened again."""
    for log in day.logs:
        try:
            await log.append([message("after", None)], synced=True, persist=True)
        except SessionFailed:
            continue
        except StorageFailed as error:
            assert error.data["errno"] in ("ESTALE", "EIO", "ENOENT")
            found = await log.look()
            assert found.replaced
            assert found.lost == []
            continue
        loaded, again = await day.place.repository().open(log.ref, recover=True)
        assert ids(loaded.heads)[-1] == "after"
        await again.close()


async def one_day(base: Path, kind: str, number: int, lasting: bool, code: int) -> bool:
    """Whether the call that was to fail was never made."""
    place = laid_out(base)
    files = Unsynced()
    files.fail_kind, files.fail_at, files.lasting, files.errno = kind, number, lasting, code
    descriptors = len(os.listdir("/proc/self/fd"))
    day = Day(place, files, code)
    await day.pass_by()
    through = files.calls.count(kind) <= number
    files.fail_at = -1
    assert through <= (day.failures == 0)
    try:
        await judge(day)
        await go_on(day)
        if kind not in ("unlink", "stat", "fstat"):
            assert [path for path in place.strays() if not lasting] == []
        for log in day.logs:
            await log.close()
    except (AssertionError, PiDaemonError) as error:
        raise AssertionError(f"call {number} of {kind}, {code}, {'for good' if lasting else 'once'}") from error
    assert len(os.listdir("/proc/self/fd")) <= descriptors
    shutil.rmtree(base)
    return through


def codes(kind: str, lasting: bool) -> Iterator[list[int]]:
    """Which errors the N-th call fails with: all of them, or one after the other."""
    every = [*DISK, *([-1, -60] if kind == "write" else [])]
    return itertools.repeat(every) if LONG else ([code] for code in itertools.cycle(every))


@pytest.mark.slow
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "for good"])
@pytest.mark.parametrize("kind", KINDS)
async def test_the_nth_call_of_each_kind_fails(tmp_path: Path, kind: str, lasting: bool) -> None:
    for number, each in zip(range(500), codes(kind, lasting), strict=False):
        through = [await one_day(tmp_path / f"{number}.{code}", kind, number, lasting, code) for code in each]
        if all(through):
            return
    raise AssertionError("it never got through")


async def test_every_kind_of_call_is_made(tmp_path: Path) -> None:
    day = Day(laid_out(tmp_path), Unsynced(), 5)
    await day.pass_by()
    assert day.failures == 0
    assert set(day.files.calls) == set(KINDS) - {"ftruncate", "position"}  # those two follow upon a mishap
    assert {name: len(found) for name, found in day.acknowledged.items()} == {"s1": 6, "s2": 4, "s3": 2, "s4": 9}
    for log in day.logs:
        await log.close()
