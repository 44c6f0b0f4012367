"""Whether somebody could go on from an extractive summary: it states what holds, and nothing that is past."""

from __future__ import annotations

import pytest

from pi_daemon.compaction.form import parse
from pi_daemon.compaction.material import Material
from pi_daemon.compaction.questions import draw
from pi_daemon.compaction.retention import amend, check
from pi_daemon.compaction.speech import constraints
from pi_daemon.compaction.words import tokens_of
from tests.compaction.recorded import material
from tests.compaction.talk import Talk, extract

PLAN = """
## Goal
Rework the reader

## Constraints & Preferences
- Keep old code working alongside new code
- Never commit without a test

## Progress
### Done
- [x] Old code preserved: `reader.ts` still works
### In Progress
- [ ] Call without a result: `edit: src/extra.json`

## Next Steps
1. Move the files as per the plan above
2. Test via npx tsx src/reader-new.ts
3. Translate the manual

## Key Files
- New reader: `src/reader-new.ts`
- Writer: `src/writer.ts`
"""


def reworked() -> Talk:
    talk = Talk()
    talk.user("go on with the move, and throw the old code away")
    talk.call("bash", "[main 1234abc] Move files into core as planned", command="git commit -am 'Move files into core'")
    talk.call("bash", "", command="cd src && git rm reader.ts extra.json && git mv reader-new.ts reader.ts")
    talk.call("bash", "[main 5678abc] Remove the old code", command="git commit -am 'Remove the old code'")
    talk.answer("The old code is removed.")
    return talk


def test_steps_that_were_done_or_whose_files_are_gone_are_no_steps() -> None:
    found = parse(extract(material(reworked().said, PLAN)))
    assert found.next_steps == ["From an earlier summary, not seen since: Translate the manual"]
    assert found.in_progress == []
    assert "Seems done: Move the files as per the plan above" in found.done
    assert not any("preserved" in item for item in found.done)
    assert [item for section in found.others for item in section.items] == ["Writer: `src/writer.ts`"]
    assert "Renamed since: `reader-new.ts` → `reader.ts`" in found.critical


def test_what_nobody_spoke_of_for_two_summaries_is_gone() -> None:
    text = extract(material(reworked().said, PLAN))
    later = Talk()
    later.user("now the writer")
    later.answer("The writer is reworked.")
    assert "Translate the manual" not in extract(material(later.said, text))
    onward = Talk()
    onward.user("continue")
    onward.answer("Still at it.")
    assert "Translate the manual" in extract(material(onward.said, text))


def test_a_rule_that_was_overtaken_says_so_and_is_gone_the_next_time() -> None:
    text = extract(material(reworked().said, PLAN))
    rules = parse(text).constraints
    assert rules[0].startswith("Keep old code working alongside new code (superseded since by: “")
    assert rules[1:] == ["Never commit without a test"]
    assert "Keep old code" not in extract(material(reworked().said, text))


def test_a_step_that_may_be_done_is_not_held_against_a_summary() -> None:
    talk = Talk()
    talk.user("go on")
    talk.answer("The tests of the lexer and the parser are updated.")
    questions = draw(material(talk.said, "## Next Steps\n1. Write fresh tests for the parser and the lexer"))
    assert [question.kind for question in questions] == []


def test_a_summary_that_states_what_is_past_loses_and_is_taken_back() -> None:
    questions = draw(material(reworked().said, PLAN))
    silent, stale = (
        check(f"## Goal\nRework the reader\n{more}", questions).tallies().get("superseded")
        for more in ("", "## Next Steps\n1. Test via npx tsx src/reader-new.ts")
    )
    assert silent is None
    assert stale is not None and stale.kept < stale.asked
    bad = "## Next Steps\n1. Test via npx tsx src/reader-new.ts"
    amended = amend(bad, check(bad, questions))
    assert "- Probably no longer holds: Test via npx tsx src/reader-new.ts" in amended
    assert check(amended, questions).score == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "should be red",
        "no, the button should stay where it is",
        "link text should be the same as the title",
        "needs to be set to 1 for true colours",
        "yes it has to be fully clean",
        "hm, that crashed, that should never happen.",
        "i think the list must not be wider than its frame",
        "- Fixed lists\n  newline and only displays the first line.",
        "wait, don't we have that already?",
    ],
)
def test_what_is_wanted_once_is_no_rule(text: str) -> None:
    assert list(constraints(text)) == []


def test_a_decision_that_was_turned_down_is_none() -> None:
    talk = Talk()
    talk.user("how should the results be kept?")
    talk.answer("I'll use queueMessage for the results. Let's keep the store in memory.")
    talk.user("why two handlers?")
    talk.answer("One is for the screen. I'll go with a single parser for both formats.")
    talk.user("wait, why would we queue a message at all? that's not what i meant")
    talk.answer("Now it should render. I bet the cache is stale. The issue is that the sed didn't work.")
    decided = parse(extract(material(talk.said))).decisions
    assert decided == ["Let's keep the store in memory."]


