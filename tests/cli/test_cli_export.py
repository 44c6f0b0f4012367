"""`export`, `stats` and `doctor`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from commands import ESCAPE, Commands, conversation, message, text, write_session

from pi_daemon.cli import safe

pytestmark = pytest.mark.slow


def test_export(commands: Commands, tmp_path: Path) -> None:
    source = write_session(commands.sessions, "aaaa-1", conversation())
    assert commands.run("export", "aaaa-1", "--format", "tree").encode() == source.read_bytes()
    header, *entries = [json.loads(line) for line in commands.run("export", "aaaa-1", "--leaf", "a2").splitlines()]
    assert header["parentSession"] == str(source)
    assert [one["id"] for one in entries][:4] == ["u1", "a1", "u2", "a2"] and entries[4]["label"] == "start"
    document = tmp_path / "a.md"
    assert commands.run("export", "aaaa-1", "-o", str(document)) == f"Written to {document}.\n"
    written = document.read_text()
    assert written.startswith("# hello\n") and "\x1b" not in written and "## 2. right" in written
    assert commands.run("export", "aaaa-1", "--format", "markdown") == written
    assert commands.run("export", "aaaa-1", "--format", "markdown", "-o", "-") == written and not Path("-").exists()
    assert "1 entry" not in written and f"2 entries to `{'a2'}`" in written
    assert commands.json("export", "aaaa-1", "--output", str(document), code=1)["error"]["data"]["errno"] == "EEXIST"
    assert "exists already" in commands.errors
    assert commands.json("export", "aaaa-1", "--output", str(tmp_path / "b"))["path"] == str(tmp_path / "b")
    assert json.loads((tmp_path / "b").read_text().splitlines()[0])["cwd"] == "/project"
    commands.run("export", "aaaa-1", "--format", "tree", "--leaf", "a2", code=2)
    commands.run("export", "aaaa-1", "--leaf", "nobody", code=3)
    commands.run("export", "aaaa-1", "--format", "html", code=2)
    commands.run("export", "aaaa-1", "-o", str(commands.sessions / "x.jsonl"), code=1)
    assert "among the sessions" in commands.errors


def test_where_an_export_goes(commands: Commands, tmp_path: Path) -> None:
    write_session(commands.sessions, "aaaa-1", conversation())
    assert commands.json("export", "aaaa-1", "-o", str(tmp_path))["path"] == str(tmp_path / "aaaa-1.jsonl")
    document = commands.json("export", "aaaa-1", "-o", f"{tmp_path}/", "--format", "markdown")["path"]
    assert document == str(tmp_path / "aaaa-1.md") and Path(document).read_text().startswith("# hello")
    assert commands.json("export", "aaaa-1", "-o", str(tmp_path), code=1)["error"]["data"]["errno"] == "EEXIST"
    gone = commands.json("export", "aaaa-1", "-o", str(tmp_path / "nope" / "x.md"), code=1)["error"]
    assert gone["message"] == f"The directory {tmp_path}/nope does not exist."
    beside = commands.json("export", "aaaa-1", "-o", f"{document}/x.md", code=1)["error"]
    assert beside["message"] == f"The directory {document} is no directory."
    page = tmp_path / "x.html"
    refused = commands.json("export", "aaaa-1", "-o", str(page), code=2)["error"]
    assert "no format for .html" in refused["message"] and "jsonl, tree or markdown" in refused["hint"]
    assert not page.exists()
    commands.run("export", "aaaa-1", "-o", str(page), "--format", "markdown")
    assert page.read_text().startswith("# hello")


def test_stats(commands: Commands) -> None:
    usage = {"input": 1000, "output": 20, "cacheRead": 3, "cacheWrite": 4, "totalTokens": 1027, "cost": {"total": 0.5}}
    failed = {"toolName": "read", "toolCallId": "call-1", "isError": True}
    write_session(
        commands.sessions,
        "aaaa-1",
        [
            *conversation(),
            message("a4", "a3", "assistant", [text("x")], provider="p" + ESCAPE, model="big", usage=usage),
            message("t4", "a4", "toolResult", [], **failed),
        ],
    )
    printed = commands.run("stats", "aaaa-1")
    assert "tool calls  1\n" in printed and "failures    1 tool result\n" in printed
    assert "1,000 in, 20 out, 3 read from cache, 4 written to it" in printed
    assert safe.line(f"p{ESCAPE}/big") in printed and "\x1b" not in printed
    assert "--window N" in printed and "(the active path)" in printed
    rows = [line.split() for line in printed.splitlines()]
    assert next(row for row in rows if row[:2] == ["a2", "a1"])[-7:] == ["1", "0", "0", "0", "0", "0", "0.0000"]
    metered = commands.run("stats", "aaaa-1", "--window", "20000")
    assert "of 20,000 tokens; compaction from 3,616" in metered and "█" in metered
    assert "a compaction is due" in commands.run("stats", "aaaa-1", "--window", "17000")
    found = commands.json("stats", "aaaa-1", "--window", "17000")
    assert found["contextThreshold"] == 616 and found["shouldCompact"] is True
    assert [row["tip"] for row in found["branches"]] == ["t4", "a2"]
    commands.run("stats", "aaaa-1", "--window", "0", code=2)


def test_doctor(commands: Commands, tmp_path: Path) -> None:
    write_session(commands.sessions, "aaaa-1", conversation())
    assert "Nothing is wrong, 0 notes." in commands.run("doctor")
    bad = write_session(commands.sessions, "bbbb-1", conversation(), b"no JSON\n")
    os.utime(bad, (1, 1))
    (commands.sessions / f"{ESCAPE.replace('/', '')}.txt").touch()
    printed = commands.run("doctor", code=4)
    assert "Damaged (1)" in printed and bad.name in printed and "--fix mends 1." in printed and "\x1b" not in printed
    assert commands.json("doctor", code=4)["problems"] == 1
    mended = commands.run("doctor", "--fix")
    assert "fixed: 1 line was left out, which could not be read" in mended and "1 mended" in mended
    assert "Nothing is wrong" in commands.run("doctor", str(commands.sessions))
    fresh = [write_session(commands.sessions, f"cccc-{n}", conversation(), b"no JSON\n") for n in range(3)]
    printed = commands.run("doctor", "--fix", code=4)
    assert all(path.name in printed for path in fresh) and printed.count("the line is no JSON") == 1
    assert "3 problems, 1 note, 3 left for later." in printed and "within the last minute" in printed
    commands.run("doctor", str(tmp_path), code=2)  # the daemon serves another directory
    commands.run("doctor", str(tmp_path / "gone"), code=1)
