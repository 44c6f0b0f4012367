"""One writer at a time between daemons: who has the lease, who is told of it, and what happens to its holder."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pi_daemon.session.errors import ReadOnly, StorageFailed, WriterBusy
from pi_daemon.storage.files import FileRepository
from pi_daemon.storage.journal import GIVEN_SECONDS
from pi_daemon.storage.layout import Layout
from pi_daemon.storage.lease import Lease, Notes, held_elsewhere
from pi_daemon.storage.protocols import Owner
from pi_daemon.storage.system import Files
from tests.storage.support import CWD, HEADER, TIME, FaultyFiles, Place, chain, dump, header, ids, message

A, B, C, D = chain("a", "b", "c", "d")
REPOSITORY = Path(__file__).parents[2]


def other(place: Place) -> FileRepository:
    """Another daemon's: its state is elsewhere, the sessions and the user are the same."""
    return FileRepository(Layout(place.sessions, place.flat), place.base / "other", lock_dir=place.locks)


def notes(place: Place) -> list[str]:
    folder = place.base / "writers"
    return sorted(path.read_text() for path in folder.iterdir()) if folder.exists() else []


async def test_the_first_writer_keeps_the_file_until_it_lets_go(place: Place) -> None:
    path = place.put([HEADER, A])
    _, first = await place.repository().open(place.ref(path))
    loaded, second = await other(place).open(place.ref(path))
    assert (first.held, await first.owner(), notes(place)) == (False, None, [])
    await first.append([B], synced=False, persist=True)
    assert (first.held, second.held) == (True, False)
    for synced in (False, True):
        with pytest.raises(WriterBusy) as caught:
            await second.append([C], synced=synced, persist=True)
    owner = caught.value.data["owner"]
    assert (owner["pid"], owner["host"], owner["client"]) == (os.getpid(), os.uname().nodename, None)
    assert owner["since"].endswith("Z")
    assert str(os.getpid()) in caught.value.message
    with pytest.raises(WriterBusy):
        await second.take()
    assert ids((await second.look()).heads) == ["b"]
    assert await second.read(loaded.heads) == [A]
    await first.release()
    assert (first.held, notes(place)) == (False, [])
    await second.append([C], synced=True, persist=True)
    with pytest.raises(WriterBusy):
        await first.append([D], synced=True, persist=True)
    await second.close()
    assert notes(place) == []
    written = await first.append([D], synced=False, persist=True)
    assert ids(written.foreign) == ["c"]
    assert path.read_bytes() == b"\n".join([HEADER, A, B, C, D, b""])


async def test_who_lets_go_of_it_lets_the_other_one_come(place: Place) -> None:
    path, files = place.put([HEADER, A]), FaultyFiles()
    _, first = await place.repository(files).open(place.ref(path))
    _, second = await other(place).open(place.ref(path))
    await first.append([B], synced=False, persist=True)
    await first.release()
    files.before["sleep"] = [lambda: asyncio.run(second.take())]
    with pytest.raises(WriterBusy):
        await first.take()
    await second.append([C], synced=False, persist=True)
    await second.close()
    await first.append([D], synced=False, persist=True)
    assert path.read_bytes() == b"\n".join([HEADER, A, B, C, D, b""])


async def test_who_lets_go_of_it_for_nobody_takes_it_again(place: Place) -> None:
    path, files = place.put([HEADER, A]), FaultyFiles()
    _, log = await place.repository(files).open(place.ref(path))
    await log.append([B], synced=False, persist=True)
    for durable in (False, True):
        await log.release()
        slept = files.slept
        await log.append([C], synced=durable, persist=True)
        assert log.held
        assert 0 < files.slept - slept <= GIVEN_SECONDS
        slept = files.slept
        await log.append([D], synced=durable, persist=True)
        await log.release()
        await log.take(asked=True)
        assert files.slept == slept


async def test_who_holds_it_is_named_with_its_client(place: Place) -> None:
    path = place.put([HEADER, A])
    layout = Layout(place.sessions, False)
    mine = FileRepository(layout, place.state, lock_dir=place.locks, contact="/run/socket")
    _, first = await mine.open(place.ref(path))
    _, second = await other(place).open(place.ref(path))
    await first.take("an editor")
    await first.take()
    owner = await second.owner()
    assert owner == await first.owner()
    assert owner is not None
    assert (owner.client, owner.contact) == ("an editor", "/run/socket")
    await first.take("another")
    with pytest.raises(WriterBusy, match="for another") as caught:
        await second.take()
    assert sorted(caught.value.data["owner"]) == ["client", "host", "pid", "since"]
    await first.release()
    await first.release()
    await second.take("a third")
    assert (await first.owner() or owner).client == "a third"


