"""Opening a large session again: what is remembered of it changes nothing but the time that it takes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_daemon.session.errors import PiDaemonError
from pi_daemon.storage import heads
from pi_daemon.storage.heads import Heads
from pi_daemon.storage.scan import Scan, scan
from pi_daemon.storage.system import READ, Files
from tests.storage.indexing import Desk, answer
from tests.storage.support import HEADER, TIME, FaultyFiles, Place, chain, dump, message


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heads, "LEAST_BYTES", 1)


def lines(count: int = 200) -> list[bytes]:
    found = [HEADER, *chain(*(f"n{number}" for number in range(count)))]
    last = f"n{count - 1}"
    found.append(answer("x1", last, "text", stopReason="toolUse"))
    found.append(answer("x2", "n3", "text"))
    for number, (kind, more) in enumerate(
        [
            ("label", {"targetId": "n1", "label": "here"}),
            ("session_info", {"name": "a name"}),
            ("model_change", {"provider": "p", "modelId": "m"}),
            ("thinking_level_change", {"thinkingLevel": "high"}),
            ("compaction", {"summary": "s", "firstKeptEntryId": "n2", "tokensBefore": 5}),
            ("branch_summary", {"summary": "s", "fromId": "n2"}),
            ("context_edit", {"targetId": "n1", "replacement": None}),
            ("custom", {"customType": "x", "data": 1}),
        ]
    ):
        found.append(dump({"type": kind, "id": f"k{number}", "parentId": "x2", "timestamp": TIME, **more}))
    for number, own in enumerate(
        [
            {"role": "toolResult", "toolCallId": "t", "content": "c"},
            {"role": "bashExecution", "command": "ls", "output": "", "excludeFromContext": True},
            {"role": "system", "content": "c"},
            {"role": "somebody", "content": None},
        ]
    ):
        found.append(dump({"type": "message", "id": f"m{number}", "parentId": "k1", "timestamp": TIME, "message": own}))
    return found


def told(found: Scan) -> Any:
    """All that there is in a scan."""
    values = [[getattr(head, name) for name in head.__struct_fields__] for head in found.heads]
    reader = found.reader
    rest = (found.header, found.damage, found.refused, found.read_only, found.lost, found.tail)
    return values, rest, reader.lines, reader.parsed, reader.header_at, reader.hopeless


def both(folder: Path, path: Path, files: Files | None = None) -> tuple[Any, Any]:
    """What a scan with the help of what is remembered says, which is then remembered, and one without."""
    kept = Heads(folder, files or Files())
    fd = os.open(path, READ)
    try:
        found, fresh = kept.scan(path, fd)
        snapshot = kept.snapshot(path, fd, found) if fresh else None
        if snapshot is not None:
            kept.remember(snapshot)
        return told(found), told(scan(Files(), fd))
    finally:
        os.close(fd)


def test_a_session_is_not_read_again(place: Place) -> None:
    path = place.put(lines())
    first, plain = both(place.state, path)
    assert first == plain
    files = FaultyFiles()
    again, plain = both(place.state, path, files)
    assert again == plain
    assert files.counts["read_into"] <= 1
    with open(path, "ab") as file:
        file.write(b"\n".join(chain("new", "newer", after="k2")) + b"\n")
    files = FaultyFiles()
    grown, plain = both(place.state, path, files)
    assert grown == plain
    assert files.counts["read_into"] <= 2


def add(path: Path, data: bytes) -> None:
    with open(path, "ab") as file:
        file.write(data)


CHANGES = st.lists(
    st.sampled_from(
        [
            "append",
            "torn",
            "ended",
            "branch",
            "rewrite",
            "replace",
            "cut",
            "damage",
            "touch",
            "double",
            "same size",
            "bad",
        ]
    ),
    max_size=6,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CHANGES)
def test_whatever_happens_in_between(tmp_path_factory: pytest.TempPathFactory, changes: list[str]) -> None:
    place = Place(tmp_path_factory.mktemp("heads"))
    path = place.put(lines(20))
    for number, change in enumerate([*changes, "look"], 1):
        with_help, plain = both(place.state, path)
        assert with_help == plain
        content = path.read_bytes()
        match change:
            case "append":
                add(path, b"\n".join(chain(f"a{number}", f"b{number}", after="n1")) + b"\n")
            case "torn":
                add(path, b'{"type":"mess')
            case "ended":
                add(path, message(f"e{number}", "n2"))
            case "branch":
                add(path, message(f"f{number}", "n0") + b"\n")
            case "rewrite":
                path.write_bytes(content.replace(b"hello", b"other text") + message(f"g{number}", "n0") + b"\n")
            case "replace":
                beside = path.with_suffix(".new")
                beside.write_bytes(content)
                beside.rename(path)
            case "cut":
                os.truncate(path, max(len(HEADER) + 1, len(content) - 300))
            case "damage":
                add(path, b"nonsense\n" + message(f"h{number}", "nobody") + b"\n")
            case "touch":
                os.utime(path)
            case "double":
                add(path, message("n1", "n0") + b"\n")
            case "same size":
                path.write_bytes(content.replace(b'"n1"', b'"N1"'))
                os.utime(path, ns=(number, number))
            case "bad":
                (kept,) = list(place.state.glob("*.heads")) or [None]
                if kept is not None:
                    bytes_ = bytearray(kept.read_bytes())
                    bytes_[len(bytes_) * number // 9] ^= 0x41
                    kept.write_bytes(bytes_)


def test_what_is_remembered_may_be_damaged_anywhere(place: Place) -> None:
    path = place.put(lines(30))
    both(place.state, path)
    (kept,) = place.state.glob("*.heads")
    content = kept.read_bytes()
    for at in range(0, len(content), 97):
        for damaged in (content[:at], content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]):
            kept.write_bytes(damaged)
            with_help, plain = both(place.state, path)
            assert with_help == plain


@pytest.mark.parametrize("number", [28, 13, 122])  # ENOSPC, EACCES, EDQUOT
def test_no_room_to_remember(place: Place, number: int) -> None:
    path = place.put(lines())
    for kind in ("write", "mkdir", "rename", "open"):
        files = FaultyFiles()
        kept = Heads(place.state, files)
        fd = os.open(path, READ)
        found, _ = kept.scan(path, fd)
        snapshot = kept.snapshot(path, fd, found)
        assert snapshot is not None
        files.fail_at, files.fail_kind, files.errno, files.lasting = files.counts[kind], kind, number, True
        kept.remember(snapshot)
        os.close(fd)
        with_help, plain = both(place.state, path)
        assert with_help == plain


def test_so_much_is_kept_and_no_more(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [place.put([HEADER.replace(b"s1", b"n%d" % n), *chain("a", "b")], f"{n}.jsonl") for n in range(5)]
    both(place.state, paths[0])
    size = next(place.state.glob("*.heads")).stat().st_size
    monkeypatch.setattr(heads, "MOST_BYTES", 3 * size + 2)
    for n, path in enumerate(paths):
        both(place.state, path)
        for kept in place.state.glob("*.heads"):
            os.utime(kept, (kept.stat().st_mtime - 10, kept.stat().st_mtime - 10))
        assert len(list(place.state.glob("*.heads"))) == min(n + 1, 3)


async def test_a_repository_opens_with_it(place: Place) -> None:
    path = place.put(lines())
    for _ in range(2):
        made = Desk(place)
        loaded, log = await made.repository.open(place.ref(path))
        assert len(loaded.tree) == len(lines()) - 1
        await log.append(chain("more", after="n1"), synced=False, persist=True)
        assert (await log.read(loaded.heads[:1]))[0] == lines()[1]
        await log.close()
        await made.indexed.stop()
        path.write_bytes(b"".join(line + b"\n" for line in lines()))
    path.write_bytes(b"no session\n")
    made = Desk(place)
    with pytest.raises(PiDaemonError):
        await made.repository.open(place.ref(path))
    await made.indexed.stop()
