"""A summary made of the messages themselves."""

from __future__ import annotations

from pi_daemon.compaction.form import parse
from pi_daemon.compaction.material import Material, Said
from pi_daemon.compaction.questions import draw
from pi_daemon.compaction.retention import check
from pi_daemon.compaction.words import tokens_of
from tests.compaction.recorded import material
from tests.compaction.talk import Talk, extract


def first() -> Talk:
    talk = Talk()
    talk.user("Port the selectors to the theme system. Never use chalk in components.")
    talk.call("read", "export …", path="docs/theme.md")
    talk.call("edit", "ok", path="src/tui/selector.ts")
    talk.call(
        "bash", "src/tui/selector.ts(12,3): error TS2739: lacks 'scrollInfo'", True, command="cd /x && npm test 2>&1"
    )
    talk.answer(
        "I'll use JSON tokens instead of functions. The selector is ported, the test still fails.\n\n"
        "Next: fix the test."
    )
    return talk


def test_the_sections_are_filled_from_where_they_are_known() -> None:
    found = parse(extract(material(first().said)))
    assert found.goal == ["Port the selectors to the theme system. Never use chalk in components."]
    assert found.constraints == ["Never use chalk in components."]
    assert "selector.ts" in found.done[0]
    assert found.blocked == ["`npm test` fails: src/tui/selector.ts(12,3): error TS2739: lacks 'scrollInfo'"]
    assert found.decisions == ["I'll use JSON tokens instead of functions."]
    assert found.next_steps == ["Next: fix the test."]  # the request was answered
    assert (found.read_files, found.modified_files) == (["docs/theme.md"], ["src/tui/selector.ts"])


def test_an_earlier_summary_is_updated() -> None:
    previous = """
## Goal
A themed editor

## Constraints & Preferences
- No chalk

## Progress
### Done
- [x] theme.ts written
### In Progress
- [ ] Port the user message selector
- [ ] Write the changelog entry
### Blocked
- `npm test` fails: error TS1

## Next Steps
1. Run the linter over packages
2. Release version two
"""
    talk = Talk()
    talk.user("go on with the selectors")
    talk.call("edit", "ok", path="src/s.ts")
    talk.call("bash", "all passed", command="npm test | tail -3")
    talk.call("bash", "fine", command="npm run lint")
    talk.answer("Ported the user message selector. Linter ran over all packages: fixed.")
    found = parse(extract(material(talk.said, previous)))
    assert found.goal == ["A themed editor", "Latest: go on with the selectors"]
    assert found.constraints == ["No chalk"]
    assert found.in_progress == ["From an earlier summary, not seen since: Write the changelog entry"]
    assert {"theme.ts written", "Port the user message selector", "Seems done: Run the linter over packages"} <= set(
        found.done
    )
    assert "Resolved: `npm test` fails: error TS1" in found.done
    assert found.blocked == []
    assert found.next_steps == ["From an earlier summary, not seen since: Release version two"]


def test_an_open_call_is_closed_by_its_repetition() -> None:
    talk = first()
    talk.user("publish it")
    talk.call("bash", None, command="npm publish")
    before = extract(material(talk.said))
    assert "Call without a result: `bash: npm publish`" in parse(before).in_progress
    later = Talk()
    later.call("bash", "ok", command="npm publish")
    later.answer("Published.")
    assert "Call without a result" not in extract(material(later.said, before))


def test_updating_with_nothing_new_and_again_does_not_grow() -> None:
    material_before = material(first().said)
    text = extract(material_before)
    sizes = []
    for _ in range(6):
        text = extract(material(first().said, text))
        sizes.append(tokens_of(text))
    assert len(set(sizes[1:])) == 1


def test_a_goal_that_was_taken_back_is_gone() -> None:
    talk = first()
    talk.user("never mind that. Write a parser for dates instead")
    talk.answer("The parser is written.")
    goal = parse(extract(material(talk.said))).goal
    assert goal == ["never mind that. Write a parser for dates instead"]


def test_chinese_stays_chinese() -> None:
    talk = Talk()
    talk.user("请把登录模块改成 JWT，不要修改数据库结构。")
    talk.call("edit", "ok", path="src/login.py")
    talk.answer("决定采用 PyJWT 而不是自己实现。已完成登录模块的修改。")
    text = extract(material(talk.said))
    found = parse(text)
    assert found.goal == ["请把登录模块改成 JWT，不要修改数据库结构。"]
    assert (
        found.constraints == ["请把登录模块改成 JWT，不要修改数据库结构。"]
        or "不要修改数据库结构" in found.constraints[0]
    )
    assert found.decisions == ["决定采用 PyJWT 而不是自己实现。"]
    talk.user("再加上刷新令牌。")
    talk.call("read", "…", path="src/token.py")
    assert parse(extract(material(talk.said))).next_steps == ["最后的请求：“再加上刷新令牌。” (尚未答复)"]
    assert "Latest" not in text


