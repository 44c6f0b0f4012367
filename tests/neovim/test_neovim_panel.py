"""The branch panel: what it shows, and that it follows what others do without losing one's place."""

from __future__ import annotations

import pytest
from conftest import Talk
from editor import Neovim
from pi_daemon_client import Client

pytestmark = pytest.mark.slow


def shown(nvim: Neovim, talk: Talk) -> None:
    """The panel of the session, with its tree."""
    nvim.command(f"PiDaemonTree {talk.id}")
    nvim.until("#vim.api.nvim_buf_get_lines(0, 0, -1, true) > 2")


def row(nvim: Neovim) -> int:
    """The line of the screen that the cursor is on."""
    line: int = nvim.lua("return vim.fn.winline()")
    return line


def test_it_shows_branches_the_active_path_and_the_leaf(nvim: Neovim, talk: Talk) -> None:
    shown(nvim, talk)
    assert nvim.lines() == [
        "● user  What is in a.py?",
        "● model It prints one.",
        "├─○ user  Make it two.",
        "│ ○ model Now it prints two.",
        "● user  Make it three.",
        "◆ model <leaf> Now it prints three.",
    ]
    assert nvim.line() == "◆ model <leaf> Now it prints three."
    screen = nvim.screen()
    assert f"session {talk.id[:8]} · 920 tokens" in screen
    assert "│● user  What is in a.py?" in screen


def test_the_newest_session_of_the_directory_needs_no_name(nvim: Neovim, talk: Talk) -> None:
    nvim.command("PiDaemon")
    nvim.until_line("<leaf>")


def test_what_another_client_appends_comes_and_the_cursor_stays_on_its_entry(nvim: Neovim, talk: Talk) -> None:
    shown(nvim, talk)
    nvim.go_to("Make it three.")
    at = row(nvim)
    talk.user("And now four.")
    nvim.until_line("◆ user  <leaf> And now four.")
    assert nvim.line() == "● user  Make it three."
    assert row(nvim) == at


def test_the_cursor_stays_on_its_entry_when_the_branches_change_places(nvim: Neovim, talk: Talk, other: Client) -> None:
    shown(nvim, talk)
    two = other.tree(talk.id)["nodes"][2]["id"]
    nvim.go_to("Make it three.")
    other.move_leaf(talk.id, two)
    nvim.until_line("◆ user  <leaf> Make it two.")
    assert nvim.line() == "├─○ user  Make it three."
    assert nvim.lines()[-2:] == ["◆ user  <leaf> Make it two.", "○ model Now it prints two."]


def test_what_is_seen_of_a_long_session_stays_where_it_is(nvim: Neovim, talk: Talk) -> None:
    for number in range(60):
        talk.user(f"question {number}.")
    shown(nvim, talk)
    nvim.go_to("question 20.")
    nvim.keys("zt")
    nvim.until("vim.fn.winline() == 1")
    talk.client.label(talk.id, talk.client.tree(talk.id)["nodes"][0]["id"], "begin")
    nvim.until_line("[begin]")
    talk.user("the last one.")
    nvim.until_line("<leaf> the last one.")
    assert nvim.line() == "● user  question 20."
    assert row(nvim) == 1


def test_colours_help_and_the_leafs_line_stands_out(nvim: Neovim, talk: Talk, other: Client) -> None:
    other.label(talk.id, other.tree(talk.id)["nodes"][1]["id"], "one")
    shown(nvim, talk)
    nvim.until_line("[one]")
    nvim.go_to("Make it two.")
    nvim.screen()
    left = nvim.lua("return vim.fn.win_screenpos(0)")
    attribute = "return vim.fn.screenattr(...)"
    line = left[0] + 2
    mark, kind, label, text = (nvim.lua(attribute, line, left[1] + column) for column in (0, 2, 8, 15))
    assert len({mark, kind, label, text}) == 4
    leaf = left[0] + len(nvim.lines())
    assert nvim.lua(attribute, leaf, left[1] + 40) != nvim.lua(attribute, line, left[1] + 40)


def test_a_panel_that_was_left_on_the_leaf_goes_with_it(nvim: Neovim, talk: Talk) -> None:
    shown(nvim, talk)
    nvim.command("wincmd p")
    for number in range(40):
        talk.user(f"question {number}.")
    nvim.until("require('pi_daemon').statusline() ~= '' and vim.fn.line('.', vim.fn.win_getid(2)) == 46")
    assert "◆ user  <leaf> question 39." in nvim.screen()


def test_labels_and_names_that_another_client_gives_are_shown(nvim: Neovim, talk: Talk, other: Client) -> None:
    shown(nvim, talk)
    nodes = other.tree(talk.id)["nodes"]
    other.label(talk.id, nodes[2]["id"], "two")
    nvim.until_line("├─○ user  [two] Make it two.")
    other.rename(talk.id, "100 % sure")
    nvim.until("vim.wo.winbar:find('100 %% sure', 1, true)")
    assert "100 % sure · 920 tokens" in nvim.screen()


