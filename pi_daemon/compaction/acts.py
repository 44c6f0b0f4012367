"""What was said and what was done in messages of any shape: texts, and tool calls with what came of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from pi_daemon.compaction.material import Said
from pi_daemon.compaction.words import clean, one_line

READ_TEXT = 20_000
"""Characters of one text that are looked at. What matters of a longer one (an output, a pasted log) stands at its
ends, so half of that is taken from each."""

FILE_CHANGES = frozenset(
    {"write", "edit", "create", "multiedit", "str_replace", "apply_patch", "write_file", "edit_file"}
)
FILE_READS = frozenset({"read", "read_file", "view", "cat"})
SHELLS = frozenset({"bash", "shell", "exec", "sh", "run", "terminal", "powershell", "cmd"})
_PATH_NAMES = ("path", "file_path", "filePath", "filename", "file")
_COMMAND_NAMES = ("command", "cmd", "script")
_KEY_NAMES = (*_PATH_NAMES, *_COMMAND_NAMES, "pattern", "query", "url", "name", "id", "prompt", "description")
_ABORTED = re.compile(
    r"(?:\A|\n)\s*(?:(?:command|operation|request|tool call|execution)\b[^\n]{0,20}\b(?:aborted|cancell?ed"
    r"|interrupted)|aborted|cancell?ed|\[?request interrupted by user[^\n]{0,40})[.\])]*\s*\Z",
    re.IGNORECASE,
)
_SHOWS_FAILURE = re.compile(
    r"\berror TS\d+|\bnpm (?:ERR!|error)|^FAIL(?:ED)?\b|\b[1-9]\d* (?:tests? )?(?:failed|failing)\b"
    r"|\bFound [1-9]\d* errors?\b",
    re.MULTILINE,
)
_ONE_AT_A_TIME = re.compile(r"\bgit (commit|push|tag)\b")
_CD = re.compile(r"\A\s*cd\s+(?:\"[^\"]*\"|'[^']*'|[^\s;&|]+)\s*(?:&&|;)\s*")
_TRIM = re.compile(r"\s*(?:2>&1\s*)?(?:\|\s*(?:head|tail|grep|cat|wc|less|sed|awk)\b.*)?\Z", re.DOTALL)


class Act(Struct):
    """A tool call, or a command that the user ran. `result` is None as long as no result came; `place` is that of
    the message that makes the call, `answered` that of its result. `failed`: it was reported as an error."""

    entry_id: str
    place: int
    call_id: str
    name: str
    arguments: dict[str, Any]
    result: str | None = None
    failed: bool = False
    answered: int = -1
    result_entry: str = ""

    @property
    def path(self) -> str | None:
        """The file that a call is about, if it is about one."""
        return _first(self.arguments, _PATH_NAMES)

    @property
    def command(self) -> str | None:
        return _first(self.arguments, _COMMAND_NAMES) if self.path is None else None

    @property
    def changes_file(self) -> bool:
        return self.name.lower() in FILE_CHANGES and self.path is not None

    @property
    def reads_file(self) -> bool:
        return self.name.lower() in FILE_READS and self.path is not None

    @property
    def subject(self) -> str:
        """What the call is about, on one line: its path, its command, or another argument that tells."""
        found = self.path or self.command or _first(self.arguments, _KEY_NAMES)
        return one_line(found[:READ_TEXT]) if found else ""

    @property
    def aborted(self) -> bool:
        """Whether somebody stopped it: it neither went well nor failed."""
        return self.failed and _ABORTED.search((self.result or "")[-400:]) is not None

    @property
    def went_well(self) -> bool:
        """Of a result; what a pipe hid of a failure counts where its output shows it."""
        return not self.failed and (not self.command or _SHOWS_FAILURE.search(self.result or "") is None)

    @property
    def kin(self) -> str:
        """Calls of one kin are attempts at one thing: a change of a file, or a command, however its output is cut."""
        if self.changes_file:
            return f"change {self.path}"
        if (command := self.command) is not None:
            step = _ONE_AT_A_TIME.search(command)  # whose arguments differ each time
            return f"run git {step[1]}" if step else f"run {short_command(command)}"
        return f"{self.name} {self.subject}"


def short_command(command: str) -> str:
    """On one line, without the directory it changes to and without what only cuts its output."""
    bare = one_line(command[:READ_TEXT])
    bare = _CD.sub("", bare, count=1)
    return _TRIM.sub("", bare, count=1) or bare


def _first(arguments: dict[str, Any], names: Sequence[str]) -> str | None:
    return next((value for name in names if isinstance(value := arguments.get(name), str) and value.strip()), None)


def text_of(message: dict[str, Any]) -> str:
    """The text of a message, thinking and tool calls left out."""
    content = message.get("content")
    if isinstance(content, str):
        return clean(_ends(content))
    if not isinstance(content, list):
        return ""
    texts = [
        text
        for block in content
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(text := block.get("text"), str)
    ]
    return clean(_ends("\n".join(texts)))


def _ends(text: str) -> str:
    return text if len(text) <= READ_TEXT else f"{text[: READ_TEXT // 2]}\n{text[-READ_TEXT // 2 :]}"


def acts(said: Sequence[Said]) -> list[Act]:
    """In the order in which they were called."""
    found: list[Act] = []
    waiting: dict[str, Act] = {}
    for place, one in enumerate(said):
        message = one.message
        match one.role:
            case "assistant":
                for call_id, name, arguments in calls(message):
                    act = Act(one.entry_id, place, call_id, name, arguments)
                    found.append(act)
                    waiting[call_id] = act
            case "toolResult":
                answers = message.get("toolCallId")
                answered = waiting.pop(answers, None) if isinstance(answers, str) else None
                if answered is None:  # its call is not among these messages
                    answered = Act(one.entry_id, place, "", _name(message.get("toolName")), {})
                    found.append(answered)
                answered.result = text_of(message)
                answered.failed = message.get("isError") is True
                answered.answered, answered.result_entry = place, one.entry_id
            case "bashExecution":
                found.append(by_user(one, place))
    return found


def _name(value: object) -> str:
    return one_line(value[:100]) if isinstance(value, str) else ""


def calls(message: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Id, tool and arguments of each tool call of an answer."""
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "toolCall":
            arguments = block.get("arguments")
            call_id = block.get("id")
            yield (
                call_id if isinstance(call_id, str) else "",
                _name(block.get("name")),
                arguments if isinstance(arguments, dict) else {},
            )


def by_user(one: Said, place: int) -> Act:
    """The command of a bashExecution message."""
    message = one.message
    command, output = message.get("command"), message.get("output")
    arguments = {"command": command if isinstance(command, str) else ""}
    code = message.get("exitCode")
    failed = message.get("cancelled") is True or (isinstance(code, int | float) and code != 0)
    text = clean(_ends(output)) if isinstance(output, str) else ""
    if message.get("cancelled") is True:
        text = f"{text}\nCommand aborted"
    return Act(one.entry_id, place, "", "bash", arguments, text, failed, place, one.entry_id)


def open_acts(found: Sequence[Act]) -> list[Act]:
    """Calls without a result that nobody made again and got an answer to."""
    done = {(act.name, act.subject): act.place for act in found if act.result is not None}
    return [act for act in found if act.result is None and done.get((act.name, act.subject), -1) <= act.place]


def standing_failures(found: Sequence[Act]) -> list[Act]:
    """Failed calls after which none of their kin went well, the last of each kin."""
    last: dict[str, Act] = {}
    for act in found:
        if act.result is not None and not act.aborted:
            last.pop(act.kin, None)
            last[act.kin] = act
    return [act for act in last.values() if act.failed]
