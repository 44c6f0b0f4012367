"""The power goes, after any call: whatever of the unsynced has reached the disk, each `synced` entry is there.

What was in a file before is there too, and with the power back it goes on.
"""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from pi_daemon.session.errors import SessionCorrupted
from pi_daemon.storage.files import FileRepository
from pi_daemon.storage.journal import FileLog
from tests.faults.power import PowerFiles, after, choices, pending, points, required
from tests.faults.support import LONG, Unsynced
from tests.storage.support import CWD, HEADER, TIME, Place, chain, dump, header, ids, message

A, B, C, D, E = chain("a", "b", "c", "d", "e")
F = message("f", "e")
OLD = [dump({"type": "session", "id": "s1", "timestamp": TIME, "cwd": CWD})]
OLD += [dump({"type": "message", "timestamp": TIME, "message": {"role": "user", "content": text}}) for text in "ab"]

BEFORE = {"s1": [HEADER, A], "old": OLD, "broken": [HEADER, A, b"{broken", B]}

BOUND = 4096 if LONG else 40
"""Combinations for each moment."""

Run = Callable[[Place, FileRepository, PowerFiles], Awaitable[FileLog | None]]


async def append(place: Place, repository: FileRepository, files: PowerFiles) -> FileLog | None:
    path = place.folder / "s1.jsonl"
    _, log = await repository.open(place.ref(path))
    files.acknowledge("s1", A)
    await log.append([B], synced=False, persist=True)
    await log.append([C], synced=True, persist=True)
    files.acknowledge("s1", B, C)
    files.stranger(path, message("foreign", "c") + b"\n" + b"torn")
    await log.append([D], synced=False, persist=True)
    await log.append([E, message("large", "e", "x" * 70_000)], synced=False, persist=True)
    await log.append([F], synced=True, persist=True)
    files.acknowledge("s1", D, E, F)
    return log


async def create(place: Place, repository: FileRepository, files: PowerFiles) -> FileLog | None:
    _, log = await repository.create(header("s2"), [A], persist=False)
    await log.append([B], synced=False, persist=True)
    await log.append([C], synced=True, persist=True)
    files.acknowledge("s2", A, B, C)
    return log


async def create_synced(place: Place, repository: FileRepository, files: PowerFiles) -> FileLog | None:
    _, log = await repository.create(header("s2"), [A], persist=False)
    await log.append([B], synced=True, persist=True)
    files.acknowledge("s2", A, B)
    return log


async def create_at_once(place: Place, repository: FileRepository, files: PowerFiles) -> FileLog | None:
    _, log = await repository.create(header("s2"), [A, B], persist=True)
    files.acknowledge("s2", A, B)
    return log


async def somebody_elses(place: Place, repository: FileRepository, files: PowerFiles) -> FileLog | None:
    """As pi makes one: nobody has synced its name."""
    files.appear(place.folder / "s2.jsonl", b"\n".join([HEADER.replace(b'"s1"', b'"s2"'), A, b""]))
    _, log = await repository.open(place.ref(place.folder / "s2.jsonl", "s2"))
    await log.append([B], synced=True, persist=True)
    files.acknowledge("s2", A, B)
    return log


async def copy(place: Place, repository: FileRepository, files: PowerFiles) -> FileLog | None:
    _, log = await repository.copy(place.ref(place.folder / "s1.jsonl"), header("s2"))
    files.acknowledge("s2", A)
    return log


async def migrate(place: Place, repository: FileRepository, files: PowerFiles) -> FileLog | None:
    loaded, log = await repository.open(place.ref(place.folder / "old.jsonl"))
    before = await log.read(loaded.heads)
    files.acknowledge("old", *before)
    await log.append([C], synced=False, persist=True)
    await log.append([D], synced=True, persist=True)
    files.acknowledge("old", C, D)
    return log


async def repair(place: Place, repository: FileRepository, files: PowerFiles) -> FileLog | None:
    await repository.repair(str(place.folder / "broken.jsonl"))
    files.acknowledge("broken", A, B)
    return None


async def short(place: Place, repository: FileRepository, files: PowerFiles) -> FileLog | None:
    """A write that was cut short and taken back."""
    path = place.folder / "s1.jsonl"
    _, log = await repository.open(place.ref(path))
    files.acknowledge("s1", A)
    fd = log._opened().fd
    files.write(fd, B[:40])
    files.ftruncate(fd, path.stat().st_size - 40)
    await log.append([C], synced=True, persist=True)
    files.acknowledge("s1", C)
    return log


@pytest.mark.slow
@pytest.mark.parametrize(
    "run", [append, create, create_synced, create_at_once, somebody_elses, copy, migrate, repair, short]
)
async def test_the_power_goes(tmp_path: Path, run: Run) -> None:
    place = Place(tmp_path / "before")
    for name, lines in BEFORE.items():
        place.put(lines, f"{name}.jsonl")
    files = PowerFiles(tmp_path / "before")
    log = await run(place, place.repository(files), files)
    if log is not None:
        await log.close()
    tried = 0
    for noted in points(files.noted):
        changes = pending(noted)
        for chosen in choices(changes, BOUND, seed=len(noted)):
            tried += 1
            crashed = Place(tmp_path / "after")
            after(files, noted, chosen).put(place.base, crashed.base)
            try:
                await judge(crashed, required(noted))
            except BaseException as error:
                error.add_note(f"after {noted[-1:]}; {list(zip(chosen, changes, strict=True))}")
                raise
            shutil.rmtree(crashed.base)
    assert tried > len(files.noted)


async def judge(place: Place, lines: dict[str, list[bytes]]) -> None:
    """Everything that was promised is there. What is there besides may be damage."""
    for session_id in {"s1", "old", "broken", *lines}:
        paths = [path for path in place.folder.iterdir() if path.stem.endswith(session_id) and path.suffix == ".jsonl"]
        assert len(paths) == 1, f"{session_id} is gone"
        original = b"\n".join([*BEFORE.get(session_id, []), b""])
        if session_id in BEFORE and not paths[0].read_bytes().startswith(original):
            assert original in [path.read_bytes() for path in place.kept()], "the original was not kept"
        repository = place.repository(Unsynced())
        ref = place.ref(paths[0], "s2" if session_id == "s2" else "s1")
        content = paths[0].read_bytes()
        try:
            loaded, log = await repository.open(ref)
        except SessionCorrupted as refused:
            # What was not synced has lost ancestors to it; what was has not.
            assert refused.data["recoverable"]
            loaded, log = await repository.open(ref, recover=True)
        assert paths[0].read_bytes() == content
        found = dict(zip(ids(loaded.heads), await log.read(loaded.heads), strict=True))
        for line in lines.get(session_id, []):
            assert line in found.values(), line
        await log.append([message("after", None)], synced=True, persist=True)
        await log.close()
        again, log = await repository.open(ref, recover=True)
        assert ids(again.heads) == [*ids(loaded.heads), "after"]
        await log.close()
