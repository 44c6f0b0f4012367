"""Rules that a later word of the user, or what was done at it, has overtaken."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from pi_daemon.compaction.speech import binds, forbids
from pi_daemon.compaction.words import content_words, topics

LATER = 2000
"""Sentences that a rule is compared with, the last ones."""

LONGEST = 1000
"""Characters of a sentence that are looked at: one that is longer is none."""

_VALUE = re.compile(
    r"(?<![\w.])#?(\d+(?:\.\d+)?)\s*(%|[a-z]{1,12}\b|秒|分钟|小时|天|个|次|行|字|毫秒|层|页)?", re.IGNORECASE
)
_SETS = re.compile(
    r"\b(?:make|set|change[ds]?|use|be|is|to|should|limit|max\w*|min\w*|raise|lower|back|revert|instead|rather|actually)\b"
    r"|改|用|设|換|换|调|還是|还是|限制",
    re.IGNORECASE,
)
_KEEPS = re.compile(
    r"\b(?:keep|keeps|kept|preserve\w*|leave|retain\w*|still works?|don['’]?t (?:remove|delete|drop))\b"
    r"|保留|不要删|别删",
    re.IGNORECASE,
)
_REMOVES = re.compile(
    r"\b(?:remove[ds]?|remov\w*|delete[ds]?|drop(?:ped|s)?|kill|get rid of|rm|clean(?:ed)? up|throw away)\b"
    r"|删|移除|去掉|清理",
    re.IGNORECASE,
)
_PREFERS = re.compile(
    r"\b(?:use|using|with|go(?:ing)? (?:with|for)|prefer|stick|choose|chose|adopt|keep)\b|用|采用|选", re.IGNORECASE
)
"""A rule about which thing to take is overtaken by another thing in its place."""

_LIFTS = re.compile(
    r"\b(?:you (?:can|may) (?:now )?|it['’]?s (?:ok|okay|fine) (?:to|now|if)|feel free|from now on|no longer"
    r"|forget (?:about )?the|changed my mind|after all|on second thought|instead|don['’]?t (?:need|have) to)\b"
    r"|可以.{0,20}了|允许|取消|不用再|不必|还是用|改用|改成",
    re.IGNORECASE,
)
_TURNS_DOWN = re.compile(
    r"\b(?:instead of|rather than|forget(?: about)?|scrap|stop using|not|no longer (?:use|want|need)|drop|away from)\s+"
    r"(?:the |a |an |any |using |that |our )?(?P<what>\w[\w.\-]*(?: \w[\w.\-]*)?)"
    r"|(?:不用|不再用|别用|而不是|代替|替换掉|放弃)\s*(?P<cjk>[\w.\-]{2,12})",
    re.IGNORECASE,
)
_VERBS = frozenset(
    ("keep", "kept", "preserv", "leav", "retain", "remov", "delet", "drop", "kill", "work", "alongsi", "make", "use")
)
_VERBS_CJK = re.compile("改成|改回|改为|不要|必须|还是|算了|超过|设为|设成|调成|保留|删除|移除|请把|一下")


class Saying(Struct, frozen=True, gc=False):
    """A sentence, made ready to be compared with thousands. `place`: that of its message. `words`: what it is about,
    `content`: what has to be there for it to have been said."""

    place: int
    text: str
    words: frozenset[str]
    content: frozenset[str]
    values: dict[str, str]
    turned_down: frozenset[str]
    forbids: bool
    binds: bool
    sets: bool
    lifts: bool
    removes: bool
    keeps: bool
    prefers: bool


def _tells(text: str) -> bool:
    """Whether a sentence could overtake anything."""
    return any(sign.search(text) for sign in (_TURNS_DOWN, _LIFTS, _REMOVES, _SETS)) or binds(text)


def saying(place: int, text: str) -> Saying:
    values = {unit.casefold().rstrip("s"): number for number, unit in _VALUE.findall(text)}
    numbers = {*values, *values.values()}
    words = {word for word in topics(_VERBS_CJK.sub(" ", text)) if word not in numbers and word not in _VERBS}
    down = {word for found in _TURNS_DOWN.finditer(text) for word in topics(found["what"] or found["cjk"])}
    return Saying(
        place,
        text,
        frozenset(words),
        frozenset(content_words(text)),
        values,
        frozenset(down & words),
        forbids=forbids(text),
        binds=binds(text),
        sets=_SETS.search(text) is not None,
        lifts=_LIFTS.search(text) is not None,
        removes=_REMOVES.search(text) is not None,
        keeps=_KEEPS.search(text) is not None,
        prefers=_PREFERS.search(text) is not None,
    )


class Later:
    """What users said, and what was committed, after a rule was given."""

    def __init__(self, sentences: Iterable[tuple[int, str]]) -> None:
        latest = ((place, text[:LONGEST]) for place, text in list(sentences)[-LATER:])
        self._newest_first = [saying(place, text) for place, text in latest if _tells(text)][::-1]

    def overtakes(self, rule: str, place: int, values_only: bool = False) -> Saying | None:
        """The last sentence after `place` that says otherwise; None where the rule holds. `values_only`: that gives
        another value."""
        said = saying(place, rule[:LONGEST])
        about = said.words
        for later in self._newest_first:
            if later.place <= place:
                return None
            if about.isdisjoint(later.words):
                continue
            if _sets_otherwise(later, said) or (not values_only and _overtakes(later, said)):
                return later
        return None


def _sets_otherwise(later: Saying, rule: Saying) -> bool:
    """Of two that are about the same."""
    if not later.sets or not later.values:
        return False
    shared = len(later.words & rule.words)
    other = any(rule.values.get(unit, number) != number for unit, number in later.values.items())
    return other and (shared * 2 >= len(rule.words) or _same_thing(later, rule))


def _overtakes(later: Saying, rule: Saying) -> bool:
    """Of two that are about the same."""
    if later.text == rule.text:
        return False
    shared = len(later.words & rule.words)
    if rule.keeps and later.removes and not later.forbids and shared * 10 >= 3 * len(rule.words):
        return True
    if rule.prefers and not rule.forbids and later.turned_down & rule.words:
        return True
    if rule.forbids and not later.forbids and later.lifts:
        return shared * 2 >= len(rule.words)
    if not later.binds or later.forbids == rule.forbids:
        return False
    return len(later.content & rule.content) * 10 >= 7 * len(rule.content)


def _same_thing(later: Saying, rule: Saying) -> bool:
    """Whether two sentences with a value in one unit, and a CJK pair in common, are about it."""
    unit = set(later.values) & set(rule.values) - {""}
    return bool(unit) and any(not word.isascii() for word in later.words & rule.words)
