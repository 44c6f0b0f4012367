"""Messages as turns: what was asked, what was done about it, and what was said at its end."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct, field

from pi_daemon.compaction.acts import Act, text_of
from pi_daemon.compaction.material import Said
from pi_daemon.compaction.speech import finished
from pi_daemon.compaction.words import clip, one_line, sentences, without_fences

_ANNOUNCES = re.compile(
    r"(?:(?:ok(?:ay)?|good|great|perfect|now|first|got it)[,.!]?\s+)*(?:let me|let['’]s|i['’]ll|i need to|now i"
    r"|now (?:to|for)\b)|(?:现在|让我|我来|接下来)",
    re.IGNORECASE,
)
"""What is about to be done; what came of it is said later."""


class Turn(Struct):
    """`request` is None where the turn began before these messages. `answer` is the last text of the assistant.
    `ended`: an answer that calls nothing came last, and it wasn't cut off."""

    place: int
    request: str | None = None
    texts: list[str] = field(default_factory=list)
    acts: list[Act] = field(default_factory=list)
    ended: bool = False

    @property
    def answer(self) -> str:
        return self.texts[-1] if self.texts else ""

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
            made.append(Turn(place, text_of(one.message)))
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


def gist(text: str, limit: int) -> str:
    """The sentences of an answer that say what came of it, from the first one that does."""
    said = [line for line in sentences(without_fences(text)) if len(line) >= 10 and not line.startswith("|")]
    said = [line for line in said if not _ANNOUNCES.match(line)] or said
    start = next((at for at, line in enumerate(said[:6]) if finished(line)), 0)
    made = ""
    for line in said[start:]:
        if made and len(made) + len(line) > limit:
            break
        made = f"{made} {line}" if made else line
    return clip(made.rstrip(":： "), limit) or clip(one_line(text), limit)
