"""What is read from a file, in whatever state somebody left it. Reading changes nothing."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from pi_daemon.session.errors import ReadOnly, SessionCorrupted, SessionNotFound, StorageFailed
from pi_daemon.storage.protocols import Loaded
from tests.storage.support import HEADER, Place, chain, ids, kinds, message

A, B, C, D = chain("a", "b", "c", "d")


async def load(place: Place, content: bytes | list[bytes], recover: bool = False) -> Loaded:
    """Open a file with that content, and see that it stays as it is, to the time of its last change."""
    path = place.put(content)
    os.utime(path, ns=(1, 1_000_000_007))
    data = path.read_bytes()
    repository = place.repository()
    ref = await repository.ref(str(path))
    try:
        loaded, log = await repository.open(ref, recover=recover)
        lines = await log.read(loaded.heads)
        assert [data[h.offset : h.offset + h.length] for h in loaded.heads] == lines or loaded.migrates
        await log.look()
        await log.close()
        await repository.check(str(path))
        await repository.list(None)
        assert (await repository.find(ref.session_id)).location == str(path)
    finally:
        assert path.read_bytes() == data
        assert path.stat().st_mtime_ns == 1_000_000_007
        assert place.strays() == []
    return loaded


async def refused(place: Place, content: bytes | list[bytes]) -> SessionCorrupted:
    with pytest.raises(SessionCorrupted) as caught:
        await load(place, content)
    return caught.value


@pytest.mark.parametrize(
    ("last", "entries", "damage"),
    [
        (C, ["a", "b", "c"], []),
        (C + b"\r", ["a", "b", "c"], []),
        (C + b"  ", ["a", "b", "c"], []),
        (b"   ", ["a", "b"], []),
        (b"\r", ["a", "b"], []),
        (C[:-1], ["a", "b"], ["tornTail"]),
        (C[:20], ["a", "b"], ["tornTail"]),
        (message("c", "b", "größer")[:-30], ["a", "b"], ["tornTail"]),
        (message("c", "b", "😀")[:95], ["a", "b"], ["tornTail"]),
        (b"\0" * 5000, ["a", "b"], ["tornTail"]),
        (C + b"\0" * 5000, ["a", "b"], ["tornTail"]),
        (b"12", ["a", "b"], ["tornTail"]),
        (b"[" * 5000, ["a", "b"], ["tornTail"]),
        (b'{"type":"leaf"}', ["a", "b"], ["noId"]),
    ],
)
async def test_a_last_line_without_a_newline(place: Place, last: bytes, entries: list[str], damage: list[str]) -> None:
    loaded = await load(place, b"\n".join([HEADER, A, B, last]))
    assert ids(loaded.heads) == entries
    assert kinds(loaded.damage) == damage
    assert loaded.read_only is None


async def test_a_header_alone(place: Place) -> None:
    for content in (HEADER, HEADER + b"\n", HEADER + b"\r\n\r\n"):
        loaded = await load(place, content)
        assert (loaded.heads, loaded.damage) == ([], [])


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"this is no JSON", "notJson"),
        (C[:-1], "notJson"),
        (C[:40] + D, "notJson"),
        (b'{"type":"custom","id":"x"}{"type":"custom","id":"y"}', "glued"),
        (b"\0" * 300, "notJson"),
        (b'{"type":"custom","id":"x","n":NaN}', "notJson"),
        (b"\xef\xbb\xbf" + C, "notJson"),
        (b"42", "notObject"),
        (b"[]", "notObject"),
        (b"null", "notObject"),
        (b'"text"', "notObject"),
        (b'{"type":"leaf"}', "noId"),
        (b'{"type":"custom","id":7}', "noId"),
        (b'{"type":"custom","id":""}', "noId"),
        (message("x", "b", "\xff").replace(b"\xc3\xbf", b"\xff"), "notUtf8"),
        (b'{"type":"custom","id":"x","data":' + b"[" * 5000 + b"]" * 5000 + b"}", "tooDeep"),
        (b'{"type":"custom","id":"x","data":' + b"[" * 500 + b"]" * 500 + b"}", "tooDeep"),
    ],
)
async def test_a_broken_line_that_took_nobody_along(place: Place, line: bytes, kind: str) -> None:
    loaded = await load(place, [HEADER, A, B, line, C, D])
    assert ids(loaded.heads) == ["a", "b", "c", "d"]
    (damage,) = loaded.damage
    place_of_line = len(HEADER) + len(A) + len(B) + 3
    assert (damage.kind, damage.line, damage.offset, damage.length) == (kind, 4, place_of_line, len(line))
    assert damage.entry_ids == []
    assert place.kept() == []


@pytest.mark.parametrize("broken", [b"{", b"\0\0\0", C[:-2], b"42", b'{"type":"x"}', C.replace(b"hello", b"\xff")])
async def test_a_broken_line_that_was_a_parent(place: Place, broken: bytes) -> None:
    path = place.put([HEADER, A, B, broken, D, *chain("e", after="d"), message("f", "b")])
    content = path.read_bytes()
    error = await refused(place, content)
    assert error.data["recoverable"] is True
    (damage,) = error.data["damage"]
    assert (damage["line"], damage["entryIds"]) == (4, ["d", "e"])
    assert "hello" not in str(error)
    copy = Path(error.data["copy"])
    assert copy.read_bytes() == content
    again = await refused(place, content)
    assert (again.data["copy"], place.kept()) == (str(copy), [copy])

    loaded = await load(place, content, recover=True)
    assert ids(loaded.heads) == ["a", "b", "d", "e", "f"]
    assert loaded.read_only is None
    assert place.kept() == [copy]


async def test_entries_that_lost_their_ancestors_are_named_in_bounds(place: Place) -> None:
    many = [f"n{number}" for number in range(500)]
    error = await refused(place, [HEADER, A, b"{", *chain(*many, after="b")])
    (damage,) = error.data["damage"]
    assert damage["entryIds"] == many[:100]
    assert "500 entries" in error.message


async def test_a_copy_that_finds_no_room_is_done_without(place: Place) -> None:
    place.state.write_text("a file where the state directory should be")
    error = await refused(place, [HEADER, A, b"{", *chain("c", after="b")])
    assert (error.data["copy"], error.data["recoverable"]) == (None, True)


async def test_an_orphan_without_a_broken_line_is_no_reason_to_refuse(place: Place) -> None:
    loaded = await load(place, [HEADER, A, message("x", "nobody"), b"{", message("y", "a")])
    assert ids(loaded.heads) == ["a", "x", "y"]
    assert kinds(loaded.damage) == ["notJson", "orphan"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"no session at all",
        b"\0" * 100,
        HEADER[:-1],
        A + b"\n" + B + b"\n",
        b'{"type":"session","id":7}\n' + A + b"\n",
        b"\n".join([b'{"other":1}'] * 20) + b"\n" + HEADER + b"\n" + A + b"\n",
    ],
)
async def test_what_is_no_session_is_refused_and_left(place: Place, content: bytes) -> None:
    error = await refused(place, content)
    assert error.data["recoverable"] is False
    (damage,) = [d for d in error.data["damage"] if d["kind"] in ("empty", "noHeader")]
    assert damage["kind"] == ("empty" if not content else "noHeader")
    path = place.put(content)
    report = await place.repository().check(str(path))
    assert (report.opens, report.session_id) == (False, None)
    with pytest.raises(SessionCorrupted):
        await place.repository().repair(str(path))
    assert path.read_bytes() == content
    assert await place.repository().list(None) == []
    assert place.kept() == []


READ_ONLY = {
    "byteOrderMark": b"\xef\xbb\xbf" + HEADER + b"\n" + A + b"\n",
    "lateHeader": b'{"type":"title","title":"x"}\n' + HEADER + b"\n" + A + b"\n",
    "unversioned": HEADER.replace(b'"version":3,', b"") + b"\n" + A + b"\n",
    "newerVersion": HEADER.replace(b'"version":3', b'"version":4') + b"\n" + A + b"\n",
}


@pytest.mark.parametrize("kind", READ_ONLY)
async def test_what_pi_would_refuse_or_rewrite_is_read_only(place: Place, kind: str) -> None:
    loaded = await load(place, READ_ONLY[kind])
    assert kinds(loaded.damage)[0] == kind
    assert ids(loaded.heads) == ["a"]
    assert loaded.read_only
    assert not loaded.migrates
    path = place.put(READ_ONLY[kind])
    _, log = await place.repository().open(place.ref(path))
    with pytest.raises(ReadOnly):
        await log.append(chain("b", after="a"), synced=False, persist=True)
    with pytest.raises(ReadOnly):
        await log.append(chain("b", after="a"), synced=True, persist=True)
    assert path.read_bytes() == READ_ONLY[kind]


async def test_lines_that_cannot_be_read_before_the_header_do_no_harm(place: Place) -> None:
    """pi passes over them too, when it looks for the first line that it can parse."""
    loaded = await load(place, [b"", b"torn{", b"null", HEADER, A])
    assert (ids(loaded.heads), loaded.read_only) == (["a"], None)
    assert kinds(loaded.damage) == ["notJson", "notObject"]


async def test_a_header_within_the_first_twenty_lines(place: Place) -> None:
    loaded = await load(place, [b'{"other":1}'] * 19 + [HEADER, A])
    assert ids(loaded.heads) == ["a"]


async def test_a_second_header_is_ignored(place: Place) -> None:
    other = HEADER.replace(b'"s1"', b'"s2"')
    loaded = await load(place, [HEADER, A, other, B])
    assert (loaded.header.id, ids(loaded.heads), kinds(loaded.damage)) == ("s1", ["a", "b"], ["extraHeader"])


async def test_legal_oddities_come_through(place: Place) -> None:
    odd = [
        message("a", None, "line\u2028separators\u2029\x85\x0b\x0c"),
        b'{"type":"message","id":"b","parentId":"a","timestamp":"","message":{"role":"user","content":"\\ud83d half"}}',
        b'{"type":"custom","id":"c","parentId":"b","timestamp":"","data":' + b"9" * 5000 + b"}",
        b'{"type":"custom","id":"d","parentId":"c","timestamp":"","data":{"jsonrpc":1,"type_name":2,"x":1e999,"y":-0.0}}',
        b'  {"id" : "e", "type":"odd", "parentId":"d" }\t',
        b'{"type":"custom","id":"f","parentId":"e","timestamp":"","data":' + b"[" * 499 + b"]" * 499 + b"}",
        b'{"type":"a","id":"g","type":"b","parentId":"f"}',
    ]
    loaded = await load(place, [HEADER, *odd])
    assert ids(loaded.heads) == list("abcdefg")
    assert loaded.damage == []
    again = await load(place, b"\r\n".join([HEADER, *odd, b""]))
    assert ids(again.heads) == list("abcdefg")
    assert again.damage == []


async def test_line_numbers_count_every_line(place: Place) -> None:
    filler = [message(f"x{number}", None, "y" * 300) for number in range(600)]
    loaded = await load(place, [HEADER, b"", *filler, b"{", b"", b"42"])
    assert [(damage.kind, damage.line) for damage in loaded.damage] == [("notJson", 603), ("notObject", 605)]


@pytest.mark.slow
async def test_a_line_of_a_hundred_megabytes(place: Place) -> None:
    long = message("b", "a", "x" * 100_000_000)
    path = place.put([HEADER, A, long, C])
    repository = place.repository()
    started = time.perf_counter()
    loaded, log = await repository.open(place.ref(path))
    assert ids(loaded.heads) == ["a", "b", "c"]
    assert await log.read(loaded.heads) == [A, long, C]
    (summary,) = await repository.list(None)
    assert summary.message_count == 3
    await log.close()
    assert time.perf_counter() - started < 30  # linear: pieces of it are not glued together one by one


async def test_a_line_without_an_end_does_not_fill_the_memory(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pi_daemon.storage.lines.MAX_LINE", 1_000_000)
    path = place.put(HEADER + b"\n" + A + b"\n" + b"x" * 5_000_000)
    repository = place.repository()
    for attempt in (repository.open(place.ref(path)), repository.check(str(path)), repository.repair(str(path))):
        with pytest.raises(StorageFailed) as caught:
            await attempt
        assert caught.value.data["errno"] == "EMSGSIZE"
    assert await repository.list(None) == []
    assert (await repository.open(place.ref(place.put([HEADER, A]))))[0].damage == []


async def test_what_is_no_file(place: Place) -> None:
    repository = place.repository()
    place.folder.mkdir()
    pipe = place.folder / "pipe_s1.jsonl"
    os.mkfifo(pipe)
    (place.folder / "folder_s1.jsonl").mkdir()
    for path in (pipe, place.folder / "folder_s1.jsonl"):
        with pytest.raises(SessionCorrupted):
            await repository.ref(str(path))
        with pytest.raises(SessionCorrupted):
            await repository.open(place.ref(path))
        with pytest.raises(SessionCorrupted):
            await repository.check(str(path))
        with pytest.raises(SessionCorrupted):
            await repository.delete(place.ref(path))
    assert await repository.list(None) == []
    with pytest.raises(SessionNotFound):
        await repository.find("s1")


async def test_a_file_that_is_another_session_by_now(place: Place) -> None:
    path = place.put([HEADER, A])
    with pytest.raises(SessionNotFound):
        await place.repository().open(place.ref(path, "s9"))
