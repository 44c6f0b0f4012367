"""Appending to a file to which others append too, and what befalls it in between."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from pi_daemon.session.errors import SessionExists, SessionFailed, StorageFailed
from pi_daemon.storage.files import FileRepository
from pi_daemon.storage.journal import AT_ONCE_BYTES, FileLog
from pi_daemon.storage.protocols import Loaded, Written
from tests.storage.support import HEADER, FaultyFiles, Place, chain, header, ids, kinds, message

Write = Callable[..., Awaitable[Written]]

A, B, C, D, E = chain("a", "b", "c", "d", "e")
F = message("f", "e")


@pytest.fixture
def files() -> FaultyFiles:
    return FaultyFiles()


@pytest.fixture
def repository(place: Place, files: FaultyFiles) -> FileRepository:
    return place.repository(files)


async def opened(place: Place, files: FaultyFiles, content: bytes | list[bytes]) -> tuple[Path, Loaded, FileLog]:
    """Open, and held for writing."""
    path = place.put(content)
    loaded, log = await place.repository(files).open(place.ref(path))
    await log.take()
    files.calls.clear()
    return path, loaded, log


def add(path: Path, data: bytes) -> None:
    with open(path, "ab") as file:
        file.write(data)


@pytest.fixture(params=["written", "synced", "large"])
def write(request: pytest.FixtureRequest) -> Write:
    """Append a batch: on the caller's thread, on another with fdatasync, on another because of its size."""

    async def append(log: FileLog, *lines: bytes) -> Written:
        if request.param == "large":
            lines = (*lines, message("large", None, "x" * AT_ONCE_BYTES))
        return await log.append(lines, synced=request.param == "synced", persist=True)

    return append


# What a batch is


async def test_a_small_batch_is_one_write_between_two_stats(place: Place, files: FaultyFiles) -> None:
    path, _, log = await opened(place, files, [HEADER, A])
    written = await log.append([B, C], synced=False, persist=True)
    assert files.calls == ["stat", "write", "fstat"]
    assert written.offsets == [path.read_bytes().index(line) for line in (B, C)]
    assert written.durability == "written"
    files.calls.clear()
    written = await log.append([D], synced=True, persist=True)
    assert files.calls == ["stat", "write", "fstat", "fdatasync", "open", "fsync", "open", "fsync"]
    assert written.durability == "synced"
    files.calls.clear()
    await log.append([E], synced=True, persist=True)
    assert files.calls == ["stat", "write", "fstat", "fdatasync"]  # the names were synced with the first


async def test_a_slow_write_sends_the_next_ones_to_a_thread(place: Place, files: FaultyFiles) -> None:
    _, _, log = await opened(place, files, [HEADER])
    threads: list[object] = []

    def slow() -> None:
        files.time += 1
        threads.append(asyncio._get_running_loop())

    files.before["write"] = [slow, lambda: threads.append(asyncio._get_running_loop()), None, slow]
    for line in (A, B):
        await log.append([line], synced=False, persist=True)
    files.time += 60
    await log.append([C], synced=False, persist=True)
    await log.append([D], synced=False, persist=True)
    assert [thread is not None for thread in threads] == [True, False, True]


async def test_appends_that_overlap_come_one_after_the_other(place: Place, files: FaultyFiles) -> None:
    path, _, log = await opened(place, files, [HEADER])
    names = [f"n{number}" for number in range(50)]
    lines = chain(*names)
    await asyncio.gather(*(log.append([line], synced=i % 3 == 0, persist=True) for i, line in enumerate(lines)))
    loaded, again = await place.repository().open(place.ref(path))
    assert sorted(ids(loaded.heads)) == sorted(names)
    assert loaded.damage == []
    await again.close()


async def test_a_cancelled_append_runs_to_its_end(place: Place, files: FaultyFiles) -> None:
    path, _, log = await opened(place, files, [HEADER])
    task = asyncio.create_task(log.append([A], synced=True, persist=True))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await log.append([B], synced=True, persist=True)
    await log.close()
    assert path.read_bytes().splitlines()[-1] == B
    loaded, again = await place.repository().open(place.ref(path))
    assert ids(loaded.heads) in (["a", "b"], ["b"])
    await again.close()


