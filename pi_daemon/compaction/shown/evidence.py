"""What the entries of one path show, gathered in their order."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from msgspec import Struct, field

from pi_daemon.compaction.acts import SHELLS, Act, by_user, calls, text_of
from pi_daemon.compaction.material import Said
from pi_daemon.compaction.shown import lines
from pi_daemon.compaction.shown.held import Held
from pi_daemon.compaction.shown.places import resolve
from pi_daemon.compaction.shown.repository import GitShown
from pi_daemon.compaction.shown.tools import change, look
from pi_daemon.session.dates import to_ms
from pi_daemon.session.head import BROKEN_OFF, AssistantFacts, Head

COMMAND = 2_000
"""Characters of a shell command that are kept, to look for names of files in it."""

_BACKGROUND = re.compile(
    r"(?<![&>|<\\])&(?![&>\d])\s*(?:\Z|[\n;)]|\w)|\bnohup\s|\bsetsid\s|\bdisown\b|\btmux\s+new|\bscreen\s+-\w*d"
    r"|\bdocker\s+run\s[^\n]*-\w*d\b|\bdocker[ -]compose\s+up\s[^\n]*-d\b"
)
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_VARIABLE = re.compile(r"\$\{?([A-Z][A-Z0-9_]{2,60}(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS|PAT))\b")
_PARTS = re.compile(r"[;&|\n]+")
_LOOKS = re.compile(
    r"\s*(?:cat|head|tail|less|more|grep|rg|ls|wc|diff|cmp|file|stat|test|\[|echo|find|sed\s+-n|cd|mkdir"
    r"|git\s+(?:add|commit|diff|log|show|status|blame|grep))\b"
)


class Open(Struct):
    """A call that has no result on the path. `cut_off`: the answer that makes it ended in an error or was aborted, and
    pi runs no call of such a one. `went_on`: more was said after it."""

    act: Act
    cut_off: bool
    went_on: bool = False


class Shell(Struct, frozen=True):
    entry_id: str
    place: int
    command: str


class FileShown(Struct):
    """One file by its absolute path. `changes`: calls that changed it and went well; `change_entry`, `change_tool`: the
    last of them; `change_place` and `read_place` the places of the last results in the path, −1 without one.
    `blind_read`: when (ms since 1970) the last read went well, if its result shows no text."""

    path: str
    held: Held = field(default_factory=Held)
    changes: int = 0
    change_entry: str = ""
    change_tool: str = ""
    change_place: int = -1
    read_entry: str = ""
    read_place: int = -1
    blind_read: int | None = None


class Evidence:
    """Given the entries of a path, oldest first. `called` counts calls by tool, `last_call` has the entry of the last
    one of each. `failed`: calls with a result that is an error."""

    def __init__(self, cwd: str, home: str) -> None:
        self._cwd = cwd
        self._home = home
        self._place = 0
        self._waiting: dict[str, Open] = {}
        self.files: dict[str, FileShown] = {}
        self.git = GitShown(cwd, home)
        self.called: dict[str, int] = {}
        self.last_call: dict[str, str] = {}
        self.finished = 0
        self.failed = 0
        self.shell: list[Shell] = []
        self.background: list[Shell] = []
        self.variables: dict[str, str] = {}

    @staticmethod
    def wanted(path: Iterable[Head]) -> list[Head]:
        """Those whose lines tell something."""
        return [head for head in path if head.role in ("assistant", "toolResult", "bashExecution", "user")]

    @property
    def open(self) -> list[Open]:
        """Calls without a result, in their order."""
        return sorted(self._waiting.values(), key=lambda one: one.act.place)

    def see(self, head: Head, line: bytes) -> None:
        """`line` as it is stored."""
        self._place += 1
        match head.role:
            case "user":
                self._go_on()
            case "assistant":
                self._go_on()
                self._answer(head, line)
            case "toolResult":
                self._result(head, lines.message_of(line))
            case "bashExecution":
                act = by_user(Said(head.id, "bashExecution", lines.message_of(line)), self._place)
                self._shell(act, head.id)

    def _go_on(self) -> None:
        for one in self._waiting.values():
            one.went_on = True

    def _answer(self, head: Head, line: bytes) -> None:
        facts = head.facts
        cut_off = isinstance(facts, AssistantFacts) and facts.stop_reason in BROKEN_OFF
        if not lines.may_call(line):
            return
        for call_id, name, arguments in calls(lines.message_of(line)):
            act = Act(head.id, self._place, call_id, name, arguments)
            self._waiting[call_id] = Open(act, cut_off)
            self.called[name] = self.called.get(name, 0) + 1
            self.last_call[name] = head.id

    def _result(self, head: Head, message: dict[str, Any]) -> None:
        call_id = message.get("toolCallId")
        answered = self._waiting.pop(call_id, None) if isinstance(call_id, str) else None
        if answered is not None:
            act = answered.act
            act.failed = message.get("isError") is True
            self.finished += 1
            self.failed += act.failed
            if act.name.lower() in SHELLS:
                act.result = text_of(message)
                self._shell(act, head.id)
            elif not act.failed:
                self._file(act, head, lines.raw_text(message))
        for nested in nested_acts(message, head.id, self._place):
            if nested.name.lower() in SHELLS:
                self._shell(nested, head.id)
            else:
                self._file(nested, head, None)

    def _shell(self, act: Act, result_entry: str) -> None:
        command = act.command or ""
        one = Shell(act.entry_id, self._place, command[:COMMAND])
        self.shell.append(one)
        self.git.see(command, act.result or "", result_entry)
        if _BACKGROUND.search(_QUOTED.sub("''", one.command)):
            self.background.append(one)
        for found in _VARIABLE.finditer(one.command):
            self.variables[found[1]] = act.entry_id

    def _file(self, act: Act, head: Head, text: str | None) -> None:
        """A call that went well."""
        if act.path is None or not (act.changes_file or act.reads_file):
            return
        path = resolve(act.path, self._cwd, self._home)
        file = self.files.setdefault(path, FileShown(path))
        if act.changes_file:
            change(file.held, act.arguments)
            file.changes += 1
            file.change_entry, file.change_tool, file.change_place = act.entry_id, act.name, self._place
            file.blind_read = None
        else:
            file.read_entry, file.read_place = act.entry_id, self._place
            seen = look(file.held, act.arguments, text)
            file.blind_read = None if seen else to_ms(head.timestamp)


def may_change(command: str, name: str) -> bool:
    """Whether a part of a shell command names a file of that name and does more than look at it."""
    if not name or name not in command:
        return False
    parts = (part for part in _PARTS.split(command) if name in part)
    return any(not _LOOKS.match(part) or ">" in part for part in parts)


def nested_acts(message: dict[str, Any], entry_id: str, place: int) -> list[Act]:
    """The calls that a script made and that went well, as a tool result tells of them."""
    nested = message.get("nestedCalls")
    listed = nested.get("calls") if isinstance(nested, dict) else None
    found: list[Act] = []
    for call in listed if isinstance(listed, list) else ():
        if isinstance(call, dict) and call.get("status") == "ok" and isinstance(name := call.get("name"), str):
            arguments = call.get("arguments")
            found.append(Act(entry_id, place, "", name, arguments if isinstance(arguments, dict) else {}))
    return found
