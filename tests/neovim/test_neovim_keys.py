"""What the keys of the panel do to the session, and what they tell."""

from __future__ import annotations

import asyncio

import pytest
from conftest import Talk
from editor import Neovim
from pi_daemon_client import Client, types

from tests.daemon.home import Home

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def panel(nvim: Neovim, talk: Talk) -> None:
    nvim.command(f"PiDaemonTree {talk.id}")
    nvim.until_line("<leaf>")


def entry(client: Client, talk: Talk, text: str) -> str:
    """The id of the entry that says so."""
    return next(node["id"] for node in client.tree(talk.id, filter="all")["nodes"] if text in node["preview"])


def test_enter_moves_the_leaf(nvim: Neovim, talk: Talk, other: Client) -> None:
    nvim.go_to("Now it prints two.")
    nvim.keys("<CR>")
    nvim.until_line("<leaf> Now it prints two.")
    assert talk.leaf == entry(other, talk, "Now it prints two.")
    assert nvim.line() == "◆ model <leaf> Now it prints two."


def test_a_move_with_a_summary_leaves_one(nvim: Neovim, talk: Talk, other: Client) -> None:
    nvim.go_to("Now it prints two.")
    nvim.keys("M")
    nvim.until_told("a summary of the branch is there")
    nvim.until_line("◆ summary <leaf>")
    assert other.tree(talk.id)["leafId"] == talk.leaf != entry(other, talk, "Now it prints two.")


def test_a_message_is_edited_anew_and_written(nvim: Neovim, talk: Talk, other: Client) -> None:
    nvim.go_to("Make it two.")
    nvim.keys("e")
    nvim.until("vim.bo.buftype == 'acwrite'")
    assert nvim.lines() == ["Make it two."]
    assert nvim.lua("return vim.fn.getreg('\"')") == "Make it two."
    assert talk.leaf == entry(other, talk, "It prints one.")
    nvim.request("nvim_buf_set_lines", 0, 0, -1, True, ["Make it twenty.", "Please."])
    nvim.command("write")
    nvim.until_told("the message was appended")
    nvim.until("vim.bo.filetype == 'pidaemon'")
    nvim.until_line("<leaf> Make it twenty. Please.")
    message = other.entries(talk.id, ids=[talk.leaf or ""])["entries"][0]["message"]
    assert message["role"] == "user" and message["content"] == "Make it twenty.\nPlease."


def test_what_is_written_while_another_goes_on_becomes_a_branch_when_written_again(
    nvim: Neovim, talk: Talk, other: Client
) -> None:
    nvim.go_to("Make it two.")
    nvim.keys("e")
    nvim.until("vim.bo.buftype == 'acwrite'")
    theirs = talk.user("I was faster.")
    nvim.command("write")
    assert len(nvim.until_told("another client went on")) < 66  # a longer one has to be confirmed
    assert talk.leaf == theirs and nvim.lines() == ["Make it two."]
    nvim.command("write")
    nvim.until_told("the message was appended")
    appended = other.entries(talk.id, ids=[talk.leaf or ""])["entries"][0]
    assert appended["message"]["content"] == "Make it two."
    assert appended["parentId"] == entry(other, talk, "It prints one.")


def test_the_text_can_go_to_a_function_instead(nvim: Neovim, talk: Talk) -> None:
    nvim.lua("require('pi_daemon.config').current.on_edit = function(...) _G.edited = { ... } end")
    nvim.go_to("Make it two.")
    nvim.keys("e")
    nvim.until("_G.edited")
    assert nvim.lua("return _G.edited") == ["Make it two.", talk.id]


def test_only_what_a_user_said_is_edited_anew(nvim: Neovim, talk: Talk) -> None:
    leaf = talk.leaf
    nvim.go_to("It prints one.")
    nvim.keys("e")
    nvim.until_told("only a user's message can be edited anew")
    assert talk.leaf == leaf


