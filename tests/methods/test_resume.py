"""session/resumeReport on real files and real repositories."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from pi_daemon.engine.findings import files as compared_files
from pi_daemon.engine.live import LiveSession
from pi_daemon.storage import world
from pi_daemon.storage.protocols import Owner
from tests.methods.conftest import Client, Refused, Scene, user

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "me")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "me@example.com")


class Agent:
    """Works in a directory as pi does: calls tools, does what they do, and appends both."""

    def __init__(self, client: Client, cwd: Path) -> None:
        self.client = client
        self.cwd = cwd
        self.session_id = ""
        self.count = 0

    async def start(self) -> Agent:
        self.session_id = (await self.client.call("session/create", cwd=str(self.cwd)))["sessionId"]
        await self.append(user("go"))
        return self

    async def append(self, *entries: dict[str, Any]) -> str:
        done = await self.client.call("session/append", sessionId=self.session_id, entries=list(entries))
        return str(done["leafId"])

    async def call(self, tool: str, stop: str = "toolUse", **arguments: Any) -> str:
        """The id of the call's entry."""
        self.count += 1
        call = {"type": "toolCall", "id": f"call{self.count}", "name": tool, "arguments": arguments}
        message = {"role": "assistant", "content": [call], "provider": "anthropic", "model": "m", "stopReason": stop}
        return await self.append({"type": "message", "message": message})

    async def result(self, text: str = "done", *, error: bool = False, **more: Any) -> str:
        content = [{"type": "text", "text": text}]
        message = {"role": "toolResult", "toolCallId": f"call{self.count}", "toolName": "t", "content": content}
        return await self.append({"type": "message", "message": message | {"isError": error} | more})

    async def write(self, path: str, content: str) -> str:
        entry = await self.call("write", path=path, content=content)
        (self.cwd / path).parent.mkdir(parents=True, exist_ok=True)
        (self.cwd / path).write_text(content)
        await self.result()
        return entry

    async def edit(self, path: str, old: str, new: str) -> str:
        entry = await self.call("edit", path=path, edits=[{"oldText": old, "newText": new}])
        (self.cwd / path).write_text((self.cwd / path).read_text().replace(old, new))
        await self.result()
        return entry

    async def read(self, path: str, **arguments: Any) -> str:
        entry = await self.call("read", path=path, **arguments)
        await self.result((self.cwd / path).read_text())
        return entry

    async def bash(self, command: str) -> str:
        entry = await self.call("bash", command=command)
        done = subprocess.run(command, shell=True, cwd=self.cwd, text=True, capture_output=True)
        await self.result(done.stdout + done.stderr, error=done.returncode != 0)
        return entry

    async def report(self, **params: Any) -> Any:
        return await self.client.call("session/resumeReport", sessionId=self.session_id, **params)


def told(found: Any, *kinds: str) -> list[tuple[str, str, str | None]]:
    return [(f["kind"], f["severity"], f.get("path")) for f in found["findings"] if not kinds or f["kind"] in kinds]


def states(found: Any) -> dict[str, str]:
    return {file["path"]: file["state"] for file in found["files"]}


