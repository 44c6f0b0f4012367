"""Nothing that was acknowledged goes without a word, whatever strangers make of the file."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pi_daemon.session.errors import PiDaemonError, SessionNotFound, StorageFailed
from pi_daemon.storage.journal import FileLog
from pi_daemon.storage.own import SEEN_SECONDS
from tests.faults.support import LONG, Unsynced
from tests.storage.support import HEADER, Place, message

STEPS = st.lists(
    st.one_of(
        st.sampled_from(["append", "append synced", "append two", "theirs", "look", "reopen", "release", "delete"]),
        st.tuples(st.sampled_from(["in place", "by rename"]), st.integers(0, 7)),
    ),
    max_size=14,
)


@settings(max_examples=2000 if LONG else 120, deadline=None)
@given(STEPS)
def test_what_was_acknowledged_is_there_or_told_as_lost(steps: list[str | tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as base:
        asyncio.run(Story(Place(Path(base))).told(steps))


class Story:
    """Only before a log is closed some seconds pass: what has been seen then is nobody's to remember any more."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.path = place.put([HEADER, message("first", None)])
        self.acknowledged: list[str] = []
        self.lost: list[str] = []
        self.number = 0
        self.files = Unsynced()
        self.repository = place.repository(self.files)
        self.seen: set[str] = set()
        self.log: FileLog | None = None
        self.deleted = False

    async def told(self, steps: list[str | tuple[str, int]]) -> None:
        await self.open()
        for step in steps:
            if isinstance(step, tuple):
                self.rewrite(*step)
            elif step.startswith("append"):
                await self.append(2 if step == "append two" else 1, synced=step == "append synced")
            elif step == "theirs":
                self.number += 1
                if self.path.exists():
                    with open(self.path, "ab") as file:
                        file.write(message(f"theirs{self.number}", None) + b"\n")
            elif step == "delete":
                self.path.unlink(missing_ok=True)
                self.deleted = True
            elif step == "release" and self.log is not None:
                await self.log.release()
            elif step == "look":
                await self.look()
            elif step == "reopen":
                await self.close()
                await self.open()
        expected = set(self.acknowledged) - self.seen
        await self.close()
        kept = [line for path in (self.place.state / "lost").glob("*") for line in path.read_bytes().splitlines()]
        there = [*self.path.read_bytes().splitlines(), *kept] if self.path.exists() else kept
        found = {name for name in self.acknowledged if any(f'"id":"{name}"'.encode() in line for line in there)}
        if not self.deleted:
            assert expected <= found
        assert [name for name in self.lost if not any(f'"id":"{name}"'.encode() in line for line in kept)] == []
        assert set(self.lost) <= set(self.acknowledged)

    async def open(self) -> None:
        try:
            _, self.log = await self.repository.open(self.place.ref(self.path), recover=True)
        except SessionNotFound:
            self.log = None

    async def close(self) -> None:
        if self.log is not None:
            self.files.time += SEEN_SECONDS
            await self.look()
            await self.look()  # the log that came for one whose file was replaced
        if self.log is not None:
            assert not self.log.unseen
            await self.log.close()
            self.seen |= set(self.acknowledged)
        self.log = None

    async def look(self) -> None:
        """As the engine does: a file that was replaced is loaded before the old log is closed."""
        if self.log is None:
            return
        found = await self.log.look()
        self.lost += found.lost
        assert found.replaced or not found.lost
        if found.replaced:
            old = self.log
            await self.open()
            await old.close()

    async def append(self, count: int, synced: bool) -> None:
        if self.log is None:
            return
        names = [f"ours{self.number + more}" for more in range(1, count + 1)]
        self.number += count
        try:
            await self.log.append([message(name, None) for name in names], synced=synced, persist=True)
            self.acknowledged += names
        except StorageFailed as failed:
            assert failed.data["errno"] in ("ENOENT", "ESTALE")
            await self.look()
        except PiDaemonError as failed:
            raise AssertionError("another error") from failed

    def rewrite(self, how: str, kept: int) -> None:
        """By somebody who knows every third line, or others; `kept` chooses which."""
        if not self.path.exists():
            return
        header, *lines = self.path.read_bytes().splitlines()
        chosen = [line for number, line in enumerate(lines) if kept >> number % 3 & 1]
        content = b"".join(line + b"\n" for line in [header, *chosen])
        if how == "in place":
            self.path.write_bytes(content)
        else:
            self.place.put(content, "new").rename(self.path)
