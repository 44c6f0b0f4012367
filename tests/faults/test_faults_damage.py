"""Each damage that files were found with: they open or are refused as the rule says, and reading writes nothing.

What opens takes ten more entries, and everything reads back, by us and by pi.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pi_daemon.session.errors import ReadOnly, SessionCorrupted
from tests.faults.support import LONG, TEN, TEN_IDS, Unsynced, ten_more
from tests.storage.pi import Pi
from tests.storage.support import HEADER, Place, chain, dump, kinds, message

A, B, C, D = chain("a", "b", "c", "d")
UTF8 = message("u", "b", "größer 😀")
DEEP = b'{"type":"custom","id":"x","parentId":"b","data":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
DIGITS = b'{"type":"custom","id":"n","parentId":"b","timestamp":"","data":' + b"9" * 5_000 + b"}"
LARGE = message("large", "b", "x" * (100_000_000 if LONG else 5_000_000))
BROKEN_IN_TWO = message("x", "b", "y" * 600)


def lines(*content: bytes) -> bytes:
    return b"".join(line + b"\n" for line in content)


# What still opens: its content, its entries, and what is said of it.
OPENS: dict[str, tuple[bytes, list[str], list[str]]] = {
    "whole": (lines(HEADER, A, B), ["a", "b"], []),
    "no newline at the end": (lines(HEADER, A) + B, ["a", "b"], []),
    "header alone": (lines(HEADER), [], []),
    "header without its newline": (HEADER, [], []),
    "torn in the middle of a character": (
        lines(HEADER, A, B) + UTF8[: UTF8.index(b"\xc3") + 1],
        ["a", "b"],
        ["tornTail"],
    ),
    "zeros at the end": (lines(HEADER, A, B) + bytes(4096), ["a", "b"], ["tornTail"]),
    "zeros behind a whole line": (lines(HEADER, A) + B + bytes(512), ["a"], ["tornTail"]),
    "noise at the end": (lines(HEADER, A, B) + bytes(range(128, 256)), ["a", "b"], ["tornTail"]),
    "a line of zeros": (lines(HEADER, A, bytes(100), B), ["a", "b"], ["notJson"]),
    "a zero in a line": (lines(HEADER, A, B, C.replace(b"hello", b"he\0lo")), ["a", "b"], ["notJson"]),
    "CRLF": (b"\r\n".join([HEADER, A, B, b""]), ["a", "b"], []),
    "CRLF, torn behind its CR": (b"\r\n".join([HEADER, A, B]) + b"\r", ["a", "b"], []),
    "blank lines": (lines(b"", HEADER, b"", A, b"  ", B, b"", b""), ["a", "b"], []),
    "two lines in one": (lines(HEADER, A, B, C + message("z", "c")), ["a", "b"], ["glued"]),
    "a line twice": (lines(HEADER, A, B, B), ["a", "b", "b"], ["duplicateId"]),
    "a line in the middle of another": (
        lines(HEADER, A, B, BROKEN_IN_TWO[:300] + C, BROKEN_IN_TWO[300:]),
        ["a", "b"],
        ["notJson", "notJson"],
    ),
    "not UTF-8": (lines(HEADER, A, B, UTF8.replace("ö".encode(), b"\xf6")), ["a", "b"], ["notUtf8"]),
    "a lone surrogate": (lines(HEADER, A, C.replace(b"hello", b"\\ud83d")), ["a", "c"], ["orphan"]),
    "other line ends in a text": (lines(HEADER, A, message("s", "a", "\u2028\u2029\x85\x0b\x0c\x1c")), ["a", "s"], []),
    "nested too deep": (lines(HEADER, A, B, DEEP), ["a", "b"], ["tooDeep"]),
    "a number of 5,000 digits": (lines(HEADER, A, B, DIGITS), ["a", "b", "n"], []),
    "no id": (lines(HEADER, A, B, b'{"type":"leaf","targetId":"a"}'), ["a", "b"], ["noId"]),
    "no objects": (lines(HEADER, A, b"42", b'"x"', b"[]", b"null", B), ["a", "b"], ["notObject"] * 4),
    "a second header": (lines(HEADER, A, HEADER, B), ["a", "b"], ["extraHeader"]),
    "an orphan": (lines(HEADER, A, message("o", "gone")), ["a", "o"], ["orphan"]),
    "a loop": (lines(HEADER, A, message("x", "y"), message("y", "x")), ["a", "x", "y"], ["loop"]),
    "its own parent": (lines(HEADER, A, message("x", "x")), ["a", "x"], ["loop"]),
    "a parent that comes later": (lines(HEADER, B, A), ["b", "a"], []),
    "a very long line": (lines(HEADER, A, B, LARGE), ["a", "b", "large"], []),
    "a very long line, torn": (lines(HEADER, A, B) + LARGE[:-1], ["a", "b"], ["tornTail"]),
}


def as_pi_reads(name: str, entries: list[str]) -> list[str]:
    """Where pi sees something else in such a file: it puts a mark for what isn't UTF-8, and depth is nothing to it."""
    more = {"not UTF-8": "u", "nested too deep": "x"}.get(name)
    return entries if more is None else [*entries[:2], more, *entries[2:]]


