"""What becomes of session files is noticed: by example, by rule, and in a real directory with real hints."""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import shutil
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Collection
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_daemon.storage import watch
from pi_daemon.storage.changes import FileChange, Stamp, differences
from pi_daemon.storage.hints import HintsFailed, WatchfilesHints
from pi_daemon.storage.layout import Layout
from pi_daemon.storage.survey import Survey
from pi_daemon.storage.system import Files
from pi_daemon.storage.watch import Watcher
from tests.storage.support import HEADER, Place, message

A, B = message("a", None), message("b", "a")

PATHS = st.sampled_from(["/s/a.jsonl", "/s/b.jsonl", "/s/c.jsonl", "/s/d.jsonl"])
STAMPS = st.builds(Stamp, st.just(1), st.integers(1, 3), st.integers(0, 2), st.integers(0, 2))
PICTURES = st.dictionaries(PATHS, STAMPS)


# Two looks


def test_each_kind_of_change() -> None:
    before = {f"/{name}": Stamp(1, number, 10, 10) for number, name in enumerate("abcdefg")}
    after = {
        "/a": before["/a"],
        "/b": Stamp(1, 1, 11, 11),
        "/c": Stamp(1, 2, 9, 11),
        "/d": Stamp(1, 3, 10, 9),
        "/e": Stamp(1, 40, 10, 10),
        "/new": before["/f"],
        "/other": Stamp(1, 50, 0, 11),
    }
    assert [(change.kind, change.path, change.was) for change in differences(before, after)] == [
        ("deleted", "/g", None),
        ("grown", "/b", None),
        ("shrunk", "/c", None),
        ("rewritten", "/d", None),
        ("replaced", "/e", None),
        ("renamed", "/new", "/f"),
        ("created", "/other", None),
    ]
    assert differences(after, after) == []


def test_a_file_that_was_renamed_over_another() -> None:
    before = {"/a": Stamp(1, 1, 10, 10), "/b": Stamp(1, 2, 10, 10)}
    changes = differences(before, {"/b": before["/a"]})
    assert [(change.kind, change.path) for change in changes] == [("deleted", "/a"), ("replaced", "/b")]


def test_a_new_file_with_the_number_of_a_deleted_one() -> None:
    changes = differences({"/a": Stamp(1, 1, 10, 10)}, {"/b": Stamp(1, 1, 20, 20)})
    assert [(change.kind, change.path) for change in changes] == [("deleted", "/a"), ("created", "/b")]


@settings(max_examples=300, deadline=None)
@given(PICTURES, PICTURES)
def test_the_changes_make_one_picture_of_the_other(before: dict[str, Stamp], after: dict[str, Stamp]) -> None:
    changes = differences(before, after)
    made = dict(before)
    for change in changes:
        if change.was is not None:
            assert made.pop(change.was) == change.stamp
        if change.stamp is None:
            del made[change.path]
        else:
            assert (change.path in made) == (change.kind not in ("created", "renamed"))
            assert change.kind != "rewritten" or made[change.path].size == change.stamp.size
            made[change.path] = change.stamp
    assert made == after
    paths = [change.path for change in changes]
    assert len(set(paths)) == len(paths)
    assert [path for path in paths if before.get(path) == after.get(path)] == []


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["append", "cut", "delete", "rename"]), *[st.sampled_from("abc")] * 2, st.booleans()),
        max_size=8,
    )
)
def test_glances_and_sweeps_agree(steps: list[tuple[str, str, str, bool]]) -> None:
    """After a glance at what was touched, a sweep has nothing to tell of."""
    with tempfile.TemporaryDirectory() as base:
        place = Place(Path(base))
        place.folder.mkdir()
        survey = Survey(Layout(place.sessions, False), Files())
        survey.sweep()
        touched: set[str] = set()
        for step, first, second, look in steps:
            path, other = (str(place.folder / f"{name}.jsonl") for name in (first, second))
            touched |= {path, other}
            with contextlib.suppress(FileNotFoundError):
                if step == "append":
                    add(Path(path), b"x")
                elif step == "cut":
                    os.truncate(path, 0)
                elif step == "delete":
                    os.unlink(path)
                else:
                    os.rename(path, other)
            if look:
                survey.glance(touched)
                touched.clear()
                assert survey.sweep() == []


# One survey


@pytest.fixture
def survey(place: Place) -> Survey:
    return Survey(Layout(place.sessions, place.flat), Files())


def told(changes: list[FileChange]) -> list[tuple[str, str]]:
    return [(change.kind, os.path.basename(change.path)) for change in changes]


