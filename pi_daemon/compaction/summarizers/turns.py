"""Messages as turns: what was asked, what was done about it, and what was said at its end."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct, field

from pi_daemon.compaction.acts import Act, text_of
from pi_daemon.compaction.material import Said
from pi_daemon.compaction.speech import asks_nothing, finished
from pi_daemon.compaction.words import clip, has_cjk, one_line, sentences, without_fences

_ANNOUNCES = re.compile(
    r"(?:(?:ok(?:ay)?|good|great|perfect|now|first|got it)[,.!]?\s+)*(?:let me|let['’]s|i['’]ll|i need to|now i"
    r"|now (?:to|for)\b)|(?:现在|让我|我来|接下来)",
    re.IGNORECASE,
)
"""What is about to be done; what came of it is said later."""


class Turn(Struct):
    """`request` is None where the turn began before these messages. `answer` is the last text of the assistant.
    `ended`: an answer that calls nothing came last, and it wasn't cut off. `reply_to`: the question with which the
    answer before ended, "" where it ended with none."""

    place: int
    request: str | None = None
    texts: list[str] = field(default_factory=list)
    acts: list[Act] = field(default_factory=list)
    ended: bool = False
    reply_to: str = ""

    @property
    def answer(self) -> str:
        return self.texts[-1] if self.texts else ""

    @property
    def question(self) -> str:
        """That the answer ends with and the user is to answer."""
        last = self.answer.rstrip().split("\n")[-1]
        if not self.ended or not last.endswith(("?", "？")):
            return ""
        return list(sentences(last))[-1]

    @property
    def nods(self) -> bool:
        """Whether it was begun by a word that asks for nothing by itself, or before these messages."""
        return self.request is None or asks_nothing(self.request)

    @property
    def changed(self) -> list[str]:
        """Files, each once, that the turn changed with success."""
        return list(
            dict.fromkeys(
                act.path
                for act in self.acts
                if act.changes_file and act.result is not None and not act.failed and act.path
            )
        )


def turns(said: Sequence[Said], acts: Sequence[Act]) -> list[Turn]:
    made: list[Turn] = []
    by_place: dict[int, list[Act]] = {}
    for act in acts:
        by_place.setdefault(act.place, []).append(act)
    for place, one in enumerate(said):
        if one.role == "user":
            text = text_of(one.message)
            # Told to go on, an answer that was cut short goes on.
            if not (made and not made[-1].ended and made[-1].request is not None and asks_nothing(text)):
                made.append(Turn(place, text, reply_to=made[-1].question if made else ""))
        elif not made:
            made.append(Turn(place))
        turn = made[-1]
        turn.acts += by_place.get(place, [])
        if one.role == "assistant":
            if text := text_of(one.message).strip():
                turn.texts.append(text)
            turn.ended = place not in by_place and one.message.get("stopReason") not in ("aborted", "error", "length")
        elif one.role == "toolResult":
            turn.ended = False
    return made


def announces(sentence: str) -> bool:
    return _ANNOUNCES.match(sentence) is not None


_HEADING = re.compile(r"^[ \t]{0,3}(?:#{1,6}[ \t].*|\*\*[^*\n]{1,60}\*\*:?|[^\n]{1,40}[:：])[ \t]*$", re.MULTILINE)


def gist(text: str, limit: int) -> str:
    """The sentences of an answer that say what came of it, from the first one that does."""
    said = _said(_HEADING.sub("\n", without_fences(text))) or _said(without_fences(text))
    said = [line for line in said if not announces(line)] or said
    start = next((at for at, line in enumerate(said[:6]) if finished(line)), 0)
    made = ""
    for line in said[start:]:
        if made and len(made) + len(line) > limit:
            break
        made = f"{made} {line}" if made else line
    return clip(made.rstrip(":： "), limit) or clip(one_line(text), limit)


def _said(text: str) -> list[str]:
    return [line for line in sentences(text) if len(line) * (1 + has_cjk(line)) >= 10 and not line.startswith("|")]
