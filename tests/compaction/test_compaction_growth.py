"""A summary takes as long as there is to read: four times the talk is some four times the work, whatever it is full of.

Work is counted in calls, which are the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from pi_daemon.compaction.material import Material, Said
from pi_daemon.compaction.retention import amend, check
from pi_daemon.compaction.summarizers.extractive import extracted

FEW, MANY = 150, 600

MOST = 5.5
"""Times the work for four times the talk: sorting and the like take a little more than their share."""


def user(number: int, words: str) -> Said:
    return Said(f"u{number}", "user", {"role": "user", "content": words})


def act(number: int, name: str, output: str = "ok", failed: bool = False, words: str = "x", **asked: str) -> list[Said]:
    call = {"type": "toolCall", "id": f"c{number}", "name": name, "arguments": asked}
    said = {"role": "assistant", "content": [{"type": "text", "text": words}, call]}
    content = [{"type": "text", "text": output}]
    result = {"role": "toolResult", "toolCallId": f"c{number}", "toolName": name, "content": content, "isError": failed}
    return [Said(f"a{number}", "assistant", said), Said(f"r{number}", "toolResult", result)]


def says(number: int, words: str) -> Said:
    return Said(f"a{number}", "assistant", {"role": "assistant", "content": [{"type": "text", "text": words}]})


def each(make: Callable[[int], list[Said]]) -> Callable[[int], Material]:
    return lambda count: Material([said for number in range(count) for said in make(number)])


def updated(section: str, item: str, make: Callable[[int], list[Said]]) -> Callable[[int], Material]:
    def of(count: int) -> Material:
        items = "".join(f"- {item.replace('N', str(number))}\n" for number in range(count))
        return Material(each(make)(count).history, previous=f"## Goal\n- Ship it\n\n{section}\n{items}")

    return of


def removed(n: int) -> list[Said]:
    return act(n, "bash", command=f"rm src/f{n}.py && git mv src/a{n}.py src/b{n}.py")


def edited(n: int) -> list[Said]:
    return act(n, "edit", path=f"src/f{n}.py", oldText="a", newText="b", words=f"Next I will fix src/f{n + 1}.py.")


def committed(n: int) -> list[Said]:
    return act(n, "bash", f"[main {n:07x}] Fix thing {n} of place {n}", command=f"git commit -am 'Fix thing {n}'")


TALKS: dict[str, Callable[[int], Material]] = {
    "rules": each(lambda n: [user(n, f"Never touch src/old{n}.py, and always build src/new{n}.py; then run it.")]),
    "rules in one message": lambda count: Material([user(0, " ".join(f"Never use thing{n}." for n in range(count)))]),
    "rules in Chinese": each(lambda n: [user(n, f"不要修改 src/old{n}.py，必须使用第{n}个方法。超时改为{n}秒。")]),
    "rules, lifted": each(lambda n: [user(n, f"Never drop table t{n}."), user(n, f"You can now drop table t{n}.")]),
    "values": each(lambda n: [user(n, f"Set the limit to {n} seconds. The limit must be {n} s.")]),
    "requests": each(lambda n: [user(n, f"Build part {n}"), says(n, f"Part {n} is finished. Shall I go on?")]),
    "nods": each(lambda n: [user(n, "yes"), says(n, f"Shall I do part {n}?")]),
    "errors": each(lambda n: act(n, "bash", f"Error: no module foo{n} in src/bar{n}.ts", True, command=f"make t{n}")),
    "one error": each(lambda n: act(n, "bash", f"Error: no module foo{n} in src/bar{n}.ts", True, command="make")),
    "edits": each(edited),
    "reads": each(lambda n: act(n, "read", f"def f{n}(): pass\n" * 9, path=f"src/f{n}.py")),
    "removals": each(removed),
    "removals of one name": each(
        lambda n: [*act(2 * n, "bash", command=f"rm d{n}/index.ts"), *act(2 * n + 1, "write", path=f"e{n}/index.ts")]
    ),
    "commits": each(committed),
    "references": each(
        lambda n: act(n, "bash", f"https://x.y/{n} v1.2.{n} #{n}", words=f"#{n - 1}", command=f"curl https://x.y/{n}")
    ),
    "decisions": each(lambda n: [says(n, f"I decided to use library{n} instead of other{n}, since it is faster.")]),
    "open calls": each(lambda n: act(n, "bash", command=f"sleep {n}")[:1]),
    "lists": each(lambda n: [says(n, "".join(f"- [{mark}] step {n} {m}\n" for m in range(5) for mark in " x"))]),
    "branches": each(
        lambda n: [Said(f"b{n}", "branchSummary", {"role": "branchSummary", "summary": f"## Goal\n- Try {n}\n"})]
    ),
    "updated rules": updated("## Constraints & Preferences", "Never touch src/oldN.py", edited),
    "updated steps": updated("## Next Steps", "Update src/fN.py and src/gN.py", edited),
    "updated steps, removed": updated("## Next Steps", "Remove src/fN.py, then `git commit`", removed),
    "updated work": updated("## Progress\n### Done", "[x] Did part N of src/fN.py", committed),
    "updated trouble": updated("## Critical Context", "`make tN`: fails with N", edited),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", TALKS)
def test_the_work_grows_with_the_talk(kind: str) -> None:
    few, many = (calls(TALKS[kind](count)) for count in (FEW, MANY))
    assert many / few < MOST


def calls(material: Material) -> int:
    """Of functions, those in C included, that a summary and its questioning take."""
    count = 0

    def called(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        summary, questions = extracted(material)
        amend(summary, check(summary, questions))
    finally:
        sys.setprofile(before)
    return count