def played(scene: Scene, play: Callable[[Agent], Awaitable[None]], cwd: Path | None = None) -> None:
    async def main() -> None:
        async with scene.running():
            place = cwd or scene.path / "project"
            place.mkdir(parents=True, exist_ok=True)
            await play(await Agent(await scene.client(), place).start())

    asyncio.run(main())


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / "README").write_text("hello\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


def test_files_against_what_is_there(scene: Scene) -> None:
    async def play(agent: Agent) -> None:
        cwd = agent.cwd
        (cwd / "old.py").write_text("import os\n\ndef a():\n    pass\n")
        await agent.write("same.txt", "one\n")
        changed = await agent.write("changed.txt", "one\n")
        gone = await agent.write("dir/gone.txt", "one\n")
        await agent.write("chain.txt", "one two three\n")
        await agent.edit("chain.txt", "two", "2")
        await agent.edit("chain.txt", "2 three", "2 3")
        await agent.edit("old.py", "pass", "return 1")
        undone = await agent.edit("old.py", "import os", "import sys")
        await agent.call("write", path="failed.txt", content="x")
        await agent.result("no", error=True)
        (cwd / "changed.txt").write_text("two\n")
        (cwd / "dir/gone.txt").unlink()
        (cwd / "old.py").write_text("import os\n\ndef a():\n    return 1\n")
        found = await agent.report()
        assert states(found) == {
            "same.txt": "asWritten",
            "changed.txt": "changed",
            "dir/gone.txt": "gone",
            "chain.txt": "asWritten",
            "old.py": "changed",
        }
        assert told(found) == [
            ("fileUndone", "problem", "old.py"),
            ("fileGone", "problem", "dir/gone.txt"),
            ("fileChanged", "warning", "changed.txt"),
        ]
        assert [f["entryId"] for f in found["findings"]] == [undone, gone, changed]
        assert found["toolCalls"] == {"called": 9, "finished": 9, "failed": 1, "open": 0}
        assert (found["cwd"]["state"], found["git"]) == ("there", None)

    played(scene, play)


def test_only_the_path_counts(scene: Scene) -> None:
    async def play(agent: Agent) -> None:
        before = await agent.write("a.txt", "before\n")
        base = await agent.append(user("try"))
        other = await agent.edit("a.txt", "before", "after")
        await agent.write("new.txt", "new\n")
        await agent.client.call("session/moveLeaf", sessionId=agent.session_id, entryId=base)
        await agent.append(user("another way"))
        found = await agent.report()
        assert states(found) == {"a.txt": "changed"}
        assert told(found) == [
            ("fileChanged", "warning", "a.txt"),
            ("otherBranch", "warning", "a.txt"),
            ("otherBranch", "warning", "new.txt"),
        ]
        assert [f["entryId"] for f in found["findings"][:2]] == [before, other]
        (agent.cwd / "a.txt").write_text("before\n")
        (agent.cwd / "new.txt").unlink()
        found = await agent.report()
        assert states(found) == {"a.txt": "asWritten"}
        assert told(found) == [("otherBranch", "info", "a.txt"), ("otherBranch", "info", "new.txt")]
        found = await agent.report(leafId=other)
        assert states(found)["a.txt"] == "asWritten" and found["leafId"] == other
        assert (await agent.report(leafId=None))["toolCalls"]["called"] == 0

    played(scene, play)


def test_calls_without_a_result(scene: Scene) -> None:
    async def play(agent: Agent) -> None:
        await agent.call("bash", stop="aborted", command="never")
        await agent.call("bash", command="lost")
        await agent.append(user("go on"))
        last = await agent.call("write", path="a.txt", content="new\n")
        (agent.cwd / "a.txt").write_text("old\n")
        found = await agent.report()
        assert told(found, "callWithoutResult", "callNotRun") == [
            ("callWithoutResult", "problem", "a.txt"),
            ("callWithoutResult", "warning", None),
            ("callNotRun", "info", None),
        ]
        assert found["findings"][0]["entryId"] == last
        assert found["toolCalls"] == {"called": 3, "finished": 0, "failed": 0, "open": 3}
        assert "doesn't hold" in found["findings"][0]["message"]
        (agent.cwd / "a.txt").write_text("new\n")
        assert "holds what" in (await agent.report())["findings"][0]["message"]
        await agent.result()
        await agent.client.call("session/moveLeaf", sessionId=agent.session_id, entryId=last)
        await agent.append(user("from here"))
        found = await agent.report()
        assert "on another branch" in found["findings"][0]["message"]
        assert ("otherBranch", "warning", "a.txt") in told(found)
        found = await agent.report(leafId=last)
        assert "after the end of this path" in found["findings"][0]["message"]
        assert ("changedLater", "warning", "a.txt") in told(found)

    played(scene, play)


def test_a_call_that_another_process_may_be_running(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    async def elsewhere(session: LiveSession) -> Owner:
        return Owner(os.getpid() + 1, "other", "2026-01-01T00:00:00.000Z")

    async def play(agent: Agent) -> None:
        await agent.call("bash", command="make")
        monkeypatch.setattr(LiveSession, "writer", elsewhere)
        finding = (await agent.report())["findings"][0]
        assert finding["severity"] == "warning" and f"Process {os.getpid() + 1} on other" in finding["message"]

    played(scene, play)


def test_files_that_were_read(scene: Scene) -> None:
    async def play(agent: Agent) -> None:
        cwd = agent.cwd
        for name in ("same", "changed", "gone", "picture", "later"):
            (cwd / name).write_text(f"{name}\n")
            os.utime(cwd / name, (1, 1))
            if name in ("picture", "later"):
                await agent.call("read", path=name)
                await agent.result("Read image file [image/png]")
            else:
                await agent.read(name)
        (cwd / "changed").write_text("x\n")
        (cwd / "gone").unlink()
        os.utime(cwd / "same")
        os.utime(cwd / "later", (4e9, 4e9))
        found = await agent.report()
        assert sorted(told(found)) == [
            ("readChanged", "warning", "changed"),
            ("readChanged", "warning", "later"),
            ("readGone", "warning", "gone"),
        ]
        assert found["files"] == []

    played(scene, play)


def test_what_a_formatter_did_and_the_model_saw_is_no_change(scene: Scene) -> None:
    async def play(agent: Agent) -> None:
        await agent.write("a.py", "x=1\n")
        await agent.bash("printf 'x = 1\\n' > a.py")
        found = await agent.report()
        assert told(found) == [("fileChanged", "warning", "a.py"), ("shellChanges", "info", None)]
        assert "came after it names the file" in found["findings"][0]["message"]
        await agent.read("a.py")
        assert told(await agent.report()) == [("shellChanges", "info", None)]

    played(scene, play)


def test_files_that_can_not_be_told(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(agent: Agent) -> None:
        cwd, outside = agent.cwd, scene.path / "outside"
        outside.mkdir()
        (cwd / "link").symlink_to(outside)
        (cwd / "loop").symlink_to(cwd / "loop")
        os.mkfifo(cwd / "pipe")
        (cwd / "binary").write_bytes(b"\0\xff old")
        await agent.write("link/a.txt", "x")
        await agent.write("../outside/b.txt", "x")
        await agent.write("large", "x" * 2000)
        await agent.write("new\nline \ud83d".encode("utf-8", "replace").decode(), "x")
        for path in ("loop", "pipe", "nul\0", "half \ud83d", "x" * 300, "~/c.txt"):
            await agent.call("write", path=path, content="x")
            await agent.result()
        await agent.call("edit", path="binary", edits=[{"oldText": "old", "newText": "new text"}])
        await agent.result()
        await agent.call("apply_patch", path="large2", patch="@@")
        (cwd / "large2").write_text("x")
        await agent.result()
        monkeypatch.setattr(world, "FILE_BYTES", 1000)
        found = await agent.report()
        assert states(found) == {
            "link/a.txt": "outside",
            str(outside / "b.txt"): "outside",
            "large": "unknown",
            "new\nline ?": "asWritten",
            "loop": "unknown",
            "pipe": "unknown",
            "nul\0": "unknown",
            "half \ufffd": "unknown",
            "x" * 300: "unknown",
            str(scene.path / "home/c.txt"): "outside",
            "binary": "unknown",
            "large2": "unknown",
        }
        assert {f["severity"] for f in found["findings"]} == {"info"}
        messages = {f["path"]: f["message"] for f in found["findings"]}
        assert "more than" in messages["large"] and "link leads to" in messages["link/a.txt"]

    played(scene, play)


def test_unreadable(scene: Scene) -> None:
    async def play(agent: Agent) -> None:
        await agent.write("a/secret", "x")
        await agent.write("b", "x")
        (agent.cwd / "a").chmod(0)
        (agent.cwd / "b").chmod(0)
        if os.access(agent.cwd / "b", os.R_OK):
            pytest.skip("this user may read everything")
        try:
            assert states(await agent.report()) == {"a/secret": "unknown", "b": "unknown"}
        finally:
            (agent.cwd / "a").chmod(0o700)

    played(scene, play)


def test_one_file_under_two_names(scene: Scene) -> None:
    async def play(agent: Agent) -> None:
        await agent.write("real/a", "one\n")
        (agent.cwd / "alias").symlink_to("real")
        await agent.write("alias/a", "two\n")
        assert states(await agent.report()) == {"alias/a": "asWritten"}
        await agent.write(str(agent.cwd / "real/a"), "three\n")
        assert states(await agent.report()) == {"real/a": "asWritten"}

    played(scene, play)


def test_more_files_than_are_looked_at(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compared_files, "FILES", 2)

    async def play(agent: Agent) -> None:
        for name in "abc":
            await agent.write(name, name)
        found = await agent.report()
        assert states(found) == {"a": "unknown", "b": "asWritten", "c": "asWritten"}
        assert "1 files of 3" in found["findings"][-1]["message"]

    played(scene, play)


def test_git_as_the_path_left_it(scene: Scene) -> None:
    async def play(agent: Agent) -> None:
        await agent.bash("git checkout -b work")
        await agent.write("a.txt", "a\n")
        await agent.bash("git add a.txt && git commit -m a")
        await agent.write("b.txt", "b\n")
        found = await agent.report()
        assert told(found) == [("uncommitted", "info", None), ("shellChanges", "info", None)]
        assert found["git"] == {
            "root": str(agent.cwd),
            "head": git(agent.cwd, "rev-parse", "HEAD"),
            "branch": "work",
            "dirty": [{"path": "b.txt", "status": "??", "byPath": True}],
            "dirtyCount": 1,
        }
        advice = [one["advice"] for one in found["findings"]]
        assert advice[0] == "Commit it when it is done."
        (agent.cwd / "a.txt").unlink()
        found = await agent.report()
        advice = [one["advice"] for one in found["findings"] if one["kind"] == "uncommitted"]
        assert advice == ["Restore what is gone (a.txt), or commit that too."]
        (agent.cwd / "b.txt").unlink()
        found = await agent.report()
        advice = [one["advice"] for one in found["findings"] if one["kind"] == "uncommitted"]
        assert advice == ["Restore it, or commit that it is gone."]

    repository(scene.path / "project")
    played(scene, play)


def test_git_went_on(scene: Scene) -> None:
    async def play(agent: Agent) -> None:
        cwd = agent.cwd
        await agent.bash("git checkout -b work")
        await agent.write("a.txt", "a\n")
        commit = await agent.bash("git add a.txt && git commit -m a")
        git(cwd, "commit", "-q", "--allow-empty", "-m", "more")
        (cwd / "README").write_text("of another\n")
        found = await agent.report()
        assert told(found, "headMoved", "branchChanged", "uncommittedByOthers") == [
            ("headMoved", "warning", None),
            ("uncommittedByOthers", "warning", None),
        ]
        assert found["findings"][0]["message"].startswith("1 commit was added")
        git(cwd, "stash", "-q")
        git(cwd, "checkout", "-q", "main")
        found = await agent.report()
        assert told(found)[:4] == [
            ("headMoved", "problem", None),
            ("fileGone", "problem", "a.txt"),
            ("branchChanged", "warning", None),
            ("shellChanges", "info", None),
        ]
        assert "it is on work" in found["findings"][0]["message"] and found["findings"][0]["entryId"] != commit
        git(cwd, "checkout", "-q", "--detach", "work")
        found = await agent.report()
        assert found["git"]["branch"] is None and "branchChanged" in str(told(found))

    repository(scene.path / "project")
    played(scene, play)


def test_another_repository(scene: Scene) -> None:
    async def play(agent: Agent) -> None:
        await agent.write("a.txt", "a\n")
        await agent.bash("git add a.txt && git commit -m a && git log")
        os.rename(agent.cwd, scene.path / "moved")
        repository(agent.cwd)
        git(agent.cwd, "commit", "-q", "--allow-empty", "-m", "other")
        assert told(await agent.report())[0] == ("otherRepository", "problem", None)
        os.rename(agent.cwd, scene.path / "third")
        agent.cwd.mkdir()
        assert ("noRepository", "warning", None) in told(await agent.report())
        git(agent.cwd, "init", "-q")
        found = await agent.report()
        assert found["git"]["head"] is None and told(found)[0] == ("otherRepository", "problem", None)

    repository(scene.path / "project")
    played(scene, play)


def test_commits_that_are_gone(scene: Scene) -> None:
    async def play(agent: Agent) -> None:
        for name in "ab":
            await agent.write(name, name)
            await agent.bash(f"git add . && git commit -m {name}")
        git(agent.cwd, "reset", "-q", "--hard", "HEAD~1")
        found = await agent.report()
        assert told(found, "headMoved", "fileGone") == [("headMoved", "problem", None), ("fileGone", "problem", "b")]
        assert "on no local branch" in found["findings"][0]["message"]
        git(agent.cwd, "reflog", "expire", "--expire=now", "--all")
        git(agent.cwd, "gc", "-q", "--prune=now")
        assert ("commitGone", "warning", None) in told(await agent.report())

    repository(scene.path / "project")
    played(scene, play)


def test_odd_repositories(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    project = repository(scene.path / "project")
    git(scene.path, "init", "-q", "--bare", str(scene.path / "bare"))
    other = repository(scene.path / "other")
    git(project, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
    git(project, "commit", "-qm", "sub")
    empty = scene.path / "empty\nline"
    empty.mkdir()
    git(empty, "init", "-q")

    async def in_bare(agent: Agent) -> None:
        assert told(await agent.report()) == [("bareRepository", "info", None)]

    async def in_sub(agent: Agent) -> None:
        await agent.write("a", "a")
        await agent.bash("git add . && git commit -m a")
        found = await agent.report()
        assert told(found) == [("submodule", "info", None), ("shellChanges", "info", None)]
        assert found["git"]["root"] == str(project / "sub")

    async def above_sub(agent: Agent) -> None:
        await agent.bash("cd sub && git commit --allow-empty -m b")
        found = await agent.report()
        assert told(found, "otherRepositories", "otherRepository") == [("otherRepositories", "info", None)]

    async def in_empty(agent: Agent) -> None:
        await agent.write("a\nb", "a")
        found = await agent.report()
        assert (found["git"]["head"], states(found)) == (None, {"a\nb": "asWritten"})
        assert "\n" not in "".join(f["message"] for f in found["findings"])
        with open(os.fsencode(agent.cwd) + b"/\xff", "wb"):
            pass
        assert "\ufffd" in {one["path"] for one in (await agent.report())["git"]["dirty"]}

    async def without_git(agent: Agent) -> None:
        monkeypatch.setenv("PATH", str(scene.path))
        found = await agent.report()
        assert told(found) == [("noGit", "info", None)] and found["git"] is None

    played(scene, in_bare, scene.path / "bare")
    played(scene, in_sub, project / "sub")
    played(scene, above_sub, project)
    played(scene, in_empty, empty)
    played(scene, without_git, project)


def test_files_of_the_repository_beside_the_cwd(scene: Scene) -> None:
    async def play(agent: Agent) -> None:
        await agent.write("../README", "new\n")
        assert states(await agent.report()) == {str(scene.path / "project/README"): "asWritten"}

    repository(scene.path / "project")
    played(scene, play, scene.path / "project" / "package")


def test_the_cwd_is_gone(scene: Scene) -> None:
    async def play(agent: Agent) -> None:
        await agent.write("a.txt", "a\n")
        await agent.bash("git add . && git commit -m a")
        (scene.path / "elsewhere").mkdir()
        os.rename(agent.cwd, scene.path / "elsewhere" / "project")
        found = await agent.report()
        assert told(found)[:2] == [
            ("cwdGone", "problem", str(agent.cwd)),
            ("cwdElsewhere", "warning", str(scene.path / "elsewhere/project")),
        ]
        assert "1 of 1 files" in found["findings"][1]["message"] and "has a commit" in found["findings"][1]["message"]
        assert found["cwd"] == {
            "path": str(agent.cwd),
            "state": "gone",
            "movedTo": [str(scene.path / "elsewhere/project")],
        }
        assert found["files"] == [] and found["git"] is None
        agent.cwd.write_text("a file")
        assert told(await agent.report())[0] == ("cwdNotDirectory", "problem", str(agent.cwd))

    repository(scene.path / "project")
    played(scene, play)


@pytest.mark.parametrize("cwd", ["/no-such-volume/me/project", "C:\\Users\\me\\project", "nowhere", "/p\0x"])
def test_a_cwd_on_another_machine(scene: Scene, cwd: str) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            header = {"type": "session", "version": 3, "id": "x", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": cwd}
            entry = {"type": "message", "id": "u", "parentId": None, "timestamp": header["timestamp"]}
            file = scene.sessions / "2026-01-01T00-00-00-000Z_x.jsonl"
            file.write_text(json.dumps(header) + "\n" + json.dumps(entry | {"message": user()["message"]}) + "\n")
            found = await client.call("session/resumeReport", sessionId="x")
            assert found["findings"][0]["severity"] == "problem" and found["findings"][0]["kind"].startswith("cwd")

    asyncio.run(main())


def test_a_cwd_that_moved_home(scene: Scene) -> None:
    async def play(agent: Agent) -> None:
        (scene.path / "home" / "dev").mkdir(parents=True)
        os.rename(agent.cwd, scene.path / "home" / "dev" / "project")
        found = await agent.report()
        assert found["cwd"]["movedTo"] == [str(scene.path / "home/dev/project")]

    played(scene, play, scene.path / "work" / "dev" / "project")


def test_summaries_that_nothing_backs(scene: Scene) -> None:
    async def play(agent: Agent) -> None:
        await agent.write("real.py", "x")
        await agent.call("edit", path="failed.py", edits=[])
        await agent.result("no", error=True)
        base = await agent.append(user("try"))
        await agent.write("beside.py", "x")
        await agent.client.call("session/moveLeaf", sessionId=agent.session_id, entryId=base)
        summary = (
            "## Progress\n### Done\n- [x] Created `src/made.py` and changed `lib/real.py`\n"
            "- [x] Looked at `src/seen.py`\n\n<modified-files>\nfailed.py\nbeside.py\nreal.py\n</modified-files>"
        )
        entry = {"type": "compaction", "summary": summary, "firstKeptEntryId": base, "tokensBefore": 1}
        await agent.append(entry)
        found = await agent.report()
        assert sorted(told(found, "summaryClaim")) == [
            ("summaryClaim", "info", "lib/real.py"),
            ("summaryClaim", "info", "src/made.py"),
            ("summaryClaim", "warning", "beside.py"),
            ("summaryClaim", "warning", "failed.py"),
        ]

    played(scene, play)


def test_what_the_client_lacks(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", "SECRET")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "SECRET")

    async def play(agent: Agent) -> None:
        await agent.call("browse", url="x")
        await agent.result()
        await agent.bash("echo ${DEPLOY_TOKEN:+set} $PATH; sleep 60 >/dev/null 2>&1 &")
        assert told(await agent.report(), "toolMissing", "credentialMissing") == []
        found = await agent.report(tools=["bash"], credentials=["OTHER"])
        assert "SECRET" not in str(found) and "OTHER" not in str(found)
        assert told(found) == [
            ("toolMissing", "warning", None),
            ("credentialMissing", "warning", None),
            ("credentialMissing", "warning", None),
            ("background", "warning", None),
            ("shellChanges", "info", None),
        ]
        has = {"tools": ["bash", "browse"], "credentials": ["ANTHROPIC_API_KEY", "DEPLOY_TOKEN"]}
        assert told(await agent.report(**has), "toolMissing", "credentialMissing") == []
        assert told(await agent.report(credentials=["anthropic", "DEPLOY_TOKEN"]), "credentialMissing") == []
        for bad in (["A=secret"], ["two words"], [""], ["x" * 201]):
            with pytest.raises(Refused) as refused:
                await agent.report(credentials=bad)
            assert refused.value.data["path"] == "credentials" and "secret" not in str(refused.value)

    played(scene, play)


def test_calls_that_a_script_made(scene: Scene) -> None:
    async def play(agent: Agent) -> None:
        await agent.call("codemode", code="...")
        calls = [
            {"id": "1", "name": "write", "status": "ok", "arguments": {"path": "a", "content": "x"}},
            {"id": "2", "name": "write", "status": "error", "arguments": {"path": "b", "content": "x"}},
            {"id": "3", "name": "write", "status": "ok", "argumentsBytes": 9000},
        ]
        (agent.cwd / "a").write_text("x")
        await agent.result(nestedCalls={"calls": calls, "complete": True})
        assert states(await agent.report()) == {"a": "asWritten"}

    played(scene, play)


def test_nothing_is_written(scene: Scene) -> None:
    async def play(agent: Agent) -> None:
        await agent.write("a.txt", "a\n")
        await agent.read("README")
        await agent.bash("git add a.txt && git commit -m a")
        for path in (agent.cwd, scene.sessions):
            for file in path.rglob("*"):
                os.utime(file, ns=(2_000_000_000_000_000_000, 1_000_000_000_000_000_000), follow_symlinks=False)
        before = stamps(agent.cwd) | stamps(scene.sessions)
        own = {agent.cwd / "a.txt", agent.cwd / "README"}
        accessed = {file: os.stat(file).st_atime_ns for file in own}
        found = await agent.report()
        assert "a.txt" in states(found)
        assert stamps(agent.cwd) | stamps(scene.sessions) == before
        assert {file: os.stat(file).st_atime_ns for file in own} == accessed

    repository(scene.path / "project")
    played(scene, play)


def stamps(folder: Path) -> dict[str, tuple[int, int, int]]:
    found = {str(file): os.lstat(file) for file in [folder, *folder.rglob("*")]}
    return {path: (one.st_mtime_ns, one.st_ino, one.st_size) for path, one in found.items()}