def test_the_middle_of_long_turns_is_folded_and_opens(nvim: Neovim, talk: Talk) -> None:
    for number in range(6):
        talk.model(f"step {number}")
    talk.user("Thanks.")
    shown(nvim, talk)
    nvim.go_to("⋮ 6 more: 6 model")
    nvim.keys("<Tab>")
    nvim.until_line("● model step 2")
    assert nvim.line() == "● model Now it prints three."
    nvim.go_to("step 3")
    nvim.keys("<Tab>")
    nvim.until_line("⋮ 6 more: 6 model")
    assert nvim.line() == "⋮ 6 more: 6 model"
    nvim.keys("zR")
    nvim.until_line("step 2")
    nvim.keys("zM")
    nvim.until_line("⋮ 6 more")


def test_an_entry_under_the_cursor_is_never_folded_away(nvim: Neovim, talk: Talk) -> None:
    shown(nvim, talk)
    nvim.go_to("<leaf> Now it prints three.")
    for number in range(5):
        talk.model(f"step {number}")
    nvim.until_line("<leaf> step 4")
    assert nvim.line() == "● model Now it prints three."
    assert "⋮ 3 more: 3 model" in nvim.lines()


def test_a_large_session_is_folded_by_the_daemon_until_a_fold_is_opened(nvim: Neovim, talk: Talk) -> None:
    nvim.lua("require('pi_daemon.config').current.fold_by_daemon = 5")
    shown(nvim, talk)
    nvim.until_line("⋮ 1 more")
    assert not any("What is in a.py?" in line for line in nvim.lines())
    nvim.go_to("⋮ 1 more")
    nvim.keys("<Tab>")
    nvim.until_line("What is in a.py?")


def test_each_filter_shows_what_it_says(nvim: Neovim, talk: Talk, other: Client) -> None:
    nodes = other.tree(talk.id)["nodes"]
    other.label(talk.id, nodes[1]["id"], "one")
    shown(nvim, talk)
    counts = {}
    for place, filter in enumerate(["default", "noTools", "userOnly", "labeledOnly", "all"], 1):
        nvim.answer(place)
        nvim.keys("t")
        nvim.until("require('pi_daemon.panel').of().session.shown_filter == ...", filter)
        counts[filter] = sum(line.startswith(("●", "◆", "├", "│")) for line in nvim.lines())
    assert counts == {"default": 6, "noTools": 6, "userOnly": 3, "labeledOnly": 1, "all": 7}
    nvim.answer(4)
    nvim.keys("t")
    nvim.until("require('pi_daemon.panel').of().session.shown_filter == 'labeledOnly'")
    assert nvim.lines() == [
        "◆ model [one] <leaf> It prints one.",
        "The leaf itself is hidden by this filter; its nearest ancestor stands for it.",
    ]


def test_text_that_would_break_a_buffer_does_not(nvim: Neovim, talk: Talk, other: Client) -> None:
    talk.user("tab\tnew\nline \x1b[31mred\x00 漢字 👩‍👩‍👧 e\u0301 \u2028 \udc00 half")
    other.label(talk.id, talk.leaf or "", "a\nlabel\x07")
    other.rename(talk.id, "name\n%#Error#\x1b")
    shown(nvim, talk)
    nvim.until_line("漢字")
    line = next(line for line in nvim.lines() if "漢字" in line)
    assert line.startswith(("● user  [a label␇] ", "◆ user  [a label␇] <leaf> "))
    assert line.endswith("tab new line [31mred 漢字 👩‍👩‍👧 e\u0301 \ufffd half")
    assert "name %#Error#␛" in nvim.screen()
    nvim.go_to("漢字")
    nvim.keys("K")
    nvim.until_line("tab\tnew")
    assert any("␛[31mred␀ 漢字" in line for line in nvim.lines())


def test_a_session_that_is_rewritten_and_deleted_under_it(nvim: Neovim, talk: Talk, other: Client) -> None:
    shown(nvim, talk)
    path = other.open_session(session_id=talk.id)["path"]
    assert path is not None
    with open(path, "rb") as file:
        lines = file.readlines()
    with open(path, "wb") as file:
        file.writelines(lines[:3])
    nvim.until_told("rewritten by another program")
    nvim.until("#vim.api.nvim_buf_get_lines(0, 0, -1, true) < 6")
    assert nvim.lines()[:2] == ["● user  What is in a.py?", "◆ model <leaf> It prints one."]
    other.close_session(talk.id)
    nvim.command("silent !rm " + path)
    nvim.until_line("This session's file is gone.")


def test_a_buffer_that_is_deleted_ends_it_and_another_begins(nvim: Neovim, talk: Talk, other: Client) -> None:
    shown(nvim, talk)
    nvim.command("bdelete")
    nvim.until("next(require('pi_daemon.session').followed) == nil")
    assert nvim.lua("return require('pi_daemon').statusline()") == ""
    talk.user("Unseen.")
    nvim.command(f"PiDaemonTree {talk.id}")
    nvim.until_line("<leaf> Unseen.")
    assert nvim.lua("return vim.api.nvim_buf_get_name(0)") == f"pi-daemon://{talk.id}"


def test_the_panel_closes_and_follows_on(nvim: Neovim, talk: Talk) -> None:
    shown(nvim, talk)
    nvim.keys("q")
    nvim.until("#vim.api.nvim_list_wins() == 1")
    talk.user("Behind the curtain.")
    nvim.until("require('pi_daemon.status').session().entry_count == 7")
    nvim.command(f"PiDaemonTree {talk.id}")
    nvim.until_line("<leaf> Behind the curtain.")
