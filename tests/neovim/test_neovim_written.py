"""What is written about the plugin holds: the README's lines, the help, its tags and options, and the Lua itself."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import Talk
from editor import PLUGIN, Neovim, program
from pi_daemon_client import Client

from tests.daemon.home import Home
from tests.reference import REPOSITORY

pytestmark = pytest.mark.slow

SOURCES = sorted(PLUGIN.rglob("*.lua"))
HELP = PLUGIN / "doc" / "pi-daemon.txt"


def with_program(home: Home) -> dict[str, str]:
    """An environment in which `pi-daemon` can be started by its name."""
    programs = home.directory / "bin"
    programs.mkdir()
    argv = " ".join(f"'{part}'" for part in home.argv())
    (programs / "pi-daemon").write_text(f'#!/bin/sh\nexec {argv} "$@"\n')
    (programs / "pi-daemon").chmod(0o755)
    return {**home.environment, "PATH": f"{programs}:{home.environment['PATH']}"}


def test_three_lines_make_a_session_file_a_document(home: Home, talk: Talk, other: Client) -> None:
    text = (REPOSITORY / "clients" / "README.md").read_text()
    block = re.search(r"### Neovim \(0\.11\)\n\n```lua\n(.*?)```", text, re.DOTALL)
    assert block is not None
    path = other.open_session(session_id=talk.id)["path"]
    editor = Neovim(with_program(home), home.directory)
    try:
        editor.lua(block[1])
        editor.command(f"edit {path}")
        editor.until("#vim.lsp.get_clients({ bufnr = 0 }) == 1 and vim.lsp.get_clients({ bufnr = 0 })[1].initialized")
        editor.lua("vim.lsp.buf.document_symbol({ on_list = function(list) _G.symbols = list.items end })")
        editor.until("_G.symbols ~= nil and #_G.symbols > 0")
    finally:
        editor.close()


def test_the_readmes_lines_do_without_the_plugin(home: Home, talk: Talk, other: Client) -> None:
    block = re.search(
        r"### Neovim without the plugin.*?```lua\n(.*?)```", (REPOSITORY / "README.md").read_text(), re.DOTALL
    )
    assert block is not None
    path = other.open_session(session_id=talk.id)["path"]
    environment = with_program(home)
    editor = Neovim(environment, home.directory)
    try:
        editor.lua("_G.printed = {} print = function(...) table.insert(_G.printed, vim.inspect({ ... })) end")
        editor.lua("vim.print = print")
        editor.command(f"edit {path}")
        editor.lua(block[1])
        editor.until("vim.iter(_G.printed):any(function(said) return said:find('leafId', 1, true) end)")
        root = other.path(talk.id)["entryIds"][0]
        other.move_leaf(talk.id, root)
        editor.until(
            "vim.iter(_G.printed):any(function(said) return said:find(..., 1, true) end)".replace(
                "...", f"'leaf is {root}'"
            )
        )
    finally:
        editor.close()


def test_the_tags_of_the_help_are_those_of_its_text(tmp_path: Path) -> None:
    shutil.copy(HELP, tmp_path)
    subprocess.run(
        [program(), "--clean", "--headless", "-c", f"helptags {tmp_path}", "-c", "quit"], check=True, timeout=30
    )
    assert (tmp_path / "tags").read_text() == (HELP.parent / "tags").read_text()


def test_each_key_and_option_is_in_the_help(nvim: Neovim) -> None:
    keys, options = nvim.lua("local d = require('pi_daemon.config').defaults return { d.keys, vim.tbl_keys(d) }")
    text = HELP.read_text()
    for name, key in keys.items():
        assert re.search(rf"^{re.escape(key)} +{name} ", text, re.MULTILINE), name
    for name in [*options, "context_window", "on_edit"]:
        assert re.search(rf"^ +{name} = ", text, re.MULTILINE), name
    table = (PLUGIN / "README.md").read_text()
    assert [key for key in keys.values() if f"`{key}`" not in table] == []


def test_each_command_is_in_the_help(nvim: Neovim) -> None:
    commands = [name for name in nvim.request("nvim_get_commands", {"builtin": False}) if name.startswith("PiDaemon")]
    assert len(commands) == 6
    assert [name for name in commands if f"*:{name}*" not in HELP.read_text()] == []


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_sources_are_small_and_even(source: Path) -> None:
    lines = source.read_text().splitlines()
    assert len(lines) < 300
    assert [line for line in lines if len(line) > 120 or line != line.rstrip() or "\t" in line] == []


def test_modules_load_alone(nvim: Neovim) -> None:
    for source in SOURCES:
        if source.parent.name == "pi_daemon":
            name = "pi_daemon" if source.stem == "init" else f"pi_daemon.{source.stem}"
            nvim.lua(
                "for name in pairs(package.loaded) do if name:match('^pi_') then package.loaded[name] = nil end end"
            )
            nvim.lua("require(...)", name)


def test_messages_are_read_however_they_come(nvim: Neovim) -> None:
    code = """
        local framing = require('pi_daemon.framing')
        local bodies, taken = ..., {}
        local read = framing.reader(function(body) taken[#taken + 1] = vim.json.encode(framing.decode(body)) end)
        local all = ''
        for _, body in ipairs(bodies) do
            all = all .. 'content-length: ' .. #body .. '\\r\\nX-Other: 1\\r\\n\\r\\n' .. body
        end
        read(all)
        for place = 1, #all do read(all:sub(place, place)) end
        return taken
    """
    halves = {r'"\ud83d"': '"\ufffd"', r'"\ud83d\ude00\udc00x"': '"😀\ufffdx"', r'"\\ud83d \ud83d\n"': r'"\\ud83d �\n"'}
    plain = {'{"a":null,"b":[1]}': '{"b":[1]}', '"é"': '"é"'}
    given = {**halves, **plain}
    assert nvim.lua(code, list(given)) == list(given.values()) * 2


def test_what_tells_no_length_is_refused(nvim: Neovim) -> None:
    code = "return { pcall(require('pi_daemon.framing').reader(function() end), ...) }"
    assert nvim.lua(code, "HTTP/1.1 400 Bad Request\r\n\r\n")[0] is False
    assert nvim.lua(code, "x" * 5000)[0] is False