def test_a_fork_opens_beside_its_source(nvim: Neovim, talk: Talk, other: Client) -> None:
    nvim.go_to("It prints one.")
    nvim.keys("f")
    nvim.until_told("forked after “It prints one.”")
    nvim.until_line("<leaf> It prints one.")
    forked = nvim.lua("return require('pi_daemon.panel').of().session.id")
    assert forked != talk.id and len(nvim.lines()) == 2
    assert [info["sessionId"] for info in other.list_sessions()["sessions"]].count(forked) == 1


def test_a_label_is_given_and_taken(nvim: Neovim, talk: Talk) -> None:
    nvim.go_to("It prints one.")
    nvim.answer("answer 1")
    nvim.keys("L")
    nvim.until_line("● model [answer 1] It prints one.")
    nvim.go_to("[answer 1]")
    nvim.answer("")
    nvim.keys("L")
    nvim.until_line("● model It prints one.")
    assert nvim.lua("return _G.asked[2].default") == "answer 1"


def test_the_session_is_renamed(nvim: Neovim, talk: Talk, other: Client) -> None:
    nvim.answer("Numbers")
    nvim.keys("r")
    nvim.until("vim.wo.winbar:find('Numbers', 1, true)")
    assert other.open_session(session_id=talk.id)["name"] == "Numbers"


def test_an_entry_is_omitted_from_the_context(nvim: Neovim, talk: Talk, other: Client) -> None:
    nvim.go_to("It prints one.")
    nvim.keys("x")
    nvim.until_told("the model doesn't see “It prints one.” any more")
    assert "It prints one." not in str(other.context(talk.id)["messages"])


def test_a_compaction_is_asked_for_made_and_explained(nvim: Neovim, talk: Talk, other: Client) -> None:
    talk.user("Never touch b.py. " * 2000)
    talk.model("I never will. " * 8000, tokens=60000)
    nvim.until_line("<leaf> I never will.")
    nvim.answer(1)
    nvim.keys("C")
    nvim.until("vim.api.nvim_win_get_config(0).relative ~= ''")
    asked = nvim.lua("return _G.asked[1]")
    assert asked["prompt"].startswith("Compact 60,020 tokens to about ") and "extractive" in asked["prompt"]
    lines = nvim.lines()
    assert lines[0].startswith("60,020 tokens before, about ") and "# The summary" in lines
    assert any(line.startswith("# Kept: ") for line in lines)
    nvim.keys("q")
    nvim.until_line("◆ compaction <leaf>")
    assert other.context(talk.id).get("compactionId") == talk.leaf


def test_nothing_to_compact_is_said(nvim: Neovim, talk: Talk) -> None:
    nvim.keys("C")
    nvim.until_told("can't compact")


def test_why_is_answered_or_the_daemon_is_too_old(nvim: Neovim, talk: Talk) -> None:
    nvim.go_to("Make it two.")
    nvim.keys("w")
    nvim.until("vim.api.nvim_win_get_config(0).relative ~= '' or #_G.told > 0")
    if told := nvim.told():
        assert told == ["pi-daemon: can't explain the entry: this daemon can't do that yet. Update pi-daemon."]
    else:
        assert nvim.lines()[0] == "Not in the model's context."


def test_reasons_are_told_in_sentences(nvim: Neovim, talk: Talk) -> None:
    explained = {"inContext": False, "reason": "compacted", "compactionId": "3f2a0000"}
    explained["facts"] = {"asked": 2, "kept": 1, "missing": [{"kind": "modified", "text": "a.py\n"}]}
    assert nvim.lua("return require('pi_daemon.why').lines(...)", explained) == [
        "Not in the model's context.",
        "The compaction 3f2a0000 covers it.",
        "The summary that stands for it names 1 of its 2 facts.",
        "- it lacks: a.py",
    ]


