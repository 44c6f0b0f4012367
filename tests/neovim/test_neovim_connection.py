"""The ways to a daemon, daemons that are killed, the statusline, the health check, and what is said when it fails."""

from __future__ import annotations

import contextlib
import os
import select
from pathlib import Path

import pytest
from conftest import Talk
from editor import PATIENCE, Neovim
from pi_daemon_client import Client, ServerError

from tests.daemon.home import Home, kill

pytestmark = pytest.mark.slow


def shown(nvim: Neovim, talk: Talk) -> None:
    nvim.command(f"PiDaemonTree {talk.id}")
    nvim.until_line("<leaf>")


def alive(other: Client, talk: Talk) -> None:
    """Until the other client speaks to a daemon again, which its bridge starts."""
    while True:
        with contextlib.suppress(ServerError):  # what was in flight when the daemon was killed
            other.open_session(session_id=talk.id)
            return


@pytest.mark.parametrize("socket", [False, True], ids=["bridge", "socket"])
def test_a_killed_daemon_is_joined_again_and_nothing_missed(
    nvim: Neovim, talk: Talk, other: Client, home: Home, socket: bool
) -> None:
    if socket:
        nvim.lua("require('pi_daemon').setup({ socket = true })")
    shown(nvim, talk)
    first = nvim.lua("return require('pi_daemon.client').get().daemon.daemonId")
    kill(home.pid)
    alive(other, talk)
    talk.user("Are you there?")
    nvim.until_line("<leaf> Are you there?")
    nvim.until("require('pi_daemon.panel').of().session.status == 'live'")
    assert nvim.lua("return require('pi_daemon.client').get().daemon.daemonId") != first
    talk.model("I am.")
    nvim.until_line("<leaf> I am.")
    assert nvim.line() == "● model Now it prints three."


def test_the_bridge_of_neovim_is_killed_and_another_started(nvim: Neovim, talk: Talk) -> None:
    shown(nvim, talk)
    bridge = int(nvim.lua("return vim.api.nvim_get_proc_children(vim.fn.getpid())[1]"))
    kill(bridge)
    talk.user("Meanwhile.")
    nvim.until_line("<leaf> Meanwhile.")
    assert nvim.told() == []


def test_what_was_missed_over_the_socket_is_replayed(nvim: Neovim, talk: Talk, other: Client) -> None:
    nvim.lua("require('pi_daemon').setup({ socket = true })")
    shown(nvim, talk)
    instance = nvim.lua("return require('pi_daemon.panel').of().session.instance")
    nvim.lua("require('pi_daemon.client').get().link.close()")
    other.rename(talk.id, "While you were away")
    nvim.until("vim.wo.winbar:find('While you were away', 1, true)")
    assert nvim.lua("return require('pi_daemon.panel').of().session.instance") == instance


def test_a_lost_connection_shows_until_it_is_back(nvim: Neovim, talk: Talk, other: Client, home: Home) -> None:
    nvim.lua("require('pi_daemon').setup({ socket = true })")
    shown(nvim, talk)
    nvim.lua(
        "_G.place = require('pi_daemon.paths').socket; require('pi_daemon.paths').socket = function() return '/' end"
    )
    kill(home.pid)
    nvim.until("vim.wo.winbar:find('connecting', 1, true)")
    assert nvim.lua("return require('pi_daemon').statusline()").endswith("connecting")
    nvim.lua("require('pi_daemon.paths').socket = _G.place")
    alive(other, talk)
    nvim.until("not vim.wo.winbar:find('connecting', 1, true)")
    assert nvim.lines()[-1] == "◆ model <leaf> Now it prints three."


def test_the_statusline(nvim: Neovim, talk: Talk, other: Client) -> None:
    assert nvim.lua("return require('pi_daemon').statusline()") == ""
    assert not nvim.lua("return package.loaded['pi_daemon.session'] ~= nil")
    nvim.lua("require('pi_daemon').follow(...)", talk.id)
    nvim.until("require('pi_daemon').statusline():find('920', 1, true)")
    assert nvim.lua("return require('pi_daemon').statusline()") == f"session {talk.id[:8]} 920"
    other.rename(talk.id, "50% done")
    other.label(talk.id, talk.leaf or "", "three")
    other.configure(talk.id, context_window=10000, reserve_tokens=1000, keep_recent_tokens=1)
    talk.model("More.", tokens=9500)
    nvim.until("require('pi_daemon').statusline():find('compact!', 1, true)")
    assert nvim.lua("return require('pi_daemon').statusline()").startswith("50%% done [three] 9.5k 95%%")
    nvim.command("set laststatus=2 statusline=%{%v:lua.require'pi_daemon'.statusline()%}")
    assert "50% done [three] 9.5k 95% compact!" in nvim.screen()


def test_the_window_may_be_told_by_a_function(nvim: Neovim, talk: Talk) -> None:
    nvim.lua("require('pi_daemon.config').current.context_window = function(session) return #session.cwd * 1000 end")
    shown(nvim, talk)
    nvim.until("require('pi_daemon').statusline():find('%%', 1, true)")


def test_the_health_check_says_what_is_there(nvim: Neovim, talk: Talk) -> None:
    nvim.command("checkhealth pi_daemon")
    report = "\n".join(nvim.lines())
    assert "answers (process" in report and "Sessions lie in" in report and "ERROR" not in report, report


