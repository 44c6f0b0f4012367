"""What is taken of an answer, and what isn't taken for a summary."""

from __future__ import annotations

import pytest

from pi_daemon.compaction.answers import cleaned, unusable
from pi_daemon.compaction.form import Summary, render

GOOD = "## Goal\n- Port the theme\n\n## Next Steps\n1. Run `npm test`"


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"<think>The user wants\n\na summary.</think>\n\n{GOOD}",
        f"<thinking>a</thinking><think>b</think>\n{GOOD}\n",
        f"```markdown\n{GOOD}\n```",
        f"<think>x</think>\n```\n{GOOD}\n```\n",
        f"half a thought\n</think>\n{GOOD}",
    ],
)
def test_what_stands_around_a_summary_is_taken_off(text: str) -> None:
    assert cleaned(text) == GOOD


def test_what_belongs_to_it_stays() -> None:
    inside = f"{GOOD}\n\n```\n<think>quoted</think>\n```\n\nand\n\n```\nmore\n```"
    assert cleaned(inside) == inside
    about = "## Goal\n- Strip what ends in\n</think>\nfrom answers"
    assert cleaned(about) == about
    assert cleaned("Strip `</think>` from answers, port the rest") == "Strip `</think>` from answers, port the rest"
    two = "```\na\n```\nbetween\n```\nb\n```"
    assert cleaned(two) == two
    assert cleaned("<think>never closed") == ""


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, I can't help with that.",
        "Sorry, but I cannot assist with this request.",
        "I cannot summarize this conversation.",
        "Unfortunately I don't have a transcript to summarize.",
        "抱歉，我无法协助完成该请求。",
        "对不起，我不能总结这段内容。",
        "",
        " \n",
        "OK.",
        "Done!",
        "We talked about code.",
        "好的，没问题。",
        render(Summary()),
        "## Goal\n\n## Next Steps\n",
    ],
)
def test_what_is_no_summary(text: str) -> None:
    assert unusable(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        "Port src/a.ts",
        "用户要把登录模块改成 JWT，不修改数据库结构，测试仍然失败。",
        "## Goal\n- Theme",
        "Sorry state of the tests: npm test fails in src/a.ts; the user wants that mended first of all.",
        "The user is fixing a login bug in the auth module, and it's not clear yet why it fails.",
        "- a\n- b",
    ],
)
def test_what_may_be_one(text: str) -> None:
    assert unusable(text) is None


def test_it_says_why() -> None:
    assert unusable("I'm sorry, I can't help with that.") == "is a refusal: “I'm sorry, I can't help with that.”"
    assert unusable("") == "is empty"
