"""`show`: entries in full."""

from __future__ import annotations

from typing import Any

import pytest
from commands import ESCAPE, Commands, conversation, line, message, text, write_session
from pi_daemon_client import Client

pytestmark = pytest.mark.slow


def shown(commands: Commands, *entries: dict[str, Any]) -> list[str]:
    """What is printed of the last one."""
    write_session(commands.sessions, "aaaa-1", [*entries])
    printed = commands.run("show", "aaaa-1", str(entries[-1]["id"]))
    assert "\x1b" not in printed and "\u202e" not in printed
    return printed.splitlines()


def test_an_entry_says_what_it_is(commands: Commands) -> None:
    usage = {"input": 1000, "output": 20}
    write_session(
        commands.sessions,
        "aaaa-1",
        [
            *conversation(),
            message("b1", "a3", "assistant", [text("x")], provider="p", model="m", usage=usage, stopReason="stop"),
        ],
    )
    first, answer = commands.run("show", "aaaa-1", "u1", "b1").split("\n\n")
    assert first.splitlines()[0] == "message u1  user  [start]"
    assert first.splitlines()[1].startswith("    no parent  202")
    assert first.splitlines()[2:] == [
        "    hello",
        "    \u241b]0;owned\u2407\u241b[31mred<U+009B>31m\u2421<U+202E>reverse",
    ]
    rows = answer.splitlines()
    assert rows[0] == "message b1  assistant"
    assert rows[1].startswith("    parent a3  202") and rows[1].endswith("  model p/m  1,000 tokens in, 20 out")
    assert rows[2:] == ["    x", "    ended: stop"]


def test_entries_are_named_as_elsewhere(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", [*conversation(), message("long-1", "a3", "user", "x")])
    assert commands.run("show", "last", "long").startswith("message long-1")
    assert commands.run("show", "aaaa-1", "leaf", "long-1").count("message long-1") == 1
    assert [
        row for row in commands.run("show", "aaaa-1", "long-1", "u1").splitlines() if row.startswith("message")
    ] == [
        "message long-1  user",
        "message u1  user  [start]",
    ]
    assert commands.json("show", "aaaa-1", "u", code=3)["error"]["reason"] == "ambiguousEntry"
    assert commands.json("show", "aaaa-1", "u1", "nope", code=3)["error"]["reason"] == "entryNotFound"
    assert "`pi-daemon tree aaaa-1` shows the entries" in commands.errors
    assert commands.json("show", "nobody", "u1", code=3)["error"]["reason"] == "sessionNotFound"
    commands.run("show", "aaaa-1", code=2)


def test_json_is_what_is_stored(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", conversation())
    found = commands.json("show", "aaaa-1", "a2", "u2")
    with Client.connect_unix(commands.socket, reconnect=None) as client:
        client.open_session("aaaa-1", read_only=True)
        assert found == {"sessionId": "aaaa-1", **client.entries("aaaa-1", ids=["a2", "u2"])}
    assert found["entries"][0]["message"]["content"] == "left \ud83d"
    assert found["entries"][0]["message"]["big"] == 10**30


def test_an_answer(commands: Commands) -> None:
    arguments = {"path": "a.py", "content": "one\n  two " + ESCAPE, "count": 2, "edits": [{"old": "x"}], "no": None}
    call = {"type": "toolCall", "id": "call-1", "name": "write", "arguments": arguments}
    picture = {"type": "image", "mimeType": "image/png", "data": "A" * 16000}
    odd = {"type": "later", "much": {"more": 1}}
    content = [{"type": "thinking", "thinking": "hm\n" + "x" * 3000}, text("I\nwrite"), call, picture, odd]
    failed = {"stopReason": "error", "errorMessage": "429"}
    rows = shown(commands, message("a1", None, "assistant", content, **failed))
    assert rows[2:7] == ["    thinking:", "        hm", "        " + "x" * 3000, "    I", "    write"]
    assert rows[7:17] == [
        "    calls write  (id call-1)",
        "        path: a.py",
        "        content:",
        "            one",
        "              two \u241b]0;owned\u2407\u241b[31mred<U+009B>31m\u2421<U+202E>reverse",
        "        count: 2",
        "        edits:",
        "            [",
        "              {",
        '                "old": "x"',
    ]
    assert rows[19:] == [
        "        no: null",
        "    [image, 12 KB, image/png]",
        "    {",
        '      "type": "later",',
        '      "much": {',
        '        "more": 1',
        "      }",
        "    }",
        "    ended: error: 429",
    ]


def test_a_result(commands: Commands) -> None:
    said = "\n".join(map(str, range(100)))
    told = {"toolName": "read", "toolCallId": "call-1", "isError": True, "details": {"diff": "-x"}}
    rows = shown(commands, message("r1", None, "toolResult", [text(said)], **told))
    assert rows[0] == "message r1  toolResult read, failed" and rows[1].endswith("  of the call call-1")
    assert rows[2:102] == [f"    {number}" for number in range(100)]
    assert rows[102:] == ["    details:", "        {", '          "diff": "-x"', "        }"]


def test_a_command_and_a_system_message(commands: Commands) -> None:
    command = line("message", "b1", None, message={"role": "bashExecution", "command": "ls", "output": "a\nb"})
    assert shown(commands, command)[2:] == ["    $ ls", "    a", "    b"]
    system = line("message", "s1", None, message={"role": "system", "sections": {"rules": "one\ntwo", "tools": "x"}})
    assert shown(commands, system)[2:] == ["    rules:", "        one", "        two", "    tools: x"]


@pytest.mark.parametrize("kind", ["compaction", "branch_summary"])
def test_a_summary_says_what_it_kept(commands: Commands, kind: str) -> None:
    kinds = {"request": {"kept": 1, "asked": 1}, "error": {"kept": 0, "asked": 2}}
    retention = {"policy": "amend", "score": 0.5, "scoreAfter": 1, "kinds": kinds, "missing": [], "missingLeftOut": 0}
    details = {"readFiles": [], "retention": retention}
    rows = shown(commands, line(kind, "c1", None, summary="We\nmended it.", tokensBefore=1234, details=details))
    assert rows[2] == "    kept 1 of 3 facts (score 0.50): last request 1/1, errors 0/2"
    assert rows[3:] == [
        "    We",
        "    mended it.",
        "    tokensBefore: 1234",
        "    details:",
        "        {",
        '          "readFiles": []',
        "        }",
    ]


@pytest.mark.parametrize("details", [None, "x", {"retention": "x"}, {"retention": {"kinds": {"a": 1}, "score": "x"}}])
def test_a_summary_with_details_of_somebody_else(commands: Commands, details: Any) -> None:
    rows = shown(commands, line("compaction", "c1", None, summary="It.", details=details))
    assert rows[2] == "    It." and ("details" in "".join(rows)) is (details is not None)


def test_other_kinds(commands: Commands) -> None:
    assert shown(commands, line("label", "l1", None, targetId="u1", label="a" + ESCAPE))[2] == "    targetId: u1"
    said = line("custom_message", "m1", None, customType="x", content="hello", display=True)
    assert shown(commands, said)[2:] == ["    hello", "    customType: x", "    display: true"]
    later = shown(commands, line("later", "x1", None, data=[ESCAPE, 10**30]))
    assert later[2:5] == ["    {", '      "type": "later",', '      "id": "x1",']
    assert "        1000000000000000000000000000000" in later
    odd = message("m2", None, "later", "words")
    assert '        "content": "words",' in "\n".join(shown(commands, odd))
