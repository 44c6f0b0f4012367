"""Text as people write it: one line of it, its sentences, and the words that carry what it says.

Languages that write without spaces (Chinese, Japanese) are compared by pairs of neighbouring characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pi_daemon.compaction.tokens import CHARACTERS_A_TOKEN
from pi_daemon.session.jstext import utf16_length

_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")
_SPACE = re.compile(r"\s+")
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_HAS_CJK = re.compile(f"[{_CJK}]")
_CJK_RUN = re.compile(f"[{_CJK}]+")
_WORD = re.compile(r"[^\W_](?:[\w.'’\-]*[^\W_])?")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")
_MARKER = re.compile(r"\A(?:(?:[-*+•>☐]|#{1,6}|\d{1,3}[.)])\s+)+|\A[-*+•>☐#]+\Z")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_STOP = frozenset(
    re.findall(
        r"\S+",
        """a about after all also am an and any are as at be been being but by can could did do does doing for from get
    gets got had has have he her here him his how i if in into is it its just know let lets like make me my no not now
    of off ok on one or our out please re s she so some such than that the their them then there these they thing
    things this those to too up us very was way we well were what when where which who why will with would yes you
    your don t im ve ll d isn doesn didn won can't don't i'm i've it's that's let's we're you're must should
        actually already alright anything else btw everything fuck fucked fucking maybe need please really shit shitty
        something still stuff sure want wanted whatever would above per via""",
    )
)
_STEM = re.compile(r"(?:'s|’s|ing|ed|es|s)\Z")


def tokens_of(text: str) -> int:
    """The estimate of pi: a quarter of the UTF-16 code units, rounded up."""
    return -(-utf16_length(text) // CHARACTERS_A_TOKEN)


def clean(text: str) -> str:
    """Without what a file or a terminal couldn't take: lone surrogates, escape sequences, control characters."""
    return _CONTROL.sub("", _SURROGATE.sub("\ufffd", text.replace("\r\n", "\n")))


def one_line(text: str) -> str:
    return _SPACE.sub(" ", clean(text)).strip()


def clip(text: str, limit: int) -> str:
    """At most `limit` characters; what is cut off is a whole word where one ends near, and an ellipsis says so."""
    if len(text) <= limit:
        return text
    head = text[: max(limit - 1, 0)]
    space = head.rfind(" ")
    if space > limit * 3 // 4:
        head = head[:space]
    return head.rstrip() + "…" if limit > 0 else ""


def is_cjk(text: str) -> bool:
    """Whether a good part of what is written there is Chinese or Japanese."""
    return len(_HAS_CJK.findall(text)) * 4 > len(_SPACE.sub("", text)) if text else False


def has_cjk(text: str) -> bool:
    return _HAS_CJK.search(text) is not None


def without_fences(text: str) -> str:
    """Without blocks of code, which are quoted, not said."""
    return _FENCE.sub("\n", text) if "```" in text or "~~~" in text else text


def sentences(text: str) -> Iterator[str]:
    """On one line each, list markers taken off."""
    for piece in _SENTENCE_END.split(text):
        found = _MARKER.sub("", one_line(piece), count=1).strip()
        if found.count("**") % 2:
            found = found.replace("**", "").strip()
        if found:
            yield found


def content_words(text: str) -> set[str]:
    """What has to be there for the text to have been said: words without the small ones and their endings, numbers,
    and pairs of CJK characters. Never empty for a text that has a letter or a digit."""
    folded = text.casefold()
    words = set(_WORD.findall(_CJK_RUN.sub(" ", folded)))
    found = {_stem(word) for word in words if word not in _STOP and (len(word) > 1 or word.isdigit())}
    for run in _CJK_RUN.findall(folded):
        found.update(run[at : at + 2] for at in range(len(run) - 1))
        if len(run) == 1:
            found.add(run)
    return found or words


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-./]")
TOPIC_LETTERS = 7
"""Of a word that tells what is spoken of: `reorganize` and `reorganization` are about one thing."""


def topics(text: str) -> set[str]:
    """What a text is about: beginnings of its content words, those inside names (`queueMessage`) too."""
    found = {word[:TOPIC_LETTERS] for word in content_words(text)}
    return found | {word[:TOPIC_LETTERS] for word in content_words(_HUMP.sub(" ", text))}


def _stem(word: str) -> str:
    short = _STEM.sub("", word)
    return short if len(short) > 2 else word


def key(text: str) -> str:
    """Two texts with one key say the same, letter by letter: case, spaces and marks at the ends don't count."""
    return one_line(text).casefold().strip(" .,:;!…。，：；！*_`\"'")
