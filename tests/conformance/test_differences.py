"""Where we read a file on purpose otherwise than pi 1.6.0 does, and what it does."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from pi_daemon.session.entry import BadLine
from tests.conformance.sessions import Ask, Session
from tests.reference import Reference

pytestmark = pytest.mark.timeout(600)  # the first run may have to fetch the reference

HEADER = b'{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}\n'


def entry(id: str, parent: str | None, more: str = "") -> bytes:
    link = "null" if parent is None else f'"{parent}"'
    return (
        f'{{"type":"message","id":"{id}","parentId":{link},"timestamp":"2026-01-01T00:00:00.000Z",'
        f'"message":{{"role":"user","content":"{id}","timestamp":1}}{more}}}\n'
    ).encode()


def run(pi: Reference, file: Path, expression: str) -> subprocess.CompletedProcess[bytes]:
    """Evaluate `expression` over `manager`, the reference's session of `file`, and print it."""
    module = str(pi.package / "dist/core/session-manager.js")
    script = file.with_suffix(".mjs")
    script.write_text(
        f"const {{ SessionManager }} = await import({json.dumps(module)});\n"
        f"const manager = SessionManager.open({json.dumps(str(file))});\n"
        f"console.log(JSON.stringify({expression}));\n"
    )
    environment = {"HOME": str(file.parent), "PI_CODING_AGENT_DIR": str(file.parent)}
    command = [str(pi.node), "--max-old-space-size=64", str(script)]
    return subprocess.run(command, env=environment, capture_output=True, timeout=50)


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_doubled_ids_are_shown_once(ask: Ask, tmp_path: Path) -> None:
    """pi shows an entry under its parent once for each of its lines, so n doubled lines make 2^n rows."""
    data = HEADER + entry("a", None) * 2 + entry("b", "a") * 2
    (theirs,) = ask([written(tmp_path / "s.jsonl", data)])
    assert theirs["roots"] == ["a", "a"] and theirs["children"] == {"a": ["b", "b"]}
    tree = Session(data).tree
    assert [head.id for head in tree.children(None)] == ["a"]
    assert [head.id for head in tree.children("a")] == ["b"]
    assert [head.id for head in tree.entries] == theirs["entries"] == ["a", "a", "b", "b"]
    assert [damage.kind for damage in tree.damage()] == ["duplicateId", "duplicateId"]


def test_the_later_of_two_entries_alone_has_a_place(ask: Ask, tmp_path: Path) -> None:
    """pi keeps the entry under the parent that the earlier line names too."""
    data = HEADER + entry("a", None) + entry("x", None) + entry("b", "a") + entry("b", "x")
    (theirs,) = ask([written(tmp_path / "s.jsonl", data)])
    assert theirs["children"] == {"a": ["b"], "x": ["b"]}
    session = Session(data)
    assert [head.id for head in session.tree.children("a")] == []
    assert [head.id for head in session.tree.children("x")] == ["b"]
    assert session.at("b")["path"] == theirs["at"]["b"]["path"] == ["x", "b"]


def test_loops_end(pi: Reference, tmp_path: Path) -> None:
    """pi's walk from the leaf up grows until the process has no memory left."""
    data = HEADER + entry("a", "c") + entry("b", "a") + entry("c", "b")
    done = run(pi, written(tmp_path / "s.jsonl", data), "manager.getBranch().length")
    assert done.returncode != 0
    tree = Session(data).tree
    assert [head.id for head in tree.path(tree.last_id)] == ["a", "b", "c"]
    assert [(damage.kind, damage.entry_ids) for damage in tree.damage()] == [("loop", ["a", "c", "b"])]


def test_a_line_without_an_id_is_damage(pi: Reference, tmp_path: Path) -> None:
    """pi takes it for an entry with no id, and where it is the last one the whole conversation seems empty."""
    data = HEADER + entry("a", None) + b'{"type":"message","parentId":"a","message":{"role":"user","content":"b"}}\n'
    done = run(pi, written(tmp_path / "s.jsonl", data), "[manager.getEntries().length, manager.getBranch().length]")
    assert json.loads(done.stdout) == [2, 0]
    session = Session(data)
    assert session.tree.last_id == "a" and len(session.at("a")["messages"]) == 1
    stray = session.strays[-1].what
    assert isinstance(stray, BadLine) and stray.kind == "noId"


def test_an_unversioned_file_keeps_its_ids(ask: Ask, tmp_path: Path) -> None:
    """pi takes it for version 1, gives each entry a new id, makes a chain of the tree and rewrites the file."""
    data = HEADER.replace(b'"version":3,', b"") + entry("a", None) + entry("b", "a") + entry("c", "a")
    (theirs,) = ask([written(tmp_path / "s.jsonl", data)])
    assert set(theirs["entries"]).isdisjoint("abc") and len(theirs["at"]) == 1
    tree = Session(data).tree
    assert [head.id for head in tree.entries] == ["a", "b", "c"]
    assert [head.id for head in tree.children("a")] == ["b", "c"]


def test_utf8_is_checked(ask: Ask, tmp_path: Path) -> None:
    """pi reads a replacement character, and would store it at its next rewrite."""
    data = HEADER + entry("a", None) + entry("b", "a").replace(b'"b","timestamp":1', b'"\xff","timestamp":1')
    (theirs,) = ask([written(tmp_path / "s.jsonl", data)])
    assert theirs["entries"] == ["a", "b"]
    session = Session(data)
    assert [head.id for head in session.tree.entries] == ["a"]
    stray = session.strays[-1].what
    assert isinstance(stray, BadLine) and stray.kind == "notUtf8"


def test_depth_has_a_bound(ask: Ask, tmp_path: Path) -> None:
    """pi reads any depth; ours is 500, beyond which a line is damage and not a crash."""
    deep = ',"x":' + "[" * 500 + "]" * 500
    data = HEADER + entry("a", None) + entry("b", "a", deep)
    (theirs,) = ask([written(tmp_path / "s.jsonl", data)])
    assert theirs["entries"] == ["a", "b"]
    stray = Session(data).strays[-1].what
    assert isinstance(stray, BadLine) and stray.kind == "tooDeep"


def test_reading_needs_no_writing(pi: Reference, tmp_path: Path) -> None:
    """pi ends an unfinished last line when it opens a file, and migrates old ones at once. We read bytes."""
    data = HEADER + entry("a", None).rstrip(b"\n")
    path = written(tmp_path / "s.jsonl", data)
    assert run(pi, path, "1").returncode == 0
    assert path.read_bytes() == data + b"\n"
    assert [head.id for head in Session(data).tree.entries] == ["a"]
