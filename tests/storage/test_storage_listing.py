"""Listing: what is read again and what isn't, and that nothing in a folder can keep the rest from being listed."""

from __future__ import annotations

import asyncio
import os
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_daemon.storage.catalogue import read_header
from pi_daemon.storage.files import FileRepository
from pi_daemon.storage.protocols import SessionRef
from pi_daemon.storage.summary import Summary
from pi_daemon.storage.system import READ, Files
from tests.storage.support import CWD, HEADER, TIME, FaultyFiles, Place, chain, dump, header, message

A, B, C = chain("a", "b", "c")


async def count(repository: FileRepository) -> list[int]:
    return [summary.message_count for summary in await repository.list(None)]


async def test_a_file_that_stayed_as_it_was_is_not_read_again(place: Place) -> None:
    files = FaultyFiles()
    repository = place.repository(files)
    path = place.put([HEADER, A, B])
    first = await repository.list(None)
    files.calls.clear()
    assert await repository.list(None) == first
    assert await repository.list(CWD) == first
    assert await repository.find("s1")
    assert "read_into" not in files.calls
    with open(path, "ab") as file:
        file.write(C + b"\n")
    assert await count(repository) == [3]


async def test_a_file_that_grew_is_read_on(place: Place) -> None:
    files = FaultyFiles()
    repository = place.repository(files)
    path = place.put([HEADER, *(message(f"n{number}", None, "x" * 1000) for number in range(500))])
    assert await count(repository) == [500]
    files.calls.clear()
    for number, more in enumerate([A + b"\n", B[:50], B[50:], b"\n" + C, b"\n"]):
        with open(path, "ab") as file:
            file.write(more)
        assert await count(repository) == [501 + (number >= 2) + (number >= 3)]
    assert files.calls.count("read_into") < 30
    (named,) = await repository.list(None)
    assert (named.name, named.first_message) == (None, "x" * 200)
    with open(path, "ab") as file:
        file.write(dump({"type": "session_info", "id": "d", "parentId": "c", "timestamp": TIME, "name": "new"}) + b"\n")
    assert [summary.name for summary in await repository.list(None)] == ["new"]


async def test_a_last_line_that_is_whole_without_its_newline_counts_until_it_is_spoiled(place: Place) -> None:
    repository = place.repository()
    path = place.put(b"\n".join([HEADER, A, B]))
    assert await count(repository) == [2]
    for more, messages in ((b"  ", 2), (b" \n" + C, 3), (b"\n", 3), (message("d", "c", "x"), 4), (b"}\n" + A, 4)):
        with open(path, "ab") as file:
            file.write(more)
        assert await count(repository) == [messages]


async def test_a_file_that_was_rewritten_is_read_anew(place: Place) -> None:
    repository = place.repository()
    path = place.put([HEADER, A, B])
    assert await count(repository) == [2]
    path.write_bytes(b"\n".join([HEADER.replace(b"s1", b"s2"), C, B, A, B, b""]))
    (summary,) = await repository.list(None)
    assert (summary.ref.session_id, summary.message_count) == ("s2", 4)
    path.write_bytes(HEADER + b"\n")
    assert await count(repository) == [0]
    path.unlink()
    assert await count(repository) == []


async def test_a_broken_file_hides_no_others(place: Place) -> None:
    place.put([HEADER, A])
    place.put(b"", "empty.jsonl")
    place.put(b"\0" * 1000, "zeros.jsonl")
    place.put(b"[" * 100_000, "deep.jsonl")
    place.put([b"1" * 10_000, b'{"type":"session"}', b"{}"] * 20, "foreign.jsonl")
    place.put(HEADER.replace(b'"s1"', b"7"), "number.jsonl")
    place.put(b"\xff\xfe" + HEADER.decode().encode("utf-16-le"), "utf16.jsonl")
    place.put(HEADER.replace(b'"cwd":"', b'"cwd":"\\ud83d'), "half.jsonl")
    halves = message("a", None, "?!?").replace(b"?!?", rb"\ud83d!\ud83d")
    place.put([HEADER.replace(b"s1", b"s3"), halves], "halves.jsonl")
    os.mkfifo(place.folder / "pipe.jsonl")
    found = await place.repository().list(None)
    assert len(found) == 3
    assert sorted(summary.first_message for summary in found) == ["", "hello", "\ufffd!\ufffd"]
    for summary in found:
        assert repr(summary).encode()