def test_a_survey_of_folders_links_and_what_is_no_session(place: Place, survey: Survey) -> None:
    assert survey.sweep() == []
    place.put([HEADER], "one.jsonl")
    (place.sessions / "flat.jsonl").write_bytes(HEADER)
    (place.folder / "notes.txt").write_bytes(b"")
    (place.folder / ".staged.jsonl.0a").write_bytes(b"")
    (place.folder / "deeper").mkdir()
    (place.folder / "deeper" / "hidden.jsonl").write_bytes(HEADER)
    (place.folder / "folder.jsonl").mkdir()
    elsewhere = place.base / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "linked.jsonl").write_bytes(HEADER)
    (place.sessions / "link").symlink_to(elsewhere)
    (place.sessions / "circle").symlink_to(place.sessions / "circle")
    (place.folder / "inside.jsonl").symlink_to(elsewhere / "linked.jsonl")
    (place.base / "outside.jsonl").write_bytes(HEADER)
    (place.folder / "outside.jsonl").symlink_to(place.base / "outside.jsonl")
    (Path(os.fsdecode(os.fsencode(place.folder) + b"/\xff.jsonl"))).write_bytes(HEADER)
    everything = [str(path) for path in place.base.rglob("*")]
    assert sorted(told(survey.sweep())) == [("created", f"{name}.jsonl") for name in ("flat", "linked", "one")]
    assert {path for path, _, _ in survey.folders} == {
        *(str(path) for path in (place.sessions, place.folder, elsewhere)),
    }
    assert survey.glance(everything) == []
    (place.folder / "inside.jsonl").unlink()
    assert survey.sweep() == []


def test_a_glance_tells_a_rename_by_its_new_name_alone(place: Place, survey: Survey) -> None:
    path = place.put([HEADER], "old.jsonl")
    survey.sweep()
    new = path.rename(path.with_name("new.jsonl"))
    (change,) = survey.glance([str(new)])
    assert (change.kind, change.path, change.was) == ("renamed", str(new), str(path))
    assert survey.sweep() == []


def test_a_second_name_for_a_file_is_no_rename(place: Place, survey: Survey) -> None:
    path = place.put([HEADER], "old.jsonl")
    survey.sweep()
    os.link(path, path.with_name("new.jsonl"))
    assert told(survey.glance([str(path.with_name("new.jsonl"))])) == [("created", "new.jsonl")]
    assert survey.sweep() == []


def test_a_file_that_somebody_has_open_is_looked_at_wherever_it_lies(place: Place, survey: Survey) -> None:
    deeper = place.sessions / "a" / "b"
    deeper.mkdir(parents=True)
    path = deeper / "s.jsonl"
    path.write_bytes(HEADER)
    assert survey.sweep() == []
    survey.chosen = frozenset([str(path)])
    assert told(survey.sweep()) == [("created", "s.jsonl")]
    assert str(deeper) in {folder for folder, _, _ in survey.folders}
    (deeper / "other.jsonl").write_bytes(HEADER)
    assert survey.glance([str(deeper / "other.jsonl")]) == []
    path.unlink()
    assert told(survey.glance([str(path)])) == [("deleted", "s.jsonl")]


def test_a_sessions_directory_that_goes_and_comes_back(place: Place, survey: Survey) -> None:
    place.put([HEADER], "one.jsonl")
    survey.sweep()
    assert not survey.base_moved()
    shutil.rmtree(place.sessions)
    assert survey.base_moved()
    assert told(survey.sweep()) == [("deleted", "one.jsonl")]
    assert not survey.base_moved()
    place.sessions.mkdir()
    assert survey.base_moved()
    place.put([HEADER], "two.jsonl")
    assert told(survey.sweep()) == [("created", "two.jsonl")]


# The watcher itself


class Heard:
    """What a watcher has told."""

    def __init__(self) -> None:
        self.changes: list[FileChange] = []
        self._event = asyncio.Event()

    def __call__(self, changes: list[FileChange]) -> None:
        assert changes
        self.changes += changes
        self._event.set()

    async def until(self, kind: str, name: str) -> FileChange:
        """Wait for a change of that kind; what came before it is dropped."""
        return await self._find(lambda change: (change.kind, os.path.basename(change.path)) == (kind, name))

    async def as_it_is(self, path: Path) -> FileChange:
        """Wait for a change that tells of the file as it is now."""
        stamp = Stamp.of(path.stat())
        return await self._find(lambda change: change.stamp == stamp)

    async def _find(self, wanted: Callable[[FileChange], bool]) -> FileChange:
        async with asyncio.timeout(20):
            while True:
                for number, change in enumerate(self.changes):
                    if wanted(change):
                        del self.changes[: number + 1]
                        return change
                self._event.clear()
                await self._event.wait()


