"""What `resume` prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import ESCAPE, Commands, message, text, write_session

from pi_daemon.cli.resume import SHOWN

pytestmark = pytest.mark.slow


def called(number: int, parent: str, tool: str, **arguments: Any) -> list[dict[str, Any]]:
    call = {"type": "toolCall", "id": f"c{number}", "name": tool, "arguments": arguments}
    answer = message(f"a{number}", parent, "assistant", [call], provider="p", model="m")
    result = message(f"r{number}", f"a{number}", "toolResult", [text("done")], toolCallId=f"c{number}", toolName=tool)
    return [answer, result]


def session(commands: Commands, cwd: Path, calls: list[tuple[str, dict[str, Any]]]) -> None:
    entries = [message("u1", None, "user", "go")]
    for number, (tool, arguments) in enumerate(calls):
        entries += called(number, entries[-1]["id"], tool, **arguments)
    file = write_session(commands.sessions, "aaaa-1", entries)
    header, *lines = file.read_text().splitlines(keepends=True)
    file.write_text(json.dumps(json.loads(header) | {"cwd": str(cwd)}) + "\n" + "".join(lines))


def test_what_is_found_by_severity(commands: Commands, tmp_path: Path) -> None:
    session(
        commands,
        tmp_path,
        [
            ("write", {"path": "same", "content": "x"}),
            ("write", {"path": "gone" + ESCAPE, "content": "x"}),
            ("write", {"path": "changed", "content": "x"}),
            ("browse", {"url": "x"}),
        ],
    )
    (tmp_path / "same").write_text("x")
    (tmp_path / "changed").write_text("y")
    printed = commands.run("resume", "aaaa-1", "--tool", "write", "--tool", "bash")
    assert printed.splitlines()[:3] == [
        str(tmp_path),
        "    calls  4 tool calls, 0 failed, 0 without a result",
        "    files  3 files written or edited: 1 as written, 1 gone, 1 changed since",
    ]
    assert printed.index("Not as the session has it (1)") < printed.index("Look before you go on (2)")
    assert "changed: It isn't as write left it" in printed and "browse once" in printed
    assert "\x1b" not in printed and "\u202e" not in printed and "As written" not in printed
    assert "As written (1)\n    same  a0" in commands.run("resume", "aaaa-1", "--full")
    found = commands.json("resume", "aaaa-1", "--leaf", "r0")
    assert (found["sessionId"], found["leafId"]) == ("aaaa-1", "r0")
    assert [(one["kind"], one["severity"]) for one in found["findings"]] == [("changedLater", "info")] * 2


def test_nothing_to_say(commands: Commands, tmp_path: Path) -> None:
    session(commands, tmp_path, [])
    assert commands.run("resume", "aaaa-1") == f"{tmp_path}\n\nNothing that is otherwise was found.\n"


def test_many_of_one_kind_are_cut_short(commands: Commands, tmp_path: Path) -> None:
    session(commands, tmp_path, [("write", {"path": f"f{n}", "content": "x"}) for n in range(SHOWN + 5)])
    printed = commands.run("resume", "aaaa-1")
    assert "    ... 5 more like these (--full shows them)" in printed and printed.count("-> ") == 1
    assert "more like these" not in commands.run("resume", "aaaa-1", "--full")


def test_refusals(commands: Commands, tmp_path: Path) -> None:
    session(commands, tmp_path, [])
    commands.run("resume", "aaaa-1", "--leaf", "nowhere", code=3)
    commands.run("resume", "bbbb", code=3)
    commands.run("resume", "aaaa-1", "--credential", "A=secret", code=1)
    assert "secret" not in commands.errors
