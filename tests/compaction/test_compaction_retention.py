"""Questions that a summary is asked, and what counts as an answer."""

from __future__ import annotations

import pytest

from pi_daemon.compaction.form import Summary, render, with_files
from pi_daemon.compaction.matching import Text
from pi_daemon.compaction.material import Material
from pi_daemon.compaction.questions import MOST, TEXT_CHARACTERS, Question, draw
from pi_daemon.compaction.retention import AMEND_TOKENS, NOTED, amend, check
from pi_daemon.compaction.speech import constraints, request_words
from pi_daemon.compaction.words import tokens_of
from tests.compaction.recorded import material
from tests.compaction.talk import Talk


def asked(talk: Talk, kind: str, previous: str | None = None) -> list[str]:
    return [question.text for question in draw(material(talk.said, previous)) if question.kind == kind]


@pytest.fixture
def work() -> Material:
    talk = Talk()
    talk.user("Port src/tui/selector.ts to the theme system. Never use chalk in components. 不要修改测试文件。")
    talk.call("read", "export …", path="docs/theme.md")
    talk.call("edit", "ok", path="src/tui/selector.ts")
    talk.call("bash", "src/tui/selector.ts(12,3): error TS2739: Type 'X' lacks 'scrollInfo'", True, command="npm test")
    talk.call("bash", "[main 3f30550] Port the selector", command="git commit -m 'Port the selector'")
    talk.answer("Committed as 3f30550.")
    talk.call("bash", None, command="npm publish --access public")
    talk.user("continue")
    return material(talk.said, "## Progress\n### In Progress\n- [ ] Write the changelog\n## Next Steps\n1. Tag v2.1.0")


def test_each_kind_of_fact_becomes_a_question_with_its_entry(work: Material) -> None:
    found = {(question.kind, question.text, question.entry_id) for question in draw(work)}
    assert found == {
        (
            "request",
            "Port src/tui/selector.ts to the theme system. Never use chalk in components. 不要修改测试文件。",
            "e1",
        ),
        ("constraint", "Never use chalk in components.", "e1"),
        ("constraint", "不要修改测试文件。", "e1"),
        ("unfinished", "Write the changelog", ""),
        ("unfinished", "Tag v2.1.0", ""),
        ("openCall", "bash: npm publish --access public", "e11"),
        ("error", "src/tui/selector.ts(12,3): error TS2739: Type 'X' lacks 'scrollInfo'", "e7"),
        ("modified", "src/tui/selector.ts", "e4"),
        ("commit", "3f30550: Port the selector", "e9"),
        ("reference", "3f30550", "e9"),
        ("read", "docs/theme.md", "e2"),
    }


@pytest.mark.parametrize(
    "text",
    ["We talked about code.", render(Summary()), "", "## Goal\nHelp the user\n\n## Next Steps\n1. Go on working"],
)
def test_a_summary_that_says_nothing_scores_low(work: Material, text: str) -> None:
    assert check(text, draw(work)).score < 0.1


def test_paths_altered_by_a_letter_are_not_kept(work: Material) -> None:
    right = with_files("Work goes on.", ["docs/theme.md"], ["src/tui/selector.ts"])
    wrong = with_files("Work goes on.", ["docs/themes.md"], ["src/tui/selectors.ts"])
    kinds = {kind: tally.kept for kind, tally in check(right, draw(work)).tallies().items()}
    assert (kinds["modified"], kinds["read"]) == (1, 1)
    kinds = {kind: tally.kept for kind, tally in check(wrong, draw(work)).tallies().items()}
    assert (kinds["modified"], kinds["read"]) == (0, 0)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("changed `src/a.ts`.", True),
        ("changed ./src/a.ts:12", True),
        ("changed src/a.ts, and more", True),
        ("(src/a.ts)", True),
        ("改了src/a.ts。", False),  # no telling where a name begins without a mark
        ("改了 src/a.ts。", True),
        ("<modified-files>\nsrc/a.ts\n</modified-files>", True),
        ("lib/src/a.ts", False),
        ("src/a.tsx", False),
        ("src/a.ts.bak", False),
        ("src/a.ts/b", False),
        ("../src/a.ts", False),
        ("old-src/a.ts", False),
        ("SRC/A.TS", False),
        ("<modified-files>\nold src/a.ts\n</modified-files>", False),
    ],
)
def test_a_path_counts_when_it_is_there_exactly(said: str, kept: bool) -> None:
    assert Text(said).answers(Question("modified", "src/a.ts", ("src/a.ts",))) is kept


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("- never use chalk in components", True),
        ("- Components must not use chalk", True),
        ("- use chalk in components", False),  # the opposite
        ("- Never use\n- chalk in\n- components", False),
    ],
)
def test_a_constraint_may_be_worded_otherwise_but_not_turned_round(said: str, kept: bool) -> None:
    assert Text(said).answers(Question("constraint", "Never use chalk in components.")) is kept


def test_a_chinese_constraint_is_found_by_pairs_of_characters() -> None:
    question = Question("constraint", "不要修改测试文件。")
    assert Text("- 禁止修改测试文件").answers(question)
    assert not Text("- 修改测试文件").answers(question)
    assert not Text("- 不要删除日志").answers(question)


