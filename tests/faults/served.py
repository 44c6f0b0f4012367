"""A real `pi-daemon serve` at a Unix socket of a user of its own, to be killed and started again; what the session
files hold afterwards; and the ledger of what the daemon has acknowledged.

Nobody sleeps: a start is waited for by connecting again, within a bound."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from pi_daemon_client import AsyncClient, Backoff, Unreachable
from pi_daemon_client import types as t

from tests.daemon.home import PATIENCE, Home

SOON = Backoff(first=0.002, most=0.03, give_up_after=PATIENCE)


class Served:
    """`async with Served() as daemon`: nothing runs before `start`, nothing is left behind."""

    def __init__(self) -> None:
        self.home = Home()
        self._stderr = self.home.directory / "stderr"
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Served:
        return self

    async def __aexit__(self, failed: type[BaseException] | None, *_: object) -> None:
        if failed is not None and self._process is not None:
            said = [path.read_text() for path in (self.home.log, self._stderr) if path.exists()]
            print(f"Exit code of the daemon: {self._process.returncode}", *(text[-3_000:] for text in said), sep="\n")
        await self.kill()
        self.home.__exit__()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def start(self) -> None:
        with self._stderr.open("wb") as stderr:
            self._process = await asyncio.create_subprocess_exec(
                *self.home.argv("serve", "--durability", "written", "--idle", "0"),
                env=self.home.environment,
                cwd=self.home.directory,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
            )

    async def kill(self) -> None:
        """kill -9, where it runs: it can't put anything in order."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def connect(self, name: str) -> AsyncClient:
        assert self._process is not None
        async with asyncio.timeout(PATIENCE):
            for delay in SOON.delays():
                try:
                    return await AsyncClient.connect_unix(self.home.socket, name=name, reconnect=SOON, wait=PATIENCE)
                except Unreachable:
                    assert self._process.returncode is None, "the daemon ended by itself"
                    await asyncio.sleep(delay)
        raise AssertionError

    async def session(self, client: AsyncClient) -> tuple[str, Path]:
        """A new one with a file: its id and path."""
        state = await client.create_session(str(self.home.directory), persist="immediate")
        assert state["path"] is not None
        return state["sessionId"], Path(state["path"])

    def failures(self) -> list[dict[str, Any]]:
        """What its log has of errors."""
        return [record for record in self.home.records() if record["level"] in ("error", "critical")]


class Ledger:
    """What one session was sent. A draft is known by its text, which nothing else has: who sent it without an id and
    got no answer doesn't know the entry's."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sent: set[str] = set()
        self.acknowledged: dict[str, t.AppendedEntry] = {}

    def acknowledge(self, texts: list[str], answer: t.AppendResult) -> None:
        assert answer["durability"] == "written"
        assert len(answer["entries"]) == len(texts)
        self.acknowledged |= zip(texts, answer["entries"], strict=True)

    def check(self) -> list[str]:
        """Each acknowledged entry is in the file once, as it was answered, others at most once, and nothing that
        nobody sent; every parent lies before its child. The ids of the entries in file order."""
        found = stored(self.path)
        ids = [entry["id"] for entry in found]
        assert [name for name, times in Counter(ids).items() if times > 1] == []
        texts = Counter(key(entry["message"]["content"]) for entry in found)
        assert [text for text, times in texts.items() if times > 1] == []
        assert set(texts) <= self.sent
        by_text = {key(entry["message"]["content"]): entry for entry in found}
        lost = [text for text in self.acknowledged if text not in by_text]
        assert lost == []
        for text, answered in self.acknowledged.items():
            assert {name: by_text[text][name] for name in answered} == answered
        known: set[str | None] = {None}
        for entry in found:
            assert entry["parentId"] in known
            known.add(entry["id"])
        return ids


def key(content: str) -> str:
    """What tells a draft from all others: its text up to the first space."""
    return content.partition(" ")[0]


def prompt(text: str, size: int = 0, **more: str) -> dict[str, Any]:
    return {"type": "message", "message": {"role": "user", "content": f"{text} {'x' * size}", "timestamp": 1}, **more}


def stored(path: Path) -> list[dict[str, Any]]:
    """The entries of a session file. A line that a killed process has not finished is no entry."""
    header, *lines = path.read_bytes().split(b"\n")
    assert json.loads(header)["type"] == "session"
    found: list[dict[str, Any]] = []
    for line in lines:
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found