async def test_lines_far_apart_and_out_of_order(place: Place, files: FaultyFiles) -> None:
    many = [message(f"n{number}", None, "y" * (number % 7) * 1000) for number in range(400)]
    _, loaded, log = await opened(place, files, [HEADER, *many])
    assert await log.read(loaded.heads) == many
    assert len([call for call in files.calls if call == "read"]) < 10
    assert await log.read([*loaded.heads[::-50], loaded.heads[0]]) == [*many[::-50], many[0]]
    assert await log.read([]) == []


# Before the first write


async def test_the_first_write_holds_everything(place: Place, repository: FileRepository, files: FaultyFiles) -> None:
    loaded, log = await repository.create(header(), [A], persist=False)
    await log.append([B], synced=True, persist=False)
    assert list(place.sessions.iterdir()) == []
    files.calls.clear()
    written = await log.append([C], synced=True, persist=True)
    assert files.calls.count("write") == 1
    path = Path(log.ref.location)
    assert path.read_bytes() == b"\n".join([HEADER, A, B, C, b""])
    assert path == place.folder / "2026-01-31T12-00-00-000Z_s1.jsonl"
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert written.offsets == [path.read_bytes().index(C)]
    assert loaded.heads[0].offset == path.read_bytes().index(A)
    assert await log.read(loaded.heads) == [A]
    assert place.strays() == []
    assert list(place.locks.iterdir()) == []


async def test_a_file_that_appeared_meanwhile_is_left_alone(place: Place, repository: FileRepository) -> None:
    _, log = await repository.create(header(), [A], persist=False)
    path = place.put([HEADER, B])
    for _ in range(2):
        with pytest.raises(SessionExists):
            await log.append([C], synced=True, persist=True)
    assert path.read_bytes() == b"\n".join([HEADER, B, b""])
    assert place.strays() == []
    assert not log.persisted


async def test_without_hard_links_a_file_is_created_directly(
    place: Place, repository: FileRepository, files: FaultyFiles
) -> None:
    files.fail["link"] = [errno.EPERM]
    _, log = await repository.create(header(), [A], persist=True)
    await log.append([B], synced=True, persist=True)
    assert Path(log.ref.location).read_bytes() == b"\n".join([HEADER, A, B, b""])
    assert place.strays() == []
    files.fail["link"] = [errno.EPERM]
    path = place.put([HEADER], "2026-01-31T12-00-00-000Z_s2.jsonl")
    _, log = await repository.create(header("s3"), [A], persist=False)
    path.rename(log.ref.location)
    with pytest.raises(SessionExists):
        await log.append([], synced=True, persist=True)


async def test_the_name_is_made_durable_with_the_first_synced_batch(
    place: Place, repository: FileRepository, files: FaultyFiles
) -> None:
    _, log = await repository.create(header(), [A], persist=False)
    files.calls.clear()
    await log.append([B], synced=False, persist=True)
    assert "fsync" not in files.calls
    await log.append([C], synced=True, persist=True)
    assert files.calls[-5:] == ["fdatasync", "open", "fsync", "open", "fsync"]  # the new folder's name too
    files.calls.clear()
    await log.append([D], synced=True, persist=True)
    assert "fsync" not in files.calls


# Others


async def test_foreign_lines_come_first(place: Place, files: FaultyFiles, write: Write) -> None:
    path, _, log = await opened(place, files, [HEADER, A])
    add(path, B + b"\n{\n" + C + b"\n")
    written = await write(log, D)
    assert ids(written.foreign) == ["b", "c"]
    assert [(damage.kind, damage.line) for damage in written.damage] == [("notJson", 4)]
    assert await log.read(written.foreign) == [B, C]
    written = await write(log, E)
    assert (written.foreign, written.damage) == ([], [])
    assert path.read_bytes().startswith(b"\n".join([HEADER, A, B, b"{", C, D]))