def test_the_context_is_shown_with_its_size_and_what_is_wrong(nvim: Neovim, talk: Talk) -> None:
    call = {"type": "toolCall", "id": "call_1", "name": "read", "arguments": {"path": "a.py"}}
    talk.append({"role": "assistant", "content": [call], "provider": "p", "model": "m", "stopReason": "toolUse"})
    nvim.keys("m")
    nvim.until("vim.api.nvim_win_get_config(0).relative ~= ''")
    lines = nvim.lines()
    assert lines[0].startswith("5 messages, about 9")
    assert any("the tool call call_1 has no result" in line for line in lines)
    assert "**calls read** `call_1`" in lines and "- path: a.py" in lines
    assert not any("Make it two." in line for line in lines)
    assert "╭ What the model sees: session" in nvim.screen()
    nvim.keys("<Esc>")
    nvim.until("vim.bo.filetype == 'pidaemon'")


def test_an_entry_is_shown_in_full(nvim: Neovim, talk: Talk) -> None:
    result = {"role": "toolResult", "toolCallId": "c", "toolName": "read", "isError": True}
    image = {"type": "image", "mimeType": "image/png", "data": "A" * 4000}
    talk.append({**result, "content": [{"type": "text", "text": "```\nx" + "y" * 5000 + "\n"}, image]})
    nvim.go_to("<leaf>")
    nvim.go_to("tool")
    nvim.keys("K")
    nvim.until("vim.api.nvim_win_get_config(0).relative ~= ''")
    lines = nvim.lines()
    assert "Tool result of read, an error" in nvim.screen()
    assert "````" in lines and "```" in lines and "[image: image/png, 3,000 bytes]" in lines
    assert max(map(len, lines)) == 2000 and sum(line.count("y") for line in lines if "yy" in line) == 5000


def test_sessions_are_chosen_and_searched(nvim: Neovim, talk: Talk, other: Client) -> None:
    second = other.create_session("/elsewhere", persist="immediate", name="The other one")["sessionId"]
    nvim.answer(2)
    nvim.keys("s")
    nvim.until("require('pi_daemon.panel').of().session.id == ...", second)
    items = nvim.lua("return _G.asked[1].items")
    assert "What is in a.py?" in items[0] and "The other one" in items[1] and "/elsewhere" in items[1]
    nvim.command("PiDaemonSearch nowhere to be found")
    nvim.until("#_G.told > 0")


def test_places_are_gone_to_and_ids_yanked(nvim: Neovim, talk: Talk, other: Client) -> None:
    nvim.go_to("Now it prints two.")
    nvim.keys("gp")
    nvim.until("vim.api.nvim_get_current_line():find('Make it two.', 1, true)")
    nvim.keys("gy")
    nvim.until_told("yanked")
    assert nvim.lua("return vim.fn.getreg('\"')") == entry(other, talk, "Make it two.")
    nvim.keys("gl")
    nvim.until("vim.api.nvim_get_current_line():find('<leaf>', 1, true)")


def test_the_help_names_the_keys_as_they_are_set(nvim: Neovim, talk: Talk) -> None:
    nvim.keys("g?")
    nvim.until("vim.api.nvim_win_get_config(0).relative ~= ''")
    mapped = nvim.lua("return vim.tbl_count(require('pi_daemon.config').defaults.keys)")
    assert sum(line[:1] not in ("", "◆") for line in nvim.lines()) == mapped


def test_nothing_happens_where_there_is_no_entry(nvim: Neovim, talk: Talk, other: Client) -> None:
    for number in range(4):
        talk.model(f"step {number}")
    nvim.go_to("⋮")
    for key in ("<CR>", "f", "L", "x", "K"):
        nvim.keys(key)
    nvim.until("#_G.told == 5")
    assert set(nvim.told()) == {"pi-daemon: these entries are folded: <Tab> opens them."}
    assert other.tree(talk.id, filter="all")["leafId"] == talk.leaf


def test_the_first_message_is_edited_anew_as_another_root(nvim: Neovim, talk: Talk, other: Client) -> None:
    nvim.go_to("What is in a.py?")
    nvim.keys("e")
    nvim.until("vim.bo.buftype == 'acwrite'")
    assert talk.leaf is None
    nvim.command("write")
    nvim.until_told("the message was appended")
    assert len([node for node in other.tree(talk.id)["nodes"] if node["parentId"] is None]) == 2


