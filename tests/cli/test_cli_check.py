"""`check` of what is no session, and of several files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from commands import Commands, conversation, write_session

pytestmark = pytest.mark.slow

BAD = b'{"type": \x00}\n'


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "is no session: the file is empty."), (b"root:x:0:0\nbin:x:1:1\n", "is no session: no session header")],
)
def test_what_is_no_session(commands: Commands, content: bytes, said: str) -> None:
    path = commands.sessions / "x.jsonl"
    path.write_bytes(content)
    printed = commands.run("check", str(path), code=3)
    assert said in printed and "repair" not in printed + commands.errors
    assert commands.json("check", str(path), code=3)["sessionId"] is None
    commands.run("tree", str(path), code=3)
    assert "is no session" in commands.errors and "repair" not in commands.errors


def test_what_is_no_file(commands: Commands, tmp_path: Path) -> None:
    for command in ("check", "tree", "repair"):
        assert commands.json(command, str(tmp_path), code=3)["error"]["reason"] == "noSession"
        assert "is a directory, no session" in commands.errors and "repair" not in commands.errors
    pipe = commands.sessions / "pipe.jsonl"
    os.mkfifo(pipe)
    commands.run("check", str(pipe), code=3)
    assert "is no file" in commands.errors and "repair" not in commands.errors


def test_a_session_that_lost_its_header_alone_is_damaged(commands: Commands) -> None:
    path = write_session(commands.sessions, "aaaa-1", conversation())
    path.write_bytes(path.read_bytes().split(b"\n", 1)[1])
    printed = commands.run("check", str(path), code=4)
    assert "7 entries, 1 damage:" in printed and "nor mended" in printed and "pi-daemon repair" not in printed


def test_several_files(commands: Commands, tmp_path: Path) -> None:
    good = write_session(commands.sessions, "aaaa-1", conversation())
    bad = write_session(commands.sessions, "bbbb-1", conversation()[:1], BAD * 3)
    none = commands.sessions / "none.jsonl"
    none.write_bytes(b"")
    printed = commands.run("check", "aaaa-1", str(good)).splitlines()
    assert [row.split()[:3] for row in printed[1:3]] == [["7", "no", "damage"]] * 2
    assert printed[3] == "2 checked, no damage."
    printed = commands.run("check", str(bad), "aaaa-1", str(none), "nobody", str(tmp_path), code=4).splitlines()
    assert "line 3: the line is no JSON (and 2 more)" in printed[1]
    assert "no session: the file is empty" in printed[3] and "is a directory" in printed[5]
    assert printed[-1] == "5 checked, something is wrong with 4."
    found = commands.json("check", str(bad), "aaaa-1", str(none), "nobody", code=4)
    assert [one["exitCode"] for one in found["files"]] == [4, 0, 3, 3] and found["exitCode"] == 4
    assert found["files"][0]["path"] == str(bad) and found["files"][3]["path"] == "nobody"
    assert found["files"][3]["error"]["reason"] == "sessionNotFound"
    commands.run("check", "aaaa-1", str(none), code=3)


def test_a_list_marks_what_is_damaged(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", conversation())
    assert "!" not in commands.run("list")
    write_session(commands.sessions, "bbbb-1", conversation(), BAD)
    rows = commands.run("list").splitlines()
    assert [row.split()[1] == "!" for row in rows if row.startswith(("aaaa", "bbbb"))].count(True) == 1
    assert "! has lines that can't be read" in rows[-1]


def test_a_link_is_what_it_leads_to(commands: Commands, tmp_path: Path) -> None:
    path = write_session(commands.sessions, "aaaa-1", conversation())
    (tmp_path / "link.jsonl").symlink_to(path)
    assert commands.json("check", str(tmp_path / "link.jsonl"))["path"] == str(path)


def test_a_tree_names_the_line_of_a_damage(commands: Commands) -> None:
    path = write_session(commands.sessions, "aaaa-1", conversation(), BAD)
    assert "damaged: line 9: the line is no JSON" in commands.run("tree", str(path))
