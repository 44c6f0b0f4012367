"""Files that sessions speak of, as they are or refuse to be looked at."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from pi_daemon.storage import world
from pi_daemon.storage.system import Files
from pi_daemon.storage.world import Seen, World


class Refusing(Files):
    """Each call that is named fails with that error."""

    def __init__(self, **errors: int) -> None:
        self.errors = errors
        self.flags: list[int] = []

    def _refuse(self, call: str) -> None:
        if call in self.errors:
            raise OSError(self.errors[call], os.strerror(self.errors[call]))

    def stat(self, path: str | Path) -> os.stat_result:
        self._refuse("stat")
        return super().stat(path)

    def open(self, path: str | Path, flags: int, mode: int = 0) -> int:
        self.flags.append(flags)
        if len(self.flags) == 1:
            self._refuse("first_open")
        self._refuse("open")
        return super().open(path, flags, mode)

    def read(self, fd: int, size: int, offset: int) -> bytes:
        self._refuse("read")
        return super().read(fd, size, offset)


def test_what_is_there(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"text")
    (tmp_path / "link").symlink_to(file)
    (tmp_path / "nowhere").symlink_to("gone")
    os.mkfifo(tmp_path / "pipe")
    look = World().look
    seen = look(str(tmp_path / "link"))
    assert (seen.what, seen.real, seen.size, seen.modified) == (
        "file",
        str(file),
        4,
        file.stat().st_mtime_ns // 1_000_000,
    )
    kinds = {"nowhere": "gone", "gone/x": "gone", "a/x": "gone", ".": "folder", "pipe": "other", "\0": "unreadable"}
    kinds |= {"x" * 300: "unreadable", "\ud800": "unreadable"}
    assert {name: look(str(tmp_path / name)).what for name in kinds} == kinds


@pytest.mark.parametrize("call", ["stat", "open", "read"])
def test_what_the_system_refuses(tmp_path: Path, call: str) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"text")
    refusing = World(Refusing(**{call: errno.EACCES}))
    seen = refusing.look(str(file))
    if call == "stat":
        assert (seen.what, seen.why) == ("unreadable", "Permission denied")
    else:
        assert refusing.text(seen) == "Permission denied"
    assert World().text(World().look(str(file))) == b"text"


def test_the_time_of_access_is_left_where_that_may_be(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"text")
    files = Refusing(first_open=errno.EPERM)
    seen = World().look(str(file))
    assert World(files).text(seen) == b"text"
    assert files.flags[0] == files.flags[1] | getattr(os, "O_NOATIME", 0)


def test_a_file_that_grew_or_became_another_thing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"x" * 20)
    monkeypatch.setattr(world, "FILE_BYTES", 10)
    assert "more than" in str(World().text(Seen("file", str(file), 1)))
    assert "more than" in str(World().text(Seen("file", str(file), 20)))
    file.unlink()
    os.mkfifo(file)
    assert World().text(Seen("file", str(file), 1)) == "it is no ordinary file any more"
    file.unlink()
    file.symlink_to("/etc/passwd")
    assert isinstance(World().text(Seen("file", str(file), 1)), str)


def test_where_a_directory_may_have_gone(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    for folder in (home / "dev/project", work / "old/project", work / "a/b/project", work / ".hidden/project"):
        folder.mkdir(parents=True)
    here = World(home=str(home))
    assert here.nearest(str(work / "dev/project")) == str(work)
    assert here.near(str(work / "dev/project")) == [
        str(home / "dev/project"),
        str(work / "old/project"),
        str(work / "a/b/project"),
    ]
    assert here.near("/no-such-volume/me/dev/project") == [str(home / "dev/project")]
    assert here.near("C:\\Users\\me\\dev\\project") == [str(home / "dev/project")]
    assert here.near("/") == []


def test_an_unreadable_folder_on_the_way(tmp_path: Path) -> None:
    class Closed(Files):
        def entries(self, folder: Path) -> list[os.DirEntry[str]]:
            raise PermissionError(errno.EACCES, "no")

    (tmp_path / "project").mkdir()
    assert World(Closed(), str(tmp_path / "home")).near(str(tmp_path / "dev/project")) == [str(tmp_path / "project")]


class Counting(Files):
    count = 0

    def stat(self, path: str | Path) -> os.stat_result:
        self.count += 1
        return super().stat(path)


def test_a_deep_path_that_is_gone_costs_a_look_a_directory_nearby(tmp_path: Path) -> None:
    for name in range(50):
        (tmp_path / str(name)).mkdir()
    (tmp_path / "7/last").mkdir()
    files = Counting()
    here = World(files, str(tmp_path / "home"))
    assert here.near(str(tmp_path) + "/x" * 1000 + "/last") == [str(tmp_path / "7/last")]
    assert files.count < 2_000 + 53 * world.NEAR_NAMES
    assert here.near("C:" + "\\x" * 1_000_000) == []


def test_a_path_that_no_system_call_takes() -> None:
    assert World().look("/x" * 500_000).why == os.strerror(errno.ENAMETOOLONG)
