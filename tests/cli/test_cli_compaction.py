"""`plan`, `compact` and `move`: what would be summarized, what was, and what the summary kept."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from commands import ESCAPE, Commands, message, text, write_session

pytestmark = pytest.mark.slow

KEEP = ("--keep-recent-tokens", "200")


def turns(count: int = 4) -> list[dict[str, Any]]:
    """Each of some 260 tokens; files are read and changed, a command fails."""
    made: list[dict[str, Any]] = []
    for number in range(count):
        above = made[-1]["id"] if made else None
        user, answer, result, end = (f"{kind}{number}" for kind in "uare")
        call = {"type": "toolCall", "id": f"c{number}", "name": "edit", "arguments": {"path": f"src/part{number}.py"}}
        words = f"Request {number}, and never touch main. {ESCAPE if number == 0 else ''}" + "word " * 200
        made += [
            message(user, above, "user", words),
            message(answer, user, "assistant", [text("I look."), call], provider="p", model="m"),
            message(
                result, answer, "toolResult", [text("ok")], toolCallId=f"c{number}", toolName="edit", isError=False
            ),
            message(end, result, "assistant", [text(f"Done {number}.")], provider="p", model="m"),
        ]
    return made


def test_a_plan(commands: Commands) -> None:
    file = write_session(commands.sessions, "aaaa-1", turns())
    before = file.read_bytes()
    printed = commands.run("plan", "aaaa-1", *KEEP)
    assert "tokens: no window is known" in printed
    assert "Summarized: " in printed and "Kept: about " in printed and "Summarizer: extractive" in printed
    assert "    src/part0.py" in printed
    assert "A model would be asked" not in printed
    assert "A model would be asked" in commands.run("plan", "aaaa-1", *KEEP, "--full")
    assert "\x1b" not in commands.run("plan", "aaaa-1", *KEEP, "--full")
    found = commands.json("plan", "aaaa-1", *KEEP)
    assert found["keepRecentTokens"] == 200 and found["summarizedEntryIds"][0] == "u0"
    assert file.read_bytes() == before


def test_nothing_to_compact(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", turns(1))
    for command in ("plan", "compact"):
        commands.run(command, "aaaa-1", code=1)
        assert "the newest 20,000 tokens" in commands.errors and "`--keep-recent-tokens`" in commands.errors
        assert commands.json(command, "aaaa-1", code=1)["error"]["reason"] == "nothingToCompact"


def test_a_compaction(commands: Commands) -> None:
    file = write_session(commands.sessions, "aaaa-1", turns())
    printed = commands.run("compact", "aaaa-1", *KEEP)
    assert "(extractive)" in printed and "before" in printed and "after" in printed
    assert "The summary had " in printed and "last request 1/1" in printed
    entry_id = json.loads(file.read_bytes().splitlines()[-1])["id"]
    assert f"`pi-daemon show aaaa-1 {entry_id}` shows the summary." in printed
    assert b'"type":"compaction"' in file.read_bytes().splitlines()[-1]
    shown = commands.run("context", "aaaa-1")
    assert "compacted by" in shown and "never touch main" in shown


def test_a_summary_of_one_s_own_and_what_it_lacks(commands: Commands, tmp_path: Path) -> None:
    write_session(commands.sessions, "aaaa-1", turns())
    (tmp_path / "summary").write_text("We talked.")
    summary = ("--summary", str(tmp_path / "summary"))
    done = commands.run("compact", "aaaa-1", *KEEP, *summary, "--retention", "refuse", code=1)
    assert "lacks too many of the facts" in commands.errors
    done = commands.run("compact", "aaaa-1", *KEEP, *summary, "--full")
    assert "(request)" in done and "It lacked these, and they were added" in done
    assert "last request: Request 2" in done and "We talked." in done and "\x1b" not in done
    assert "- Modified: " not in done  # the file lists name them
    commands.run("compact", "aaaa-1", "--summary", str(tmp_path / "none"), code=1)
    assert "can't be read" in commands.errors


def test_moving(commands: Commands) -> None:
    file = write_session(commands.sessions, "aaaa-1", turns())
    before = file.read_bytes()
    remembered = "The file has not changed: the daemon remembers the leaf, and pi goes by the end of the file.\n"
    assert commands.run("move", "aaaa-1", "e1") == f"The leaf is at e1.\n{remembered}"
    assert file.read_bytes() == before
    assert commands.json("context", "aaaa-1")["leafId"] == "e1"
    assert commands.run("move", "aaaa-1", "start") == f"The leaf is before the first entry.\n{remembered}"
    printed = commands.run("move", "aaaa-1", "u2", "--before")
    assert printed.startswith(f"The leaf is at e1.\n{remembered}The message before which it is:\nRequest 2")
    commands.run("move", "aaaa-1", "e3")
    printed = commands.run("move", "aaaa-1", "e1", "--summarize", "--label", "back")
    assert "The branch that was left is summarized in" in printed and "shows the summary." in printed
    assert remembered not in printed
    assert b'"label":"back"' in file.read_bytes().splitlines()[-1]
    assert "Nothing was left behind" in commands.run("move", "aaaa-1", "leaf", "--summarize")
    commands.run("move", "aaaa-1", "e1", "--summarizer", "extractive", code=2)
    commands.run("move", "aaaa-1", "e1", "--summarize", "--summarizer", "model", code=1)
    assert "No model is configured" in commands.errors


def test_a_call_that_nobody_answered(commands: Commands) -> None:
    """As an agent leaves it that was killed: it is told at once, with the ways out."""
    entries = turns()
    call = {"type": "toolCall", "id": "c9", "name": "bash", "arguments": {"command": "make"}}
    entries.append(message("a9", "e3", "assistant", [call], provider="p", model="m", stopReason="toolUse"))
    entries[-1]["timestamp"] = datetime.now(UTC).isoformat()
    file = write_session(commands.sessions, "aaaa-1", entries)
    assert "A call of bash at the leaf has no result yet" in commands.run("plan", "aaaa-1", *KEEP)
    commands.run("compact", "aaaa-1", *KEEP, code=1)
    assert "A call of bash" in commands.errors and "`--open-calls ignore`" in commands.errors
    error = commands.json("compact", "aaaa-1", *KEEP, code=1)["error"]
    assert error["reason"] == "callOpen" and error["data"]["openCalls"][0]["toolCallId"] == "c9"
    assert b'"compaction"' not in file.read_bytes()
    assert "Compacted by" in commands.run("compact", "aaaa-1", *KEEP, "--open-calls", "ignore")


def test_a_plan_for_a_window(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", turns())
    assert "of 1,000 tokens: it is time to compact" in commands.run("plan", "aaaa-1", *KEEP, "--window", "1000")
    assert "there is room yet" in commands.run("plan", "aaaa-1", *KEEP, "--window", "900000")
    commands.run("plan", "aaaa-1", "--window", "0", code=2)