def test_the_beginning_of_a_split_turn_is_a_part_of_its_own() -> None:
    later = Talk()
    later.user("Now the border, please. Only change editor.ts.")
    later.call("edit", "ok", path="src/editor.ts")
    whole = Material(first().said, later.said, None, ["docs/theme.md"], ["src/editor.ts"])
    text = extract(whole)
    found = parse(text)
    assert found.split is not None
    assert found.split.goal == ["Now the border, please. Only change editor.ts."]
    assert found.split.in_progress[0].startswith("So far: “Now the border")
    assert text.endswith("<modified-files>\nsrc/editor.ts\n</modified-files>")
    assert check(text, draw(whole)).missing == ()


def test_a_turn_that_is_all_there_is_makes_a_summary_of_six_sections() -> None:
    found = parse(extract(Material((), first().said)))
    assert found.split is None
    assert found.in_progress[0].startswith("So far: “Port the selectors")


def test_in_a_branch_calls_without_results_are_not_open() -> None:
    talk = Talk()
    talk.user("try it with a cookie")
    talk.call("edit", None, path="src/a.ts")
    talk.answer("Tried: done with a cookie.")
    text = extract(material(talk.said), kind="branch")
    assert "Call without a result" not in text
    assert parse(text).modified_files == ["src/a.ts"]


def test_instructions_decide_what_stays_when_not_all_fits() -> None:
    talk = Talk()
    for word in ("alpha", "beta", "gamma", "delta", "epsilon", "zeta"):
        talk.user(f"Please look into the {word} module and mend the thing that is broken in it")
        talk.answer(f"The {word} module is fixed; the cause was a wrong index in its table of columns.")
    assert "alpha module is fixed" not in extract(material(talk.said), 300)
    assert "alpha module is fixed" in extract(material(talk.said), 300, "what was found in alpha")


def test_a_turn_that_began_before_is_named_by_what_was_asked() -> None:
    before = Talk()
    before.user("Port the footer to the theme")
    before.call("read", "export …", path="src/footer.ts")
    text = extract(material(before.said))
    assert parse(text).next_steps == ["Last request: “Port the footer to the theme” (not answered yet)"]
    later = Talk()
    later.call("edit", "ok", path="src/footer.ts")
    later.answer("The footer is ported.")
    later.user("Thanks. Now the header, please.")
    later.answer("The header is ported.")
    whole = material(later.said, text)
    updated = extract(whole)
    assert (
        "“Port the footer to the theme” (begun earlier) → The footer is ported. (changed: `footer.ts`)"
        in parse(updated).done
    )
    assert check(updated, draw(whole)).missing == ()


def left() -> Talk:
    talk = Talk()
    talk.user("Build the parser in src/parser.py. Never touch src/old.py")
    talk.call("write", path="src/parser.py")
    talk.answer("The parser is finished. Next I will write its tests.")
    return talk


def branch_summary(text: str) -> Said:
    return Said("b", "branchSummary", {"role": "branchSummary", "summary": text, "fromId": "x"})


def test_a_branch_that_holds_nothing_but_the_summary_of_another_goes_on_with_it() -> None:
    first = extract(Material(left().said), kind="branch")
    for _ in range(3):  # left again and again
        again = extract(Material([branch_summary(first)]), kind="branch")
        assert parse(again).goal == parse(first).goal
        assert parse(again).constraints == parse(first).constraints == ["Never touch src/old.py"]
        assert "src/parser.py" in again and "Earlier branch" not in again
        assert check(again, draw(Material([branch_summary(first)]))).score == 1
        first = again


def test_several_of_them_are_joined() -> None:
    other = Talk()
    other.user("Write the manual. Always use plain words")
    both = [branch_summary(extract(Material(one.said), kind="branch")) for one in (left(), other)]
    found = parse(extract(Material(both), kind="branch"))
    assert any("parser" in text for text in found.goal) and any("manual" in text for text in found.goal)
    assert {"Never touch src/old.py", "Always use plain words"} <= set(found.constraints)


def test_what_another_branch_came_to_stands_beside_what_was_asked_here() -> None:
    talk = Talk()
    talk.said.append(branch_summary(extract(Material(left().said), kind="branch")))
    talk.user("Try the lexer first")
    found = parse(extract(Material(talk.said)))
    assert found.goal == ["Try the lexer first"]
    assert "Never touch src/old.py" in found.constraints
    told = [text for text in found.critical if text.startswith("Earlier branch: ")]
    assert any("parser" in text for text in told) and not any("Earlier branch: Earlier" in text for text in told)
    retention = check("## Goal\n- Try the lexer first", draw(Material(talk.said)))
    assert any(one.text == "Never touch src/old.py" for one in retention.missing)
