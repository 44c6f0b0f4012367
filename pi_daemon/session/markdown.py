"""Text from a session, put into Markdown so that it stays within its place.

Whatever a text holds, it opens no heading of the document's own levels, leaves no block open behind it, loads no image,
runs no HTML and no script of a link, and every renderer cuts it up as we did: a block of code is always a fence at the
beginning of a line, and a code span never goes over the end of one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

_CONTAINERS = r"(?:[ \t]*+(?:>|[-+*](?=[ \t])|[0-9]{1,9}[.)](?=[ \t])))*+[ \t]*+"
"""Quotes and list items at the beginning of a line."""

_FENCE = re.compile(r"([ \t]*)(?:(`{3,})([^`]*)|(~{3,})(.*))")
_HEADING = re.compile(rf"({_CONTAINERS})(#{{1,6}})(?=[ \t]|$)")
_UNDERLINE = re.compile(r"([> \t]*+)(=+|-+)[ \t]*")
_INFO = re.compile(r"[A-Za-z0-9+#._-]{1,40}(?![^ \t])")
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)")
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
_SPECIAL = re.compile(r"\\`+|\\[!-/:-@\[-`{-~]|`+|<|!\[|\](?=[(:])")
_TARGET = re.compile(r"\]\([ \t]*+(?:(?:https?|mailto):|[^\s:&\\()<>]*+[/?#)\s])", re.IGNORECASE)
"""Where a link may lead: a scheme that runs nothing, or a path in which no scheme can hide."""

_INLINE = re.compile(r"[\\`*_\[\]<>&|~#$!]")


def tidy(text: str) -> str:
    """With newlines as the only ends of lines; without colours, control characters, direction marks and halves of
    surrogate pairs."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    return _UNFIT.sub("\ufffd", _ANSI.sub("", text))


def plain(text: str, limit: int | None = None) -> str:
    """On one line, every character standing for itself; cut to `limit` characters."""
    flat = " ".join(tidy(text if limit is None else text[: 4 * limit]).split())
    if limit is not None and len(flat) > limit:
        flat = flat[: limit - 1] + "…"
    return _INLINE.sub(lambda found: "&lt;" if found[0] == "<" else "\\" + found[0], flat)


def code(text: str, limit: int | None = None) -> str:
    """A code span; cut to `limit` characters."""
    flat = " ".join(tidy(text if limit is None else text[: 4 * limit]).split())
    if limit is not None and len(flat) > limit:
        flat = flat[: limit - 1] + "…"
    ticks = "`" * (_longest(flat) + 1)
    space = " " if not flat or flat.startswith("`") or flat.endswith("`") else ""
    return f"{ticks}{space}{flat}{space}{ticks}"


def fenced(text: str, info: str = "") -> list[str]:
    """A block of code; `info` names its language. `text` is tidy."""
    ticks = "`" * max(3, _longest(text) + 1)
    return [ticks + info, *text.split("\n"), ticks]


def quoted(lines: list[str]) -> list[str]:
    return [f"> {line}" if line else ">" for line in lines]


def contained(text: str, level: int, *, breaks: bool = False) -> list[str]:
    """Lines of Markdown from a text that is meant as such, its headings from `level` on. With `breaks` its lines
    stay lines."""
    found: list[str] = []
    lines = iter(tidy(text).strip("\n").split("\n"))
    for line in lines:
        fence = _FENCE.fullmatch(line)
        if fence is not None:
            found += _code_block(fence, lines)
            continue
        line = _line(line.rstrip(), level, bool(found and found[-1].strip()))
        found.append(f"{line}  " if breaks and line else line)
    while found and not found[-1]:
        found.pop()
    if found:
        found[-1] = found[-1].rstrip()
    return found


def _code_block(fence: re.Match[str], lines: Iterator[str]) -> list[str]:
    """The block that the fence opens, from the lines up to its end. Without an end it takes all there are. What stands
    behind the fence and names no language becomes the first line."""
    indent, marks = len(fence[1]), fence[2] or fence[4]
    closing = re.compile(rf"[ \t]*{re.escape(marks[0])}{{{len(marks)},}}[ \t]*")
    inside: list[str] = []
    for line in lines:
        if closing.fullmatch(line):
            break
        inside.append(_dedented(line, indent))
    said = (fence[3] or fence[5] or "").strip(" \t")
    language = _INFO.match(said)
    more = said[language.end() :].lstrip(" \t") if language else said
    return fenced("\n".join([more, *inside] if more else inside), language[0] if language else "")


def _dedented(line: str, indent: int) -> str:
    space = len(line) - len(line.lstrip(" \t"))
    return line[min(space, indent) :]


def _line(line: str, level: int, after_text: bool) -> str:
    """`after_text`: the line before isn't empty, so an underline would make it a heading."""
    underline = _UNDERLINE.fullmatch(line)
    if underline is not None:
        rule = underline[2][0] == "-" and ">" not in underline[1] and not after_text
        return line if rule else f"{underline[1]}\\{underline[2]}"
    heading = _HEADING.match(line)
    if heading is not None:
        marks = "#" * min(6, level - 1 + len(heading[2]))
        return heading[1] + marks + _inline(line[heading.end() :])
    return _inline(line)


def _inline(line: str) -> str:
    if _SPECIAL.search(line) is None:
        return line
    spans = _code_spans(line)
    found: list[str] = []
    position = 0
    while (special := _SPECIAL.search(line, position)) is not None:
        start, end, what = special.start(), special.end(), special[0]
        found.append(line[position:start])
        if start in spans:
            end = spans[start]
            found.append(line[start:end])
        elif "`" in what:
            found.append("\\`" * what.count("`"))
        elif what == "<":
            found.append("&lt;")
        elif what == "![" or (what == "]" and _TARGET.match(line, start) is None):
            found.append("\\" + what)
        else:
            found.append(what)
        position = end
    found.append(line[position:])
    return "".join(found)


def _code_spans(line: str) -> dict[int, int]:
    """Where code spans begin and end. None at all where one holds a bar: in a table that would cut it in two, and what
    lies behind it would pair up differently."""
    runs: dict[int, list[int]] = {}
    for run in re.finditer("`+", line):
        runs.setdefault(len(run[0]), []).append(run.start())
    spans: dict[int, int] = {}
    position = 0
    while (special := _SPECIAL.search(line, position)) is not None:
        position = special.end()
        if special[0][0] != "`":
            continue
        size = len(special[0])
        later = bisect_right(runs[size], special.start())
        if later < len(runs[size]):
            position = runs[size][later] + size
            if "|" in line[special.start() : position]:
                return {}
            spans[special.start()] = position
    return spans


def _longest(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
