"""Where sessions lie, and that no id and no path leads anywhere else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pi_daemon.session.errors import (
    AmbiguousSession,
    InvalidParams,
    OutsideRoot,
    SessionExists,
    SessionNotFound,
    StorageFailed,
)
from pi_daemon.storage.layout import Layout, file_name, find_layout, folder_name
from tests.storage.support import CWD, HEADER, Place, chain, dump, header, ids

A, B = chain("a", "b")


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("/home/me/project", "--home-me-project--"),
        ("/", "----"),
        ("/a-b", "--a-b--"),
        ("/a/b", "--a-b--"),
        ("/日本/x y", "--日本-x y--"),
        ("C:\\work\\x", "--C--work-x--"),
        ("\\\\host\\share", "---host-share--"),
    ],
)
def test_the_folder_of_a_project(cwd: str, name: str) -> None:
    assert folder_name(cwd) == name


def test_the_name_of_a_file() -> None:
    assert file_name(header("x.y")) == "2026-01-31T12-00-00-000Z_x.y.jsonl"
    for timestamp in ("", "../x", "now\n", "2026/01"):
        with pytest.raises(InvalidParams):
            file_name(header(timestamp=timestamp))


@pytest.mark.parametrize(
    ("option", "environ", "setting", "expected", "flat"),
    [
        (None, {}, None, "home/.pi/agent/sessions", False),
        (None, {"PI_CODING_AGENT_DIR": "~/agent"}, None, "home/agent/sessions", False),
        (None, {"PI_CODING_AGENT_SESSION_DIR": "~"}, None, "home", True),
        (None, {"PI_CODING_AGENT_SESSION_DIR": "", "PI_CODING_AGENT_DIR": ""}, None, "home/.pi/agent/sessions", False),
        ("~/given", {"PI_CODING_AGENT_SESSION_DIR": "~/env"}, '{"sessionDir":"/set"}', "home/given", True),
        (None, {"PI_CODING_AGENT_SESSION_DIR": "~/env"}, '{"sessionDir":"/set"}', "home/env", True),
        (None, {}, '{"sessionDir":"~/set","other":[1]}', "home/set", True),
        (None, {}, '{"sessionDir":7}', "home/.pi/agent/sessions", False),
        (None, {}, "{no JSON", "home/.pi/agent/sessions", False),
    ],
)
def test_the_sessions_directory_is_found_as_pi_finds_it(
    tmp_path: Path, option: str | None, environ: dict[str, str], setting: str | None, expected: str, flat: bool
) -> None:
    home = tmp_path / "home"
    (home / ".pi" / "agent").mkdir(parents=True)
    if setting is not None:
        (home / ".pi" / "agent" / "settings.json").write_text(setting)
    assert find_layout(option, environ, home) == Layout(tmp_path / expected, flat)


def test_a_given_directory_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_layout("x/../y", {}, tmp_path).sessions_dir == tmp_path / "y"


@pytest.mark.parametrize("cwd", ["", "relative", "../x", "/a\0b", "~"])
async def test_a_working_directory_that_is_none(place: Place, cwd: str) -> None:
    with pytest.raises(InvalidParams):
        await place.repository().create(header(cwd=cwd), persist=True)
    assert list(place.sessions.iterdir()) == []


async def test_dots_in_a_working_directory_lead_nowhere(place: Place) -> None:
    for number, cwd in enumerate(("/..", "/a/../../etc", "/a/./b//c/", "/-/..")):
        _, log = await place.repository().create(header(f"s{number}", cwd=cwd), persist=True)
        assert Path(log.ref.location).parent.parent == place.sessions


async def test_a_working_directory_that_is_too_long(place: Place) -> None:
    with pytest.raises(StorageFailed) as caught:
        await place.repository().create(header(cwd="/x" * 200), persist=True)
    assert caught.value.data["errno"] == "ENAMETOOLONG"


async def test_both_layouts_are_read_wherever_they_are(tmp_path: Path) -> None:
    for flat in (False, True):
        place = Place(tmp_path / str(flat), flat=flat)
        repository = place.repository()
        (place.sessions / "flat.jsonl").write_bytes(HEADER + b"\n")
        (place.sessions / "folder").mkdir()
        (place.sessions / "folder" / "x.jsonl").write_bytes(HEADER.replace(b"s1", b"s2") + b"\n")
        (place.sessions / "folder" / "deeper").mkdir()
        (place.sessions / "folder" / "deeper" / "x.jsonl").write_bytes(HEADER.replace(b"s1", b"s3") + b"\n")
        assert {summary.ref.session_id for summary in await repository.list(None)} == {"s1", "s2"}
        _, log = await repository.create(header("s4"), persist=True)
        assert Path(log.ref.location).parent == place.folder


async def test_an_id_is_looked_up_by_the_header(place: Place) -> None:
    repository = place.repository()
    path = place.put([HEADER, A], "some name.jsonl")
    place.put([HEADER.replace(b"s1", b"s2"), A], "2026-01-31T12-00-00-000Z_s1.jsonl")
    assert (await repository.find("s1")).location == str(path)
    path.write_bytes(HEADER.replace(b"s1", b"s3") + b"\n")
    with pytest.raises(SessionNotFound):
        await repository.find("s1")
    assert (await repository.find("s3")).location == str(path)
    with pytest.raises(SessionExists):
        await repository.create(header("s3"), persist=True)
    with pytest.raises(SessionExists):  # its name would mislead pi
        await repository.create(header("s1"), persist=True)


async def test_two_files_with_one_id(place: Place) -> None:
    repository = place.repository()
    first = place.put([HEADER, A])
    second = place.put([HEADER, B], "copy of it.jsonl")
    with pytest.raises(AmbiguousSession) as caught:
        await repository.find("s1")
    assert caught.value.data["paths"] == sorted([str(first), str(second)])
    assert ids((await repository.open(await repository.ref(str(second))))[0].heads) == ["b"]
    with pytest.raises(SessionExists):
        await repository.create(header(), persist=True)


async def test_one_id_in_two_projects(place: Place) -> None:
    repository = place.repository()
    await repository.create(header(), persist=True)
    await repository.create(header(cwd="/other"), persist=True)
    with pytest.raises(AmbiguousSession):
        await repository.find("s1")


async def test_two_projects_that_share_a_folder(place: Place) -> None:
    repository = place.repository()
    await repository.create(header(cwd="/a/b"), persist=True)
    with pytest.raises(SessionExists):
        await repository.create(header(cwd="/a-b"), persist=True)
    await repository.create(header("s2", cwd="/a-b"), persist=True)
    assert [summary.ref.session_id for summary in await repository.list("/a/b")] == ["s1"]
    assert [summary.ref.session_id for summary in await repository.list("/a-b")] == ["s2"]


# Links


async def test_a_path_that_no_system_call_takes(place: Place) -> None:
    with pytest.raises(InvalidParams):
        await place.repository().ref("/x" * 500_000)


async def test_a_link_to_a_directory_is_a_root(place: Place) -> None:
    repository = place.repository()
    elsewhere = place.base / "elsewhere"
    elsewhere.mkdir()
    session = elsewhere / "x.jsonl"
    session.write_bytes(HEADER + b"\n" + A + b"\n")
    with pytest.raises(OutsideRoot):
        await repository.ref(str(session))
    place.folder.symlink_to(elsewhere)
    ref = await repository.find("s1")
    assert ref.location == str(session)
    assert await repository.ref(str(place.folder / "x.jsonl")) == ref
    assert [summary.ref for summary in await repository.list(None)] == [ref]
    _, log = await repository.create(header("s2"), persist=True)
    assert Path(log.ref.location).parent == elsewhere


async def test_one_file_is_one_session_by_its_real_path(place: Place) -> None:
    repository = place.repository()
    path = place.put([HEADER, A])
    (place.folder / "link.jsonl").symlink_to(path)
    (place.sessions / "again").symlink_to(place.folder)
    (place.sessions / "self").symlink_to(place.sessions)
    assert [summary.ref.location for summary in await repository.list(None)] == [str(path)]
    for name in ("link.jsonl", "../again/link.jsonl", "../self/--home-me-project--/" + path.name):
        assert (await repository.ref(str(place.folder / name))).location == str(path)
    assert (await repository.find("s1")).location == str(path)


async def test_a_link_out_of_the_roots_is_no_session(place: Place) -> None:
    repository = place.repository()
    outside = place.base / "outside.jsonl"
    outside.write_bytes(HEADER + b"\n")
    twin = place.base / "sessions-evil"
    twin.mkdir()
    (twin / "x.jsonl").write_bytes(HEADER + b"\n")
    place.folder.mkdir()
    (place.folder / "deep").symlink_to(twin)
    links = [place.folder / "out.jsonl", place.folder / "relative.jsonl", place.sessions / "top_s1.jsonl"]
    links[0].symlink_to(outside)
    links[1].symlink_to("../../sessions-evil/x.jsonl")
    links[2].symlink_to("/etc/passwd")
    attacks = [
        *map(str, links),
        str(outside),
        str(twin / "x.jsonl"),
        f"{place.folder}/../../outside.jsonl",
        f"{place.folder}/deep/x.jsonl",
        f"{place.sessions}-evil/x.jsonl",
        f"{place.sessions}/../outside.jsonl",
        "/etc/passwd",
        "/etc/shadow",
        "/",
        f"{place.base}/not there.jsonl",
    ]
    for attack in attacks:
        for refused in (repository.ref(attack), repository.check(attack), repository.repair(attack)):
            with pytest.raises(OutsideRoot):
                await refused
        with pytest.raises(OutsideRoot):
            await repository.delete(place.ref(Path(attack)))
    assert await repository.list(None) == []
    with pytest.raises(SessionNotFound):
        await repository.find("s1")
    assert outside.exists()


@pytest.mark.parametrize("path", ["", "x.jsonl", "./x.jsonl", "~/x.jsonl", "/x\0.jsonl"])
async def test_a_path_that_is_none(place: Place, path: str) -> None:
    for refused in (place.repository().ref(path), place.repository().check(path), place.repository().repair(path)):
        with pytest.raises(InvalidParams):
            await refused


async def test_a_path_to_nothing(place: Place) -> None:
    repository = place.repository()
    path = place.put([HEADER])
    (place.folder / "loop.jsonl").symlink_to(place.folder / "loop.jsonl")
    (place.folder / "dangling.jsonl").symlink_to(place.folder / "nothing.jsonl")
    for name in ("none.jsonl", "loop.jsonl", "dangling.jsonl", "x" * 300 + ".jsonl", path.name + "/x.jsonl"):
        with pytest.raises(SessionNotFound):
            await repository.ref(str(place.folder / name))
    assert len(await repository.list(None)) == 1


async def test_a_link_put_at_the_place_of_a_file_is_not_followed(place: Place) -> None:
    repository = place.repository()
    path = place.put([HEADER, A])
    ref = await repository.ref(str(path))
    outside = place.base / "outside.jsonl"
    path.rename(outside)
    path.symlink_to(outside)
    with pytest.raises(SessionNotFound):
        await repository.open(ref)
    with pytest.raises(SessionNotFound):
        await repository.copy(ref, header("s2"))
    with pytest.raises(OutsideRoot):
        await repository.delete(ref)


async def test_a_link_at_the_place_of_a_new_file_is_not_followed(place: Place) -> None:
    outside = place.base / "outside.jsonl"
    place.folder.mkdir()
    (place.folder / file_name(header())).symlink_to(outside)
    with pytest.raises(SessionExists):
        await place.repository().create(header(), persist=True)
    assert not outside.exists()


async def test_what_cannot_be_read_hides_no_others(place: Place) -> None:
    """A file where a folder was, a name that isn't UTF-8 and so can't be told, no sessions directory at all."""
    repository = place.repository()
    place.put([HEADER])
    (place.sessions / "a file").write_text("x")
    (place.sessions / "dangling").symlink_to(place.base / "nothing")
    strange = os.fsencode(place.folder) + b"/\xff\xfe.jsonl"
    with open(strange, "wb") as file:
        file.write(dump({"type": "session", "version": 3, "id": "s2", "timestamp": "", "cwd": CWD}) + b"\n")
    assert [summary.ref.session_id for summary in await repository.list(None)] == ["s1"]
    assert await repository.find("s1")
    missing = Place(place.base / "new")
    missing.sessions.rmdir()
    assert await missing.repository().list(None) == []
    with pytest.raises(SessionNotFound):
        await missing.repository().find("s1")
    await missing.repository().create(header(), persist=True)