@pytest.mark.slow
async def test_what_opens_goes_on(tmp_path: Path, pi: Pi) -> None:
    place = Place(tmp_path)
    paths, expected = [], []
    for name, (content, entries, damage) in OPENS.items():
        path = place.put(content, f"{name}.jsonl")
        loaded, log = await place.repository().open(place.ref(path))
        assert sorted(kinds(loaded.damage)) == sorted(damage), name
        await log.close()
        found = await ten_more(place, path, Unsynced())
        assert found == [*entries, *TEN_IDS], name
        paths.append(str(path))
        expected.append(as_pi_reads(name, found))
    assert place.kept() == []
    for name, seen, ours in zip(OPENS, pi("read", paths=paths), expected, strict=True):
        assert seen == ours, name


# What is refused unless one asks for what can be read: its content, the entries left, and those that lost ancestors.
REFUSED: dict[str, tuple[bytes, list[str], list[str]]] = {
    "a torn line with children": (lines(HEADER, A, B[:40], C, D), ["a", "c", "d"], ["c", "d"]),
    "two lines glued, with children": (lines(HEADER, A + B, C), ["c"], ["c"]),
    "zeros over an entry": (lines(HEADER, A, bytes(len(B)), C), ["a", "c"], ["c"]),
    "zeros over half of one": (lines(HEADER, A, B[:50] + bytes(len(B) - 50), C), ["a", "c"], ["c"]),
    "a line without its end, then another writer": (lines(HEADER, A, B + C, D), ["a", "d"], ["d"]),
    "not UTF-8, with children": (lines(HEADER, A, B.replace(b"hello", b"\xff"), C), ["a", "c"], ["c"]),
}


@pytest.mark.slow
async def test_what_lost_ancestors_is_refused_and_kept(tmp_path: Path, pi: Pi) -> None:
    paths, expected = [], []
    for number, (name, (content, entries, lost)) in enumerate(REFUSED.items()):
        place = Place(tmp_path / str(number))
        path = place.put(content)
        for _ in range(2):
            with pytest.raises(SessionCorrupted) as caught:
                await place.repository().open(place.ref(path))
            assert caught.value.data["recoverable"] is True, name
        told = [entry for damage in caught.value.data["damage"] for entry in damage["entryIds"]]
        assert sorted(told) == sorted(lost), name
        assert path.read_bytes() == content
        (copy,) = place.kept()
        assert (str(copy), copy.read_bytes()) == (caught.value.data["copy"], content)
        found = await ten_more(place, path, Unsynced(), recover=True)
        assert found == [*entries, *TEN_IDS], name
        paths.append(str(path))
        repaired = await place.repository().repair(str(path))
        assert repaired.original_kept_at is not None
        mended, log = await place.repository().open(place.ref(path))
        expected.append([head.id for head in mended.heads])
        assert [name for name in expected[-1] if name in found] == found
        assert (len(expected[-1]) > len(found)) == bool(repaired.rewritten)
        await log.close()
    for name, seen, ours in zip(REFUSED, pi("read", paths=paths), expected, strict=True):
        assert seen == ours, name


# What is only read, since pi would refuse it or make something else of it.
READ_ONLY: dict[str, bytes] = {
    "byteOrderMark": b"\xef\xbb\xbf" + lines(HEADER, A, B),
    "lateHeader": lines(b'{"title":"of another tool"}', HEADER, A, B),
    "newerVersion": lines(HEADER.replace(b'"version":3', b'"version":9'), A, B),
    "unversioned": lines(HEADER.replace(b'"version":3,', b""), A, B),
}


async def test_what_may_only_be_read_is(place: Place) -> None:
    for name, content in READ_ONLY.items():
        path = place.put(content, f"{name}.jsonl")
        loaded, log = await place.repository().open(place.ref(path))
        assert name in kinds(loaded.damage)
        assert loaded.read_only
        assert await log.read(loaded.heads) == [A, B]
        for synced in (False, True):
            with pytest.raises(ReadOnly):
                await log.append(TEN, synced=synced, persist=True)
        assert not log.held
        await log.close()
        assert path.read_bytes() == content


NO_SESSIONS: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "a newline": lambda: b"\n",
    "zeros": lambda: bytes(4096),
    "no header": lambda: lines(A, B),
    "a torn header": lambda: HEADER[:-1],
    "a header too late": lambda: lines(*[b'{"x":1}'] * 20, HEADER, A),
    "something else": lambda: lines(b'{"a":1}', b"text"),
    "binary": lambda: bytes(range(256)) * 100,
    "a header without an id": lambda: lines(dump({"type": "session", "version": 3}), A),
}


async def test_what_is_no_session_is_left_alone(place: Place) -> None:
    for name, content in NO_SESSIONS.items():
        path = place.put(content(), f"{name}.jsonl")
        state = path.stat()
        with pytest.raises(SessionCorrupted) as caught:
            await place.repository().open(place.ref(path), recover=True)
        assert caught.value.data["recoverable"] is False, name
        with pytest.raises(SessionCorrupted):
            await place.repository().repair(str(path))
        assert (path.read_bytes(), path.stat().st_ctime_ns) == (content(), state.st_ctime_ns)
    assert place.kept() == []
