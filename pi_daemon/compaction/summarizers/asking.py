"""A summary by somebody who is asked in words: what is asked, one request after the other, and what comes of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Literal, TypeAlias

from pi_daemon.compaction.answers import cleaned, unusable
from pi_daemon.compaction.form import join_split, parse, render
from pi_daemon.compaction.material import Material
from pi_daemon.compaction.prompts import Request, request
from pi_daemon.compaction.summarizing import Made
from pi_daemon.compaction.transcript import transcript
from pi_daemon.session.errors import SummarizerFailed

SPLIT_SHARE = 0.5
"""Of what a summary may have, the part for the beginning of a split turn; the history has the rest."""

LARGEST = 2**53
"""Of a number of tokens, or of what they cost."""

Ask: TypeAlias = Callable[[Request], Awaitable[Made]]


def requests(
    material: Material,
    max_tokens: int,
    instructions: str | None = None,
    kind: Literal["compaction", "branch"] = "compaction",
) -> list[Request]:
    """What to ask. A turn that the cut splits is asked about by itself, after the history."""
    if kind == "branch":
        return [request("branch", transcript(material.history), max_tokens, None, instructions)]
    split_tokens = int(SPLIT_SHARE * max_tokens) if material.prefix else 0
    found = []
    if material.history:
        tokens = max_tokens - split_tokens
        found.append(request("first", transcript(material.history), tokens, material.previous, instructions))
    if material.prefix:
        found.append(request("split", transcript(material.prefix), split_tokens, None, instructions))
    return found


def checked(made: Made) -> Made:
    """An answer without what a model puts around it. An answer may be long: not for the loop. Raises SummarizerFailed
    where it is no summary."""
    text = cleaned(made.text)
    flaw = unusable(text)
    if flaw is not None:
        raise SummarizerFailed(f"The summary {flaw}. Nothing was written; try again, or name another summarizer.")
    return Made(text, made.usage, made.model)


async def asked(wanted: Iterable[Request], previous: str | None, ask: Ask) -> Made:
    """The summary, of the answers to `requests`, each one `checked`. `previous`: that which it updates. Raises what
    `ask` raises."""
    answers = {one.kind: await ask(one) for one in wanted}
    text = next((made.text for kind, made in answers.items() if kind != "split"), "")
    if not text and previous is not None:
        text = render(parse(previous).folded())
    if "split" in answers:
        text = join_split(text, answers["split"].text)
    usages = [made.usage for made in answers.values() if made.usage is not None]
    model = next((made.model for made in answers.values() if made.model), None)
    return Made(text, added(usages) if usages else None, model)


def added(usages: list[dict[str, Any]]) -> dict[str, Any]:
    """Sums of the numbers, member by member. What is a number here and an object there, or whose sum is too large for
    JSON, is left as it came first: a client may say anything."""
    total: dict[str, Any] = {}
    for usage in usages:
        for name, value in usage.items():
            before = total.get(name)
            if isinstance(value, dict):
                if before is None or isinstance(before, dict):
                    total[name] = added([before or {}, value])
            elif isinstance(value, int | float) and not isinstance(value, bool) and not isinstance(before, dict):
                made = (before or 0) + value
                total[name] = made if abs(made) < LARGEST else before or 0
    return total