def test_the_health_check_says_what_is_missing(nvim: Neovim, home: Home) -> None:
    nvim.lua("require('pi_daemon').setup({ cmd = { 'no-such-program', 'connect' } })")
    nvim.command("checkhealth pi_daemon")
    assert "`no-such-program` is not found" in "\n".join(nvim.lines())
    nvim.lua("require('pi_daemon').setup({ socket = true })")
    nvim.command("checkhealth pi_daemon")
    assert "There is no socket at " + str(home.socket) in "\n".join(nvim.lines())


def test_without_the_program_it_says_what_to_do(nvim: Neovim, home: Home) -> None:
    nvim.lua("require('pi_daemon').setup({ cmd = { 'no-such-program', 'connect' } })")
    nvim.command("PiDaemon")
    told = nvim.until_told("`no-such-program` can't be run")
    assert "Install pi-daemon, or say in setup() where it is" in told
    nvim.lua("require('pi_daemon').setup({ cmd = ... })", home.argv("connect"))
    nvim.command("PiDaemonSessions")
    nvim.until_told("there are no sessions in")


def test_without_a_daemon_at_the_socket_it_says_what_to_do(nvim: Neovim, home: Home) -> None:
    nvim.lua("require('pi_daemon').setup({ socket = true })")
    nvim.command("PiDaemon")
    assert "`pi-daemon serve`" in nvim.until_told(f"no daemon listens at {home.socket}")


def test_a_program_that_is_no_daemon_is_named(nvim: Neovim) -> None:
    nvim.lua("require('pi_daemon').setup({ cmd = { 'sh', '-c', 'echo no daemon here >&2' } })")
    nvim.command("PiDaemon")
    nvim.until_told("no daemon here")
    nvim.lua("require('pi_daemon').setup({ cmd = { 'sh', '-c', 'printf \"HTTP/1.1 400\\r\\n\\r\\n\"; sleep 60' } })")
    nvim.command("PiDaemonSessions")
    nvim.until_told("what answers is no pi-daemon")


def test_unknown_and_ambiguous_sessions(nvim: Neovim, talk: Talk, other: Client) -> None:
    nvim.command("PiDaemonTree no-such-session")
    assert ":PiDaemonSessions" in nvim.until_told("no session is called “no-such-session”")
    for _ in range(2):
        other.create_session("/somewhere", persist="immediate", name="twice")
    nvim.command("PiDaemonTree twice")
    nvim.until_told("2 sessions are called “twice”")
    nvim.command("PiDaemonTree /no/such/session.jsonl")
    nvim.until("#_G.told == 3")


def test_a_damaged_session_opens_when_the_user_wants(nvim: Neovim, talk: Talk, other: Client) -> None:
    path = Path(other.open_session(session_id=talk.id)["path"] or "")
    other.close_session(talk.id)
    lines = path.read_text().splitlines(keepends=True)
    lines[2] = "not json\n"
    damaged = path.with_name("damaged.jsonl")
    damaged.write_text("".join([lines[0].replace(talk.id, "damaged-one"), *lines[1:]]))
    nvim.answer(1)
    nvim.command(f"PiDaemonTree {damaged}")
    nvim.until_line("damaged: line 3: ")
    assert nvim.lua("return _G.asked[1].prompt").startswith("Some lines of this session can't be read")


def test_wrong_options_are_named_and_the_rest_taken(nvim: Neovim) -> None:
    nvim.lua("require('pi_daemon').setup({ colour = 1, width = 'wide', side = 'left', keys = { mvoe = 'x' } })")
    told = nvim.until_told("setup: ")
    assert "no option `colour`" in told and "`width` is to be a number" in told and "no `keys.mvoe`" in told
    assert nvim.lua("return require('pi_daemon.config').current.side") == "left"


def test_the_socket_is_where_the_daemon_has_it(nvim: Neovim, home: Home) -> None:
    assert nvim.lua("return require('pi_daemon.paths').socket()") == str(home.socket)
    long = home.directory / ("x" * 100)
    code = (
        "vim.env.XDG_RUNTIME_DIR = nil; vim.env.PI_DAEMON_STATE_DIR = ...; return require('pi_daemon.paths').socket()"
    )
    from pi_daemon.daemon import paths

    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("XDG_RUNTIME_DIR", raising=False)
        patch.setenv("PI_DAEMON_STATE_DIR", str(long))
        assert nvim.lua(code, str(long)) == str(paths.socket_path())


def test_left_out_notifications_make_it_read_anew(nvim: Neovim, talk: Talk, other: Client) -> None:
    shown(nvim, talk)
    # As if the notifications of an append had been left out.
    nvim.lua("local c = require('pi_daemon.client').get(); _G.listeners, c.listeners = c.listeners, {}")
    talk.user("Unheard.")
    nvim.lua("require('pi_daemon').request('daemon/status', nil, function() _G.answered = true end)")
    nvim.until("_G.answered")
    assert "Unheard." not in "".join(nvim.lines())
    nvim.lua("require('pi_daemon.client').get().listeners = _G.listeners")
    nvim.lua(
        "require('pi_daemon.client').get():_take({ method = 'session/resync', params = { sessionId = ... } })", talk.id
    )
    nvim.until_line("<leaf> Unheard.")


def test_its_bridge_leaves_with_neovim(nvim: Neovim, talk: Talk) -> None:
    shown(nvim, talk)
    bridge = int(nvim.lua("return vim.api.nvim_get_proc_children(vim.fn.getpid())[1]"))
    descriptor = os.pidfd_open(bridge)
    try:
        with contextlib.suppress(EOFError, BrokenPipeError):
            nvim.command("qall!")
        assert select.select([descriptor], [], [], PATIENCE)[0]
    finally:
        os.close(descriptor)
