"""What doesn't hold any more: files that are gone, rules that were overtaken, commands that were stopped."""

from __future__ import annotations

import pytest

from pi_daemon.compaction.acts import acts, standing_failures
from pi_daemon.compaction.commits import commits
from pi_daemon.compaction.material import Material
from pi_daemon.compaction.questions import draw
from pi_daemon.compaction.removals import Removals
from pi_daemon.compaction.superseding import Later
from tests.compaction.talk import Talk


def removals(*commands: str) -> Removals:
    talk = Talk()
    for command in commands:
        talk.call("bash", "", command=command)
    return Removals(acts(talk.said))


def test_a_file_that_was_removed_or_renamed_is_gone() -> None:
    found = removals(
        "cd /w/src && rm main.ts cli.ts tui/tui-renderer.ts && rmdir tui 2>/dev/null; echo done",
        "cd /w/src && mv main-new.ts main.ts && git mv cli-new.ts cli.ts",
    )
    assert found.named("Test via npx tsx src/cli-new.ts") == ["src/cli-new.ts"]
    assert found.named("in `main.ts`, `tui-renderer.ts`, /w/src/main-new.ts") == [
        "tui-renderer.ts",
        "/w/src/main-new.ts",
    ]
    assert found.named("src/cli.ts and main.ts, lib/main-new.tsx") == []
    assert ("main-new.ts", "main.ts") in found.told()


def test_what_came_back_is_there() -> None:
    talk = Talk()
    talk.call("bash", "", command="rm -rf a.json b.json")
    talk.call("write", "ok", path="/w/a.json")
    talk.call("bash", "no", True, command="rm c.json")
    talk.call("bash", "", command="git rm --cached d.json; cp x.json b.json")
    found = Removals(acts(talk.said))
    assert found.named("a.json b.json c.json d.json") == []


def test_what_is_moved_to_a_directory_keeps_its_name() -> None:
    found = removals("mv utils/config.ts .", "mv a.ts b.ts lib/", "mv src/theme.ts src/theme")
    assert found.named("config.ts a.ts lib/b.ts theme.ts") == []
    assert found.named("utils/config.ts, src/theme.ts") == ["utils/config.ts", "src/theme.ts"]


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("把请求超时改成 5 秒，不要更长", "算了，超时还是改回 10 秒吧。"),
        ("The timeout must be 5 seconds.", "actually, set the timeout to 10 seconds"),
        ("Keep old code working alongside new code", "Remove old implementation files (main.ts, cli.ts)"),
        ("Never touch the generated parser", "on second thought you can touch the generated parser"),
        ("You must use Redis for the cache", "Actually forget redis, use a dict instead of Redis."),
        ("Don't use chalk in components", "always use chalk in components"),
    ],
)
def test_a_later_word_wins(rule: str, later: str) -> None:
    found = Later([(1, "hello there"), (5, later)]).overtakes(rule, 2)
    assert found is not None and found.text == later
    assert Later([(5, later)]).overtakes(rule, 5) is None


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Files must have at most 300 lines", "show me the last 50 lines of the log"),
        ("Never touch the tests", "Remove the old footer"),
        ("Never use chalk in components.", "Port the footer to the theme, and use tokens"),
        ("不要修改测试文件。", "把超时改成 10 秒"),
        ("Keep the public API stable", "delete the temporary logs"),
        ("Never push to main", "don't push to main, ever"),
    ],
)
def test_a_rule_about_something_else_stands(rule: str, later: str) -> None:
    assert Later([(5, later)]).overtakes(rule, 2) is None


def test_a_rule_that_is_stated_again_holds_again() -> None:
    talk = Talk()
    for said in ("Never drop table users", "You can now drop table users", "never drop table users!"):
        talk.user(said)
    found = draw(Material(talk.said))
    assert [(one.kind, one.entry_id) for one in found if "drop" in one.text and one.kind != "request"] == [
        ("constraint", "e3")
    ]
    found = draw(Material(talk.said[:2]))
    assert [one.kind for one in found if one.text.startswith("Never drop")] == ["superseded"]


def test_a_file_is_gone_by_whatever_part_of_its_path_it_is_named() -> None:
    found = removals(*(f"rm a{number}/b/index.ts" for number in range(3)), "touch x", "cp y.ts a1/b/index.ts")
    assert found.named("a0/b/index.ts and a1/b/index.ts, w/a2/b/index.ts") == ["a0/b/index.ts", "w/a2/b/index.ts"]


def test_what_was_stopped_did_not_fail() -> None:
    talk = Talk()
    talk.call("bash", "no errors", command="npm run check")
    talk.call("bash", "Command aborted", True, command="cd /w && npm run check 2>&1 | tail -5")
    found = acts(talk.said)
    assert found[-1].aborted and not found[0].aborted
    assert standing_failures(found) == []


def test_a_commit_that_went_well_overcomes_one_that_failed() -> None:
    talk = Talk()
    talk.call("bash", "fatal: pathspec 'x' did not match", True, command="git add x && git commit -m 'One thing'")
    talk.call(
        "bash", "[main 45ffe0a] Another thing\n 1 file changed", command="git add -A && git commit -m 'Another thing'"
    )
    talk.call("bash", None, command='git commit -qm "Not known"')
    found = acts(talk.said)
    assert standing_failures(found) == []
    assert [(one.id, one.subject) for one in commits(found)] == [("45ffe0a", "Another thing"), ("", "Not known")]
