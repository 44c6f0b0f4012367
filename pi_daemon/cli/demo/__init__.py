"""`pi-daemon demo`: the main job from end to end, with real processes, real files and no network.

An editor holds a conversation with tool calls, a second client watches it. The editor labels, branches and forks; the
daemon is killed with -9 and started again; both clients come back by themselves, and what was acknowledged is there. In
the end the context is compacted.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from pi_daemon_client import AsyncClient, types
from pi_daemon_client.types import ContextResult, SubscribeSince

from pi_daemon.cli import compaction as compaction_view
from pi_daemon.cli import context as context_view
from pi_daemon.cli import safe, titles
from pi_daemon.cli import tree as tree_view
from pi_daemon.cli.demo.process import DemoDaemon
from pi_daemon.cli.demo.scene import BY_PATTERN, MENDED, Scene
from pi_daemon.cli.demo.watcher import Watcher
from pi_daemon.cli.exits import Exit, Failure
from pi_daemon.cli.output import Output, plural

KEPT_TOKENS = 30
"""Of the conversation, which is short, that the compaction leaves as they are."""


async def demo(output: Output, *, keep: bool) -> None:
    directory = Path(tempfile.mkdtemp(prefix="pi-daemon-demo-"))
    daemon = DemoDaemon(directory)
    try:
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(daemon.close)
            await daemon.start()
            editor = await stack.enter_async_context(await daemon.connect("editor"))
            panel = await stack.enter_async_context(await daemon.connect("side panel"))
            await Demo(output, directory, daemon, editor, panel).run(keep)
    finally:
        if not keep:
            shutil.rmtree(directory, ignore_errors=True)


class Demo:
    def __init__(
        self, output: Output, directory: Path, daemon: DemoDaemon, editor: AsyncClient, panel: AsyncClient
    ) -> None:
        self.output = output
        self.directory = directory
        self.daemon = daemon
        self.editor = editor
        self.panel = panel
        self.watcher = Watcher(panel, self.heard)
        self.acknowledged: list[str] = []
        self.result: dict[str, Any] = {}
        self._started = time.monotonic()
        self._session = ""
        self._leaf: str | None = None

    # What is printed.

    def step(self, what: str) -> None:
        from rich.text import Text

        if not self.output.as_json:
            self.output.print()
            self.output.print(Text(what, "bold"))

    def say(self, what: str) -> None:
        if not self.output.as_json:
            self.output.print(f"  {safe.line(what)}")

    def heard(self, method: str, revision: int, gist: str, origin: types.Origin | None) -> None:
        from rich.text import Text

        if self.output.as_json:
            return
        whom = f" from {origin['name']}" if origin else ""
        text = Text("  side panel hears ", "dim")
        text.append(f"{method:<20} ", "yellow")
        text.append(safe.line(f"revision {revision}{whom}  "), "dim")
        text.append(safe.line(gist))
        self.output.wrapped(text, 4)

    # What happens.

    async def append(self, *entries: dict[str, Any]) -> str:
        """As an agent does it: only under the leaf that it knows."""
        done = await self.editor.append(self._session, entries, expected_leaf_id=self._leaf, retry=True)
        self.acknowledged += [entry["id"] for entry in done["entries"]]
        self._leaf = done["leafId"]
        await self.watcher.until(done["revision"])
        return done["entries"][-1]["id"]

    async def run(self, keep: bool) -> None:
        scene = Scene(self.directory / "project")
        self.step("A daemon runs, an editor and a side panel are connected")
        self.say(f"process {self.daemon.pid} on {self.daemon.socket}")
        first = await self._conversation(scene)
        second = await self._branch(scene)
        await self._look(first, second)
        fork = await self._fork(first)
        await self._crash(scene)
        await self._catch_up_late()
        await self._compact()
        await self._settle(fork, keep)

    async def _conversation(self, scene: Scene) -> str:
        self.step("The editor makes a session and holds a conversation with tool calls")
        state = await self.editor.create_session(str(scene.project))
        self._session, self._leaf = state["sessionId"], state["leafId"]
        await self.watcher.follow(self._session)
        await self.append(scene.prompt("slug('A  b') has two dashes in a row. Mend it."))
        written = any(self.daemon.sessions.rglob("*.jsonl"))
        self.say(
            "nothing is on disk yet: a session is written with its first answer" if not written else "it is on disk"
        )
        self._fork_point = await self.append(*scene.read("I look at the function first."))
        await self.append(*scene.write("split() swallows the run of blanks.", MENDED))
        await self.append(*scene.try_it("A  b"))
        answer = await self.append(scene.say("slug('A  b') is 'a-b' now."))
        named = await self.editor.rename(self._session, "two dashes")
        await self.watcher.until(named["revision"])
        labelled = await self.editor.label(self._session, answer, "first way")
        self._leaf = labelled["entryId"]
        await self.watcher.until(labelled["revision"])
        return answer

    async def _branch(self, scene: Scene) -> str:
        self.step("It goes back and tries another way: a branch, with a summary of the one it leaves")
        moved = await self.editor.move_leaf(
            self._session,
            self._fork_point,
            summary="The first way used split(); it leaves punctuation in the address.",
            expected_leaf_id=self._leaf,
        )
        self._leaf = moved["leafId"]
        await self.watcher.until(moved["revision"])
        await self.append(scene.prompt("Punctuation has to go too. Use a pattern."))
        await self.append(*scene.write("Everything that is no word character becomes one dash.", BY_PATTERN))
        await self.append(*scene.try_it("A,  b!"))
        return await self.append(scene.say("slug('A,  b!') is 'a-b'."))

    async def _look(self, first: str, second: str) -> None:
        self.step("The tree, as the side panel reads it")
        tree = await self.panel.whole_tree(self._session)
        state = await self.panel.open_session(self._session)
        self.result["tree"] = tree
        if not self.output.as_json:
            title = await titles.of_opened(self.output, self.panel, state)
            tree_view.draw(self.output, state, tree, title=title)
        contexts: dict[str, ContextResult] = {}
        for name, leaf in (("first way", first), ("second way", second)):
            self.step(f"What a model would see on the {name}")
            contexts[name] = await self.panel.context(self._session, leaf_id=leaf)
            if not self.output.as_json:
                context_view.draw(self.output, contexts[name])
        self.result["contexts"] = contexts

    async def _fork(self, first: str) -> dict[str, Any]:
        self.step("The first way becomes a session of its own")
        state = await self.editor.fork(self._session, entry_id=first)
        count = plural(state["entryCount"], "entry", "entries")
        self.say(f"{state['sessionId']}, {count}, from {Path(state['parentSession'] or '').name}")
        self.result["fork"] = dict(state)
        return dict(state)

    async def _crash(self, scene: Scene) -> None:
        self.step("The daemon is killed with -9, and the editor goes on")
        killed = self.daemon.pid
        await self.daemon.kill()
        late = asyncio.create_task(self.editor.append(self._session, [scene.prompt("And a test, please.")], retry=True))
        self.say(f"process {killed} is gone; the editor's next append waits")
        await self.daemon.start()
        self.say(f"process {self.daemon.pid} has the socket; both clients come back by themselves")
        await self.watcher.until_resync()
        done = await late
        self.acknowledged += [entry["id"] for entry in done["entries"]]
        self._leaf = done["leafId"]
        await self.append(scene.say("assert slug('A,  b!') == 'a-b'"))
        self.result["daemons"] = [killed, self.daemon.pid]

    async def _compact(self) -> None:
        """By the embedded summarizer. The window is small, for the conversation is."""
        self.step("The context is compacted: a summary stands for its beginning, and is asked what it kept")
        before = await self.panel.context(self._session)
        done = await self.editor.compact(self._session, keep_recent_tokens=KEPT_TOKENS, summarizer="extractive")
        await self.watcher.until(done["revision"])
        self.acknowledged.append(done["entryId"])
        self._leaf = done["entryId"]
        after = await self.panel.context(self._session)
        if not self.output.as_json:
            counts = len(before["messages"]), len(after["messages"])
            compaction_view.draw_compaction(self.output, done, *counts, full=True)
        self.result["compaction"] = done

    async def _catch_up_late(self) -> None:
        """A third client that was away since before the last change, in the life of this daemon."""
        self.step("A third client, away for a moment, asks for what it missed")
        position = self.watcher.position
        since: SubscribeSince = {"instanceId": position["instanceId"], "revision": position["revision"] - 1}
        async with (
            await self.daemon.connect("latecomer") as client,
            await client.watch(self._session, since=since) as watch,
        ):
            opened = watch.opened
            assert opened is not None
            missed = [event["method"] for event in opened.get("events", [])]
            self.say(f"since revision {since['revision']}: {', '.join(missed)}")
            self.result["replayed"] = missed

    async def _settle(self, fork: dict[str, Any], keep: bool) -> None:
        self.step("What is there in the end")
        entries = [entry["id"] async for entry in self.panel.iter_entries(self._session)]
        lost = [one for one in self.acknowledged if entries.count(one) != 1]
        state = await self.panel.open_session(self._session)
        checks = [await self.panel.check(path) for path in (state["path"], fork["path"]) if path is not None]
        damaged = [check["path"] for check in checks if check["damage"]]
        if lost or damaged:
            raise Failure(
                Exit.FAILED,
                f"The demo failed: entries not there once: {lost}; damaged files: {damaged}.",
                reason="demoFailed",
            )
        self.say(f"{len(self.acknowledged)} entries were acknowledged, each is in the file once; no file is damaged")
        self.say(f"{len(self.watcher.notifications)} notifications reached the side panel, in order, with one resync")
        for check in checks:
            self.say(f"{check['path']} ({plural(check['entryCount'], 'entry', 'entries')})")
        seconds = time.monotonic() - self._started
        where = f"--sessions-dir {self.daemon.sessions}"
        self.say(
            f"kept: try `pi-daemon tree last {where}`" if keep else "the files are removed now; --keep leaves them"
        )
        self.say(f"{seconds:.1f} s, all of it real calls to a real daemon")
        if self.output.as_json:
            self.output.json(
                {
                    "sessionId": self._session,
                    "acknowledged": self.acknowledged,
                    "lost": lost,
                    "notifications": self.watcher.notifications,
                    "checks": checks,
                    "directory": str(self.directory) if keep else None,
                    "seconds": round(seconds, 3),
                    **self.result,
                }
            )
