"""The form of a summary: written, read back, and read where somebody else wrote it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pi_daemon.compaction.form import Section, Summary, join_split, parse, render, with_files
from pi_daemon.compaction.headings import HEADINGS

WHOLE = Summary(
    goal=["Port the selectors to the theme system"],
    constraints=["No chalk in components", "Files under 300 lines:\n- tests too"],
    done=["`src/a.ts`: ported"],
    in_progress=["`src/b.ts`"],
    blocked=["tsgo: error TS2739"],
    decisions=["**Tokens in JSON**: they can be edited live"],
    next_steps=["Run the tests", "Release"],
    critical=["Command:\n```\n# not a heading\n\nnpm test\n```"],
    others=[Section("Colours", ["#b5bd68"])],
    split=Summary(goal=["Fix the border"], done=["Read `theme.ts`"]),
    read_files=["docs/theme.md"],
    modified_files=["src/a.ts", "with space.ts"],
)

words = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"]), max_size=30)
lines = st.lists(
    st.one_of(
        words,
        st.sampled_from(
            [
                "## Goal",
                "- x",
                "[x] y",
                "```",
                "---",
                "# A",
                "(none)",
                "  z",
                "1. q",
                "Done:",
                "* Goal: x",
                "1. **Next**",
            ]
        ),
    )
)
texts = lines.map("\n".join)
items = st.lists(texts, max_size=3)
summaries = st.builds(
    Summary,
    **dict.fromkeys(HEADINGS, items),
    others=st.lists(st.builds(Section, words, items), max_size=2),
    split=st.none() | st.builds(Summary, **dict.fromkeys(HEADINGS, items)),
    read_files=st.lists(texts, max_size=3),
    modified_files=st.lists(texts, max_size=3),
)


def test_a_summary_is_read_back_as_it_was() -> None:
    assert parse(render(WHOLE)) == WHOLE
    assert parse(render(WHOLE, empty=False)) == WHOLE


def test_the_text_is_what_pi_writes() -> None:
    text = render(WHOLE)
    headings = [line for line in text.split("\n") if line.startswith("#")][:9]
    assert headings == [
        "## Goal",
        "## Constraints & Preferences",
        "## Progress",
        "### Done",
        "### In Progress",
        "### Blocked",
        "## Key Decisions",
        "## Next Steps",
        "## Critical Context",
    ]
    assert "### Done\n- [x] `src/a.ts`: ported\n" in text
    assert "### In Progress\n- [ ] `src/b.ts`\n" in text
    assert "## Next Steps\n1. Run the tests\n2. Release\n" in text
    assert text.endswith(
        "\n\n<read-files>\ndocs/theme.md\n</read-files>\n\n<modified-files>\nsrc/a.ts\nwith space.ts\n</modified-files>"
    )


def test_an_empty_summary_has_all_its_headings_and_reads_as_nothing() -> None:
    text = render(Summary())
    assert text.count("(none)") == len(HEADINGS)
    assert parse(text) == Summary()
    assert render(Summary(), empty=False) == ""


def test_the_beginning_of_a_split_turn_comes_after_a_rule() -> None:
    joined = join_split("## Goal\n- a", "## Goal\n- b")
    assert "\n\n---\n\n## " in joined
    found = parse(joined)
    assert (found.goal, found.split and found.split.goal) == (["a"], ["b"])
    theirs = parse(
        "## Goal\na\n\n---\n\n**Turn Context (split turn):**\n\n## Original Request\nb\n\n## Progress So Far\n- c"
    )
    assert theirs.split == Summary(goal=["b"], done=["c"])
    assert theirs.folded().goal == ["a", "b"]


def test_file_lists_are_replaced() -> None:
    text = with_files("said\n\n<read-files>\nold\n</read-files>", ["new"], [])
    assert text == "said\n\n<read-files>\nnew\n</read-files>"


def test_other_headings() -> None:
    found = parse(
        "Session so far.\n\n# 1. Primary Request and Intent:\nPort it.\nAll of it.\n\n**Requirements**\n* be quick\n\n"
        "Progress:\n- [x] one\n- [ ] two\n- three\n\n### Design decisions\n1) JSON\n\n## Pending Tasks\n+ four\n\n"
        "**Next Steps:** release\n\n## Colours\n- red"
    )
    assert found == Summary(
        goal=["Port it.\nAll of it."],
        constraints=["be quick"],
        done=["one", "three"],
        in_progress=["two", "four"],
        decisions=["JSON"],
        next_steps=["release"],
        critical=["Session so far."],
        others=[Section("Colours", ["red"])],
    )


def test_chinese_headings() -> None:
    found = parse(
        "## 目标\n重构主题\n## 约束与偏好\n- 不要用 chalk\n## 进度\n### 已完成\n- [x] 甲\n### 进行中\n- [ ] 乙\n"
        "### 受阻\n- 无\n"
        "## 关键决策\n- 用 JSON\n## 下一步\n1. 发布\n## 关键上下文\n- 端口 8080"
    )
    assert found == Summary(
        goal=["重构主题"],
        constraints=["不要用 chalk"],
        done=["甲"],
        in_progress=["乙"],
        decisions=["用 JSON"],
        next_steps=["发布"],
        critical=["端口 8080"],
    )
    assert parse("目标：重构\n【下一步】发布") == Summary(goal=["重构"], next_steps=["发布"])


def test_items_that_begin_like_a_heading_are_items() -> None:
    said = Summary(next_steps=["Next: fix it", "Done:", "**Goal**", "Blocked"], critical=["Goal: x", "Notes:"])
    assert parse(render(said)) == said
    assert parse("## Done\n* Goal: x\n1. Next: y\n\n1. Pending Tasks:\n   z") == Summary(
        done=["Goal: x", "Next: y"], in_progress=["z"]
    )


def test_without_headings_nothing_is_lost() -> None:
    assert parse("We talked.\n\n- a\n- b").critical == ["We talked.", "a", "b"]


@settings(max_examples=60, deadline=None)
@given(texts)
def test_whatever_was_read_is_read_the_same_again(text: str) -> None:
    once = parse(text)
    assert parse(render(once)) == once


@settings(max_examples=60, deadline=None)
@given(summaries)
def test_whatever_is_written_can_be_read_and_written_again(summary: Summary) -> None:
    once = parse(render(summary))
    assert parse(render(once)) == once
    assert parse(render(once, empty=False)) == once