async def test_a_log_that_may_not_write_takes_nothing(place: Place) -> None:
    path = place.put([HEADER.replace(b'"version":3', b'"version":4')])
    _, log = await place.repository().open(place.ref(path))
    with pytest.raises(ReadOnly):
        await log.take()
    path = place.put([HEADER, A])
    _, log = await place.repository().open(place.ref(path))
    await log.close()
    with pytest.raises(StorageFailed):
        await log.take()
    await log.release()
    assert await log.owner() is None
    assert notes(place) == []


async def test_who_creates_a_session_holds_it(place: Place) -> None:
    repository = place.repository()
    _, created = await repository.create(header("s1"), [A], persist=True)
    _, copied = await repository.copy(created.ref, header("s2"))
    _, kept = await repository.create(header("s3"), [A], persist=False)
    await kept.take("a client")
    assert (created.held, copied.held, kept.held, await kept.owner()) == (True, True, False, None)
    await kept.append([B], synced=False, persist=True)
    assert kept.held
    for log in (created, copied, kept):
        _, again = await other(place).open(log.ref)
        with pytest.raises(WriterBusy):
            await again.append([C], synced=True, persist=True)
        await again.close()
        await log.close()
    assert notes(place) == []


async def test_a_new_file_is_held_before_it_has_its_name(place: Place) -> None:
    files = FaultyFiles()
    _, log = await place.repository(files).create(header(), [A], persist=False)
    busy: list[bool] = []

    def look() -> None:
        fd = os.open(log.ref.location, os.O_RDWR)
        busy.append(not Files().lock(fd))
        os.close(fd)

    files.before["unlink"] = [look]
    await log.append([B], synced=False, persist=True)
    assert busy == [True]


OLD = [dump({"type": "session", "id": "s1", "timestamp": TIME, "cwd": CWD})]
OLD += [dump({"type": "message", "timestamp": TIME, "message": {"role": "user", "content": text}}) for text in "ab"]


async def test_a_migration_takes_the_lease_along(place: Place) -> None:
    path = place.put(OLD)
    files = FaultyFiles()
    _, first = await place.repository(files).open(place.ref(path))
    _, second = await other(place).open(place.ref(path))
    await first.take("an editor")
    busy: list[bool] = []

    async def refused() -> None:
        loaded, late = await other(place).open(place.ref(path))
        with pytest.raises(WriterBusy):
            await late.append([message("x", loaded.heads[-1].id)], synced=True, persist=True)
        busy.append(loaded.migrates)
        await late.close()

    # As soon as the new file has its name, and while the old one had it.
    files.before["chmod"] = [lambda: asyncio.run(refused())]
    files.before["fstat"] = [None] * 5 + [lambda: asyncio.run(refused())]
    await first.append([C], synced=False, persist=True)
    await refused()
    assert busy == [True, False, False]
    with pytest.raises(StorageFailed) as caught:
        await second.append([D], synced=True, persist=True)
    assert caught.value.data["errno"] == "ESTALE"
    assert not second.held
    assert len(notes(place)) == 1
    await first.close()
    assert notes(place) == []
    assert path.read_bytes().endswith(C + b"\n")


async def test_a_migration_that_fails_keeps_the_lease(place: Place) -> None:
    path = place.put(OLD)
    files = FaultyFiles()
    _, first = await place.repository(files).open(place.ref(path))
    _, second = await other(place).open(place.ref(path))
    files.fail["rename"] = [errno.ENOSPC] * 2
    with pytest.raises(StorageFailed):
        await first.append([C], synced=False, persist=True)
    assert first.held
    with pytest.raises(WriterBusy):
        await second.take()


async def test_a_file_that_was_replaced_is_held_no_longer(place: Place) -> None:
    path = place.put([HEADER, A])
    _, first = await place.repository().open(place.ref(path))
    await first.take()
    place.put([HEADER, B], "new.jsonl").rename(path)
    _, second = await other(place).open(place.ref(path))
    await second.append([C], synced=False, persist=True)
    assert (await first.look()).replaced
    assert not first.held
    for _ in range(2):
        with pytest.raises(StorageFailed):
            await first.take()
        assert not first.held
    with pytest.raises(StorageFailed):
        await first.append([D], synced=False, persist=True)
    assert path.read_bytes() == b"\n".join([HEADER, B, C, b""])


