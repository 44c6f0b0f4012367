"""Commands that were run again and again: one line each, with what came of the last time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from pi_daemon.compaction.acts import Act, short_command
from pi_daemon.compaction.labels import ALL, Labels, begins

OFTEN = 3
"""Runs that make a command one of the work's tools. What ran once or twice is told by its turn."""

LONGEST = 160
"""Characters of a command that can be run again from a summary."""

MOST = 8

LOOKS = re.compile(
    r"(?:grep|rg|ls|cat|find|head|tail|sed -n|wc|tree|pwd|echo|which|sleep|git (?:status|log|diff|show|branch))\b"
)
"""Commands that only look: what they found is in the context or isn't, and what they didn't find blocks nothing."""

TOLD_ELSEWHERE = re.compile(r"(?:mkdir|rm|mv|cp|sed|awk|git (?:add|commit))\b")
"""Commands that are told by what they did, and aren't run again."""

_TOLD = [
    re.compile(
        re.escape(labels.ran)
        + r"`(?P<command>[^`]+)`(?: (?P<count>\d+)"
        + re.escape(labels.times)
        + r")?[:：] ?(?P<came>.*)"
    )
    for labels in ALL
]


class Run(Struct):
    """`came`: what came of it, in words; "" where nothing is known."""

    count: int
    came: str


def runs(carried: Iterable[str], done: Sequence[Act], labels: Labels) -> Iterator[tuple[str, int]]:
    """A line for each command that was run often, the last used last, with how often it was. `carried`: the lines of
    an earlier summary."""
    found: dict[str, Run] = {}
    for line in carried:
        told = next((match for shape in _TOLD if (match := shape.match(line))), None)
        if told is not None:
            before = found.get(told["command"])
            count = int(told["count"] or 1) + (before.count if before else 0)
            found[told["command"]] = Run(count, told["came"])
    for act in done:
        if act.command is None or act.result is None:
            continue
        command = short_command(act.command)
        if len(command) > LONGEST or "`" in command or once(command):
            continue
        run = found.pop(command, Run(0, ""))
        run.count += 1
        if act.aborted:
            run.came = run.came or labels.stopped
        else:
            run.came = labels.well if act.went_well else labels.badly
        found[command] = run
    often = [(command, run) for command, run in found.items() if run.count >= OFTEN]
    for command, run in often[-MOST:]:
        yield f"{labels.ran}`{command}` {run.count}{labels.times}: {run.came}", run.count


def is_run(item: str) -> bool:
    return begins(item, "ran")


def once(command: str) -> bool:
    """Whether nobody wants to know how to run it again."""
    return LOOKS.match(command) is not None or TOLD_ELSEWHERE.match(command) is not None
