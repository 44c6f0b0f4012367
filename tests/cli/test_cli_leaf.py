"""Where the leaf is shown, and which entry `leaf` names, when the last entry is none of the conversation."""

from __future__ import annotations

import pytest
from commands import Commands, conversation, line, message, text, write_session

pytestmark = pytest.mark.slow


def marked(printed: str) -> list[str]:
    return [row for row in printed.splitlines() if "<leaf>" in row]


def test_a_hidden_leaf_is_drawn_at_its_nearest_visible_ancestor(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", conversation())
    commands.run("label", "aaaa-1", "a3", "here")
    label = commands.json("rename", "aaaa-1", "a name")["entryId"]
    printed = commands.run("tree", "aaaa-1")
    assert len(marked(printed)) == 1 and marked(printed)[0].startswith("◆ a3")
    assert f"The leaf itself is {label}, which this filter hides; a3 stands for it." in printed
    assert marked(commands.run("tree", "aaaa-1", "--filter", "user-only"))[0].startswith("◆ u3")
    everything = commands.run("tree", "aaaa-1", "--filter", "all")
    assert marked(everything)[0].startswith(f"◆ {label[:8]}") and "stands for it" not in everything


def test_a_filter_that_shows_nothing_of_the_path(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", [message("u1", None, "user", "left"), message("u2", None, "user", "on")])
    commands.run("label", "aaaa-1", "u1", "here")
    printed = commands.run("tree", "aaaa-1", "--filter", "labeled-only")
    assert "○ u1" in printed and "no entry on the way to it" in printed


def test_a_session_without_entries_to_show(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", conversation())
    commands.run("fork", "aaaa-1", "u1", "--before", "--id", "empty")
    printed = commands.run("tree", "empty")
    assert "0 entries" in printed and "There are no entries to show yet." in printed and "◆" not in printed
    settings = line("model_change", "m1", None, provider="p", modelId="m")
    write_session(commands.sessions, "bbbb-1", [settings])
    assert "There are no entries to show yet: m1, the leaf" in commands.run("tree", "bbbb-1")


def test_the_heading_counts_what_shows(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", conversation())
    assert "6 of 7 entries" in commands.run("tree", "aaaa-1").splitlines()[0]
    assert commands.run("tree", "aaaa-1", "--filter", "all").splitlines()[0].endswith("  7 entries")
    write_session(commands.sessions, "bbbb-1", [message("u1", None, "user", "alone")])
    assert commands.run("tree", "bbbb-1").splitlines()[0].endswith("  1 entry")


def test_leaf_names_the_last_entry_of_the_conversation(commands: Commands) -> None:
    beside = [
        line("custom", "c1", "a3", customType="x", data=1),
        *(
            line("label", f"l{number}", f"l{number - 1}" if number > 2 else "c1", targetId="u1")
            for number in range(2, 9)
        ),
    ]
    write_session(commands.sessions, "aaaa-1", [*conversation(), *beside])
    assert commands.json("label", "aaaa-1", "leaf", "one")["targetId"] == "a3"
    assert commands.json("label", "aaaa-1", "leaf", "two")["targetId"] == "a3"
    commands.run("rename", "aaaa-1", "a name")
    assert commands.json("context", "aaaa-1", "--leaf", "leaf")["leafId"] == "a3"
    assert "<leaf> 0 1 2" in marked(commands.run("tree", "aaaa-1"))[0]
    write_session(commands.sessions, "bbbb-1", [line("session_info", "s1", None, name="empty")])
    assert commands.json("label", "bbbb-1", "leaf", "x", code=3)["error"]["reason"] == "entryNotFound"


def test_an_entry_that_no_tree_shows_can_be_named(commands: Commands) -> None:
    call = {"type": "toolCall", "id": "call-1", "name": "read", "arguments": {}}
    entries = [
        message("u1", None, "user", "read it"),
        message("silent-1", "u1", "assistant", [call], stopReason="toolUse"),
        message("u2", "silent-1", "user", "go on"),
        message("a2", "u2", "assistant", [text("done")]),
    ]
    write_session(commands.sessions, "aaaa-1", entries)
    for name in ("silent-1", "silent"):
        assert commands.json("context", "aaaa-1", "--leaf", name)["leafId"] == "silent-1"


def test_before_the_leaf_is_before_the_last_message(commands: Commands) -> None:
    write_session(
        commands.sessions, "aaaa-1", [message("u1", None, "user", "hello"), message("u2", "u1", "user", "again")]
    )
    commands.run("label", "aaaa-1", "leaf", "here")
    made = commands.json("fork", "aaaa-1", "--before")
    assert (made["editorText"], made["leafId"]) == ("again", "u1")


def test_leaf_where_nothing_is_of_the_conversation(commands: Commands) -> None:
    write_session(commands.sessions, "aaaa-1", [line("custom", "c1", None, customType="x", data=1)])
    refused = commands.json("fork", "aaaa-1", "leaf", code=3)["error"]
    assert refused["message"] == "On the path to the leaf (c1) is nothing of the conversation."
    assert commands.json("fork", "aaaa-1", "c1")["leafId"] == "c1"
    write_session(commands.sessions, "bbbb-1", [])
    assert (
        "The leaf is before the first entry."
        in commands.json("label", "bbbb-1", "leaf", "x", code=3)["error"]["message"]
    )


def test_the_heading_has_the_title_of_the_list(commands: Commands) -> None:
    first = [text("the first\nwords of "), text("it " + "and so on " * 20)]
    before = [message(f"s{number}", f"s{number - 1}" if number else None, "system", "x") for number in range(9)]
    write_session(commands.sessions, "aaaa-1", [*before, message("u1", "s8", "user", first)])
    write_session(commands.sessions, "bbbb-1", [line("custom", "c1", None, customType="x", data=1)])
    listed = next(row for row in commands.run("list").splitlines() if row.startswith("aaaa-1"))
    for command in ("tree", "stats"):
        title = commands.run(command, "aaaa-1").split("  ")[0]
        assert title.startswith("the first words of it and so on") and title.endswith("…") and title in listed
        assert commands.run(command, "bbbb-1").startswith("unnamed session  bbbb-1")
    commands.run("rename", "aaaa-1", "a name")
    assert commands.run("tree", "aaaa-1").startswith("a name  aaaa-1")


def test_what_users_said_is_folded_on_request_alone(commands: Commands) -> None:
    said = [message(f"u{number}", f"u{number - 1}" if number else None, "user", "x") for number in range(40)]
    write_session(commands.sessions, "aaaa-1", said)
    assert " more: " in commands.run("tree", "aaaa-1")
    assert " more: " not in commands.run("tree", "aaaa-1", "--filter", "user-only")
    assert " more: " in commands.run("tree", "aaaa-1", "--filter", "user-only", "--fold")
    assert " more: " not in commands.run("tree", "aaaa-1", "--no-fold")