async def test_repair_and_delete_leave_alone_what_another_process_holds(place: Place) -> None:
    path = place.put([HEADER, A, b"{"])
    process = await holder(path)
    for act in (place.repository().repair(str(path)), place.repository().delete(place.ref(path))):
        with pytest.raises(WriterBusy):
            await act
    process.kill()
    await process.wait()
    _, log = await place.repository().open(place.ref(path))
    await log.take()
    fd = os.open(path, os.O_RDONLY)
    held_elsewhere(Files(), Notes(Files(), place.locks), path, fd)  # by ourselves: who asks has closed it, or knows
    await log.release()
    held_elsewhere(Files(), Notes(Files(), place.locks), path, fd)
    await log.take()
    os.close(fd)
    with pytest.raises(WriterBusy):
        await place.repository().repair(str(path))
    await log.close()
    assert (await place.repository().repair(str(path))).original_kept_at is not None


async def holder(path: Path) -> asyncio.subprocess.Process:
    """A process that holds the file and says nothing of it."""
    code = "import fcntl, sys, time; f = open(sys.argv[1], 'r+'); fcntl.flock(f, 2); print(flush=True); time.sleep(60)"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, str(path), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    await process.stdout.readline()
    return process


async def test_a_holder_who_does_not_say_who_it_is(place: Place) -> None:
    path = place.put([HEADER, A])
    process = await holder(path)
    _, log = await place.repository().open(place.ref(path))
    with pytest.raises(WriterBusy) as caught:
        await log.append([B], synced=True, persist=True)
    assert caught.value.data == {"owner": None}
    process.kill()
    await process.wait()
    await log.append([B], synced=True, persist=True)


async def test_a_file_system_without_locks(place: Place) -> None:
    path = place.put([HEADER, A])
    files = FaultyFiles()
    _, log = await place.repository(files).open(place.ref(path))
    for code in (errno.ENOLCK, errno.EOPNOTSUPP):
        files.fail["lock"] = [code]
        with pytest.raises(StorageFailed, match="no locks"):
            await log.append([B], synced=False, persist=True)
        assert not log.held
    files.fail["lock"] = [errno.ENOLCK]
    with pytest.raises(StorageFailed, match="no locks"):
        await place.repository(files).create(header("s2"), [A], persist=True)
    assert place.strays() == []


# What is said of a holder


def lease(place: Place, path: Path, files: Files | None = None) -> tuple[Lease, int]:
    said = Notes(files or Files(), place.base / "writers")
    return Lease(Files(), said, path), os.open(path, os.O_RDWR)