def test_a_decision_right_before_the_cut_is_turned_down_after_it() -> None:
    talk, later = Talk(), Talk()
    talk.user("keep the results somewhere")
    talk.answer("I'll use a database for all of them.")
    later.user("no, a file is enough")
    later.call("write", "ok", path="src/store.ts")
    assert parse(extract(Material(talk.said, later.said))).decisions == []


def test_the_last_request_is_one_and_open_only_when_it_is() -> None:
    talk, later = Talk(), Talk()
    talk.user("why are there two handlers?")
    talk.call("read", "…", path="src/a.ts")
    later.user("stop, mend the flush first")
    later.call("edit", "ok", path="src/a.ts")
    text = extract(Material(talk.said, later.said))
    assert text.count("Last request: ") == 1
    assert "Cut short: “why are there two handlers?”" in text
    talk.answer("One of them is for the screen. Should I remove the other one?")
    found = parse(extract(material(talk.said)))
    assert found.next_steps == ["Waiting for the user's answer to: Should I remove the other one?"]
    assert parse(extract(Material(talk.said, later.said))).next_steps == []


def test_a_question_that_was_answered_with_a_nod_waits_for_nobody() -> None:
    talk, later = Talk(), Talk()
    talk.user("prepare the release")
    talk.call("edit", "ok", path="CHANGELOG.md")
    talk.answer("The changelog is updated. Should I proceed with the tag?")
    later.user("yeah, do it all")
    later.call("bash", "", command="git tag v2.0.0")
    text = extract(material(later.said, extract(material(talk.said))))
    assert "Waiting for" not in text
    assert parse(text).next_steps == [
        "Last request: “yeah, do it all (in reply to: Should I proceed with the tag?)” (not answered yet)"
    ]
    split = parse(extract(Material(talk.said, later.said))).split
    assert split is not None and "in reply to: Should I proceed with the tag?" in split.next_steps[0]


def test_what_was_cut_short_is_not_done_and_small_talk_is_no_work() -> None:
    talk = Talk()
    talk.user("write the parser")
    talk.call("edit", "ok", path="src/p.ts")
    talk.answer("Now let's run the tests", "aborted")
    talk.user("continue")
    talk.answer("The parser is written and tested.")
    talk.user("rename the lexer")
    talk.answer("Let me look", "aborted")
    talk.user("think, then say hello")
    talk.answer("Hello!")
    found = parse(extract(material(talk.said)))
    assert found.done == ["“write the parser” → The parser is written and tested. (changed: `p.ts`)"]
    assert "Cut short: “rename the lexer”" in found.critical


def test_a_command_has_one_line_and_its_last_outcome() -> None:
    talk = Talk()
    talk.user("mend the types")
    for failed in (True, True, False):
        talk.call("bash", "error TS1: x" if failed else "fine", failed, command="cd /w && npm run check 2>&1 | tail -5")
    talk.call("bash", "Command aborted", True, command="npm run check")
    talk.answer("Mended.")
    before = extract(material(talk.said))
    assert "Ran `npm run check` 4×: went well" in parse(before).done
    more = Talk()
    more.user("and the others")
    for _ in range(3):
        more.call("bash", "2 failed", command="npm run check | tail -3")
    more.answer("Mended too.")
    after = parse(extract(material(more.said, before)))
    assert [item for item in after.done if "npm run check" in item] == ["Ran `npm run check` 7×: failed"]


def test_a_commit_that_fails_blocks_until_one_is_made() -> None:
    talk = Talk()
    talk.user("commit it")
    talk.call("bash", "error TS1: x", True, command='git commit -m "Mend the types"')
    talk.answer("The commit fails.")
    assert parse(extract(material(talk.said))).blocked == ['`git commit -m "Mend the types"` fails: error TS1: x']
    talk.call("bash", "[main 45ffe0a] Mend all types", command='git add -A && git commit -m "Mend all types"')
    talk.answer("It is committed.")
    found = parse(extract(material(talk.said)))
    assert found.blocked == [] and "git commit `45ffe0a` (main): Mend all types" in found.done