async def test_what_a_quick_look_sees_of_damage(place: Place) -> None:
    blank = b"\xe2\x80\xa8"
    for number, (line, damaged) in enumerate(
        [
            (A, False),
            (b"", False),
            (blank, False),
            (b"{", True),
            (b"[]", True),
            (b'{"type":"custom"}', True),
            (A + B, True),
        ]
    ):
        path = place.put([HEADER.replace(b"s1", b"n%d" % number), C, line, B], f"{number}.jsonl")
        (summary,) = await place.repository().list(None)
        assert summary.damaged == damaged, line
        path.unlink()
    oldest = [HEADER.replace(b'"version":3', b'"version":1'), b'{"type":"message","message":{"role":"user"}}']
    place.put(oldest)
    (summary,) = await place.repository().list(None)
    assert not summary.damaged


async def test_a_first_message_is_one_line_of_two_hundred_code_points(place: Place) -> None:
    place.put([HEADER, message("a", None, "  a\n\tb\u2028c " + "😀" * 300)])
    (summary,) = await place.repository().list(None)
    assert summary.first_message == "a b c " + "😀" * 194


async def test_progress_comes_on_the_loop_and_in_order(place: Place) -> None:
    for number in range(20):
        place.put([HEADER.replace(b"s1", b"n%d" % number), A], f"{number}.jsonl")
    seen: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        asyncio.get_running_loop()
        seen.append((done, total))

    assert len(await place.repository().list(None, progress)) == 20
    assert seen == [(number, 20) for number in range(1, 21)]


async def test_a_cancelled_listing_stops(place: Place) -> None:
    for number in range(20):
        place.put([HEADER.replace(b"s1", b"n%d" % number), A], f"{number}.jsonl")
    files = FaultyFiles()
    reached, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        reached.set()
        go_on.wait(10)

    files.before["read_into"] = [None] * 4 + [wait]
    repository = place.repository(files)
    task = asyncio.create_task(repository.list(None))
    await asyncio.to_thread(reached.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    assert len(await repository.list("/nowhere")) == 0  # waits for the one before
    assert files.calls.count("read_into") < 60


async def test_the_header_is_looked_for_in_bounds(place: Place) -> None:
    files = FaultyFiles()
    place.put(b"x" * 5_000_000, "long.jsonl")
    place.put([b"{}"] * 100_000, "many.jsonl")
    wide = header(cwd="/" + "w" * 500_000)
    path = place.put([dump({"type": "session", "version": 3, "id": "s1", "timestamp": TIME, "cwd": wide.cwd}), A])
    assert (await place.repository(files).find("s1")).location == str(path)
    assert files.calls.count("read_into") < 700
    huge = dump({"type": "session", "version": 3, "id": "s2", "timestamp": TIME, "cwd": "/" + "w" * 2_000_000})
    path = place.put([huge, A], "huge.jsonl")
    fd = os.open(path, READ)
    assert read_header(Files(), fd) is None
    os.close(fd)
    assert (await place.repository().ref(str(path))).session_id == "s2"
    _, log = await place.repository().open(place.ref(path, "s2"))
    await log.close()


PIECES = [
    A,
    b"{}",
    b'{"type":"session_info","name":" n "}',
    b'{"type":"session_info","name":7}',
    b'{"type":"session_info"}',
    b'{"type":"message","message":{"role":"assistant","content":"x","timestamp":5.5}}',
    b'{"type":"message","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":[]}}',
    b'{"type":"message","message":{"role":"user","content":[{"type":"text","text":"\\ud83d"}],"timestamp":null}}',
    b'{"type":"message","message":{"role":"unheard of","content":"x"}}',
    b'{"type":"message","message":{"content":"\xff","role":"user"}}',
    b'{"type":"message","message":7}',
    b'{"type":"message"}',
    b'{"type":',
    b'"message","message":null}',
    b"[{",
    b"}",
    b"",
    b" ",
    b"\r",
    b"\0",
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=2).map(b"".join), max_size=8), st.booleans())
def test_a_block_at_once_reads_as_its_lines_do(lines: list[bytes], ends: bool) -> None:
    whole, by_lines = Summary(header()), Summary(header())
    whole.read(b"\n".join(lines) + b"\n" * ends)
    for line in lines:
        by_lines._read_line(line)
    ref = SessionRef("s1", "")
    assert whole.made(ref, 0, 0) == by_lines.made(ref, 0, 0)