async def test_a_look_finds_what_others_wrote_once(place: Place, files: FaultyFiles) -> None:
    path, _, log = await opened(place, files, [HEADER, A])
    assert (await log.look()).heads == []
    assert files.calls == ["stat"]
    add(path, B + b"\n" + C[:30])
    found = await log.look()
    assert (ids(found.heads), found.damage) == (["b"], [])
    add(path, C[30:50])
    assert (await log.look()).damage == []
    files.time += 1
    assert kinds((await log.look()).damage) == ["tornTail"]  # it has stood still
    assert (await log.look()).damage == []
    add(path, C[50:])
    found = await log.look()
    assert (ids(found.heads), found.damage) == (["c"], [])
    assert await log.read(found.heads) == [C]
    add(path, b"\n" + D + b"\n")
    assert ids((await log.look()).heads) == ["d"]
    os.utime(path)
    assert (await log.look()).heads == []
    assert (await log.append([E], synced=False, persist=True)).foreign == []


@pytest.mark.parametrize("tail", [C, C + b" ", C + b"\r"])
async def test_our_batch_ends_a_whole_last_line(place: Place, files: FaultyFiles, tail: bytes) -> None:
    path, loaded, log = await opened(place, files, b"\n".join([HEADER, A, B, tail]))
    assert ids(loaded.heads) == ["a", "b", "c"]
    written = await log.append([D], synced=False, persist=True)
    assert (written.foreign, written.damage) == ([], [])
    assert path.read_bytes() == b"\n".join([HEADER, A, B, tail, D, b""])
    assert written.offsets == [path.read_bytes().index(D)]
    assert files.slept == 0


async def test_our_batch_isolates_a_fragment_that_stood_still(place: Place, files: FaultyFiles) -> None:
    path, _, log = await opened(place, files, b"\n".join([HEADER, A, B[:50]]))
    written = await log.append([C], synced=False, persist=True)
    assert 0 < files.slept < 0.2
    (damage,) = written.damage
    assert (damage.kind, damage.line, damage.length) == ("notJson", 3, 50)
    assert path.read_bytes() == b"\n".join([HEADER, A, B[:50], C, b""])
    add(path, b"{\n")
    assert [damage.line for damage in (await log.look()).damage] == [5]
    again, other = await place.repository().open(place.ref(path), recover=True)
    assert [(damage.kind, damage.line) for damage in again.damage] == [("notJson", 3), ("notJson", 5), ("orphan", None)]
    await other.close()


async def test_a_fragment_that_grows_is_waited_for(place: Place, files: FaultyFiles) -> None:
    path, _, log = await opened(place, files, b"\n".join([HEADER, A, B[:50]]))
    files.before["sleep"] = [lambda: add(path, B[50:80]), lambda: add(path, B[80:] + b"\n" + C[:5])]
    files.before["sleep"].append(lambda: add(path, C[5:] + b"\n"))
    written = await log.append([D], synced=True, persist=True)
    assert ids(written.foreign) == ["b", "c"]
    assert path.read_bytes() == b"\n".join([HEADER, A, B, C, D, b""])


async def test_a_fragment_that_grows_while_it_is_read_has_not_stood_still(place: Place, files: FaultyFiles) -> None:
    """To read it takes long, where it is a line of 10 MB."""
    path, _, log = await opened(place, files, [HEADER, A])

    def grow() -> None:
        add(path, B[50:80])
        files.time += 0.2

    add(path, B[:50])
    files.before["read_into"] = [grow]
    files.before["sleep"] = [lambda: add(path, B[80:] + b"\n")]
    written = await log.append([C], synced=True, persist=True)
    assert ids(written.foreign) == ["b"]
    assert path.read_bytes() == b"\n".join([HEADER, A, B, C, b""])


async def test_a_fragment_that_grew_after_our_last_look_is_not_torn(place: Place, files: FaultyFiles) -> None:
    path, _, log = await opened(place, files, b"\n".join([HEADER, A, B[:50]]))
    files.before["write"] = [lambda: add(path, B[50:80])]
    files.before["ftruncate"] = [lambda: files.before.update(sleep=[lambda: add(path, B[80:] + b"\n")])]
    written = await log.append([C], synced=True, persist=True)
    assert ids(written.foreign) == ["b"]
    assert path.read_bytes() == b"\n".join([HEADER, A, B, C, b""])


