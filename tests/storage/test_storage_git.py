"""Looking at real repositories, and leaving them as they are."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from pi_daemon.storage import git
from pi_daemon.storage.git import GitTrouble, Roots

T = TypeVar("T")
pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "me")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "me@example.com")


def run(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True)
    return os.fsdecode(done.stdout).strip()


def made(folder: Path, *, commit: bool = True) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    run(folder, "init", "-q", "-b", "main")
    if commit:
        (folder / "a").write_text("a\n")
        run(folder, "add", "a")
        run(folder, "commit", "-qm", "a")
    return folder


def ask(question: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(question)


def trouble(question: Coroutine[Any, Any, Any]) -> str:
    with pytest.raises(GitTrouble) as raised:
        ask(question)
    return raised.value.kind


def test_a_repository_with_changes(tmp_path: Path) -> None:
    root = made(tmp_path / "r\nx")
    (root / "a").write_text("changed")
    (root / "new\nfile").write_text("")
    (root / "dir").mkdir()
    (root / "dir" / "b").write_text("")
    with open(os.fsencode(root) + b"/\xff", "wb"):
        pass
    assert ask(git.roots(str(root / "dir"))) == Roots(str(root))
    found = ask(git.status(str(root)))
    assert (found.head, found.branch, found.complete) == (run(root, "rev-parse", "HEAD"), "main", True)
    names = {one.path.removeprefix(f"{root}/"): one.status for one in found.dirty}
    assert names == {"a": ".M", "new\nfile": "??", "dir/b": "??", "\udcff": "??"}


def test_without_commits(tmp_path: Path) -> None:
    root = made(tmp_path / "r", commit=False)
    (root / "a").write_text("")
    run(root, "add", "a")
    found = ask(git.status(str(root)))
    assert (found.head, found.branch, [one.status for one in found.dirty]) == (None, "main", ["A."])


def test_detached(tmp_path: Path) -> None:
    root = made(tmp_path / "r")
    run(root, "checkout", "-q", "--detach")
    assert ask(git.status(str(root))).branch is None


def test_bare_and_inside_of_git(tmp_path: Path) -> None:
    root = made(tmp_path / "r")
    run(tmp_path, "init", "-q", "--bare", "bare")
    assert ask(git.roots(str(tmp_path / "bare"))) == Roots(None)
    assert ask(git.roots(str(root / ".git"))) == Roots(None)


def test_a_submodule(tmp_path: Path) -> None:
    root, other = made(tmp_path / "r"), made(tmp_path / "other")
    run(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
    run(root, "commit", "-qm", "sub")
    assert ask(git.roots(str(root / "sub"))) == Roots(str(root / "sub"), str(root))
    (root / "sub" / "a").write_text("changed")
    assert ask(git.status(str(root))).dirty == []
    assert [one.status for one in ask(git.status(str(root / "sub"))).dirty] == [".M"]


def test_no_repository_and_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    (tmp_path / "r").mkdir()
    assert trouble(git.roots(str(tmp_path / "r"))) == "noRepository"
    assert trouble(git.roots(str(tmp_path / "gone"))) == "failed"
    assert trouble(git.roots("nul\0")) == "failed"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert trouble(git.roots(str(tmp_path / "r"))) == "noGit"


def test_the_variables_of_the_one_who_started_the_daemon_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, other = made(tmp_path / "r"), made(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    assert ask(git.roots(str(root))) == Roots(str(root))


def test_commits(tmp_path: Path) -> None:
    root = made(tmp_path / "r")
    first = run(root, "rev-parse", "HEAD")
    run(root, "commit", "-q", "--allow-empty", "-m", "b")
    assert ask(git.missing(str(root), [first, first[:7], "0000000", "no hash"])) == {"0000000"}
    assert ask(git.missing(str(root), [])) == set()
    assert ask(git.ahead(str(root), first)) == (1, 0)
    run(root, "branch", "kept")
    run(root, "reset", "-q", "--hard", first)
    assert ask(git.ahead(str(root), "kept")) == (0, 1)
    assert ask(git.branches_with(str(root), run(root, "rev-parse", "kept"))) == ["kept"]


def test_it_runs_nothing_that_the_repository_names_and_writes_nothing(tmp_path: Path) -> None:
    root = made(tmp_path / "r")
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
    script.chmod(0o700)
    for name in ("core.fsmonitor", "filter.evil.clean", "filter.evil.process", "diff.external", "core.pager"):
        run(root, "config", name, str(script))
    run(root, "config", "core.untrackedCache", "true")
    (root / ".git" / "hooks").mkdir(exist_ok=True)
    (root / ".git" / "hooks" / "post-index-change").symlink_to(script)
    (root / ".gitattributes").write_text("* filter=evil\n")
    os.utime(root / "a", ns=(1, 1))  # as the index has it no more: a status would like to refresh that
    before = _stamps(root)
    found = ask(git.status(str(root)))
    assert ".gitattributes" in {os.path.basename(one.path) for one in found.dirty}
    assert _stamps(root) == before
    assert not (tmp_path / "ran").exists()


def test_an_older_git_fetches_nothing_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, real = made(tmp_path / "r"), shutil.which("git")
    settings = {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::touch {tmp_path}/ran",
        "protocol.allow": "always",
        "protocol.ext.allow": "always",
    }
    for name, value in settings.items():
        run(root, "config", name, value)
    (tmp_path / "git").write_text(f'#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec {real} "$@"\n')
    (tmp_path / "git").chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert ask(git.missing(str(root), ["a" * 40])) == {"a" * 40}
    assert not (tmp_path / "ran").exists()


def _stamps(root: Path) -> dict[str, tuple[int, int, int]]:
    files = (os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names)
    return {file: ((found := os.lstat(file)).st_mtime_ns, found.st_ino, found.st_size) for file in files}


def test_one_that_takes_too_long_or_says_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "git"
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o700)
    monkeypatch.setattr(git, "SECONDS", 0.05)
    assert trouble(git.roots(str(tmp_path))) == "timeout"
    monkeypatch.setattr(git, "SECONDS", 60)
    program.write_text("#!/bin/sh\ncase \"$*\" in *config*) exit 1;; esac\nyes '? x' | tr '\\n' '\\0'\n")
    monkeypatch.setattr(git, "OUTPUT", 100_000)
    found = ask(git.status("/r"))
    assert not found.complete and {one.path for one in found.dirty} == {"/r/x"}


def test_a_cancelled_question_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, pipe = tmp_path / "git", tmp_path / "pipe"
    os.mkfifo(pipe)
    program.write_text(f"#!/bin/sh\necho $$ > {pipe}\nexec sleep 60\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    async def main() -> str:
        task = asyncio.ensure_future(git.roots(str(tmp_path)))
        pid = await asyncio.to_thread(pipe.read_text)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return pid

    pid = int(asyncio.run(main()))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