def test_a_note_is_no_lock_and_may_lie(place: Place) -> None:
    path = place.put([HEADER])
    one, fd = lease(place, path)
    state = os.fstat(fd)
    one.take(fd, state)
    (note,) = (place.base / "writers").iterdir()
    assert (note.stat().st_mode & 0o777, note.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    two, other_fd = lease(place, path)
    gone = subprocess.Popen(["true"])
    gone.wait()
    host = os.uname().nodename
    for content in (
        b"",
        b"{",
        b"[]",
        b"[" * 3000,
        b'{"pid":"1"}',
        b'{"pid":0,"host":"","since":""}',
        b'{"pid":-1,"host":"","since":""}',
        b'{"pid":%d,"host":"%s","since":""}' % (gone.pid, host.encode()),
        b'{"pid":%d,"host":"%s","since":""}' % (2**40, host.encode()),
        b'{"pid":1,"host":"%s","since":""}' % (b"h" * 5000),
        b'{"pid":1,"host":"\xff","since":""}',
    ):
        note.write_bytes(content)
        with pytest.raises(WriterBusy) as caught:
            two.take(other_fd, state)
        assert caught.value.data == {"owner": None}, content
    for pid, name in ((1, host), (gone.pid, "elsewhere")):
        note.write_bytes(b'{"pid":%d,"host":"%s","since":"x","more":1}' % (pid, name.encode()))
        with pytest.raises(WriterBusy) as caught:
            two.take(other_fd, state)
        assert caught.value.data["owner"] == {"pid": pid, "host": name, "since": "x", "client": None}
    note.unlink()
    note.symlink_to(path)
    assert two.owner(state) is None
    note.unlink()
    note.mkdir()
    assert two.owner(state) is None
    one.release(fd)
    two.take(other_fd, state)
    assert two.held
    for each in (fd, other_fd):
        os.close(each)


def test_a_note_that_cannot_be_written_is_not_said(place: Place) -> None:
    path = place.put([HEADER])
    for number in range(10):
        files = FaultyFiles()
        files.fail_at, files.lasting, files.errno = number, True, errno.ENOSPC
        one, fd = lease(place, path, files)
        one.take(fd, os.fstat(fd), "a client")
        assert one.held
        one.release(fd)
        one.take(fd, os.fstat(fd))
        os.close(fd)
    (place.base / "writers").chmod(0o755)
    one, fd = lease(place, path)
    one.take(fd, os.fstat(fd))
    assert (one.owner(os.fstat(fd)) or Owner(1, "", "")).pid == os.getpid()
    one.release(fd)
    os.close(fd)


def test_what_killed_processes_said_is_dropped(place: Place) -> None:
    path = place.put([HEADER])
    folder = place.base / "writers"
    folder.mkdir()
    (folder / "1-1.json").write_bytes(b'{"pid":%d,"host":"%s","since":""}' % (2**22 + 1, os.uname().nodename.encode()))
    (folder / "1-2.json").write_bytes(b'{"pid":1,"host":"%s","since":""}' % os.uname().nodename.encode())
    one, fd = lease(place, path)
    one.take(fd, os.fstat(fd))
    assert len(notes(place)) == 2
    os.close(fd)


# Processes that stop

STOPPING = '''
import asyncio, os, signal, sys
from pathlib import Path
from tests.storage.support import FaultyFiles, Place, message

class Stopping(FaultyFiles):
    """Stops its process before the call with that number."""
    stop_at = -1
    def _call(self, name):
        if len(self.calls) == self.stop_at:
            print("stopping", flush=True)
            os.kill(os.getpid(), signal.SIGSTOP)
        return super()._call(name)
    def unlock(self, fd):
        self._call("unlock")
        super().unlock(fd)

async def write(place, path, stop_at):
    files = Stopping()
    _, log = await place.repository(files).open(place.ref(path))
    files.calls.clear()
    files.stop_at = stop_at
    results = []
    for name in ("x", "y", "z"):
        try:
            await log.append([message(f"{name}{stop_at}", None)], synced=name != "y", persist=True)
            results.append("wrote")
        except Exception as error:
            results.append(error.reason)
        if name == "y":
            await log.release()
    files.stop_at = -1
    print(*results, flush=True)
    await log.close()

place = Place(Path(sys.argv[1]))
place.state = place.base / "stopping"
for command in sys.stdin:
    path, stop_at = command.rsplit(maxsplit=1)
    asyncio.run(write(place, Path(path), int(stop_at)))
'''


@pytest.mark.slow
@pytest.mark.parametrize("old", [False, True], ids=["append", "migrate"])
async def test_a_writer_stopped_anywhere_never_writes_beside_another(place: Place, old: bool) -> None:
    """It is stopped before each of its calls to the system in turn. Meanwhile the other one writes, or is refused."""
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPING, str(place.base)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    outcomes = set()
    for stop_at in range(200):
        path = place.put(OLD if old else [HEADER, A], f"{stop_at}.jsonl")
        process.stdin.write(f"{path} {stop_at}\n")
        process.stdin.flush()
        output = process.stdout.readline()
        if output != "stopping\n":
            break
        assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
        before = path.read_bytes()
        loaded, log = await other(place).open(place.ref(path))
        names = ids(loaded.heads)
        after = None
        try:
            written = await log.append([message("other", None)], synced=True, persist=True)
            outcomes.add("wrote")
            assert written.foreign == []
            names.append("other")
            if stop_at % 2:  # the one that goes on finds the file free again, else held
                await log.release()
            else:
                after = path.read_bytes()
        except WriterBusy:
            outcomes.add("refused")
            assert path.read_bytes() == before
        os.kill(process.pid, signal.SIGCONT)
        results = process.stdout.readline().split()
        assert set(results) <= {"wrote", "writerBusy", "storageFailed"}
        if after is not None:
            assert path.read_bytes() == after, "it wrote although the other one holds the file"
        await log.close()
        again, log = await other(place).open(place.ref(path))
        wrote = [f"{name}{stop_at}" for name, result in zip("xyz", results, strict=True) if result == "wrote"]
        found = ids(again.heads)
        assert (again.damage, sorted(found)) == ([], sorted({*names, *wrote})), (stop_at, results)
        await log.close()
    assert output.split() == ["wrote"] * 3
    assert outcomes == {"wrote", "refused"}
    assert stop_at > 10
    process.communicate(timeout=30)
