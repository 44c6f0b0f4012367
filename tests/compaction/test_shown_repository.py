"""What the output of git commands shows of commits and branches."""

from __future__ import annotations

import pytest

from pi_daemon.compaction.shown.places import resolve, shown, within
from pi_daemon.compaction.shown.repository import GitShown

COMMITTED = "hook says hello\n[main 45ffe0a] Release\n 2 files changed\n"


def seen(*commands: tuple[str, str]) -> GitShown:
    made = GitShown("/p", "/home/me")
    for number, (command, output) in enumerate(commands):
        made.see(command, output, f"e{number}")
    return made


def branch(git: GitShown) -> str | None:
    return git.branches["/p"].name


def test_commits_and_where_they_were_made() -> None:
    git = seen(
        ("git add . && git commit -m Release", COMMITTED),
        ("cd sub && git commit -m x", "[(no) 1] x\n[dev 1234567] x\n"),
    )
    assert [(c.hash, c.entry_id, c.folder) for c in git.commits] == [
        ("45ffe0a", "e0", "/p"),
        ("1234567", "e1", "/p/sub"),
    ]
    assert branch(git) == "main" and git.branches["/p/sub"].name == "dev"
    assert git.folders == ["/p", "/p/sub"]


def test_the_first_commit_and_a_detached_head() -> None:
    git = seen(("git commit -m a", "[main (root-commit) abcdef1] a"), ("git commit -m b", "[detached HEAD abcdef2] b"))
    assert [c.hash for c in git.commits] == ["abcdef1", "abcdef2"] and branch(git) is None


@pytest.mark.parametrize(
    ("command", "output", "name"),
    [
        ("git checkout -b refactor", "Switched to a new branch 'refactor'\n", "refactor"),
        ("git switch dev", "Switched to branch 'dev'\nYour branch is up to date", "dev"),
        ("git switch dev", "Already on 'dev'", "dev"),
        ("git checkout -B dev", "Switched to and reset branch 'dev'", "dev"),
        ("git status", "On branch feature/x\nnothing to commit", "feature/x"),
        ("git branch", "  dev\n* main\n", "main"),
        ("git branch --show-current", "main\n", "main"),
        ("git rev-parse --abbrev-ref HEAD", "HEAD\n", None),
        ("git checkout v1", "Note: switching to 'v1'.\n\nHEAD is now at 1234567 x", None),
        ("git status", "HEAD detached at 1234567\nnothing to commit", None),
    ],
)
def test_branches(command: str, output: str, name: str | None) -> None:
    assert branch(seen((command, output))) == name


def test_what_a_command_takes_back_itself() -> None:
    commit = ("git commit -m a", COMMITTED)
    assert seen(commit, ("git reset --hard HEAD~1", "HEAD is now at 1111111 x")).commits == []
    assert seen(commit, ("git reset --hard HEAD~1", "HEAD is now at 1111111 x")).heads["/p"].hash == "1111111"
    assert seen(commit, ("git reset --soft HEAD^", "")).heads == {}
    assert [c.hash for c in seen(commit, ("git commit --amend --no-edit", "[main 2222222] a")).commits] == ["2222222"]
    assert seen(commit, ("git reset", "")).heads["/p"].hash == "45ffe0a"
    assert seen(commit, ("git switch main", "Switched to branch 'main'")).heads == {}
    assert seen(commit, ("git switch -c new", "Switched to a new branch 'new'")).heads["/p"].hash == "45ffe0a"
    assert seen(commit, ("git checkout -q dev", "")).branches == {}


@pytest.mark.parametrize(
    "command",
    [
        "ls",
        "grep digit x",
        "cat log # [main 45ffe0a] x",
        "git -C ../other commit -m x",
        "a; cd other; git commit -m x",
        "ssh host 'git commit'",
        "git log",
        "git worktree add x",
    ],
)
def test_what_tells_nothing_of_this_repository(command: str) -> None:
    assert seen((command, COMMITTED)).folders == []


def test_paths_as_tools_take_them() -> None:
    cases = {"a/./b/../c": "/p/a/c", "@a": "/p/a", "~": "/h", "~/x": "/h/x", "~user": "/p/~user", "//x": "/x", "": "/p"}
    cases |= {"/x/": "/x", "file:///x%20y": "/x y", "a\u00a0b": "/p/a b", "../q": "/q", "a\nb": "/p/a\nb"}
    assert {path: resolve(path, "/p", "/h") for path in cases} == cases
    assert within("/p", "/p") and within("/p/a", "/p") and not within("/pa", "/p") and within("/x", "/")
    assert shown("/p/a", "/p") == "a" and shown("/pa", "/p") == "/pa" and shown("/p/\udcff", "/p") == "\ufffd"


@pytest.mark.parametrize("words", ["git reset ", "git commit ", "git checkout ", "checkout git ", "git branch "])
def test_a_command_of_any_length_is_read_in_one_go(words: str) -> None:
    git = seen(("git commit -m a", "[main 1234567] a"), (words * 20_000, "Switched to branch 'dev'\n"))
    assert [c.hash for c in git.commits] == ["1234567"] and branch(git) == "dev"


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("git reset a; git log --hard", True),
        ("git log | git -c x=y reset --hard", False),
        ("git log\nreset --hard", True),
        ("git stash && git reset HEAD~1", False),
        ("git --no-pager rebase main", False),
    ],
)
def test_what_takes_back_lies_in_one_part_of_a_command(command: str, kept: bool) -> None:
    assert bool(seen(("git commit -m a", "[main 1234567] a"), (command, "")).commits) is kept
