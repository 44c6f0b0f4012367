"""The index finds what is said in sessions, and never says what no file says."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from pi_daemon.session.errors import InvalidParams
from pi_daemon.storage.index.query import parse
from tests.storage.indexing import Desk, answer, desk
from tests.storage.support import CWD, HEADER, TIME, Place, chain, dump, message

TALK = [
    HEADER,
    message("a", None, "Please fix parseTokens in core/cut.py"),
    answer("b", "a", "The limit is   wrong:\n  see MAX_LINE, größer als früher"),
    dump(
        {
            "type": "message",
            "id": "c",
            "parentId": "b",
            "timestamp": TIME,
            "message": {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hmm, a riddle"},
                    {"type": "toolCall", "id": "t", "name": "bash", "arguments": {"command": "grep -rn needle src/"}},
                ],
            },
        }
    ),
    dump(
        {
            "type": "message",
            "id": "d",
            "parentId": "c",
            "timestamp": TIME,
            "message": {"role": "toolResult", "toolCallId": "t", "toolName": "bash", "content": "src/a.py:1: needle"},
        }
    ),
    message("e", "d", "用户希望保留原来的行为, 設定ファイルを読む 🙂"),
    dump(
        {"type": "compaction", "id": "f", "parentId": "e", "timestamp": TIME, "summary": "## Goal\nTo find a haystack"}
    ),
    dump({"type": "label", "id": "g", "parentId": "f", "timestamp": TIME, "targetId": "a", "label": "start here"}),
]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("fix", "a"),
        ("FIX Please", "a"),
        ("parseTok", "a"),
        ("arseToken", "a"),
        ("core/cut.py", "a"),
        ("cut.py fix", "a"),
        ("max_line", "b"),
        ('"limit is wrong"', "b"),
        ('"limit wrong"', ""),
        ("limit wrong", "b"),
        ("GRÖSSER", "b"),
        ("größer", "b"),
        ("riddle", "c"),
        ("needle", "cd"),
        ("grep -rn", "c"),
        ("src/a.py:1:", "d"),
        ("用户", "e"),
        ("希望", "e"),
        ("保留原来", "e"),
        ("ファ", "e"),
        ("設定 用户", "e"),
        ("户用", ""),
        ("🙂", "e"),
        ("is", "be"[:1]),
        ("haystack", "f"),
        ("start here", "g"),
        ("nowhere", ""),
        ('"', ""),
        ('" "', ""),
        ("AND OR NOT", ""),
        ("NEAR(fix please)", ""),
        ("fix*", ""),
        ("^fix", ""),
        ("text:fix", ""),
        ("'; DROP TABLE blocks; --", ""),
        ("\\", ""),
        ("x" * 10_000, ""),
        ("fix " * 2_500, "a"),
        ("\ud83d", ""),
        ("fix\0", "a"),
    ],
)
async def test_what_is_found(place: Place, query: str, found: str) -> None:
    place.put(TALK)
    async with desk(place) as made:
        await made.indexed_all()
        assert "".join(await made.ids(query)) == found


@pytest.mark.parametrize("query", ["", "  ", "\n", "\0", "x" * 10_001])
def test_a_query_that_says_nothing_or_too_much(query: str) -> None:
    with pytest.raises(InvalidParams):
        parse(query)


@pytest.mark.parametrize("cursor", ["", "x", "1", "-1.0", "1.x", "١.٢", "9" * 50 + ".0", "1.0.0"])
async def test_a_cursor_that_no_search_gave(place: Place, cursor: str) -> None:
    async with desk(place) as made:
        with pytest.raises(InvalidParams):
            await made.search("x", cursor=cursor)


async def test_filters(place: Place) -> None:
    def at(line: bytes, time: str) -> bytes:
        return line.replace(TIME.encode(), time.encode())

    place.put(
        [
            HEADER,
            at(message("a", None, "word"), "2026-01-01T00:00:00.000Z"),
            at(answer("b", "a", "word", "one"), "2026-01-02T00:00:00.000Z"),
            at(answer("c", "b", "word", "two"), "2026-01-03T00:00:00.000Z"),
            dump({"type": "label", "id": "l", "parentId": "c", "timestamp": TIME, "targetId": "b", "label": "x"}),
            dump({"type": "compaction", "id": "d", "parentId": "l", "timestamp": TIME, "summary": "word"}),
        ]
    )
    elsewhere = HEADER.replace(b"s1", b"s2").replace(CWD.encode(), b"/elsewhere")
    place.put([elsewhere, message("z", None, "word")], "other.jsonl")
    async with desk(place) as made:
        await made.indexed_all()
        ids = made.ids
        assert await ids("word") == list("abcdz")
        assert await ids("word", cwd=CWD) == list("abcd")
        assert await ids("word", cwd="/elsewhere/") == ["z"]
        assert await ids("word", cwd="/nowhere") == []
        assert await ids("word", role="user") == ["a", "z"]
        assert await ids("word", role="assistant") == ["b", "c"]
        assert await ids("word", role="compaction") == ["d"]
        assert await ids("word", model="one") == ["b"]
        assert await ids("word", model="p/two") == await ids("word", model="TW") == ["c"]
        assert await ids("word", model="p") == []
        assert await ids("word", label="x") == ["b"]
        assert await ids("word", label="y") == []
        day = 24 * 3600 * 1000.0
        second = 1767312000000.0
        assert await ids("word", after=second, before=second + day) == ["b"]
        assert await ids("word", before=second) == ["a"]


async def test_a_hit_says_where_it_lies(place: Place) -> None:
    lines = [HEADER, *chain("a", "b", "c"), *chain("d", "e", after="a")]
    place.put([line.replace(b"hello", b"hello \\u001b[31m\\u202eworld") for line in lines])
    async with desk(place) as made:
        await made.indexed_all()
        hits = {hit.entry_id: hit for hit in await made.hits("world")}
        assert {name: (hit.on_path, hit.tip_id) for name, hit in hits.items()} == {
            "a": (True, "e"),
            "b": (False, "c"),
            "c": (False, "c"),
            "d": (True, "e"),
            "e": (True, "e"),
        }
        assert hits["a"].snippet == "hello  [31m world"
        assert (hits["a"].role, hits["a"].type, hits["a"].timestamp, hits["a"].cwd) == ("user", "message", TIME, CWD)


async def test_odd_trees_are_told_too(place: Place) -> None:
    place.put([HEADER, message("a", "b", "odd"), message("b", None, "odd"), message("a", "b", "odd again")])
    first = dump({"type": "session", "id": "s2", "timestamp": TIME, "cwd": CWD})
    old = dump({"type": "message", "timestamp": TIME, "message": {"role": "user", "content": "odd"}})
    place.put([first, old, old], "old.jsonl")
    async with desk(place) as made:
        await made.indexed_all()
        hits = await made.hits("odd")
        assert {hit.entry_id for hit in hits if hit.ref.session_id == "s1"} == {"a", "b"}
        assert all(hit.on_path for hit in hits if hit.ref.session_id == "s1")
        ancient = [hit for hit in hits if hit.ref.session_id == "s2"]
        assert len({hit.entry_id for hit in ancient}) == 2 and all(hit.entry_id and hit.on_path for hit in ancient)


async def test_pages_give_each_hit_once(place: Place) -> None:
    for number in range(30):
        lines = chain(*(f"{number}-{n}" for n in range(12)))
        place.put([HEADER.replace(b"s1", b"n%d" % number), *lines], f"{number}.jsonl")
    async with desk(place) as made:
        await made.indexed_all()
        for limit in (1, 7, 100):
            found = [hit.entry_id for hit in await made.hits("hello", limit=limit)]
            assert len(found) == len(set(found)) == 360


async def test_pages_stay_as_they_are_while_sessions_come(place: Place) -> None:
    for number in range(20):
        place.put([HEADER.replace(b"s1", b"n%d" % number), *chain(f"{number}-a", f"{number}-b")], f"{number}.jsonl")
    async with desk(place) as made:
        await made.indexed_all()
        found: list[str] = []
        cursor: str | None = None
        for number in range(20):
            page = await made.search("hello", cursor=cursor, limit=2)
            found += [hit.entry_id for hit in page.hits]
            cursor = page.cursor
            place.put([HEADER.replace(b"s1", b"m%d" % number), *chain(f"new-{number}")], f"new-{number}.jsonl")
            await made.indexed_all()
        assert cursor is None
        assert len(found) == len(set(found)) == 40 and not any(name.startswith("new") for name in found)


async def test_what_comes_is_found_and_what_goes_is_not(place: Place) -> None:
    path = place.put([HEADER, message("a", None, "first word")])
    async with desk(place) as made:
        await made.indexed_all()
        for number in range(5):
            with open(path, "ab") as file:
                file.write(message(f"b{number}", None, "second word") + b"\n")
            await made.indexed_all()
            assert len(await made.ids("second")) == number + 1
            assert await made.ids("first") == ["a"]
        path.write_bytes(HEADER + b"\n" + message("c", None, "third word") + b"\n")
        await made.indexed_all()
        assert await made.ids("word") == ["c"]
        path.rename(path.with_name("moved.jsonl"))
        made.indexed.note([str(path)])
        await made.indexed_all()
        (hit,) = await made.hits("word")
        assert hit.ref.location == str(path.with_name("moved.jsonl"))
        path.with_name("moved.jsonl").unlink()
        assert await made.hits("word") == []


async def test_a_restart_reads_only_what_has_changed(place: Place) -> None:
    for number in range(20):
        place.put([HEADER.replace(b"s1", b"n%d" % number), *chain("a", "b")], f"{number}.jsonl")
    async with desk(place) as made:
        before = await made.listed()
        await made.indexed_all()
    with open(place.folder / "7.jsonl", "ab") as file:
        file.write(message("c", "b", "more") + b"\n")
    from tests.storage.support import FaultyFiles

    files = FaultyFiles()
    async with desk(place, files) as made:
        after = await made.listed()
        assert len(after) == len(before) == 20
        assert files.counts["read_into"] <= 3
        await made.indexed_all()
        assert await made.ids("more") == ["c"]
        assert len(await made.ids("hello")) == 40
    assert sorted(summary.message_count for summary in after) == [2] * 19 + [3]


async def test_two_daemons_share_an_index(place: Place) -> None:
    path = place.put([HEADER, message("a", None, "word")])
    async with desk(place) as first:
        await first.indexed_all()
        async with desk(place) as second:
            assert await second.ids("word") == ["a"]
            with open(path, "ab") as file:
                file.write(message("b", "a", "word") + b"\n")
            await first.indexed_all()
            await second.indexed_all()
            assert await second.ids("word") == ["a", "b"]
            await first.indexed.stop()
            with open(path, "ab") as file:
                file.write(message("c", "b", "word") + b"\n")
            await second.indexed_all()
            assert await second.ids("word") == ["a", "b", "c"]


async def test_no_place_for_an_index(place: Place) -> None:
    place.put([HEADER, message("a", None, "word")])
    place.state.mkdir()
    (place.state / "index").write_bytes(b"in the way")
    async with desk(place) as made:
        assert len(await made.listed()) == 1
        page = await made.search("word")
        assert (page.hits, page.complete) == ([], False)
        assert (await made.indexed.totals(None)).sessions == 1


async def test_an_index_of_another_version_is_made_anew(place: Place) -> None:
    import sqlite3

    place.put([HEADER, message("a", None, "word")])
    async with desk(place) as made:
        await made.indexed_all()
    connection = sqlite3.connect(made.path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    async with desk(place) as made:
        await made.indexed_all()
        assert await made.ids("word") == ["a"]


async def test_totals_count_a_forked_reply_once(place: Place) -> None:
    shared = [answer("a", None, "x", responseId="r1"), answer("b", "a", "y")]
    path = place.put([HEADER, *shared, answer("c", "b", "z", responseId="r3")])
    fork = HEADER.replace(b"s1", b"s2").replace(CWD.encode(), b"/other")
    place.put([fork, *shared, answer("d", "b", "own", responseId="r4")], "fork.jsonl")
    async with desk(place) as made:
        for _ in range(2):
            totals = await made.indexed.totals(None)
            assert (totals.sessions, totals.messages, totals.replies, totals.repeated) == (2, 6, 4, 2)
            assert (totals.input, totals.output, totals.cost) == (40, 4, 2.0)
            assert (await made.indexed.totals("/other")).replies == 3
            await made.indexed_all()
        with open(path, "ab") as file:
            file.write(answer("e", "c", "z", responseId="r4") + b"\n")
        await made.indexed_all()
        assert (await made.indexed.totals(None)).repeated == 3


async def test_what_else_lies_in_the_directory(place: Place) -> None:
    place.put([HEADER, message("a", None, "word")])
    place.put(b"", "empty.jsonl")
    place.put([b'{"role":"user","content":"word"}'] * 50, "other-agent.jsonl")
    place.put(HEADER + b"\n" + b"\xff\xfeword\n" + message("b", None, "word") + b"\nword", "broken.jsonl")
    name = place.folder / "with\nnewline.jsonl"
    name.write_bytes(HEADER.replace(b"s1", b"s3") + b"\n" + message("c", None, "word") + b"\n")
    Path(os.fsdecode(os.fsencode(place.folder) + b"/\xff.jsonl")).write_bytes(HEADER + b"\n")
    os.mkfifo(place.folder / "pipe.jsonl")
    sparse = place.put([HEADER.replace(b"s1", b"s4"), message("d", None, "word")], "sparse.jsonl")
    os.truncate(sparse, 8 << 20)
    locked = place.sessions / "--locked--"
    locked.mkdir(mode=0o000)
    async with desk(place) as made:
        await made.indexed_all()
        assert await made.ids("word") == ["a", "b", "c", "d"]
        assert str(name) in {hit.ref.location for hit in await made.hits("word")}
    locked.chmod(0o700)


async def test_the_index_is_deleted_while_it_is_used(place: Place) -> None:
    path = place.put([HEADER, message("a", None, "word")])
    async with desk(place) as made:
        await made.indexed_all()
        shutil.rmtree(made.path.parent)
        with open(path, "ab") as file:
            file.write(message("b", "a", "word") + b"\n")
        made.indexed.note([str(path)])
        assert len(await made.listed()) == 1
        await made.search("word")
        await made.indexed_all()
        assert await made.ids("word") == ["a", "b"]
        assert (await made.indexed.totals(None)).messages == 2


async def test_changes_are_told(place: Place) -> None:
    path = place.put([HEADER, message("a", None, "word")])
    async with desk(place) as made:
        told: list[tuple[str, str]] = []
        came = asyncio.Event()

        def tell(changes: object) -> None:
            told.extend((change.kind, change.ref.session_id) for change in changes)  # type: ignore[attr-defined]
            came.set()

        made.indexed.changed = tell
        await made.indexed_all()
        assert told == []

        async def told_of(path: Path) -> None:
            came.clear()
            made.indexed.note([str(path)])
            await asyncio.wait_for(came.wait(), 20)

        other = place.put([HEADER.replace(b"s1", b"s2")], "other.jsonl")
        await told_of(other)
        with open(path, "ab") as file:
            file.write(message("b", "a", "word") + b"\n")
        await told_of(path)
        other.unlink()
        await told_of(other)
        assert told == [("created", "s2"), ("changed", "s1"), ("deleted", "s2")]


async def test_what_a_desk_is(place: Place) -> None:
    made = Desk(place)
    assert await made.listed() == []
    await made.indexed.stop()


async def test_it_stops_when_something_was_told_at_that_moment(place: Place) -> None:
    path = place.put([HEADER, message("a", None, "word")])
    for waits in range(6):
        made = Desk(place)
        made.indexed.follow()
        for _ in range(waits):
            await asyncio.sleep(0)
        made.indexed.note([str(path)])
        await asyncio.wait_for(made.indexed.stop(), 20)


async def test_a_last_line_without_its_newline_is_listed_summed_and_found_in_every_process(place: Place) -> None:
    path = place.put(b"\n".join([HEADER, message("a", None, "an okapi"), answer("b", "a", "a zebra")]))
    for _ in range(2):
        async with desk(place) as made:
            await made.indexed_all()
            assert [summary.message_count for summary in await made.listed()] == [2]
            assert (await made.indexed.totals(None)).cost == 0.5
            assert await made.ids("zebra") == ["b"]
    async with desk(place) as made:
        for more in (b"\n", message("c", "b", "another zebra"), b"\n" + message("d", "c", "a zebra too") + b"\n"):
            with open(path, "ab") as file:
                file.write(more)
            await made.indexed_all()
        hits = {hit.entry_id: hit.on_path for hit in await made.hits("zebra")}
        assert hits == {"b": True, "c": True, "d": True}
        with open(path, "ab") as file:
            file.write(message("e", "d", "quagga"))
        await made.indexed_all()
        assert await made.ids("quagga") == ["e"]
        with open(path, "ab") as file:
            file.write(b"}\n" + message("f", "d", "a gnu"))
        await made.indexed_all()
        assert (await made.ids("quagga"), await made.ids("gnu")) == ([], ["f"])
