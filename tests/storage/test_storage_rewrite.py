"""The times when a file is replaced: migration on the first write, and repair. The old one is always kept."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from pi_daemon.session.errors import StorageFailed, WriterBusy
from pi_daemon.storage.files import FileRepository
from pi_daemon.storage.journal import FileLog
from pi_daemon.storage.protocols import Loaded
from pi_daemon.storage.system import Files
from tests.storage.support import HEADER, TIME, FaultyFiles, Place, chain, dump, header, ids, kinds, message

A, B, C, D = chain("a", "b", "c", "d")


def old_header(version: int | None) -> bytes:
    value = {"type": "session", "id": "s1", "timestamp": TIME, "cwd": "/home/me/project", "provider": "x", "n": 1.0}
    return dump(value if version is None else value | {"version": version})


def old_message(text: str, role: str = "user") -> bytes:
    return dump({"type": "message", "timestamp": TIME, "message": {"role": role, "content": text, "odd": 1.50}})


COMPACTION = dump(
    {"type": "compaction", "timestamp": TIME, "summary": "s", "firstKeptEntryIndex": 2, "tokensBefore": 5}
)
V1 = [
    old_header(None),
    old_message("one"),
    old_message("two", "hookMessage"),
    b"{torn",
    COMPACTION,
    old_message("three"),
]


async def opened(
    place: Place, content: bytes | list[bytes], files: FaultyFiles | None = None
) -> tuple[Path, Loaded, FileLog, FileRepository]:
    path = place.put(content)
    os.chmod(path, 0o640)
    repository = place.repository(files)
    loaded, log = await repository.open(place.ref(path))
    return path, loaded, log, repository


async def test_version_1_is_rewritten_on_the_first_write(place: Place) -> None:
    path, loaded, log, repository = await opened(place, V1)
    old = path.read_bytes()
    assert loaded.migrates
    assert (loaded.header.version, loaded.read_only) == (1, None)
    names = ids(loaded.heads)
    assert [len(name) for name in names] == [8] * 4
    before = await log.read(loaded.heads)
    assert (await log.look()).heads == []
    assert path.read_bytes() == old

    written = await log.append([message("new", names[-1])], synced=False, persist=True)
    new = path.read_bytes()
    lines = new.split(b"\n")
    assert lines[0] == old_header(None)[:-1] + b',"version":3}'
    assert lines[3] == b"{torn"
    assert [lines[1], lines[2], *lines[4:6]] == before
    assert lines[4] == COMPACTION.replace(b'"firstKeptEntryIndex":2,', b"")[:-1] + (
        b',"id":"%s","parentId":"%s","firstKeptEntryId":"%s"}' % tuple(names[i].encode() for i in (2, 1, 1))
    )
    assert b'"role":"custom"' in lines[2]
    assert b'"odd":1.5' in lines[2]
    assert written.offsets == [new.index(message("new", names[-1]))]
    assert await log.read(loaded.heads) == before
    assert [new[head.offset : head.offset + head.length] for head in loaded.heads] == before
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    (copy,) = place.kept()
    assert copy.read_bytes() == old
    assert place.strays() == []

    again, other = await repository.open(place.ref(path))
    assert (ids(again.heads), again.migrates, again.header.version) == ([*names, "new"], False, 3)
    with open(path, "ab") as file:
        file.write(message("foreign", "new") + b"\n{\n")
    found = await log.look()
    assert (ids(found.heads), [damage.line for damage in found.damage]) == (["foreign"], [9])
    await other.close()
    await log.append([message("newer", "new")], synced=True, persist=True)
    assert place.kept() == [copy]


async def test_version_2_is_rewritten_on_the_first_write(place: Place) -> None:
    odd = B.replace(b'"user"', b'"hookMessage"')
    path, loaded, log, _ = await opened(place, [old_header(2), A, odd, C])
    assert (ids(loaded.heads), loaded.migrates) == (["a", "b", "c"], True)
    expected = [A, B.replace(b'"user"', b'"custom"'), C]
    assert await log.read(loaded.heads) == expected
    await log.append([D], synced=True, persist=True)
    assert path.read_bytes().split(b"\n")[1:] == [*expected, D, b""]


@pytest.mark.parametrize("tail", [old_message("last"), old_message("last")[:-5], b"  "])
async def test_a_last_line_without_a_newline(place: Place, tail: bytes) -> None:
    path, loaded, log, repository = await opened(place, b"\n".join([*V1, tail]), FaultyFiles())
    names = ids(loaded.heads)
    assert len(names) == (5 if tail == old_message("last") else 4)
    await log.append([message("new", names[-1])], synced=False, persist=True)
    await log.append([message("newer", "new")], synced=False, persist=True)
    again, _ = await repository.open(place.ref(path))
    assert ids(again.heads) == [*names, "new", "newer"]
    assert path.read_bytes().count(b"\n") == 9


async def test_what_others_wrote_before_the_migration_is_in_it(place: Place) -> None:
    path, loaded, log, repository = await opened(place, V1)
    with open(path, "ab") as file:
        file.write(old_message("foreign") + b"\n")
    written = await log.append([message("new", loaded.heads[-1].id)], synced=False, persist=True)
    (foreign,) = written.foreign
    assert foreign.parent_id == loaded.heads[-1].id
    assert (await log.read([foreign]))[0].startswith(old_message("foreign")[:-1])
    again, _ = await repository.open(place.ref(path))
    assert ids(again.heads) == [*ids(loaded.heads), foreign.id, "new"]


async def test_what_arrives_in_the_last_moment_follows(place: Place) -> None:
    files = FaultyFiles()
    path, loaded, log, _ = await opened(place, V1, files)

    def late() -> None:
        with open(path, "ab") as file:
            file.write(message("late", None) + b"\n")

    files.before["rename"] = [None, late]
    written = await log.append([message("new", loaded.heads[-1].id)], synced=False, persist=True)
    assert ids(written.foreign) == ["late"]
    assert path.read_bytes().endswith(b"\n".join([message("late", None), message("new", loaded.heads[-1].id), b""]))


async def test_a_file_that_changes_under_the_migration(place: Place) -> None:
    files = FaultyFiles()
    path, loaded, log, _ = await opened(place, V1, files)

    def change() -> None:
        with open(path, "ab") as file:
            file.write(old_message("foreign") + b"\n")

    files.before["chmod"] = [change]
    with pytest.raises(StorageFailed) as caught:
        await log.append([D], synced=False, persist=True)
    assert caught.value.data["errno"] == "EBUSY"
    assert place.strays() == []
    new = place.put(V1, "new.jsonl")
    files.before["chmod"] = [lambda: new.rename(path)]
    with pytest.raises(StorageFailed) as caught:
        await log.append([D], synced=False, persist=True)
    assert caught.value.data["errno"] == "ESTALE"
    assert path.read_bytes() == b"\n".join([*V1, b""])
    assert (await log.look()).replaced
    assert len(loaded.heads) == 4


async def test_two_migrations_at_a_time(place: Place) -> None:
    path, loaded, log, repository = await opened(place, V1)
    _, second = await repository.open(place.ref(path))
    await log.append([message("new", loaded.heads[-1].id)], synced=False, persist=True)
    with pytest.raises(StorageFailed) as caught:
        await second.append([D], synced=False, persist=True)
    assert caught.value.data["errno"] == "ESTALE"
    assert (await second.look()).replaced
    await log.release()
    _, third = await repository.open(place.ref(path))
    await third.append([message("newer", "new")], synced=False, persist=True)
    assert ids((await log.look()).heads) == ["newer"]


async def test_a_file_that_another_process_holds(place: Place) -> None:
    path, loaded, log, _ = await opened(place, V1)
    fd = os.open(path, os.O_RDONLY)
    assert Files().lock(fd)
    old = path.read_bytes()
    for _ in range(2):
        with pytest.raises(WriterBusy):
            await log.append([D], synced=False, persist=True)
    assert path.read_bytes() == old
    os.close(fd)
    await log.append([message("new", loaded.heads[-1].id)], synced=False, persist=True)


async def test_a_full_disk_leaves_the_old_file(place: Place) -> None:
    files = FaultyFiles()
    path, loaded, log, _ = await opened(place, V1, files)
    old = path.read_bytes()
    for name in ("write", "fsync", "rename", "link"):
        files.fail[name] = [errno.ENOSPC]
        if name == "link":
            files.fail["open"] = [errno.ENOSPC]
        with pytest.raises(StorageFailed):
            await log.append([D], synced=False, persist=True)
        assert path.read_bytes() == old
        assert place.strays() == []
    await log.append([D], synced=False, persist=True)
    assert path.read_bytes() != old
    assert len(loaded.heads) == 4


async def test_a_large_file_is_migrated_in_pieces(place: Place) -> None:
    many = [old_message(f"{number} " + "x" * 9000) for number in range(400)]
    path, loaded, log, repository = await opened(place, [old_header(1), *many])
    before = await log.read(loaded.heads)
    await log.append([message("new", loaded.heads[-1].id)], synced=False, persist=True)
    assert path.read_bytes().split(b"\n")[1:-2] == before
    again, _ = await repository.open(place.ref(path))
    assert ids(again.heads) == [*ids(loaded.heads), "new"]
    assert [(h.offset, h.length) for h in again.heads[:-1]] == [(h.offset, h.length) for h in loaded.heads]


# Copies


async def test_a_copy_of_version_1_is_version_3(place: Place) -> None:
    path, loaded, log, repository = await opened(place, V1)
    old = path.read_bytes()
    copied, copy = await repository.copy(log.ref, header("s2", parent=str(path)))
    assert (ids(copied.heads), copied.migrates) == (ids(loaded.heads), False)
    assert await copy.read(copied.heads) == await log.read(loaded.heads)
    assert path.read_bytes() == old


@pytest.mark.parametrize(
    ("content", "rest"),
    [
        (b"\n".join([HEADER, A, b"{", B, b""]), [A, b"{", B, b""]),
        (b"\n".join([HEADER, A, B]), [A, B, b""]),
        (b"\n".join([HEADER, A, B[:30]]), [A, b""]),
        (b"\r\n".join([HEADER, A, B, b""]), [A + b"\r", B + b"\r", b""]),
        (b"\xef\xbb\xbf" + b"\n".join([HEADER, A, b""]), [A, b""]),
        (b"\n".join([b'{"other":1}', HEADER, A, b""]), [b'{"other":1}', A, b""]),
        (HEADER, [b""]),
    ],
)
async def test_a_copy_has_every_line_as_it_was(place: Place, content: bytes, rest: list[bytes]) -> None:
    path = place.put(content)
    _, log = await place.repository().copy(place.ref(path), header("s2", cwd="/other"))
    assert Path(log.ref.location).read_bytes().split(b"\n")[1:] == rest
    assert Path(log.ref.location).parent == place.sessions / "--other--"
    assert path.read_bytes() == content
    await log.append([D], synced=True, persist=True)


# Repair


async def test_repair_drops_what_cannot_be_read(place: Place) -> None:
    content = b"\n".join([HEADER, A, b"{torn", B, b"\0\0\0\r", b"[]", message("x", "lost"), b'{"type":"m"}', C[:40]])
    path = place.put(content)
    os.chmod(path, 0o640)
    repository = place.repository()
    assert not (await repository.check(str(path))).opens
    report = await repository.repair(str(path))
    assert report.path == str(path)
    assert kinds(report.dropped) == ["notJson", "notJson", "notObject", "noId", "tornTail"]
    assert path.read_bytes() == b"\n".join([HEADER, A, B, message("x", "lost"), b""])
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert report.original_kept_at is not None
    assert Path(report.original_kept_at).read_bytes() == content
    assert place.kept() == [Path(report.original_kept_at)]
    assert place.strays() == []
    again = await repository.check(str(path))
    assert (again.opens, again.entry_count, kinds(again.damage)) == (True, 3, ["orphan"])
    second = await repository.repair(str(path))
    assert (second.original_kept_at, second.dropped) == (None, [])


async def test_repair_splits_entries_on_one_line_and_replaces_what_is_not_utf8(place: Place) -> None:
    latin = message("u", "d", "\xff").replace("\xff".encode(), b"\xff")
    content = b"\n".join([HEADER, A + B, C + b"\r", D + b" " + latin[:-1], latin, A[:-1] + B, message("e", "u") + C])
    path = place.put(content)
    repository = place.repository()
    damage = kinds((await repository.check(str(path))).damage)
    assert damage == ["glued", "notJson", "notUtf8", "notJson", "tornTail", "orphan"]
    report = await repository.repair(str(path))
    assert (kinds(report.dropped), kinds(report.rewritten)) == (["notJson"] * 2, ["glued", "notUtf8", "tornTail"])
    kept = [HEADER, A, B, C + b"\r", message("u", "d", "\ufffd"), message("e", "u"), C]
    assert path.read_bytes() == b"\n".join(kept)
    assert report.original_kept_at is not None and Path(report.original_kept_at).read_bytes() == content
    assert (await repository.repair(str(path))).original_kept_at is None


async def test_repair_of_version_1_shifts_no_entry(place: Place) -> None:
    path = place.put([*V1[:2], b"[]", *V1[2:]])
    repository = place.repository()
    before, _ = await repository.open(place.ref(path))
    report = await repository.repair(str(path))
    assert kinds(report.dropped) == ["notJson"]
    after, _ = await repository.open(place.ref(path))
    assert (ids(after.heads), after.migrates) == (ids(before.heads), True)


async def test_an_open_log_notices_a_repair(place: Place) -> None:
    path, _, log, repository = await opened(place, [HEADER, A, b"{", b""])
    await repository.repair(str(path))
    assert (await log.look()).replaced


async def test_check_tells_everything(place: Place) -> None:
    loop = [message("x", "y"), message("y", "x")]
    path = place.put(b"\n".join([HEADER, A, A, b"{", message("z", "lost"), *loop, C[:9]]))
    report = await place.repository().check(str(path))
    assert (report.opens, report.entry_count, report.session_id, report.path) == (False, 5, "s1", str(path))
    assert sorted(kinds(report.damage)) == ["duplicateId", "loop", "notJson", "orphan", "tornTail"]
    assert place.kept() == []
