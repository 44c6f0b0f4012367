"""The parts of messages as blocks of Markdown: texts, thinking, tool calls and what they gave, images."""

from __future__ import annotations

from typing import Any

from pi_daemon.session.edited import as_diff, take_edits
from pi_daemon.session.facts import Json
from pi_daemon.session.markdown import code, contained, fenced, plain, tidy
from pi_daemon.session.rawjson import dumps
from pi_daemon.session.view import TELLING, content_text

NAME = 80
"""Characters of a tool's name."""

ARGUMENT = 120
"""Characters of the argument that says what a call is about."""

ARGUMENTS = 600
"""Characters of the others, as JSON."""

LINES = (60, 30)
"""Lines of a long result from its beginning and from its end."""

LINE = 1_000
"""Characters of one of them."""

Block = list[str]


class Parts:
    """`thinking`: whether it is shown, folded. `full`: nothing is cut."""

    def __init__(self, thinking: bool, full: bool) -> None:
        self._thinking = thinking
        self._full = full
        self._open: dict[str, str] = {}  # the calls of the last answer, and what each is about
        self._waiting: dict[str, str] = {}  # those without a result as yet, and their tools' names

    def content(self, content: object, level: int, *, breaks: bool = False, text: bool = True) -> list[Block]:
        """Texts as Markdown, images by name. Without `text` the images alone."""
        found = [contained(content_text(content, "\n\n"), level, breaks=breaks)] if text else []
        return [*found, *_images(content)]

    def answer(self, content: object, level: int) -> list[Block]:
        """An assistant's content in its order."""
        self._open.clear()
        if isinstance(content, str):
            return [contained(content, level)]
        found: list[Block] = []
        for block in content if isinstance(content, list) else []:
            match block.get("type") if isinstance(block, dict) else None:
                case "text":
                    found.append(contained(_string(block, "text"), level))
                case "thinking":
                    if self._thinking and _string(block, "thinking").strip():
                        found.append(folded("Thinking", contained(_string(block, "thinking"), level)))
                case "toolCall":
                    found += self._call(block)
        return [*found, *_images(content)]

    def _call(self, block: Json) -> list[Block]:
        name, arguments = code(_string(block, "name"), NAME), block.get("arguments")
        known = dict(arguments) if isinstance(arguments, dict) else {}
        edits = take_edits(known)
        telling = next((one for one in TELLING if isinstance(known.get(one), str) and known[one]), None)
        about = "" if telling is None else known[telling]
        short = "\n" not in about.strip() and len(about) <= ARGUMENT
        self._open[_string(block, "id")] = about
        self._waiting[_string(block, "id")] = _string(block, "name")
        if telling is not None and short:
            del known[telling]
        shown = [[f"**Calls {name}**" + (f" {code(about)}" if about and short else "")]]
        if telling is not None and not short:
            shown.append(fenced(self._cut(known.pop(telling))))
        if edits:
            shown.append(fenced(self._cut(tidy(as_diff(edits))), "diff"))
        if known or (arguments is not None and not isinstance(arguments, dict)):
            text = tidy(_json(known or arguments))
            if not self._full and len(text) > ARGUMENTS:
                text = f"{text[:ARGUMENTS]}… ({len(text):,} characters)"
            shown.append(fenced(text, "json"))
        return shown

    def unanswered(self) -> list[Block]:
        """The calls that have no result, once none can come any more."""
        found = []
        for call, name in self._waiting.items():
            about = f" for {code(self._open[call], ARGUMENT)}" if len(self._open) > 1 and self._open.get(call) else ""
            found.append([f"**{code(name, NAME)} has no result{about}**"])
        self._waiting.clear()
        return found

    def result(self, message: Json) -> list[Block]:
        self._waiting.pop(_string(message, "toolCallId"), None)
        name = code(_string(message, "toolName"), NAME)
        several = len(self._open) > 1
        about = self._open.get(_string(message, "toolCallId"), "")
        said = f"**{name} failed**" if message.get("isError") is True else f"**{name} gave**"
        text, images = content_text(message.get("content"), "\n"), _images(message.get("content"))
        if several and about:
            said += f" for {code(about, ARGUMENT)}"
        if not text.strip() and not images:
            return [[f"{said} no output"]]
        return [[said], *([fenced(self._cut(text))] if text.strip() else []), *images]

    def shell(self, message: Json) -> list[Block]:
        """What the user ran."""
        text = self._cut(f"$ {_string(message, 'command')}\n{_string(message, 'output')}")
        note = ", kept from the model" if message.get("excludeFromContext") is True else ""
        status = message.get("exitCode")
        if isinstance(status, int) and status:
            note += f", exit code {status}"
        return [[f"**The user ran{note}**"], fenced(text)]

    def system(self, message: Json) -> Block:
        sections = message.get("sections")
        texts = [one for one in sections.values() if isinstance(one, str)] if isinstance(sections, dict) else []
        text = "\n\n".join(filter(None, [content_text(message.get("content")), *texts]))
        return folded("System message", fenced(self._cut(text))) if text.strip() else []

    def _cut(self, text: str) -> str:
        """Tidy, and as long as a person reads; the rest is counted."""
        lines = tidy(text).strip("\n").split("\n")
        if self._full:
            return "\n".join(lines)
        first, last = LINES
        left_out = len(lines) - first - last
        if left_out > 1:
            lines[first:-last] = [f"… {left_out:,} lines left out …"]
        return "\n".join(
            line if len(line) <= LINE else f"{line[:LINE]}… ({len(line) - LINE:,} characters more)" for line in lines
        )


def folded(summary: str, lines: list[str]) -> Block:
    """The empty lines let Markdown go on within the HTML."""
    return ["<details>", f"<summary>{summary}</summary>", "", *lines, "", "</details>"]


def _images(content: object) -> list[Block]:
    blocks = content if isinstance(content, list) else []
    images = [block for block in blocks if isinstance(block, dict) and block.get("type") == "image"]
    return [
        [f"*Image: {plain(_string(image, 'mimeType') or 'of an unknown kind', NAME)}, {_size(image):,} bytes*"]
        for image in images
    ]


def _json(value: Any) -> str:
    try:
        return dumps(value).decode()
    except ValueError:  # a number that no double holds, or of thousands of digits
        return "(numbers that can't be shown)"


def _size(image: Json) -> int:
    """Of the bytes behind the base64."""
    return len(_string(image, "data")) * 3 // 4


def _string(value: Json, name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""
