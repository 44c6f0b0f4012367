"""What a failed call says of why it failed: the line that tells, and the names in it."""

from __future__ import annotations

import re

from pi_daemon.compaction.words import clip, one_line

ERROR_CHARACTERS = 240
"""Longer than nearly all error messages; what follows in longer ones is a dump of the value or the code at fault."""

_STRONG = re.compile(
    r"\berror(?:\[\w+\]|\s+[A-Z]{1,4}\d+)?\s*:|\b\w*(?:Error|Exception)\b\s*[:(]|\bfatal:|\bpanicked at|\bpanic:"
    r"|\berror\s+TS\d+|\bE\d{3,4}\b|No such file|not found\b|command not found|Permission denied|cannot\b|could not\b"
    r"|couldn'?t\b|unable to\b|ENOENT|EACCES|ECONN\w+|ERR!|Segmentation fault|undefined reference|timed out|timeout"
    r"|\bdenied\b|\bunknown\b|错误|失败|找不到|无法|不存在|未找到|超时|拒绝",
    re.IGNORECASE,
)
_WEAK = re.compile(
    r"\bfail(?:ed|ure|s|ing)?\b|\berrors?\b|\binvalid\b|\bmissing\b|✗|✖|\bFAIL\b|not ok\b|Error", re.IGNORECASE
)
_EMPTY = re.compile(
    r"(?:\(?no output\)?|command (?:exited with code|aborted|timed out after).*|exit(?:ed with)? code:? \d+"
    r"|found \d+ errors?\.?|npm error (?:code|path|workspace|location)\b.*|process exited with code.*"
    r"|lifecycle script .* failed.*)\Z",
    re.IGNORECASE,
)
_QUOTES_CODE = re.compile(
    r"^\s*(?:\d+\s*[|│:]|[|│>]|at\s+\S+\s*\(|at (?:async )?(?:node|file):|[+\-]{1,3}\s|import\b|const\b)"
)
_TRACE_END = re.compile(r"^(?:[\w.]+(?:Error|Exception|Warning|Exit|Interrupt)\b.*)$", re.MULTILINE)
_SYMBOL = re.compile(
    r"[\w./\\@+\-]*[/\\][\w./\\@+\-]*\w|[\w\-]+\.(?:[a-z]{1,5})\b(?:[:(]\d+)?|\b[A-Z]{1,5}\d{2,6}\b|\b[A-Z]{4,}\b"
    r"|\b\w+(?:Error|Exception)\b|\b[a-z]+[A-Z]\w+\b|\b[A-Z][a-z]+[A-Z]\w+\b|\b\w+_\w+\b|\b\d{3,}\b"
)


def error_line(result: str) -> str | None:
    """The line of a failed result that says most about why, on one line; None where it says nothing."""
    if ends := _TRACE_END.findall(result):
        return clip(one_line(ends[-1]), ERROR_CHARACTERS)
    best: tuple[int, str] | None = None
    fallback: str | None = None
    for raw in result.split("\n"):
        line = one_line(raw[:2000])
        if len(line) < 4 or _EMPTY.match(line):
            continue
        if _STRONG.search(line):
            worth = 3 - (_QUOTES_CODE.match(raw) is not None) * 2 - (len(line) > 600)
        elif _WEAK.search(line):
            worth = 2 - (_QUOTES_CODE.match(raw) is not None)
        else:
            if not line.startswith((">", "$", "Debugger attached", "Waiting for")):
                fallback = line
            continue
        if best is None or worth > best[0]:
            best = (worth, line)
            if worth == 3:
                break
    line = best[1] if best else fallback or ""
    return clip(line, ERROR_CHARACTERS) if line else None


def symbols(line: str) -> list[str]:
    """Paths, codes and names in an error message: what must be spelled right for somebody to find it again."""
    found = (name.rstrip(".") for name in _SYMBOL.findall(line))
    return list(dict.fromkeys(name for name in found if name))[:8]