def test_an_error_needs_its_names_spelled_right() -> None:
    line = "src/a.ts(12,3): error TS2739: Type 'X' is missing the property scrollInfo"
    question = Question("error", line, ("src/a.ts", "TS2739", "scrollInfo"))
    assert Text(f"- tsc: {line}").answers(question)
    assert Text("- TS2739 error in src/a.ts: type X is missing property `scrollInfo` (12,3)").answers(question)
    assert not Text("- TS2793 error in src/a.ts: type X is missing property `scrollInfo`").answers(question)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("You must never push to main. How are you?", ["You must never push to main."]),
        ("please don't touch the lock file, ok", ["please don't touch the lock file, ok"]),
        ("Use a dict, and never commit to main.", ["never commit to main."]),
        ("You must use a dict and never a list.", ["You must use a dict", "never a list."]),
        ("i don't understand why it fails", []),
        ("there's only one file left", []),
        ("why should we use this?", []),
        ("请用中文回答。文件必须小于300行！这个可以吗？", ["请用中文回答。", "文件必须小于300行！"]),
        ("別のファイルは必ず残す。", ["別のファイルは必ず残す。"]),
        ("Bitte nicht committen. Das ist gut.", ["Bitte nicht committen."]),
        ('context is "warning" if it\'s > 70% and must be "error" above', None),
        ("Error: you must call init() first\n    at foo (a.js:1)", []),
        ("```\nnever mind this\n```", []),
    ],
)
def test_what_binds(text: str, found: list[str] | None) -> None:
    assert list(constraints(text)) == ([text] if found is None else found)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("'/tmp/a b/Screenshot 1.png'\n\nwhy do they differ?", "why do they differ?"),
        (
            "~/w (main)\n➜ w npx x\nnode:fs:443\n\nError: ENOENT: no such file",
            "~/w (main) [Error: ENOENT: no such file]",
        ),
        ("mend the parser, please\n\n```\nx\n```", "mend the parser, please"),
        ("Error: x is not a function", "Error: x is not a function"),
    ],
)
def test_what_a_user_asks_for_is_what_they_wrote(text: str, asked: str) -> None:
    assert request_words(text) == asked


def test_a_call_that_was_made_again_is_not_open() -> None:
    talk = Talk()
    talk.call("bash", None, command="npm test")
    assert asked(talk, "openCall") == ["bash: npm test"]
    talk.call("bash", "ok", command="npm test")
    assert asked(talk, "openCall") == []


def test_results_that_were_left_out_leave_no_call_open() -> None:
    talk = Talk()
    talk.call("bash", None, command="npm test")
    assert [one.kind for one in draw(material(talk.said), results_left_out=True)] == []


def test_a_name_counts_once_it_was_used_after_a_result_gave_it() -> None:
    talk = Talk()
    talk.user("Version 1.2.3 is out")
    talk.call("bash", "1.2.3 and 4.5.6 at http://localhost:8080/x, 7.8.9", command="npm view x")
    talk.answer("There is 4.5.6 (see http://localhost:8080/x).")
    assert sorted(asked(talk, "reference")) == ["4.5.6", "http://localhost:8080/x"]


def test_many_facts_are_bounded_and_the_newest_stay() -> None:
    talk = Talk()
    for number in range(200):
        talk.user(f"Never touch file number {number} " + "x" * 2000)
        talk.call("edit", "ok", path=f"src/{number}.ts")
        talk.call("bash", f"fatal: broken {number}", True, command=f"run {number}")
    found = draw(material(talk.said))
    for kind in ("constraint", "modified", "error"):
        texts = [question.text for question in found if question.kind == kind]
        assert len(texts) <= MOST[kind]
        assert not texts or "199" in texts[-1]
    assert max(len(question.text) for question in found) <= TEXT_CHARACTERS


def test_amending_brings_back_what_is_missing(work: Material) -> None:
    questions = draw(work)
    before = check("We talked about code.", questions)
    after = amend("We talked about code.", before)
    assert check(after, questions).score == 1.0
    assert after.startswith("We talked about code.\n\n## Critical Context\n- Last request: ")


def test_amending_keeps_the_form(work: Material) -> None:
    text = render(Summary(goal=["g"], split=Summary(goal=["s"]), read_files=["docs/theme.md"]))
    after = amend(text, check(text, draw(work)))
    critical, split, files = (after.index(part) for part in ("## Critical Context\n- ", "\n---\n", "<read-files>"))
    assert critical < after.index("3f30550") < split < files
    assert after.count("## Critical Context") == 1
    assert after.count("(none)") == text.count("(none)") - 1


def test_amending_is_bounded_and_says_how_much_is_left_out(work: Material) -> None:
    questions = draw(work)
    missing = check("", questions)
    small = amend("", missing, 60)
    assert tokens_of(small) <= 60
    assert "Last request" in small or "user said" in small
    assert "more of what the summary should have kept left out)" in small
    assert amend("text", missing, 3) == "text"
    assert tokens_of(amend("", missing)) <= AMEND_TOKENS


def test_the_bounded_form_names_what_is_missing() -> None:
    questions = [Question("read", f"src/{number}.ts", (f"src/{number}.ts",), "e" * 500) for number in range(40)]
    found = check("", questions).bounded()
    assert len(found["missing"]) == NOTED
    assert found["missingLeftOut"] == 20
    assert found["kinds"] == {"read": {"kept": 0, "asked": 40}}
    assert found["score"] == 0.0


def test_nothing_to_ask_is_a_full_score() -> None:
    assert check("", []).score == 1.0


def test_a_whole_summary_with_names_altered_by_a_letter_loses_them(work: Material) -> None:
    questions = draw(work)
    right = amend("We talked about code.", check("", questions))
    wrong = right.replace("selector.ts", "selektor.ts").replace("theme.md", "themes.md").replace("3f30550", "3f30551")
    assert check(right, questions).score == 1.0
    kept = {kind for kind, tally in check(wrong, questions).tallies().items() if tally.kept}
    assert kept.isdisjoint({"modified", "read", "reference", "error"})
