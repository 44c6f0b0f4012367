"""What every repository promises, asked of each kind of it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import pytest

from pi_daemon.session.errors import EntryNotFound, InvalidParams, SessionExists, SessionNotFound, StorageFailed
from pi_daemon.session.head import IN_MEMORY
from pi_daemon.storage.memory import MemoryRepository
from pi_daemon.storage.protocols import Repository
from tests.storage.support import CWD, Place, chain, dump, header, ids, message

Make = Callable[[], Repository]


@pytest.fixture(params=["files", "flat files", "memory"])
def repository(request: pytest.FixtureRequest, tmp_path: Path) -> Repository:
    if request.param == "memory":
        return MemoryRepository()
    return Place(tmp_path, flat=request.param == "flat files").repository()


@pytest.fixture(params=[True, False], ids=["persist", "keep"])
def persist(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


async def test_lines_come_back_as_they_were(repository: Repository, persist: bool) -> None:
    odd = b'{"type":"x.y","id":"c","parentId":"b","timestamp":"?","n":1.0e2,"big":%s,"half":"\\ud83d"}' % (b"9" * 30)
    first = chain("a", "b")
    loaded, log = await repository.create(header(), first, persist=persist)
    assert (loaded.header, ids(loaded.heads), loaded.damage) == (header(), ["a", "b"], [])
    written = await log.append([odd, *chain("d", after="c")], synced=False, persist=persist)
    assert len(written.offsets) == 2
    assert (written.foreign, written.damage) == ([], [])
    assert await log.read(loaded.heads[::-1]) == first[::-1]
    await log.close()


async def test_what_was_appended_is_there_again(repository: Repository) -> None:
    _, log = await repository.create(header(), chain("a"), persist=True)
    await log.append(chain("b", "c", after="a"), synced=False, persist=True)
    await log.append(chain("d", after="c"), synced=True, persist=True)
    await log.close()
    again, log = await repository.open(await repository.find("s1"))
    assert ids(again.heads) == ["a", "b", "c", "d"]
    assert [head.parent_id for head in again.heads] == [None, "a", "b", "c"]
    assert await log.read(again.heads) == chain("a", "b", "c", "d")
    assert (again.read_only, again.migrates) == (None, False)
    await log.close()


async def test_heads_that_the_caller_made_are_read_by_their_id(repository: Repository, persist: bool) -> None:
    """As the engine does: it has made heads of its own from the lines it appends."""
    loaded, log = await repository.create(header(), chain("a"), persist=False)
    written = await log.append(chain("b", after="a"), synced=False, persist=persist)
    head = copy.copy(loaded.heads[0])
    head.offset = IN_MEMORY
    assert await log.read([head]) == chain("a")
    later = await log.append(chain("c", after="b"), synced=False, persist=True)
    assert await log.read([head]) == chain("a")
    assert len(written.offsets) == len(later.offsets) == 1
    head.id = "nobody"
    with pytest.raises(EntryNotFound):
        await log.read([head])


async def test_an_empty_batch_is_no_error(repository: Repository, persist: bool) -> None:
    _, log = await repository.create(header(), persist=persist)
    written = await log.append([], synced=True, persist=persist)
    assert written.offsets == []
    assert (await log.look()).heads == []


async def test_an_unwritten_session_is_in_memory(repository: Repository) -> None:
    loaded, log = await repository.create(header(), chain("a"), persist=False)
    written = await log.append(chain("b", after="a"), synced=True, persist=False)
    assert (written.durability, written.offsets, log.persisted) == ("memory", [IN_MEMORY], False)
    assert [head.offset for head in loaded.heads] == [IN_MEMORY]
    assert not (await log.look()).replaced


async def test_an_id_is_given_once(repository: Repository, persist: bool) -> None:
    _, log = await repository.create(header(), persist=persist)
    with pytest.raises(SessionExists):
        await repository.create(header(timestamp="2026-02-01T00:00:00.000Z"), persist=persist)
    with pytest.raises(SessionExists):
        await repository.copy(log.ref, header()) if persist else await repository.create(header(), persist=True)
    await repository.create(header("s2"), persist=persist)


async def test_no_such_session(repository: Repository) -> None:
    _, log = await repository.create(header(), persist=True)
    with pytest.raises(SessionNotFound):
        await repository.find("s2")
    gone = log.ref.__class__("s2", log.ref.location.replace("s1", "s2"))
    for attempt in (repository.open(gone), repository.delete(gone), repository.copy(gone, header("s3"))):
        with pytest.raises(SessionNotFound):
            await attempt
    for attempt2 in (repository.ref(gone.location), repository.check(gone.location), repository.repair(gone.location)):
        with pytest.raises(SessionNotFound):
            await attempt2


@pytest.mark.parametrize(
    "odd",
    [
        "",
        "../s1",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "s1\0",
        "%2e",
        "C:\\s1",
        "s1\n",
        "-s1",
        "s1-",
        ".",
        "..",
        "ü",
        "s" * 300,
    ],
)
async def test_an_id_that_is_none(repository: Repository, odd: str) -> None:
    with pytest.raises(InvalidParams):
        await repository.find(odd)
    with pytest.raises(InvalidParams):
        await repository.create(header(odd), persist=True)
    with pytest.raises(InvalidParams):
        await repository.create(header(odd), persist=False)
    assert await repository.list(None) == []


async def test_ref_of_a_location(repository: Repository) -> None:
    _, log = await repository.create(header(), persist=True)
    assert await repository.ref(log.ref.location) == log.ref == await repository.find("s1")


async def test_a_copy_is_a_session_of_its_own(repository: Repository) -> None:
    lines = [*chain("a", "b"), dump({"type": "odd", "id": "b", "parentId": "a", "timestamp": "", "x": 1.0})]
    _, log = await repository.create(header(), lines, persist=True)
    copied, copy = await repository.copy(log.ref, header("s2", parent=log.ref.location))
    assert copied.header == header("s2", parent=log.ref.location)
    assert ids(copied.heads) == ["a", "b", "b"]
    assert await copy.read(copied.heads) == lines
    await copy.append(chain("c", after="b"), synced=False, persist=True)
    assert ids((await repository.open(log.ref))[0].heads) == ["a", "b", "b"]
    assert ids((await repository.open(await repository.find("s2")))[0].heads) == ["a", "b", "b", "c"]


async def test_a_listing(repository: Repository) -> None:
    early = message("a", None, message={"role": "user", "content": "first\n question ", "timestamp": 1})
    await repository.create(header("s1"), [early], persist=True)
    late = dump({"type": "message", "id": "b", "parentId": None, "timestamp": TIME_OF_B, "message": ANSWER})
    named = dump({"type": "session_info", "id": "c", "parentId": "b", "timestamp": TIME_OF_B, "name": " my name "})
    await repository.create(header("s2", cwd="/other", parent="/some/file"), [late, named], persist=True)
    seen: list[tuple[int, int]] = []
    s2, s1 = await repository.list(None, lambda done, total: seen.append((done, total)))
    assert (s1.ref.session_id, s1.cwd, s1.first_message, s1.message_count) == ("s1", CWD, "first question", 1)
    assert s1.name is None
    assert (s1.created, s1.modified) == ("2026-01-31T12:00:00.000Z", "1970-01-01T00:00:00.001Z")
    assert (s2.ref.session_id, s2.name, s2.parent_session, s2.modified) == ("s2", "my name", "/some/file", TIME_OF_B)
    assert [s.ref.session_id for s in await repository.list("/other")] == ["s2"]
    assert await repository.list("/oth") == []
    assert seen[-1] == (2, 2)


TIME_OF_B = "2026-02-01T00:00:00.000Z"
ANSWER = {"role": "assistant", "content": [{"type": "text", "text": "hi"}]}


async def test_a_deleted_session_is_gone(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pi_daemon.storage.system.send2trash", lambda path: Path(path).unlink())
    loaded, log = await repository.create(header(), chain("a"), persist=True)
    await repository.delete(log.ref)
    with pytest.raises(SessionNotFound):
        await repository.find("s1")
    assert (await log.look()).replaced
    with pytest.raises(StorageFailed):
        await log.append(chain("b", after="a"), synced=False, persist=True)
    with pytest.raises(StorageFailed):
        await log.read(loaded.heads)
    assert await repository.list(None) == []
    await repository.create(header(), persist=True)


async def test_a_closed_log_takes_nothing(repository: Repository, persist: bool) -> None:
    loaded, log = await repository.create(header(), chain("a"), persist=persist)
    await log.close()
    await log.close()
    with pytest.raises(StorageFailed):
        await log.append(chain("b"), synced=False, persist=True)
    with pytest.raises(StorageFailed):
        await log.read(loaded.heads)


async def test_a_sound_session_needs_no_repair(repository: Repository) -> None:
    _, log = await repository.create(header(), [*chain("a"), message("b", "nobody")], persist=True)
    report = await repository.check(log.ref.location)
    assert (report.opens, report.entry_count, report.session_id) == (True, 2, "s1")
    assert [(damage.kind, damage.entry_ids) for damage in report.damage] == [("orphan", ["b"])]
    mended = await repository.repair(log.ref.location)
    assert (mended.original_kept_at, mended.dropped) == (None, [])