async def test_a_fragment_that_grows_for_ever(place: Place, files: FaultyFiles) -> None:
    path, _, log = await opened(place, files, b"\n".join([HEADER, A, B[:50]]))
    files.before["sleep"] = [lambda: add(path, b"x")] * 1000
    with pytest.raises(StorageFailed) as caught:
        await log.append([C], synced=True, persist=True)
    assert caught.value.data["errno"] == "EBUSY"
    files.before.clear()
    assert (await log.append([C], synced=True, persist=True)).offsets == [path.read_bytes().index(C)]


async def test_something_behind_an_entry_that_was_taken_already(place: Place, files: FaultyFiles) -> None:
    """A stranger whose line lacked its newline, and another who wrote on without a look."""
    path, loaded, log = await opened(place, files, b"\n".join([HEADER, A, B]))
    assert ids(loaded.heads) == ["a", "b"]
    add(path, C + b"\n" + D + b"\n")
    found = await log.look()
    assert ids(found.heads) == ["d"]
    assert [(damage.kind, damage.line) for damage in found.damage] == [("notJson", 3)]
    add(path, b"{\n")
    assert [damage.line for damage in (await log.look()).damage] == [5]


async def test_a_line_between_our_look_and_our_write(place: Place, files: FaultyFiles, write: Write) -> None:
    path, _, log = await opened(place, files, [HEADER, A])
    files.before["write"] = [lambda: add(path, B + b"\n")]
    written = await write(log, C)
    assert ids(written.foreign) == ["b"]
    assert written.offsets[0] == path.read_bytes().index(C)
    add(path, D + b"\n")
    assert ids((await log.look()).heads) == ["d"]


async def test_a_line_between_our_write_and_our_look_at_it(place: Place, files: FaultyFiles, write: Write) -> None:
    path, _, log = await opened(place, files, [HEADER, A])
    files.before["fstat"] = [lambda: add(path, C + b"\n")]
    written = await write(log, B)
    assert written.foreign == []
    assert written.offsets[0] == path.read_bytes().index(B)
    assert ids((await log.look()).heads) == ["c"]


async def test_a_line_without_an_end_between_our_look_and_our_write(
    place: Place, files: FaultyFiles, write: Write
) -> None:
    """Ours are taken back, the stranger's line gets its end, and ours come after it."""
    path, _, log = await opened(place, files, [HEADER, A])
    files.before["write"] = [lambda: add(path, B)]
    written = await write(log, C)
    assert ids(written.foreign) == ["b"]
    assert written.offsets[0] == path.read_bytes().index(C)
    assert path.read_bytes().startswith(b"\n".join([HEADER, A, B, C, b""]))
    assert (await log.look()).heads == []


async def test_a_stranger_who_never_ends_his_lines(place: Place, files: FaultyFiles) -> None:
    path, _, log = await opened(place, files, [HEADER, A])
    files.before["write"] = [lambda n=n: add(path, message(f"x{n}", "a")) for n in range(9)]
    files.before["stat"] = [None, *[lambda: add(path, b"\n")] * 9]
    with pytest.raises(StorageFailed) as caught:
        await log.append([B], synced=True, persist=True)
    assert caught.value.data["errno"] == "EBUSY"
    files.before.clear()
    found = await log.look()
    assert len(found.heads) == 3
    assert B not in path.read_bytes()


async def test_a_line_torn_between_two_others_of_a_stranger(place: Place, files: FaultyFiles) -> None:
    """Nothing of ours can be taken back then: the append fails, and what is in the file is found by a look."""
    path, _, log = await opened(place, files, [HEADER, A])
    files.before["write"] = [lambda: add(path, B[:30])]
    files.before["fstat"] = [lambda: add(path, D + b"\n")]
    with pytest.raises(StorageFailed):
        await log.append([C, message("e", "c")], synced=False, persist=True)
    found = await log.look()
    assert (ids(found.heads), kinds(found.damage)) == (["e", "d"], ["notJson"])


# The file that isn't ours any more


async def gone(log: FileLog, loaded: Loaded, code: str) -> None:
    assert (await log.look()).replaced
    for synced in (False, True):
        with pytest.raises(StorageFailed) as caught:
            await log.append([F], synced=synced, persist=True)
        assert caught.value.data["errno"] == code
    with pytest.raises(StorageFailed):
        await log.read(loaded.heads)
    assert (await log.look()).replaced


