"""What somebody who was asked for a summary answered: the summary in it, or why there is none."""

from __future__ import annotations

import re

from pi_daemon.compaction.form import parse
from pi_daemon.compaction.headings import HEADINGS
from pi_daemon.compaction.words import clip, one_line

LEAST_CHARACTERS = 40
"""A text without a list, a name or a figure that is shorter than this says nothing to go on from."""

REFUSAL_CHARACTERS = 600
"""Refusals are short. A longer text that begins with an apology goes on to say something."""

_THINKING = re.compile(r"\s*<(think|thinking|thought|reasoning)>.*?</\1>\s*", re.DOTALL | re.IGNORECASE)
_THINKING_CUT_OFF = re.compile(r"\s*<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_THINKING_ENDS = re.compile(r"\A(?:(?!<think|^#).)*?</think(?:ing)?>[ \t]*\n\s*", re.DOTALL | re.MULTILINE)
_OPENS = re.compile(r"\s*(`{3,}|~{3,})[ \t]*(?:markdown|md|text|txt)?[ \t]*\n")
_REFUSES = re.compile(
    r"\W*(?:(?:i['’]?m|i\s+am|we['’]?re)\s+(?:very\s+|so\s+|really\s+)?(?:sorry|afraid|unable)|sorry|apologies|my\s+apologies"
    r"|i\s+apologi[sz]e|unfortunately|as\s+an\s+ai|i\s+(?:can['’]?t|cannot|can\s+not|won['’]?t|must\s+decline|do\s+not|don['’]?t"
    r"|am\s+not\s+able))\b"
    r"|\W*(?:很?抱歉|对不起|對不起|不好意思|非常抱歉|作为(?:一个|一名)?(?:AI|人工智能)|我(?:无法|不能|没办法|沒辦法|無法))",
    re.IGNORECASE,
)
_DECLINES = re.compile(
    r"\b(?:can['’]?t|cannot|can\s+not|unable|not\s+able|won['’]?t|decline|not\s+allowed|no\s+(?:conversation|transcript)"
    r"|don['’]?t\s+(?:have|see|feel)|do\s+not\s+(?:have|see|feel)|not\s+comfortable)\b"
    r"|无法|無法|不能|没办法|沒辦法|拒绝|拒絕|不便",
    re.IGNORECASE,
)
_FACT = re.compile(r"[\w.\-]+/[\w.\-]+|\b[\w\-]+\.[a-z]{1,5}\b|`[^`]+`|\b\d{2,}\b|\b[0-9a-f]{7,40}\b|\b\w+_\w+\b")


def cleaned(text: str) -> str:
    """`text` without the thinking before it and without a code fence around all of it. Thinking that was never closed
    is all there is: nothing is left."""
    while True:
        before = text
        while found := _THINKING.match(text):
            text = text[found.end() :]
        if _THINKING_CUT_OFF.match(text):
            return ""
        if found := _THINKING_ENDS.match(text):  # a server that swallowed the opening tag
            text = text[found.end() :]
        text = _unfenced(text)
        if text == before:
            return text.strip("\n")


def _unfenced(text: str) -> str:
    found = _OPENS.match(text)
    if found is None:
        return text
    inner = text[found.end() :].rstrip()
    body = inner.removesuffix(found[1])
    return body.rstrip(" \t").removesuffix("\n") if body != inner and found[1] not in body else text


def unusable(text: str) -> str | None:
    """Why a text, cleaned, is no summary, in words that go on after "The summary …"; None where it may be one."""
    line = one_line(text)
    if not line:
        return "is empty"
    if len(line) <= REFUSAL_CHARACTERS and _REFUSES.match(line) and _DECLINES.search(line) and "\n- " not in text:
        return f"is a refusal: “{clip(line, 160)}”"
    said = parse(text)
    parts = [said] if said.split is None else [said, said.split]
    items = [item for part in parts for name in HEADINGS for item in part.items(name)]
    items += [item for part in parts for section in part.others for item in section.items]
    if not items and not said.read_files and not said.modified_files:
        return "has headings and nothing under them"
    if len(line) < LEAST_CHARACTERS and len(items) < 2 and not _FACT.search(line) and not line.startswith("#"):
        wide = sum(not character.isascii() for character in line)
        if len(line) + wide < LEAST_CHARACTERS:
            return f"is too short to go on from: “{line}”"
    return None
