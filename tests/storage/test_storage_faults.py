"""Every call to the system fails once, and then for good, at every place: nothing is lost, nothing is left behind.

Each operation is run again and again; the first time its first call fails, then its second, until it gets through.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from pi_daemon.session.errors import PiDaemonError, ReadOnly, SessionFailed, SessionNotFound, StorageFailed
from pi_daemon.storage.files import FileRepository
from pi_daemon.storage.journal import FileLog
from tests.storage.support import HEADER, FaultyFiles, Place, dump, header, ids, message

A, B, C, D = (message(name, None) for name in "abcd")
V1 = [dump({"type": "session", "id": "s1", "timestamp": "2025-01-01T00:00:00.000Z", "cwd": "/home/me/project"})]
V1 += [dump({"type": "message", "timestamp": "", "message": {"role": "user", "content": text}}) for text in "ab"]

Run = Callable[[Place, FileRepository, list[FileLog]], Awaitable[object]]


async def append(place: Place, repository: FileRepository, logs: list[FileLog]) -> object:
    _, log = await repository.open(place.ref(place.folder / "s1.jsonl"))
    logs.append(log)
    with open(log.ref.location, "ab") as file:
        file.write(B + b"\n" + b"torn")
    return await log.append([C], synced=True, persist=True)


async def create(place: Place, repository: FileRepository, logs: list[FileLog]) -> object:
    _, log = await repository.create(header("s2"), [A, B], persist=True)
    logs.append(log)
    return await log.append([C], synced=False, persist=True)


async def keep_then_write(place: Place, repository: FileRepository, logs: list[FileLog]) -> object:
    loaded, log = await repository.create(header("s2"), [A], persist=False)
    logs.append(log)
    await log.append([B], synced=True, persist=False)
    await log.append([C], synced=True, persist=True)
    return await log.read(loaded.heads)


async def copy(place: Place, repository: FileRepository, logs: list[FileLog]) -> object:
    _, log = await repository.copy(place.ref(place.folder / "s1.jsonl"), header("s2"))
    logs.append(log)
    return log


async def migrate(place: Place, repository: FileRepository, logs: list[FileLog]) -> object:
    (place.folder / "s1.jsonl").write_bytes(b"\n".join([*V1, b""]))
    _, log = await repository.open(place.ref(place.folder / "s1.jsonl"))
    logs.append(log)
    return await log.append([C], synced=True, persist=True)


async def repair(place: Place, repository: FileRepository, logs: list[FileLog]) -> object:
    path = place.folder / "s1.jsonl"
    path.write_bytes(b"\n".join([HEADER, A, b"{", b""]))
    return await repository.repair(str(path))


async def look_around(place: Place, repository: FileRepository, logs: list[FileLog]) -> object:
    (place.sessions / "link").symlink_to(place.base)
    await repository.list(None)
    path = place.folder / "s1.jsonl"
    try:
        await repository.find("s1")
        await repository.ref(str(path))
        await repository.check(str(path))
    except SessionNotFound:
        pass  # a folder that can't be read holds nothing
    return None


RUNS: list[Run] = [append, create, keep_then_write, copy, migrate, repair, look_around]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lasting", "code"),
    [(False, errno.EIO), (False, errno.EACCES), (True, errno.ENOSPC)],
    ids=["once", "once, as a permission", "for good"],
)
@pytest.mark.parametrize("run", RUNS)
async def test_every_call_fails(tmp_path: Path, run: Run, lasting: bool, code: int) -> None:
    for number in range(200):
        place = Place(tmp_path / str(number))
        place.put([HEADER, A], "s1.jsonl")
        files = FaultyFiles()
        files.fail_at, files.lasting, files.errno = number, lasting, code
        descriptors = len(os.listdir("/proc/self/fd"))
        logs: list[FileLog] = []
        failed: PiDaemonError | None = None
        try:
            await run(place, place.repository(files), logs)
        except (StorageFailed, SessionFailed) as error:
            failed = error
        except ReadOnly:
            assert code == errno.EACCES  # opened all the same, to be read
        through = len(files.calls) <= number
        files.fail_at = -1
        assert through or failed is None or failed.data["errno"] == errno.errorcode[code]
        await still_sound(place, files, logs, failed, swept=not lasting and files.calls[number:][:1] != ["unlink"])
        for log in logs:
            await log.close()
        assert len(os.listdir("/proc/self/fd")) == descriptors
        shutil.rmtree(place.base)
        if through:
            assert failed is None
            return
    raise AssertionError("it never got through")


async def still_sound(
    place: Place, files: FaultyFiles, logs: list[FileLog], failed: PiDaemonError | None, swept: bool
) -> None:
    """Everything that was in a file still is, a failed operation left nothing, and the log goes on."""
    if swept:
        assert place.strays() == []
    real = place.repository()
    first = place.folder / "s1.jsonl"
    loaded, log = await real.open(place.ref(first))
    logs.append(log)
    if first.read_bytes().startswith(V1[0][:-1]):
        assert len(loaded.heads) in (2, 3)
        assert [b'"content":"a"' in line for line in await log.read(loaded.heads[:2])] == [True, False]
    else:
        assert ids(loaded.heads)[0] == "a"
    second = list(place.folder.glob("*_s2.jsonl"))
    if failed is not None and not second and logs[0].ref.session_id != "s2":
        other, log = await real.create(header("s2"), [A], persist=True)
        logs.append(log)
    elif second:
        other, log = await real.open(await real.find("s2"))
        logs.append(log)
        assert ids(other.heads)[:1] == ["a"]
        assert other.damage == []
    if failed is None or isinstance(failed, SessionFailed) or not logs:
        return
    log = logs[0]
    try:
        await log.append([D], synced=True, persist=True)
    except StorageFailed as error:
        assert error.data["errno"] in ("ESTALE", "EIO")  # failed half-way: the engine opens the session again
        assert (await log.look()).replaced
        return
    again, log = await real.open(log.ref)
    logs.append(log)
    assert "d" in ids(again.heads)
    assert {"tornTail", "notJson"}.issuperset(damage.kind for damage in again.damage)


async def test_a_disk_that_has_room_again(place: Place) -> None:
    files = FaultyFiles()
    _, log = await place.repository(files).create(header(), [A], persist=False)
    files.fail["write"] = [errno.ENOSPC, -5, errno.ENOSPC]
    files.fail["fsync"] = [errno.EIO]
    for _ in range(3):
        with pytest.raises(StorageFailed):
            await log.append([B], synced=True, persist=True)
        assert not log.persisted
        assert place.strays() == []
        assert list(place.folder.iterdir()) == []
    await log.append([B], synced=True, persist=True)
    assert Path(log.ref.location).read_bytes() == b"\n".join([HEADER, A, B, b""])


async def test_a_write_cut_short_by_the_system_itself(place: Place) -> None:
    """A file size limit, as a child process has it."""
    import subprocess
    import sys

    path = place.put([HEADER, A])
    code = f"""
import asyncio, resource, sys
from pathlib import Path
from pi_daemon.session.errors import StorageFailed
from tests.storage.support import Place, message
async def main():
    place = Place(Path({str(place.base)!r}))
    _, log = await place.repository().open(place.ref(Path({str(path)!r})))
    resource.setrlimit(resource.RLIMIT_FSIZE, ({path.stat().st_size + 40}, resource.RLIM_INFINITY))
    for synced in (False, True):
        try:
            await log.append([message("b", None)], synced=synced, persist=True)
        except StorageFailed as error:
            print(error.data["errno"])
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await log.append([message("b", None)], synced=True, persist=True)
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert (done.stdout.split(), done.stderr) == (["ENOSPC", "ENOSPC"], "")
    assert path.read_bytes() == b"\n".join([HEADER, A, B, b""])