async def test_a_deleted_file_is_never_made_again(place: Place, files: FaultyFiles) -> None:
    path, loaded, log = await opened(place, files, [HEADER, A])
    path.unlink()
    await gone(log, loaded, "ENOENT")
    assert list(place.folder.iterdir()) == []
    place.folder.rmdir()
    await gone(log, loaded, "ENOENT")
    assert list(place.sessions.iterdir()) == []


async def test_another_file_at_the_path(place: Place, files: FaultyFiles) -> None:
    path, loaded, log = await opened(place, files, [HEADER, A, B])
    other = place.put([HEADER, A, B], "other.jsonl")
    other.rename(path)
    await gone(log, loaded, "ESTALE")
    assert path.read_bytes() == b"\n".join([HEADER, A, B, b""])


async def test_a_link_at_the_path(place: Place, files: FaultyFiles) -> None:
    path, loaded, log = await opened(place, files, [HEADER, A, B])
    outside = place.base / "outside.jsonl"
    outside.write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(outside)
    await gone(log, loaded, "ESTALE")
    assert outside.read_bytes() == b"\n".join([HEADER, A, B, b""])


@pytest.mark.parametrize(
    "content",
    [b"", HEADER + b"\n", b"\n".join([HEADER, A, b""]), b"\n".join([HEADER, A, C, D, b""]), HEADER + b"x" * 999],
)
async def test_a_file_rewritten_in_place(place: Place, files: FaultyFiles, content: bytes) -> None:
    """As pi does when it migrates: truncated and written anew, on the same inode."""
    path, loaded, log = await opened(place, files, [HEADER, A, B])
    path.write_bytes(content)
    await gone(log, loaded, "ESTALE")
    assert path.read_bytes() == content


async def test_a_fragment_that_its_writer_took_back(place: Place, files: FaultyFiles) -> None:
    path, _, log = await opened(place, files, b"\n".join([HEADER, A, B[:50]]))
    os.truncate(path, len(HEADER) + len(A) + 2)
    found = await log.look()
    assert (found.replaced, found.heads, found.damage) == (False, [], [])
    await log.append([C], synced=False, persist=True)
    assert path.read_bytes() == b"\n".join([HEADER, A, C, b""])


async def test_a_file_that_goes_between_our_look_and_our_write(place: Place, files: FaultyFiles, write: Write) -> None:
    path, loaded, log = await opened(place, files, [HEADER, A])
    files.before["write"] = [path.unlink]
    with pytest.raises(StorageFailed) as caught:
        await write(log, B)
    assert caught.value.data["errno"] == "ENOENT"
    await gone(log, loaded, "ENOENT")
    assert list(place.folder.iterdir()) == []


async def test_a_rewrite_between_our_look_and_our_write(place: Place, files: FaultyFiles) -> None:
    path, _, log = await opened(place, files, [HEADER, A, B])
    files.before["write"] = [lambda: path.write_bytes(HEADER + b"\n")]
    with pytest.raises(StorageFailed):
        await log.append([C], synced=False, persist=True)
    assert (await log.look()).replaced


# The disk


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG, errno.EINTR])
async def test_a_failed_write_leaves_the_log_usable(place: Place, files: FaultyFiles, write: Write, code: int) -> None:
    path, _, log = await opened(place, files, [HEADER, A])
    files.fail["write"] = [code, code]
    for _ in range(2):
        with pytest.raises(StorageFailed) as caught:
            await write(log, B)
        assert caught.value.data["errno"] == errno.errorcode[code]
    assert path.read_bytes() == b"\n".join([HEADER, A, b""])
    await write(log, B)
    assert path.read_bytes().startswith(b"\n".join([HEADER, A, B, b""]))


@pytest.mark.parametrize("taken", [1, 10, len(B), len(B) + 1, len(B) + 5])
async def test_a_write_cut_short_is_taken_back(place: Place, files: FaultyFiles, write: Write, taken: int) -> None:
    path, _, log = await opened(place, files, [HEADER, A])
    files.fail["write"] = [-taken]
    with pytest.raises(StorageFailed) as caught:
        await write(log, B, C)
    assert caught.value.data["errno"] == "ENOSPC"
    assert path.read_bytes() == b"\n".join([HEADER, A, b""])
    written = await write(log, B, C)
    assert (written.foreign, written.damage) == ([], [])
    assert path.read_bytes().startswith(b"\n".join([HEADER, A, B, C, b""]))


