"""Going over a sessions directory: what is found, and that nothing is touched."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from pi_daemon.session.errors import InvalidParams, OutsideRoot, StorageFailed
from pi_daemon.storage import examine
from pi_daemon.storage.examine import Examination
from pi_daemon.storage.layout import Layout
from pi_daemon.storage.protocols import Examined, Finding
from pi_daemon.storage.publish import is_staged, staging_path
from pi_daemon.storage.system import Files
from tests.storage.support import HEADER, FaultyFiles, Place, chain, dump, message

OLD = 1_600_000_000


def age(path: Path) -> Path:
    os.utime(path, (OLD, OLD))
    return path


def put(place: Place, content: bytes, name: str) -> Path:
    return age(place.put(content, name))


def session(session_id: str, *lines: bytes, cwd: str = "/home/me/project", **more: Any) -> bytes:
    first = dump({"type": "session", "version": 3, "id": session_id, "timestamp": "2026", "cwd": cwd, **more})
    return b"".join(line + b"\n" for line in (first, *lines))


def look(place: Place, files: Files | None = None) -> Examined:
    layout = Layout(place.sessions, place.flat)
    return Examination(files or Files(), layout).run(lambda done, total: None, threading.Event())


def only(place: Place, files: Files | None = None) -> Finding:
    (found,) = look(place, files).findings
    return found


def test_a_sound_directory(place: Place) -> None:
    for number in range(3):
        put(place, session(f"s{number}", *chain("a", "b")), f"{number}.jsonl")
    seen: list[tuple[int, int]] = []
    examination = Examination(Files(), Layout(place.sessions, flat=False))
    found = examination.run(lambda done, total: seen.append((done, total)), threading.Event())
    assert (found.folders, found.files, found.findings) == (2, 3, []) and found.bytes > 300
    assert seen == [(1, 3), (2, 3), (3, 3)]
    stop = threading.Event()
    seen.clear()
    examination.run(lambda done, total: (seen.append((done, total)), stop.set())[0], stop)  # type: ignore[func-returns-value]
    assert seen == [(1, 3)]


def test_no_directory_at_all(place: Place) -> None:
    place.sessions.rmdir()
    assert look(place).findings == []


@pytest.mark.parametrize(
    ("content", "kind", "problem", "repair"),
    [
        (b"", "empty", True, None),
        (session("s", b"no JSON"), "damaged", True, "repair"),
        (session("s", *chain("a")) + b'{"torn', "halfWritten", True, "repair"),
        (session("s", message("a", "gone")), "irregular", False, None),
        (session("s", *chain("a"), *chain("a")), "irregular", False, None),
        (session("s", message("a", "b"), message("b", "a")), "damaged", True, None),
        (b"\xef\xbb\xbf" + session("s"), "damaged", True, None),
        (session("s").replace(b'"version":3', b'"version":4'), "damaged", True, None),
        (b"".join(line + b"\n" for line in chain("a", "b")), "damaged", True, None),
        (b'{"uuid":"x","message":{}}\n' * 30, "foreign", False, None),
        (b"\x00\xff\x00", "foreign", False, None),
        (session("s", parentSession="/gone/x.jsonl"), "parentMissing", False, None),
        (session("s", cwd="/elsewhere"), "misplaced", False, None),
    ],
)
def test_files(place: Place, content: bytes, kind: str, problem: bool, repair: str | None) -> None:
    path = put(place, content, "2026-01-31T12-00-00-000Z_s.jsonl")
    found = only(place)
    assert (found.kind, found.problem, found.repair, found.path) == (kind, problem, repair, str(path))
    assert path.read_bytes() == content and path.stat().st_mtime == OLD


def test_a_file_called_after_another_session(place: Place) -> None:
    put(place, session("s"), "2026-01-31T12-00-00-000Z_other.jsonl")
    assert only(place).kind == "misplaced"


def test_sessions_that_are_there_twice(place: Place) -> None:
    a = put(place, session("s", *chain("a")), "a.jsonl")
    b = put(place, session("s", *chain("a")), "b.jsonl")
    found = only(place)
    assert (found.kind, found.path, found.others, found.session_id) == ("duplicated", str(a), [str(b)], "s")
    assert "hold the same" in found.message
    put(place, session("s", *chain("a", "b")), "b.jsonl")
    assert "go on where the shortest ends" in only(place).message
    put(place, session("s", *chain("x")), "b.jsonl")
    assert "they differ" in only(place).message
    b.unlink()
    os.link(a, b)
    found = only(place)
    assert (found.kind, found.others) == ("duplicated", [str(b)]) and "one file" in found.message
    b.unlink()
    b.symlink_to(a)
    found = only(place)
    assert (found.kind, found.path, found.problem) == ("linked", str(b), False)


def test_what_is_no_session_file(place: Place) -> None:
    place.folder.mkdir()
    (place.folder / "notes.txt").write_text("x")
    (place.folder / "deep").mkdir()
    os.mkfifo(place.folder / "pipe.jsonl")
    (place.folder / "out.jsonl").symlink_to("/etc/passwd")
    (place.folder / "nowhere.jsonl").symlink_to("gone")
    (place.folder / "circle").symlink_to("circle")
    (place.folder / "up").symlink_to("..")
    (place.sessions / "linked").symlink_to(place.base / "elsewhere")
    (place.base / "elsewhere").mkdir()
    (place.base / "elsewhere" / "x.jsonl").write_bytes(session("s"))
    (Path(os.fsdecode(os.fsencode(place.folder) + b"/\xff.jsonl"))).write_bytes(b"")
    found = look(place)
    assert {(os.path.basename(one.path), one.kind) for one in found.findings} == {
        ("notes.txt", "foreign"),
        ("deep", "foreign"),
        ("pipe.jsonl", "foreign"),
        ("out.jsonl", "outside"),
        ("nowhere.jsonl", "outside"),
        ("circle", "outside"),
        ("up", "foreign"),
        ("\ufffd.jsonl", "foreign"),
    }
    assert found.files == 1 and found.folders == 3


class Forbidden(Files):
    """One folder and one file that may not be read."""

    def entries(self, folder: Path) -> Any:
        if folder.name == "closed":
            raise PermissionError(errno.EACCES, "")
        return super().entries(folder)

    def open(self, path: str | Path, flags: int, mode: int = 0o600) -> int:
        if os.path.basename(path) == "closed.jsonl":
            raise PermissionError(errno.EACCES, "")
        return super().open(path, flags, mode)


def test_what_may_not_be_read(place: Place) -> None:
    (place.sessions / "closed").mkdir()
    put(place, session("s"), "closed.jsonl")
    put(place, session("t"), "open.jsonl")
    found = look(place, Forbidden())
    assert [(one.kind, os.path.basename(one.path), one.problem) for one in found.findings] == [
        ("unreadable", "closed.jsonl", True),
        ("unreadable", "closed", True),
    ]
    assert "Permission denied" in found.findings[0].message


def test_a_disk_that_fails_on_the_way(place: Place) -> None:
    put(place, session("s", *chain("a")), "a.jsonl")
    files = FaultyFiles()
    files.fail["read_into"] = [errno.EIO]
    assert only(place, files).kind == "unreadable"


def test_a_sparse_file_of_2_gb_is_not_read(place: Place) -> None:
    place.folder.mkdir()
    for name, content in (("nothing.jsonl", b""), ("session.jsonl", session("s"))):
        with open(place.folder / name, "wb") as file:
            file.write(content)
            file.truncate(2 << 30)
    files = FaultyFiles()
    found = look(place, files)
    assert [(one.kind, "256 MB" in one.message, one.problem) for one in found.findings] == [
        ("foreign", True, False),
        ("notRead", True, False),
    ]
    assert files.counts["read_into"] + files.counts["read"] < 700  # the first MB of each


def test_a_long_line_and_many_lines_are_not_held_in_memory(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examine, "LINE_BYTES", 5_000)
    monkeypatch.setattr(examine, "_BLOCK", 999)
    path = put(place, session("s", *(message(f"m{n}", None, "x" * 3_000) for n in range(9))), "s.jsonl")
    assert look(place).findings == []
    put(place, path.read_bytes() + b"x" * 6_000, "s.jsonl")
    assert "line of more than" in only(place).message
    monkeypatch.setattr(examine, "LINE_BYTES", 1 << 30)
    monkeypatch.setattr(examine, "MOST_LINES", 100)
    put(place, session("s") + b"1\n" * 200_000, "s.jsonl")
    found = only(place)
    assert (found.kind, found.problem, "more than 100 lines" in found.message) == ("notRead", False, True)


def test_there_is_a_bound_to_what_is_told(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examine, "FINDINGS", 3)
    for number in range(5):
        put(place, b"", f"{number}.jsonl")
        put(place, b"", f"{number}.txt")
    found = look(place)
    assert (len(found.findings), found.left_out) == (6, 4)
    put(place, session("s", *[b"no JSON"] * 50), "0.jsonl")
    damaged = next(one for one in look(place).findings if one.kind == "damaged")
    assert (len(damaged.damage), damaged.damage_count) == (10, 50)


def test_a_leftover_is_put_away_when_it_is_old(place: Place) -> None:
    path = put(place, session("s"), "s.jsonl")
    staged = staging_path(path)
    staged.write_bytes(b"half")
    layout, keep = Layout(place.sessions, flat=False), place.state / "leftovers"
    assert look(place).findings == []  # somebody is writing it
    with pytest.raises(StorageFailed):
        examine.put_away(Files(), layout, str(staged), keep)
    age(staged)
    found = only(place)
    assert (found.kind, found.repair, found.path) == ("leftover", "putAway", str(staged))
    for wrong, error in ((str(path), InvalidParams), ("/etc/.x.jsonl.00000000", OutsideRoot)):
        with pytest.raises(error):
            examine.put_away(Files(), layout, wrong, keep)
    kept = Path(examine.put_away(Files(), layout, str(staged), keep))
    assert kept.read_bytes() == b"half" and kept.parent == keep and not staged.exists()
    assert [name for name in (".a.jsonl.0123abcd", ".a.jsonl.0123abc", "a.jsonl.0123abcd", ".a.txt.0123abcd")
            if is_staged(name)] == [".a.jsonl.0123abcd"]  # fmt: skip


def test_what_comes_to_a_leftover_at_the_last_moment_is_not_lost(place: Place) -> None:
    staged = put(place, b"half", ".x.jsonl.0123abcd")
    files = FaultyFiles()
    files.wall = lambda: OLD + 1e6  # type: ignore[method-assign]
    files.before["rename"] = [lambda: staged.write_bytes(b"half and more")]
    with pytest.raises(StorageFailed):
        examine.put_away(files, Layout(place.sessions, flat=False), str(staged), place.state)
    assert staged.read_bytes() == b"half and more"


def test_a_session_of_an_old_version_is_sound(place: Place) -> None:
    put(place, HEADER.replace(b'"version":3,', b"") + b'\n{"type":"message","timestamp":"2026"}\n', "old.jsonl")
    assert look(place).findings == []
