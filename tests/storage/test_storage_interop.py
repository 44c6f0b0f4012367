"""With pi 1.6.0 itself: what we write it reads the same, what it writes we read the same, and both at one time."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pi_daemon.session.head import Header
from pi_daemon.storage.layout import find_layout
from tests.storage.pi import Pi
from tests.storage.support import CWD, HEADER, TIME, FaultyFiles, Place, chain, dump, header, ids, message

A, B, C, D = chain("a", "b", "c", "d")

SHARED = Path(os.environ.get("PI_DAEMON_SHARED", Path(__file__).parents[3] / "shared")) / "sessions"
"""Recordings that stay out of the project; tests run without them too."""


@pytest.fixture(scope="module")
def pi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pi]:
    process = Pi(tmp_path_factory.mktemp("home"))
    yield process
    process.close()


def values(lines: list[bytes]) -> list[Any]:
    return [json.loads(line) for line in lines]


ODD = [
    message("a", None, "größer 😀 \u2028\u2029\x85\x0b"),
    b'{"type":"message","id":"b","parentId":"a","timestamp":"%s","message":{"role":"user","content":"\\ud83d"}}'
    % TIME.encode(),
    b'{"type":"usage","id":"c","parentId":"b","timestamp":"%s","kind":"x","usage":{"n":1.0,"m":1e2}}' % TIME.encode(),
    dump({"type": "a later kind", "id": "d", "parentId": "c", "timestamp": TIME, "type_name": {"jsonrpc": None}}),
    dump({"type": "session_info", "id": "e", "parentId": "d", "timestamp": TIME, "name": " the name "}),
]


# Ours, read by pi


async def test_pi_reads_what_we_write(place: Place, pi: Pi) -> None:
    repository = place.repository()
    _, log = await repository.create(header(parent="/some/file.jsonl"), ODD[:1], persist=False)
    await log.append(ODD[1:3], synced=False, persist=True)
    await log.append(ODD[3:], synced=True, persist=True)
    path = Path(log.ref.location)
    before = path.read_bytes()
    seen = pi("open", path=path)
    assert path.read_bytes() == before
    assert seen["entries"] == values(ODD)
    assert (seen["leafId"], seen["name"]) == ("e", "the name")
    assert seen["header"] == {
        "type": "session",
        "version": 3,
        "id": "s1",
        "timestamp": TIME,
        "cwd": CWD,
        "parentSession": "/some/file.jsonl",
    }
    assert list(seen["header"]) == ["type", "version", "id", "timestamp", "cwd", "parentSession"]


@pytest.mark.parametrize("cwd", ["/home/me/project", "/", "/a-b/c", "/日本/x y", "/with:colon\\and", "/dots/../here/"])
async def test_pi_finds_what_we_create(pi: Pi, tmp_path: Path, cwd: str) -> None:
    agent = pi.home / "agent"
    layout = find_layout(None, {"PI_CODING_AGENT_DIR": str(agent)}, pi.home)
    theirs = Path(pi("create", cwd=cwd)["path"])
    assert layout.folder(cwd) == theirs.parent
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_[0-9a-f-]{36}\.jsonl", theirs.name)
    place = Place(tmp_path)
    place.sessions = layout.sessions_dir
    _, log = await place.repository().create(header("own", cwd=cwd), [A], persist=True)
    ours = Path(log.ref.location)
    assert ours.parent == theirs.parent
    assert pi("find", cwd=cwd, id="own") == str(ours)
    assert str(ours) in [found["path"] for found in pi("list", cwd=cwd)]
    assert str(ours) in [found["path"] for found in pi("listAll")]
    ours.unlink()


async def test_pi_finds_what_we_create_in_a_flat_directory(pi: Pi, tmp_path: Path) -> None:
    place = Place(tmp_path, flat=True)
    _, log = await place.repository().create(header(), [A], persist=True)
    assert pi("find", cwd=CWD, id="s1", dir=place.sessions) == log.ref.location
    assert [found["path"] for found in pi("listAll", dir=place.sessions)] == [log.ref.location]


@pytest.mark.parametrize("tail", [b"\n", b"", b"\n{torn", b"\n\0\0\0", b"\r\n"])
async def test_pi_reads_what_we_appended_to_any_tail(place: Place, pi: Pi, tail: bytes) -> None:
    path = place.put(b"\n".join([HEADER, A, B]) + tail)
    loaded, log = await place.repository(FaultyFiles()).open(place.ref(path))
    await log.append([C], synced=False, persist=True)
    assert pi("open", path=path)["entries"] == values([A, B, C])
    assert ids(loaded.heads) == ["a", "b"]


async def test_pi_reads_our_copy_and_our_repair(place: Place, pi: Pi) -> None:
    path = place.put([HEADER, *ODD])
    repository = place.repository()
    _, log = await repository.copy(place.ref(path), header("s2"))
    assert pi("open", path=log.ref.location)["entries"] == values(ODD)
    torn = place.put([HEADER, A, b"{torn", B], "torn.jsonl")
    await repository.repair(str(torn))
    before = torn.read_bytes()
    assert pi("open", path=torn)["entries"] == values([A, B])
    assert torn.read_bytes() == before


OLD = [
    dump({"type": "session", "id": "s1", "timestamp": TIME, "cwd": CWD, "provider": "p", "modelId": "m"}),
    dump({"type": "message", "timestamp": TIME, "message": {"role": "user", "content": "one", "timestamp": 1}}),
    dump({"type": "message", "timestamp": TIME, "message": {"role": "hookMessage", "content": "two"}}),
    b"{torn",
    dump({"type": "compaction", "timestamp": TIME, "summary": "s", "firstKeptEntryIndex": 2, "tokensBefore": 7}),
    dump({"type": "compaction", "timestamp": TIME, "summary": "s", "firstKeptEntryIndex": 0, "tokensBefore": 7}),
    dump({"type": "message", "timestamp": TIME, "message": {"role": "user", "content": "three", "timestamp": 2}}),
]


def without_ids(entries: list[Any]) -> list[Any]:
    """Ids replaced by the place of the entry: pi draws new ones at each migration."""
    places = {entry["id"]: place for place, entry in enumerate(entries)}
    names = ("id", "parentId", "firstKeptEntryId")
    return [{k: places.get(v, v) if k in names else v for k, v in entry.items()} for entry in entries]


@pytest.mark.parametrize("name", ["made", "v1-small", "v1-four-compactions", "v1-large-output", "real-v1-1018-entries"])
async def test_our_migration_is_pis(place: Place, pi: Pi, name: str) -> None:
    recording = SHARED / f"{name}.jsonl"
    if name != "made" and not recording.exists():
        pytest.skip("no recordings here")
    content = b"\n".join([*OLD, b""]) if name == "made" else recording.read_bytes()
    theirs = place.put(content, "theirs.jsonl")
    expected = [entry for entry in pi("open", path=theirs)["entries"] if isinstance(entry, dict)]
    path = place.put(content, "ours.jsonl")
    repository = place.repository()
    loaded, log = await repository.open(await repository.ref(str(path)))
    assert loaded.migrates
    assert without_ids(values(await log.read(loaded.heads))) == without_ids(expected)
    await log.append([message("new", loaded.heads[-1].id)], synced=False, persist=True)
    migrated = path.read_bytes()
    seen = pi("open", path=path)
    entries = [entry for entry in seen["entries"] if isinstance(entry, dict)]
    assert without_ids(entries[:-1]) == without_ids(expected)
    assert [entry["id"] for entry in entries] == [*ids(loaded.heads), "new"]
    assert seen["header"]["version"] == 3
    assert path.read_bytes() == migrated


# Pi's, read by us

CALLS = [
    ["appendModelChange", "anthropic", "m1"],
    ["appendThinkingLevelChange", "high"],
    ["appendMessage", {"role": "system", "content": "be kind", "timestamp": 1}],
    ["appendMessage", {"role": "user", "content": "hi \u2028 \ud83d 😀", "timestamp": 1769860800001}],
    ["appendMessage", {"role": "assistant", "content": [], "timestamp": 1769860800002, "stopReason": "stop"}],
    ["appendCustomEntry", "kind", {"deep": [[1.0, 1e300]]}],
    ["appendCustomMessageEntry", "kind", "text", True, {"x": None}],
    ["appendSessionInfo", " a name\nof two lines "],
    ["appendUsage", "summary", "p", "m", {"input": 1}, "note"],
    ["appendCompaction", "summary", None, 5],
    ["appendMessage", {"role": "user", "content": "again", "timestamp": 1769860800003}],
]


async def test_we_read_what_pi_writes(place: Place, pi: Pi) -> None:
    path = Path(pi("create", cwd=CWD, dir=place.folder, id="s1")["path"])
    pi("append", path=path, calls=CALLS)
    state = pi("state", path=path)
    pi("append", path=path, calls=[["appendLabelChange", state["entries"][3]["id"], "here"], ["branch", "nope"]][:1])
    state = pi("state", path=path)
    before = path.read_bytes()
    repository = place.repository()
    ref = await repository.find("s1")
    loaded, log = await repository.open(ref)
    assert ref.location == str(path)
    assert (loaded.damage, loaded.read_only, loaded.migrates) == ([], None, False)
    assert loaded.header == Header("s1", state["header"]["timestamp"], CWD)
    assert values(await log.read(loaded.heads)) == state["entries"]
    assert [(head.id, head.parent_id) for head in loaded.heads] == [(e["id"], e["parentId"]) for e in state["entries"]]
    assert path.read_bytes() == before

    fork = pi("fork", path=path, cwd="/other", dir=place.sessions / "--other--")
    forked, _ = await repository.open(await repository.ref(fork["path"]))
    assert (ids(forked.heads), forked.header.parent_session) == (ids(loaded.heads), str(path))
    branch = pi("branch", path=path, leafId=loaded.heads[4].id)
    branched, _ = await repository.open(await repository.ref(branch["path"]))
    assert ids(branched.heads) == [entry["id"] for entry in branch["entries"]]


async def test_both_write_to_one_file(place: Place, pi: Pi) -> None:
    repository = place.repository()
    _, log = await repository.create(header(), [A], persist=True)
    pi("open", path=log.ref.location)
    expected = ["a"]
    for number in range(5):
        pi("append", path=log.ref.location, calls=[["appendMessage", {"role": "user", "content": f"theirs {number}"}]])
        theirs = pi("state", path=log.ref.location)["entries"][-1]
        if number % 2:
            assert ids((await log.look()).heads) == [theirs["id"]]
        line = message(f"ours{number}", theirs["id"])
        written = await log.append([line], synced=number == 3, persist=True)
        assert ids(written.foreign) == ([] if number % 2 else [theirs["id"]])
        expected += [theirs["id"], f"ours{number}"]
    again, _ = await repository.open(log.ref)
    assert ids(again.heads) == expected
    assert again.damage == []
    assert [entry["id"] for entry in pi("open", path=log.ref.location)["entries"]] == expected


async def test_pi_migrates_a_file_that_we_have_open(place: Place, pi: Pi) -> None:
    path = place.put(OLD)
    repository = place.repository()
    loaded, log = await repository.open(place.ref(path))
    pi("open", path=path)
    after = path.read_bytes()
    assert (await log.look()).replaced
    with pytest.raises(Exception, match="rewritten by another process"):
        await log.append([C], synced=False, persist=True)
    with pytest.raises(Exception, match="rewritten by another process"):
        await log.read(loaded.heads)
    assert path.read_bytes() == after
    again, log = await repository.open(place.ref(path))
    assert (len(again.heads), again.migrates) == (5, False)
    await log.append([message("new", again.heads[-1].id)], synced=False, persist=True)


# Listings

LISTED: dict[str, list[bytes]] = {
    "header alone": [HEADER],
    "plain": [HEADER, A, B],
    "named": [HEADER, *ODD[1:]],
    "name cleared": [HEADER, *ODD[1:], dump({"type": "session_info", "id": "f", "parentId": "e", "timestamp": TIME})],
    "old": OLD,
    "broken lines": [b"", b"{", HEADER, b"null", A, b"{torn", b"\0", B[:-3], B],
    "two headers": [HEADER, A, HEADER.replace(b"s1", b"s2"), B],
    "assistant first": [
        HEADER,
        message("a", None, message={"role": "assistant", "content": [{"type": "text", "text": "x"}], "timestamp": 5}),
        message(
            "b", "a", message={"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "in parts"}]}
        ),
        message("c", "b", message={"role": "toolResult", "content": [], "timestamp": 9e12}),
        message("d", "c", message={"role": "user", "content": "later", "timestamp": 4}),
    ],
    "no text": [
        HEADER,
        message("a", None, message={"role": "user", "content": "", "timestamp": -5}),
        message("b", "a", message={"role": "user", "content": [], "timestamp": "1"}),
        message("c", "b", message={"role": "user"}),
        message("d", "c", message={"role": 7, "content": "x"}),
        message("e", "d", timestamp="no time", message={"role": "user", "content": [{"type": "image"}]}),
    ],
    "odd header": [dump({"type": "session", "id": "s1", "timestamp": TIME, "cwd": 7, "parentSession": "p", "x": 1}), A],
    "times": [
        HEADER,
        message("a", None, message={"role": "user", "content": "a"}, timestamp="2026-05-01T00:00:00.000Z"),
        message("b", "a", message={"role": "user", "content": "b", "timestamp": 1777593600001.5}),
        message("c", "b", message={"role": "user", "content": "c"}, timestamp="2026-04-01T02:00:00+02:00"),
    ],
    "not UTF-8": [HEADER, message("a", None, "\xff").replace(b"\xc3\xbf", b"\xff"), B],
    "long": [HEADER, message("a", None, "word " * 1000), message("b", "a", "x" * 200_000), C],
    "deep": [HEADER, dump({"type": "custom", "id": "x", "data": "y"})[:-4] + b"[" * 600 + b"]" * 600 + b"}", B],
}


async def test_our_listing_is_pis(place: Place, pi: Pi) -> None:
    for name, lines in LISTED.items():
        os.utime(place.put(lines, f"{name}.jsonl"), (1_700_000_000, 1_700_000_000))
    for recording in SHARED.glob("*.jsonl"):
        place.put(recording.read_bytes(), recording.name)
    for name, content in {"empty": b"", "foreign": b'{"a":1}\n', "text": b"text", "cut": HEADER[:-9]}.items():
        place.put(content, f"{name}.jsonl")
    theirs = {found["path"]: found for found in pi("listAll", dir=place.folder)}
    ours = {summary.ref.location: summary for summary in await place.repository().list(None)}
    assert set(ours) == set(theirs)
    for path, summary in ours.items():
        found = theirs[path]
        assert summary.ref.session_id == found["id"]
        assert summary.cwd == found["cwd"]
        assert summary.name == found.get("name")
        assert summary.parent_session == found.get("parentSessionPath")
        assert summary.created == found["created"]
        assert summary.modified == found["modified"], path
        assert summary.message_count == found["messageCount"], path
        first = "" if found["firstMessage"] == "(no messages)" else found["firstMessage"]
        assert summary.first_message == " ".join(first.split())[:200].replace("\ud83d", "\ufffd")
        assert summary.size == Path(path).stat().st_size


async def test_we_count_lines_that_pi_tears(place: Place, pi: Pi) -> None:
    """A difference that is meant: pi's listing, unlike its opening, ends a line at U+2028."""
    place.put([HEADER, ODD[0]])
    assert [found["messageCount"] for found in pi("listAll", dir=place.folder)] == [0]
    assert [summary.message_count for summary in await place.repository().list(None)] == [1]


async def test_we_list_what_an_odd_message_hides_from_pi(place: Place, pi: Pi) -> None:
    """A difference that is meant: to pi's listing such a session is not there."""
    for name, odd in {
        "null content": message("b", "a", message={"role": "user", "content": None}),
        "no message": dump({"type": "message", "id": "b", "parentId": "a", "timestamp": TIME}),
        "odd name": dump({"type": "session_info", "id": "b", "parentId": "a", "timestamp": TIME, "name": 7}),
    }.items():
        place.put([HEADER, A, odd, C], f"{name}.jsonl")
    assert pi("listAll", dir=place.folder) == []
    assert [summary.message_count for summary in await place.repository().list(None)] in (
        [3, 3, 2],
        [3, 2, 3],
        [2, 3, 3],
    )