@contextlib.asynccontextmanager
async def watching(
    place: Place, heard: Heard, hints: watch.MakeHints = WatchfilesHints, files: Files | None = None
) -> AsyncIterator[Watcher]:
    watcher = Watcher(Layout(place.sessions, place.flat), files or Files(), heard, hints=hints)
    await watcher.start()
    try:
        yield watcher
    finally:
        await watcher.stop()


def add(path: Path, data: bytes) -> None:
    with open(path, "ab") as file:
        file.write(data)


@pytest.mark.slow
@pytest.mark.parametrize("flat", [False, True])
async def test_everything_that_happens_is_told(tmp_path: Path, flat: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """By hints alone: the first sweep would be too late, and no file is an open session's."""
    monkeypatch.setattr(watch, "SWEEP_SECONDS", (600.0, 600.0))
    place, heard = Place(tmp_path, flat), Heard()
    path = place.put([HEADER], "old.jsonl")
    async with watching(place, heard):
        add(path, A + b"\n")
        change = await heard.until("grown", "old.jsonl")
        assert change.stamp == Stamp.of(path.stat())
        os.truncate(path, len(HEADER) + 1)
        await heard.until("shrunk", "old.jsonl")
        os.utime(path, ns=(1, 1))
        await heard.until("rewritten", "old.jsonl")
        place.put([HEADER], ".staged").rename(path)
        await heard.until("replaced", "old.jsonl")
        new = path.rename(path.with_name("new.jsonl"))
        assert (await heard.until("renamed", "new.jsonl")).was == str(path)
        new.unlink()
        await heard.until("deleted", "new.jsonl")
        (place.sessions / "--later--").mkdir()
        later = place.sessions / "--later--" / "s.jsonl"
        later.write_bytes(HEADER)
        await heard.until("created", "s.jsonl")
        add(later, A)
        await heard.until("grown", "s.jsonl")
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "linked.jsonl").write_bytes(HEADER)
        (place.sessions / "link").symlink_to(elsewhere)
        await heard.until("created", "linked.jsonl")
        add(elsewhere / "linked.jsonl", A)
        await heard.until("grown", "linked.jsonl")
        shutil.rmtree(later.parent)
        await heard.until("deleted", "s.jsonl")
    assert heard.changes == []


@pytest.mark.slow
async def test_a_directory_that_is_deleted_and_made_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "OPEN_SECONDS", 0.05)
    heard = Heard()
    path = place.put([HEADER], "s.jsonl")
    async with watching(place, heard):
        for _ in range(2):
            shutil.rmtree(place.sessions)
            await heard.until("deleted", "s.jsonl")
            place.sessions.mkdir()
            place.put([HEADER], "s.jsonl")
            await heard.until("created", "s.jsonl")
            add(path, A)
            await heard.until("grown", "s.jsonl")
        for _ in range(2):
            shutil.rmtree(place.folder)
            place.put([HEADER, A], "s.jsonl")  # perhaps before anybody looked, and with the inodes that were free again
            await heard.as_it_is(path)
            add(path, B + b"\n")
            await heard.as_it_is(path)


@pytest.mark.slow
async def test_a_name_that_is_not_utf8_ends_no_watching(place: Place) -> None:
    heard = Heard()
    path = place.put([HEADER], "s.jsonl")
    odd = Path(os.fsdecode(os.fsencode(place.folder) + b"/\xff.jsonl"))
    async with watching(place, heard):
        for number in range(3):
            odd.write_bytes(b"x" * number)
            add(path, A + b"\n")
            await heard.until("grown", "s.jsonl")
    assert heard.changes == []


@pytest.mark.slow
@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", ["folder", "link"])
async def test_a_folder_whose_name_is_not_utf8_ends_no_watching(place: Place, kind: str) -> None:
    heard = Heard()
    path = place.put([HEADER], "s.jsonl")
    odd = Path(os.fsdecode(os.fsencode(place.base) + b"/odd\xff"))
    odd.mkdir()
    (odd / "s.jsonl").write_bytes(HEADER)
    target = Path(os.fsdecode(os.fsencode(place.sessions) + b"/--odd\xff--"))
    async with watching(place, heard) as watcher:
        for again in range(2):
            if kind == "folder":
                target.mkdir()
                (target / "s.jsonl").write_bytes(HEADER)
            else:
                (place.sessions / "odd").symlink_to(odd)
            await watcher.swept()
            add(path, A + b"\n")
            await heard.until("grown", "s.jsonl")
            if not again:
                shutil.rmtree(target) if kind == "folder" else (place.sessions / "odd").unlink()
                await watcher.swept()
    async with watching(place, heard):
        add(path, A + b"\n")
        await heard.until("grown", "s.jsonl")
    assert heard.changes == []