def test_what_a_search_finds_is_gone_to_wherever_it_is(nvim: Neovim, talk: Talk, other: Client) -> None:
    for number in range(8):
        talk.model(f"step {number}")
    talk.user("Thanks.")
    other.rename(talk.id, "Numbers")
    nvim.until_line("Thanks.")
    go = "require('pi_daemon.open').session({ sessionId = select(1, ...) }, select(2, ...))"
    nvim.lua(go, talk.id, entry(other, talk, "step 3"))
    nvim.until("vim.api.nvim_get_current_line():find('step 3', 1, true)")
    nvim.lua(go, talk.id, talk.leaf)
    nvim.until("vim.api.nvim_get_current_line():find('name  <leaf> Numbers', 1, true)")


def test_a_compaction_is_taken_back(nvim: Neovim, talk: Talk, home: Home) -> None:
    async def summarize(wanted: types.SummarizeParams) -> types.SummarizeResult:
        await asyncio.Event().wait()
        raise AssertionError

    talk.user("Never touch b.py. " * 2000)
    talk.model("I never will. " * 8000, tokens=60000)
    nvim.until_line("<leaf> I never will.")
    with Client.connect_unix(str(home.socket), summarizer=summarize, timeout=30) as slow:
        assert slow.connected
        nvim.answer(1)
        nvim.keys("C")
        nvim.until("vim.wo.winbar:find('client', 1, true)")
        nvim.command("PiDaemonCancel")
        nvim.until_told("cancelled: compact.")
        nvim.until("not vim.wo.winbar:find('compact', 1, true)")


def test_a_search_in_messages_goes_to_the_entry(nvim: Neovim, talk: Talk, other: Client) -> None:
    hit = {"sessionId": talk.id, "entryId": entry(other, talk, "Make it two."), "snippet": "Make\nit two."}
    nvim.lua(
        """
        local client, found = require('pi_daemon.client').get(), ...
        local request = client.request
        client.request = function(self, method, params, callback, options)
            if method == 'session/search' then
                _G.searched = params.query
                return callback(nil, found)
            end
            return request(self, method, params, callback, options)
        end
        """,
        {"hits": [{**hit, "timestamp": "2026-01-01T00:00:00.000Z", "role": "user"}], "complete": True},
    )
    nvim.answer("two", 1)
    nvim.keys("S")
    nvim.until("vim.api.nvim_get_current_line() == '├─○ user  Make it two.'")
    assert nvim.lua("return { _G.searched, _G.asked[2].items[1] }") == ["two", "2026-01-01 00:00  Make it two."]


def test_neovims_own_list_has_many_sessions_a_screen_at_a_time(nvim: Neovim, talk: Talk, other: Client) -> None:
    for number in range(24):
        other.create_session("/elsewhere", persist="immediate", name=f"number {number}")
    nvim.lua(
        """
        vim.ui.select, _G.pages = _G.own_select, {}
        vim.fn.inputlist = function(lines)
            table.insert(_G.pages, lines)
            return #lines - 1
        end
        """
    )
    nvim.keys("s")
    nvim.until("require('pi_daemon.panel').of().session.name")
    pages = nvim.lua("return _G.pages")
    assert [len(page) for page in pages] == [20, 8]
    assert pages[0][-1] == "19: … 7 more" and "What is in a.py?" in pages[0][1]


def test_all_sessions_can_be_chosen_and_told_apart(nvim: Neovim, talk: Talk, other: Client) -> None:
    far = "/an-unreadably-long/way/to/some/place/where/projects/lie/project-7"
    made = [other.create_session(far, persist="immediate", name="twin")["sessionId"] for _ in range(5)]
    nvim.lua("require('pi_daemon.open').PAGE = 2")
    nvim.keys("s")
    nvim.until("#_G.asked > 0")
    twins = [line for line in nvim.lua("return _G.asked[1].items") if "twin" in line]
    assert len(set(twins)) == 5 and all("lie/project-7" in line and len(line) <= 114 for line in twins)
    for session in made:
        assert sum(session.startswith(line.split("twin")[1].split()[0]) for line in twins) == 1