def test_a_small_correction_is_no_new_goal() -> None:
    talk = Talk()
    talk.user("请把同步代码迁移到 async，分三步做。")
    talk.call("edit", "ok", path="src/db.py")
    talk.answer("第一步已完成。")
    talk.user("请求超时改成 5 秒，不要更长。")
    talk.call("edit", "ok", path="src/http.py")
    talk.answer("超时已改为 5 秒。")
    talk.user("算了，超时还是改回 10 秒吧。")
    talk.call("edit", "ok", path="src/http.py")
    talk.answer("好的，超时已改回 10 秒。")
    found = parse(extract(material(talk.said)))
    assert found.goal == ["请把同步代码迁移到 async，分三步做。", "最新请求：算了，超时还是改回 10 秒吧。"]
    assert found.constraints == []
    assert found.decisions == []
    assert found.next_steps == []
    assert found.done[1].endswith("超时已改为 5 秒。 (修改了：`http.py`) (后来被取代：“算了，超时还是改回 10 秒吧。”)")


def test_an_open_step_of_an_earlier_answer_stays_until_its_file_is_changed() -> None:
    talk = Talk()
    talk.user("把 db.py 和 api.py 迁移到 async")
    talk.call("edit", "ok", path="app/db.py")
    talk.answer("app/db.py 已完成。接下来需要更新 app/api.py。")
    talk.user("先把日志级别改成 debug")
    talk.call("edit", "ok", path="app/log.py")
    talk.answer("日志级别已改好。")
    text = extract(material(talk.said))
    assert parse(text).next_steps == ["接下来需要更新 app/api.py。"]
    later = Talk()
    later.user("继续迁移 api.py")
    later.call("edit", "ok", path="app/api.py")
    later.answer("api.py 已完成迁移。")
    assert parse(extract(material(later.said, text))).next_steps == []


@pytest.mark.parametrize(
    ("previous", "goal"),
    [
        ("# Context Checkpoint\nThe user is fixing a login bug.", "The user is fixing a login bug."),
        ("We did a lot. The user wants a new parser for dates.", "The user wants a new parser for dates."),
        ("## 概况\n用户希望把登录改成 JWT。", "用户希望把登录改成 JWT。"),
    ],
)
def test_a_goal_is_taken_from_other_forms(previous: str, goal: str) -> None:
    talk = Talk()
    talk.user("looks that good to you?")
    talk.answer("It looks good in all of the cases that I tried out so far.")
    assert parse(extract(material(talk.said, previous))).goal[0] == goal


def test_every_request_leaves_a_trace_in_a_small_budget() -> None:
    talk = Talk()
    for number in range(6):
        talk.user(f"Please work on part number {number} of the importer, " + "and mind the many details of it " * 9)
        talk.call("edit", "ok", path=f"src/part{number}.ts")
        talk.answer(f"Part {number} is finished. " + "It does what it should do and more of that kind. " * 9)
    text = extract(material(talk.said), 600)
    assert tokens_of(text) <= 600
    assert all(f"part number {number} of the importer" in text for number in range(6))
    tiny = extract(material(talk.said), 200)
    assert tokens_of(tiny) <= 200
    assert "earlier requests are left out" in tiny


def test_a_chain_of_summaries_does_not_pile_up() -> None:
    text: str | None = None
    sizes = []
    for part in range(8):
        talk = Talk()
        for number in range(30):
            talk.user(f"Please mend fault {part}-{number} in the importer and tell me what the cause of it was")
            talk.call("edit", "ok", path=f"src/{part}/{number}.ts")
            talk.answer(f"Fault {part}-{number} is fixed. " + "The cause was an index that was off by one place. " * 3)
        text = extract(Material(talk.said, previous=text))
        sizes.append(tokens_of(text))
    assert max(sizes[3:]) - min(sizes[3:]) < 200
    assert text is not None and "Earlier requests: “" in text and text.count("Earlier requests") == 1


def test_a_branch_names_its_commits() -> None:
    talk = Talk()
    talk.user("try it with a cookie")
    talk.call("bash", None, command='git add -A && git commit -m "Keep the session in a cookie"')
    talk.answer("Tried it, done.")
    assert "git commit: Keep the session in a cookie" in parse(extract(material(talk.said), kind="branch")).done


def test_instructions_are_named_and_followed() -> None:
    talk = Talk()
    for word in ("parser", "writer", "watcher", "router", "logger", "loader"):
        talk.user(f"look into the {word}")
        talk.call("read", "…", path=f"src/{word}.ts")
        talk.answer(f"I looked. The {word} polls each second. That is fine for the {word} as things are at the moment.")
    found = parse(extract(material(talk.said), instructions="focus on the watcher"))
    assert "Asked to look after: focus on the watcher" in found.critical
    assert "Found: The watcher polls each second." in found.critical
    assert not any(item.startswith("Found: ") and "router" in item for item in found.critical)


def test_a_result_without_its_call_is_named_by_its_tool_alone() -> None:
    talk = Talk()
    talk.user("run the benchmark")
    talk.answer("I'll run it.", "toolUse")
    talk.call("bash", "PASS")
    assert "→ I'll run it. (`bash`)" in extract(material(talk.said))