@pytest.mark.slow
@pytest.mark.timeout(20)
async def test_a_sessions_directory_whose_name_is_not_utf8_ends_no_watching(tmp_path: Path) -> None:
    """There are no hints for it, and no path in it could be told."""
    place, heard = Place(Path(os.fsdecode(os.fsencode(tmp_path) + b"/odd\xff"))), Heard()
    place.put([HEADER], "s.jsonl")
    async with watching(place, heard) as watcher:
        await watcher.swept()
    assert heard.changes == []


class NoHints:
    """Hints that never come, or break as often as they are told to."""

    def __init__(self, folders: Collection[str], woken: threading.Event, breaks: Callable[[], bool]) -> None:
        self._woken = woken
        self._breaks = breaks

    def wait(self, seconds: float) -> Collection[str]:
        if self._breaks():
            raise HintsFailed("broken")
        self._woken.wait(seconds)
        return ()

    def close(self) -> None: ...


async def test_a_sweep_finds_what_hints_have_missed(place: Place) -> None:
    """As after an overflow of the system's queue."""
    heard = Heard()
    async with watching(place, heard, lambda folders, woken: NoHints(folders, woken, lambda: False)) as watcher:
        paths = [place.put([HEADER], f"{number}.jsonl") for number in range(50)]
        await watcher.swept()
        assert len(heard.changes) == 50
        heard.changes.clear()
        watcher.watch(map(str, paths[:2]))
        add(paths[1], A)
        await heard.until("grown", "1.jsonl")
        assert heard.changes == []


class Told:
    """Hints that the test gives."""

    def __init__(self, woken: threading.Event) -> None:
        self._woken = woken
        self.next: queue.SimpleQueue[Collection[str]] = queue.SimpleQueue()

    def wait(self, seconds: float) -> Collection[str]:
        while not self._woken.is_set():
            with contextlib.suppress(queue.Empty):
                return self.next.get(timeout=0.01)
        return ()

    def close(self) -> None: ...


@pytest.mark.parametrize("hinted", [True, False])
async def test_an_open_session_that_came_and_went_between_two_looks(
    place: Place, hinted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file was written and deleted before anybody looked: no two pictures of the directory differ by it."""
    monkeypatch.setattr(watch, "SWEEP_SECONDS", (600.0, 600.0))
    monkeypatch.setattr(watch, "OPEN_SECONDS", 600.0 if hinted else 0.01)
    heard = Heard()
    hints: list[Told] = []

    def make(folders: Collection[str], woken: threading.Event) -> Told:
        hints.append(Told(woken))
        return hints[-1]

    place.put([HEADER], "other.jsonl")
    path = str(place.folder / "s.jsonl")
    async with watching(place, heard, make) as watcher:
        watcher.watch([path])
        for _ in range(2 if hinted else 1):
            hints[-1].next.put([path] if hinted else [])
            await heard.until("deleted", "s.jsonl")
        hints[-1].next.put([str(place.folder / "other.jsonl")])
    assert heard.changes == []


async def test_without_hints_sweeps_go_on(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "UNHINTED_SECONDS", (0.02, 1.0))
    monkeypatch.setattr(watch, "UNHINTED_OPEN_SECONDS", 0.01)

    def refuse(folders: Collection[str], woken: threading.Event) -> NoHints:
        raise HintsFailed("too many watches")

    heard = Heard()
    path = place.put([HEADER], "s.jsonl")
    async with watching(place, heard, refuse):
        add(path, A)
        await heard.until("grown", "s.jsonl")


async def test_broken_hints_are_set_up_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "RESTART_SECONDS", (0.001, 0.004))
    monkeypatch.setattr(watch, "UNHINTED_OPEN_SECONDS", 0.001)
    made: list[Collection[str]] = []
    enough = asyncio.Event()
    loop = asyncio.get_running_loop()

    def make(folders: Collection[str], woken: threading.Event) -> NoHints:
        made.append(folders)
        if len(made) == 5:
            loop.call_soon_threadsafe(enough.set)
        return NoHints(folders, woken, lambda: len(made) < 5)

    heard = Heard()
    place.put([HEADER], "s.jsonl")
    async with watching(place, heard, make), asyncio.timeout(20):
        await enough.wait()
    assert [sorted(folders) for folders in made] == [[str(place.sessions), str(place.folder)]] * 5
    assert heard.changes == []


async def test_stopping_ends_a_wait_for_a_sweep(place: Place) -> None:
    heard = Heard()
    watcher = Watcher(Layout(place.sessions, False), Files(), heard)
    await watcher.stop()
    await watcher.start()
    await asyncio.gather(watcher.swept(), watcher.swept(), watcher.stop())
    await watcher.stop()
    assert "pi-daemon-watch" not in [thread.name for thread in threading.enumerate()]
