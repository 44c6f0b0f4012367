"""What we wrote is remembered until it was seen in the file; a rewrite without it is told, and the lines are kept."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from pi_daemon.session.errors import StorageFailed
from pi_daemon.storage import own
from pi_daemon.storage.journal import FileLog
from tests.storage.support import CWD, HEADER, TIME, FaultyFiles, Place, chain, dump, header, kinds, message

A, B, C, D = chain("a", "b", "c", "d")


async def opened(place: Place, files: FaultyFiles) -> tuple[Path, FileLog]:
    path = place.put([HEADER, A])
    _, log = await place.repository(files).open(place.ref(path))
    return path, log


def kept(place: Place) -> list[bytes]:
    return sorted(path.read_bytes() for path in (place.state / "lost").glob("*"))


async def test_lines_are_seen_some_seconds_after_they_were_written(place: Place) -> None:
    files = FaultyFiles()
    _, log = await opened(place, files)
    assert not log.unseen
    await log.append([B], synced=False, persist=True)
    assert log.unseen
    await log.look()
    assert log.unseen
    files.time += own.SEEN_SECONDS * 0.6
    await log.append([C], synced=True, persist=True)
    files.time += own.SEEN_SECONDS * 0.6
    files.calls.clear()
    await log.look()
    assert not log.unseen  # both together, the second being half as old
    await log.append([D], synced=False, persist=True)
    files.time += own.SEEN_SECONDS * 0.6
    await log.look()
    assert log.unseen
    assert files.calls.count("read") == 1


@pytest.mark.parametrize("after", [0, own.SEEN_SECONDS])
@pytest.mark.parametrize("in_place", [True, False])
async def test_a_rewrite_without_our_lines_is_told_and_they_are_kept(
    place: Place, after: float, in_place: bool
) -> None:
    files = FaultyFiles()
    path, log = await opened(place, files)
    await log.append([B, C], synced=False, persist=True)
    await log.append([D], synced=True, persist=True)
    files.time += after
    if in_place:
        path.write_bytes(b"\n".join([HEADER, A, C, b""]))
    else:
        place.put([HEADER, A, C], "new").rename(path)
    for _ in range(2):  # the first asker may have been cancelled
        found = await log.look()
        assert (found.replaced, found.lost) == (True, ["b", "d"])
        assert found.kept_at is not None
        assert Path(found.kept_at).read_bytes() == b"\n".join([B, D, b""])
    assert len(kept(place)) == 1
    await log.close()
    assert len(kept(place)) == 1


async def test_an_edit_in_place_shows_at_once_behind_what_others_wrote(place: Place) -> None:
    """Of the same size, and far from the end of the file, of which a look reads the last bytes alone."""
    files = FaultyFiles()
    path, log = await opened(place, files)
    await log.append([B], synced=True, persist=True)
    with open(path, "ab") as file:
        file.write(message("theirs", "b", "x" * 2000) + b"\n")
    assert [head.id for head in (await log.look()).heads] == ["theirs"]
    content = path.read_bytes()
    at = content.index(B) + B.index(b"hello")
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(b"HELLO")
    os.utime(path, ns=(1, 1))
    found = await log.look()
    assert found.replaced
    assert found.lost == []


@pytest.mark.parametrize("in_place", [True, False])
async def test_what_a_rewrite_has_left_is_looked_for_again(place: Place, in_place: bool) -> None:
    """By the log that comes next, at its new place. What another has said in its own way it had read."""
    files = FaultyFiles()
    path = place.put([HEADER, A])
    repository = place.repository(files)
    _, log = await repository.open(place.ref(path))
    await log.append([B, C, D], synced=False, persist=True)

    def rewrite(*lines: bytes) -> None:
        if in_place:
            path.write_bytes(b"".join(line + b"\n" for line in (HEADER, *lines)))
        else:
            place.put([HEADER, *lines], "new").rename(path)

    rewrite(C, A, message("d", "c", "other"))
    assert (await log.look()).lost == ["b"]
    loaded, second = await repository.open(log.ref)
    await log.close()
    assert "lost" not in kinds(loaded.damage)
    assert second.unseen
    files.time += own.SEEN_SECONDS / 2
    assert not (await second.look()).replaced
    rewrite(A)
    assert (await second.look()).lost == ["c"]
    _, third = await repository.open(log.ref)
    await second.close()
    assert not third.unseen
    await third.close()
    assert kept(place) == [B + b"\n", C + b"\n"]


async def test_what_was_lost_while_nobody_had_it_open(place: Place) -> None:
    files = FaultyFiles()
    path = place.put([HEADER, A])
    repository = place.repository(files)
    _, log = await repository.open(place.ref(path))
    await log.append([B, C], synced=False, persist=True)
    await log.close()
    path.write_bytes(b"\n".join([HEADER, C, b""]))
    loaded, log = await repository.open(place.ref(path))
    (damage,) = [one for one in loaded.damage if one.kind == "lost"]
    assert damage.entry_ids == ["b"]
    assert str(place.state / "lost") in damage.message
    await log.append([D], synced=False, persist=True)
    await log.close()
    assert kept(place) == [B + b"\n"]
    loaded, log = await repository.open(place.ref(path))
    assert [one for one in loaded.damage if one.kind == "lost"] == []
    await log.close()


async def test_closed_sessions_are_looked_after(place: Place) -> None:
    files = FaultyFiles()
    repository = place.repository(files)
    paths = [place.put([HEADER.replace(b'"s1"', b'"s%d"' % n), A], f"{n}.jsonl") for n in range(4)]
    for number, path in enumerate(paths):
        _, log = await repository.open(place.ref(path, f"s{number}"))
        await log.append([B], synced=False, persist=True)
        await log.close()
        await log.close()
    paths[1].write_bytes(HEADER.replace(b'"s1"', b'"s9"') + b"\n")
    paths[2].unlink()
    _, log = await repository.open(place.ref(paths[3], "s3"))
    assert await repository.look_after_closed() == []
    files.time += own.SEEN_SECONDS
    ((location, found),) = await repository.look_after_closed()
    assert (location, found.lost) == (str(paths[1]), ["b"])
    assert found.kept_at is not None
    assert Path(found.kept_at).read_bytes() == B + b"\n"
    assert await repository.look_after_closed() == []
    paths[3].write_bytes(HEADER + b"\n")
    assert (await log.look()).lost == ["b"]  # that one has a log again, which tells
    await log.close()
    assert len(kept(place)) == 2


async def test_each_loss_has_a_file_of_its_own(place: Place) -> None:
    path, log = await opened(place, FaultyFiles())
    for line in (B, C):
        await log.append([line], synced=False, persist=True)
        path.write_bytes(b"\n".join([HEADER, A, b""]))
        assert (await log.look()).lost != []
        await log.close()
        _, log = await place.repository().open(place.ref(path))
    assert kept(place) == [B + b"\n", C + b"\n"]


async def test_nothing_is_lost_where_the_entries_are_there(place: Place) -> None:
    """Written anew by another program, in its own manner."""
    path, log = await opened(place, FaultyFiles())
    await log.append([B], synced=False, persist=True)
    path.write_bytes(b"\n".join([HEADER, message("b", None, "edited"), A, b""]))
    found = await log.look()
    assert (found.replaced, found.lost, found.kept_at) == (True, [], None)
    assert kept(place) == []


async def test_a_stranger_who_writes_over_our_line(place: Place) -> None:
    """In the middle, so that the file's end is what it was, and within a tick of the file's clock: a look some seconds
    later sees it."""
    files = FaultyFiles()
    path, log = await opened(place, files)
    await log.append([B], synced=False, persist=True)
    state = path.stat()
    await log.append([message("long", "b", "x" * 1000)], synced=False, persist=True)
    written_at = path.stat().st_mtime_ns
    with open(path, "r+b") as file:
        file.seek(state.st_size - len(B) - 1)
        file.write(b" " * len(B))
    os.utime(path, ns=(written_at, written_at))
    assert not (await log.look()).replaced
    files.time += own.SEEN_SECONDS
    with pytest.raises(StorageFailed, match="rewritten"):
        await log.append([C], synced=True, persist=True)
    found = await log.look()
    assert (found.replaced, found.lost) == (True, ["b"])
    assert not log.held


async def test_a_deleted_file_has_lost_nothing_yet(place: Place) -> None:
    path, log = await opened(place, FaultyFiles())
    await log.append([B], synced=False, persist=True)
    path.rename(path.with_suffix(".old"))
    assert (await log.look()).lost == []
    assert log.unseen
    place.put([HEADER, A], "new").rename(path)  # an editor that unlinks before it renames
    assert (await log.look()).lost == ["b"]
    await log.close()
    path, log = await opened(place, FaultyFiles())
    await log.append([B], synced=False, persist=True)
    path.unlink()
    await log.close()
    assert kept(place) == [B + b"\n"]


async def test_closing_looks_for_the_last_time(place: Place) -> None:
    path, log = await opened(place, FaultyFiles())
    await log.append([B], synced=False, persist=True)
    await log.close()
    assert kept(place) == []
    _, log = await place.repository().open(place.ref(path))
    await log.append([C], synced=False, persist=True)
    path.write_bytes(HEADER + b"\n")
    await log.close()
    assert kept(place) == [C + b"\n"]


async def test_the_first_write_of_a_session_is_remembered(place: Place) -> None:
    _, log = await place.repository().create(header(), [A], persist=False)
    await log.append([B], synced=False, persist=True)
    place.put([HEADER, B], "new").rename(log.ref.location)
    assert (await log.look()).lost == ["a"]


async def test_a_migration_over_ours(place: Place) -> None:
    """Another program that had read version 1 before our migration, and writes it anew after it, from memory."""
    old = [dump({"type": "session", "id": "s1", "timestamp": TIME, "cwd": CWD})]
    old += [dump({"type": "message", "timestamp": TIME, "message": {"role": "user", "content": "a"}})]
    path = place.put(old)
    loaded, log = await place.repository().open(place.ref(path))
    await log.append([message("new", loaded.heads[-1].id)], synced=True, persist=True)
    path.write_bytes(b"\n".join([HEADER, A, b""]))
    found = await log.look()
    assert (found.replaced, found.lost) == (True, ["new"])


async def test_memory_is_bounded(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own, "MOST_BYTES", 10_000)
    files = FaultyFiles()
    _, log = await opened(place, files)
    for number in range(50):
        await log.append([message(f"e{number}", None, "x" * 1000)], synced=number % 2 == 0, persist=True)
        assert log._own._size < 13_000
    assert log.unseen


async def test_a_file_that_cannot_be_read_or_kept(place: Place) -> None:
    files = FaultyFiles()
    path, log = await opened(place, files)
    await log.append([B], synced=False, persist=True)
    path.write_bytes(HEADER + b"\n")
    files.fail["open"] = [errno.EIO, None, errno.ENOSPC]
    found = await log.look()
    assert (found.replaced, found.lost) == (True, [])
    assert log.unseen
    found = await log.look()
    assert (found.lost, found.kept_at) == (["b"], None)
    await log.close()
    path, log = await opened(place, files)
    await log.append([B], synced=False, persist=True)
    path.write_bytes(HEADER + b"\n")
    files.fail["open"] = [errno.EIO]
    await log.close()
    assert kept(place) == [B + b"\n"]
    path, log = await opened(place, files)
    await log.append([B], synced=False, persist=True)
    files.time += own.SEEN_SECONDS
    files.fail["read"] = [errno.EIO]
    with pytest.raises(StorageFailed):
        await log.look()
    assert log.unseen
    assert not (await log.look()).replaced
    assert not log.unseen
    os.truncate(path, len(HEADER) + 1)
    await log.close()