async def test_a_write_cut_short_behind_a_fragment(place: Place, files: FaultyFiles) -> None:
    """The newline that was ours goes too; the fragment stays."""
    path, _, log = await opened(place, files, b"\n".join([HEADER, A, B[:50]]))
    files.fail["write"] = [-1]
    with pytest.raises(StorageFailed):
        await log.append([C], synced=False, persist=True)
    assert path.read_bytes() == b"\n".join([HEADER, A, B[:50]])


async def test_a_write_cut_short_that_cannot_be_taken_back(place: Place, files: FaultyFiles, write: Write) -> None:
    path, _, log = await opened(place, files, [HEADER, A])
    files.fail["write"] = [-40]
    files.fail["ftruncate"] = [errno.EIO]
    with pytest.raises(StorageFailed):
        await write(log, B)
    written = await write(log, C)
    assert written.foreign == []
    assert kinds(written.damage) == ["notJson"]
    assert path.read_bytes().startswith(b"\n".join([HEADER, A, B[:40], C, b""]))


async def test_a_stranger_behind_our_short_write_is_never_cut(place: Place, files: FaultyFiles, write: Write) -> None:
    path, _, log = await opened(place, files, [HEADER, A])
    files.fail["write"] = [-40]
    files.before["fstat"] = [lambda: add(path, b"\n" + D + b"\n")]
    with pytest.raises(StorageFailed):
        await write(log, B)
    written = await write(log, C)
    assert (ids(written.foreign), kinds(written.damage)) == (["d"], ["notJson"])
    assert path.read_bytes().startswith(b"\n".join([HEADER, A, B[:40], D, C, b""]))


async def test_a_failed_fsync_ends_the_log(place: Place, files: FaultyFiles) -> None:
    _, loaded, log = await opened(place, files, [HEADER, A])
    files.fail["fdatasync"] = [errno.EIO]
    with pytest.raises(SessionFailed) as caught:
        await log.append([B], synced=True, persist=True)
    assert caught.value.data["errno"] == "EIO"
    for synced in (False, True):
        with pytest.raises(SessionFailed):
            await log.append([C], synced=synced, persist=True)
    assert files.calls.count("fdatasync") == 1
    assert await log.read(loaded.heads) == [A]
    await log.close()


async def test_what_others_wrote_is_told_although_our_write_failed(
    place: Place, files: FaultyFiles, write: Write
) -> None:
    path, _, log = await opened(place, files, [HEADER, A])
    add(path, B + b"\n")
    files.fail["write"] = [errno.ENOSPC]
    with pytest.raises(StorageFailed):
        await write(log, C)
    assert ids((await log.look()).heads) == ["b"]
    add(path, D + b"\n")
    files.fail["write"] = [errno.ENOSPC]
    with pytest.raises(StorageFailed):
        await write(log, E)
    assert ids((await write(log, E)).foreign) == ["d"]


async def test_a_clock_that_goes_back(place: Place, files: FaultyFiles) -> None:
    path, _, log = await opened(place, files, [HEADER, A])
    os.utime(path, ns=(5, 5))
    await log.append([B], synced=False, persist=True)
    os.utime(path, ns=(3, 3))
    assert (await log.look()).heads == []
    assert await log.read((await place.repository().open(place.ref(path)))[0].heads) == [A, B]


async def test_permission_denied(place: Place, files: FaultyFiles) -> None:
    path = place.put([HEADER, A])
    files.fail["open"] = [errno.EACCES]
    loaded, log = await place.repository(files).open(place.ref(path))
    assert "can't be written" in (loaded.read_only or "")
    assert await log.read(loaded.heads) == [A]
    await log.close()
    files.fail["open"] = [errno.EACCES, errno.EACCES]
    with pytest.raises(StorageFailed) as caught:
        await place.repository(files).open(place.ref(path))
    assert caught.value.data["errno"] == "EACCES"
    assert "permissions" in caught.value.message
    files.fail["open"] = [errno.EMFILE]
    with pytest.raises(StorageFailed):
        await place.repository(files).open(place.ref(path))
