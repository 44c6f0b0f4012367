"""`why` and `tree --context`: what the model doesn't know, in words a person reads."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest
from commands import ESCAPE, Commands, conversation, line, message, text, write_session
from pi_daemon_client.types import ExplainedEntry

from pi_daemon.cli.reasons import groups, phrase
from pi_daemon.session.why import Reason

pytestmark = pytest.mark.slow


def compacted() -> list[dict[str, Any]]:
    return [
        message("u1", None, "user", "Please mend src/parse.py. Never change the public names."),
        message("a1", "u1", "assistant", [text("I look at it " + ESCAPE)], provider="p", model="m"),
        message("u2", "a1", "user", "go on"),
        line("compaction", "c1", "u2", summary="Never change the public names.", firstKeptEntryId="u2", tokensBefore=1),
        message("u3", "c1", "user", "and now?"),
        message("x1", "a1", "user", "elsewhere"),
        line("label", "l1", "u3", targetId="u1", label="start"),
    ]


def test_one_entry_is_one_sentence(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", compacted())
    said = commands.run("why", "aaaa-1", "u1").splitlines()
    assert said[0] == ("u1 is not in the context: covered by compaction c1, whose summary names 1 of its 2 facts")
    assert said[1] == "    user: Please mend src/parse.py. Never change the public names."
    assert said[2].startswith("    not in the summary: request: Please mend")
    assert commands.run("why", "aaaa-1", "u3").startswith("u3 is in the context: message 3, as it is stored\n")
    assert "on another branch, which it begins at a1" in commands.run("why", "aaaa-1", "x1")
    assert commands.run("why", "aaaa-1", "x1", "--leaf", "x1").startswith("x1 is in the context: message 3")
    assert commands.run("why", "aaaa-1", "leaf").startswith("u3 is in")
    assert "entries of the type label never enter a context" in commands.run("why", "aaaa-1", "l1")
    commands.run("why", "aaaa-1", "nope", code=3)
    assert "No entry has the id nope" in commands.errors


def test_a_text(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", compacted())
    printed = commands.run("why", "aaaa-1", "--query", "ELSEWHERE").splitlines()
    assert printed[0] == "1 entry has 'ELSEWHERE': it is in the file, but the model doesn't know it"
    assert printed[2] == "    user, text: elsewhere"
    printed = commands.run("why", "aaaa-1", "--query", "public names")
    assert printed.startswith(
        "2 entries have 'public names': the model is sent it with 1 of them and in what stands for 1 of them\n"
    )
    assert "; what stands for it has the text\n" in printed
    shown = commands.run("why", "aaaa-1", "--query", "look at it")
    assert "\x1b" not in shown and "\u202e" not in shown
    assert "No entry has" in commands.run("why", "aaaa-1", "--query", "nowhere", code=3)
    commands.run("why", "aaaa-1", "u1", "--query", "x", code=2)
    commands.run("why", "aaaa-1", "--query", "", code=2)


def test_a_text_in_details_is_never_sent(commands: Commands) -> None:
    noted = message("t1", "u1", "toolResult", [text("done")], toolName="x", toolCallId="c", details={"diff": "zebra"})
    write_session(commands.sessions, "aaaa-1", [message("u1", None, "user", "go on"), noted])
    said = " ".join(commands.run("why", "aaaa-1", "--query", "zebra").split())
    assert "t1 is in the context: message 2, as it is stored; its text is in `details`, which is never sent" in said


def test_all_entries_as_a_table(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", compacted())
    printed = commands.run("why", "aaaa-1", "--all").splitlines()
    assert [row.split()[:2] for row in printed[:7]] == [
        ["×", "u1"],
        ["×", "a1"],
        ["●", "u2"],
        ["●", "c1"],
        ["●", "u3"],
        ["×", "x1"],
        ["×", "l1"],
    ]
    assert printed[7] == "7 entries, 3 in the context at l1"
    assert "       2  covered by compaction c1" in printed
    found = commands.json("why", "aaaa-1")
    assert (found["sessionId"], found["leafId"], len(found["entries"])) == ("aaaa-1", "l1", 7)


def test_all_entries_by_their_reasons(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", compacted())
    assert commands.run("why", "aaaa-1").splitlines() == [
        "7 entries, 3 in the context at l1",
        "The path to it has 6 entries.",
        "In the context:",
        "       2  as they are stored; path 3, 5; u2, u3",
        "       1  summaries; path 4; c1",
        "Not in the context:",
        "       2  covered by compaction c1; path 1-2; u1, a1",
        "       1  on another branch, from a1; x1",
        "       1  of the type label, which never enters a context; path 6; l1",
        "--all lists each of them, `pi-daemon why SESSION ENTRY` says more of one.",
    ]
    assert "the path" not in commands.run("why", "aaaa-1", "--all")
    for more in (["u1"], ["--query", "x"]):
        assert commands.json("why", "aaaa-1", *more, "--all", code=2)["error"]["reason"] == "invalidParams"


def test_reasons_of_a_long_session_are_few_lines(commands: Commands) -> None:
    entries = [message("e0", None, "user", "0")]
    for number in range(1, 1000):
        id, parent = f"e{number}", f"e{number - 1}"
        label = line("label", id, parent, targetId="e0", label=ESCAPE)
        entries.append(label if number % 2 else message(id, parent, "user", str(number)))
    write_session(commands.sessions, "aaaa-1", entries)
    printed = commands.run("why", "aaaa-1").splitlines()
    assert len(printed) == 7
    assert printed[3] == "     500  as they are stored; path 1-999 here and there; e0, e2, e4, ..."


def test_the_facts_that_a_summary_lacks_have_names(commands: Commands) -> None:
    calls = [{"type": "toolCall", "id": f"c{n}", "name": "write", "arguments": {"path": f"f{n}.py"}} for n in range(8)]
    entries = [
        *(message(f"u{n}", f"u{n - 1}" if n else None, "user", f"Look for zebra {n}" + ESCAPE) for n in range(5)),
        message("u5", "u4", "user", "Say what you find of it, " * 9),
        message("a1", "u5", "assistant", calls, provider="p", model="m"),
        line("compaction", "c1", "a1", summary="Nothing.", tokensBefore=1),
    ]
    write_session(commands.sessions, "aaaa-1", entries)
    said = commands.run("why", "aaaa-1", "u2").splitlines()
    assert "whose summary lacks its one fact (request: Look for zebra 2" in said[0] and len(said) == 2
    said = commands.run("why", "aaaa-1", "u5").splitlines()
    assert said[0].endswith("...)") and said[2].startswith("    not in the summary: request: Say what you find")
    said = commands.run("why", "aaaa-1", "a1").splitlines()
    assert sum(row.startswith("    not in the summary: ") for row in said) == 5
    assert said[-1] == f"    ... {commands.json('why', 'aaaa-1', 'a1')['entries'][0]['facts']['asked'] - 5} more"
    many = commands.run("why", "aaaa-1", "--query", "zebra")
    assert many.count("covered by compaction c1 (0 of 1 fact)\n") == 5 and "lacks" not in many
    assert "lacks its one fact (request: " in commands.run("why", "aaaa-1", "--query", "zebra 2")


def test_a_damaged_line(commands: Commands) -> None:
    lost = b'{"type":"message","id":"u9","parentId":"a3","message":{"role":"user","content":"the lost words\n'
    path = write_session(commands.sessions, "aaaa-1", conversation(), lost)
    assert "u9 is not in the context: it is on line 9, which can't be read" in commands.run("why", str(path), "u9")
    assert "the model doesn't know it" in commands.run("why", str(path), "--query", "lost words")


def test_the_tree_shows_what_is_outside(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", compacted())
    printed = commands.run("tree", "aaaa-1", "--context").splitlines()
    assert [re.sub(r"(\w\d) .*", r"\1", row) for row in printed[1:7]] == [
        "● × u1",
        "● × a1",
        "├─○ × x1",
        "●   u2",
        "●   c1",
        "◆   u3",
    ]
    assert "× not in the context" in printed[-1]
    nodes = commands.json("tree", "aaaa-1", "--context")["nodes"]
    told = {node["id"]: (node["inContext"], node["reason"]) for node in nodes}
    assert (told["u1"], told["u3"]) == ((False, "compacted"), (True, "asStored"))
    assert "inContext" not in commands.json("tree", "aaaa-1")["nodes"][0]


def test_folded_entries_say_how_many_are_outside(commands: Commands) -> None:
    entries = [message(f"u{n}", f"u{n - 1}" if n else None, "user", str(n)) for n in range(30)]
    entries.append(line("compaction", "c", "u29", summary="s", firstKeptEntryId="u20", tokensBefore=1))
    write_session(commands.sessions, "aaaa-1", entries)
    assert "; × 16 not in the context" in commands.run("tree", "aaaa-1", "--context")


@pytest.mark.parametrize("reason", get_args(Reason))
def test_every_reason_has_its_words(reason: Any) -> None:
    entry: ExplainedEntry = {
        "id": "e1",
        "type": "message",
        "inContext": reason in ("asStored", "edited", "summary"),
        "reason": reason,
    }
    assert phrase(entry) != reason
    assert groups(entry) != reason
    more: dict[str, Any] = dict.fromkeys(("byId", "compactionId", "branchId", "leftAtId", "rootId"), "e2")
    told: Any = {**entry, **more, "missingId": "e3", "targetId": "e4", "summaryId": "e5", "line": 7}
    assert "None" not in phrase(told) and "''" not in phrase({**told, "role": "later"})
